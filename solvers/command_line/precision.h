// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../refinement/refinement.h"
#include "../relaxation/relaxation.h"
#include "arguments.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace leopard::command_line
{
  /** Receives a line of the log: what it is about, and the text. */
  using Log = std::function<void(const std::string &label, const std::string &text)>;

  /** Solves A x = b by a method in the precision that was asked for. Vectors are doubles in host memory. */
  class Solver
  {
  public:
    virtual ~Solver() = default;

    /** Of the method, as its Relaxation says them. */
    virtual std::string name() const                = 0;
    virtual std::string description() const         = 0;
    virtual bool        is_fixed_linear_map() const = 0;
    /** What is said of the history's residuals but the first and the last; empty: they were computed from x. */
    virtual std::string history_note() const { return ""; }
    /** Whether a solution has shown that the matrix is not positive definite. */
    virtual bool has_found_indefinite() const { return false; }
    /** Whether a solution has ended as more iterations, of any precision, would not have made it. */
    virtual bool stands_still() const { return false; }
    /** What it counts. */
    virtual std::string unit() const { return "global iterations"; }

    /** From x = 0, once. Iterations are those of the method, in all corrections of a refinement. */
    virtual SolveResult solve(const std::vector<double> &b, const StoppingCriteria &criteria, std::vector<double> &x, const Log &log) = 0;
  };

  /** Makes the method's relaxation of a matrix in double and in single precision. */
  struct MakeMethod
  {
    std::function<std::unique_ptr<Relaxation<double>>(const CrsMatrix<double> &)> in_double;
    std::function<std::unique_ptr<Relaxation<float>>(const CrsMatrix<float> &)>   in_single;
  };

  /** What is said of a method that corrects in single precision, and how often it iterates. */
  struct MethodInSingle
  {
    std::string name, description;
    bool        is_fixed_linear_map = false;
    std::string unit                = "global iterations";
    int         inner_iterations    = 0;    ///< of each correction; 0: as RefinementOptions
    bool        goes_on_if_slow     = true; ///< as RefinementOptions

    std::vector<double> null_space = {}; ///< what is taken out of the solution, see take_out()
  };

  /** Residual and solution in double, corrections by the inner solver. */
  std::unique_ptr<Solver>
  make_mixed(std::unique_ptr<OuterSystem<float>> system, std::unique_ptr<InnerSolver<float>> inner, const MethodInSingle &about);

  /**
   * @param A in the numbering of the blocks. @param inner_iterations see MethodInSingle. @throws InvalidInput,
   * DeviceError.
   */
  std::unique_ptr<Solver> make_solver(
    const CrsMatrix<double> &A, Precision precision, Backend backend, int n_threads, const MakeMethod &make_method, int inner_iterations = 0);
} // namespace leopard::command_line
