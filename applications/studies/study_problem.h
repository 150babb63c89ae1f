// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <applications/run/parameters.h>
#include <solvers/base/errors.h>
#include <solvers/multigrid/multigrid.h>

#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace leopard
{
  /**
   * A x = b of a study, in host memory, with what multigrid methods need of A: a stencil, or the matrices of all
   * levels.
   */
  struct StudyProblem
  {
    std::string                    description;
    double                         epsilon  = std::numeric_limits<double>::quiet_NaN(); ///< of a stencil
    int                            n_levels = 0;
    std::optional<Stencil<double>> stencil;
    MultigridHierarchy             hierarchy; ///< without a stencil
    std::vector<double>            b;
    double                         seconds = 0.; ///< that it took to make the hierarchy

    /** A multigrid method for it. @throws Error, also for a coarse problem too large for its solver. */
    Multigrid<double> make_multigrid(MultigridOptions options, const SmootherStudyParameters &study) const;

    /** The matrix of the coarsest level. */
    CrsMatrix<double> coarse_matrix() const;

    /**
     * Host memory in bytes that a row with this stencil takes, estimated from above; 0 without a stencil. @param stored
     * whether the smoother stores matrices.
     */
    double memory(bool stored) const;
  };

  /** Too little memory for a problem; the rest of a study can do without it. */
  class NotEnoughMemory : public Error
  {
  public:
    using Error::Error;
  };

  /** Memory of this machine that is left, in bytes; infinity where that is not known. */
  double available_memory();

  /** @throws NotEnoughMemory if this machine has less than so many bytes left, with both numbers. */
  void check_memory(double n_bytes);

  /**
   * One of the problems of a case, made only when it is needed, since a few of them may fill the memory. May throw
   * NotEnoughMemory.
   */
  using ProblemMaker = std::function<StudyProblem()>;

  /**
   * The problems of a case: stencils of all epsilons, sizes and numbers of levels, or the file's problem on meshes of
   * all refinements.
   */
  std::vector<ProblemMaker> study_problems(const Parameters &parameters, MPI_Comm comm);

  /**
   * "3-point", "5-point", ... with n nodes a direction, b random in [-1, 1]. @param n_levels 0: all. @throws Error for
   * another name, or too few nodes.
   */
  StudyProblem make_stencil_problem(const std::string &name, int n, double epsilon, int n_levels);
} // namespace leopard
