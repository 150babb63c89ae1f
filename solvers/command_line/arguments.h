// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../block_async/block_async.h"
#include "../block_async/tune.h"
#include "../device/waiting.h"
#include "../distributed/gpus/several_gpus.h"
#include "../matrix/stencil.h"
#include "../relaxation/methods.h"
#include "../triangular/triangular_solver.h"

#include <limits>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace leopard::command_line
{
  /** A command line that cannot be understood or contradicts itself; exit code 2. */
  class UsageError : public std::runtime_error
  {
  public:
    using std::runtime_error::runtime_error;
  };

  /** In which a method computes. */
  enum class Precision
  {
    double_precision,
    single,
    mixed,    ///< iterative refinement: residual and solution in double, the method in single
    automatic ///< double or mixed, whichever is predicted to be faster: predict_precision()
  };

  /** What the command line of leopard-solve says. */
  struct Arguments
  {
    std::string       matrix, rhs, solution, history, choice;       ///< paths; empty: not given
    std::string       near_null_space;                              ///< of smoothed aggregation: a path; empty: not given
    int               block_unknowns = 1;                           ///< of smoothed aggregation: AggregationOptions::block_unknowns
    std::string       method_name    = "automatic";                 ///< automatic, cg, gmres, multigrid, direct, or a relaxation
    std::string       preconditioner = "automatic";                 ///< of cg and gmres: automatic, none, multigrid, ic, ilu, or a relaxation
    std::string       smoother       = "chebyshev";                 ///< of multigrid
    TriangularOptions triangular;                                   ///< of ic and ilu: how their factors are solved with; all but block_async
    std::string       triangular_solves    = "automatic";           ///< the same as it is asked for: automatic, exact or async
    int               fill_level           = 0;                     ///< of ic and ilu: FactorOptions::fill_level
    int               factor_sweeps        = 0;                     ///< of ic and ilu: IncompleteOptions::n_sweeps
    std::string       backend              = "automatic";           ///< automatic, host, cuda or reference
    device::Waiting   waiting              = device::Waiting::spin; ///< backend cuda
    Precision         precision            = Precision::double_precision;
    int               inner_iterations     = 0; ///< of each correction in mixed precision; 0: as the method has them
    BlockShape        shape                = BlockShape::contiguous;
    bool              omega_is_tau         = false; ///< then async.omega is still to be found
    bool              momentum_from_matrix = false; ///< then async.momentum and async.omega are
    bool              theta                = false;
    bool              tune                 = false;
    double            tune_seconds         = 5.;
    bool              analyze              = false;
    std::string       asks_for_async;         ///< the option for which async is taken where no --method is given; empty: none
    bool              is_automatic   = false; ///< the method is a choice of --method automatic
    bool              double_follows = false; ///< what fails in single precision is done once more in double

    std::shared_ptr<const Stencil<double>> found_stencil;           ///< that the matrix is, if that is known
    double largest_shift = std::numeric_limits<double>::infinity(); ///< of the diagonal, with which incomplete factors are still tried

    int    early_iterations = 0;     ///< KrylovLimits::early_iterations
    double early_residual   = 1.;    ///< KrylovLimits::early_residual
    int    more_iterations  = 0;     ///< with which a method goes on that its limit ends, where it promises to be done by then
    bool   has_dear_factors = false; ///< sparse ones: what they take is looked at before
    double most_complexity  = 0.;    ///< AggregationOptions::most_complexity

    /**
     * What near_null_space holds, for the matrix that is solved with: AggregationOptions::near_null_space. Null: none.
     */
    std::shared_ptr<const std::vector<std::vector<double>>> near_null_space_vectors;

    BlockAsyncOptions        async;      ///< of methods other than async: omega
    int                      n_gpus = 0; ///< 0: one, or the host, without an exchange
    SeveralGpusOptions       gpus;       ///< with n_gpus > 0; of methods other than async devices and shares
    StoppingCriteria         criteria;
    std::set<std::string>    given;           ///< the options that were given, as "--omega"
    std::vector<std::string> given_for_async; ///< those of them that only async knows, in the order of --help

    /**
     * What relaxes: the method, what preconditions it, or what smooths in it; where nothing does, a method without a
     * name.
     */
    const Method &method() const;
    bool          is_relaxation() const { return lookup_method(method_name, as_solver) != nullptr; }
    bool          is_krylov() const { return method_name == "cg" || method_name == "gmres"; }
    /** Alone, or as a preconditioner. */
    bool has_multigrid() const { return method_name == "multigrid" || (is_krylov() && preconditioner == "multigrid"); }
    /** Whether smoothed aggregation is told what the unknowns are. */
    bool has_nodes() const { return (has("--block-unknowns") && block_unknowns > 1) || has("--near-null-space"); }
    /** Whether what they are was found in the matrix: with_found_nodes(). */
    bool has_found_nodes() const { return block_unknowns > 1 && !has_nodes(); }
    bool has_factors() const { return is_krylov() && (preconditioner == "ic" || preconditioner == "ilu"); }
    /** Whether all of it runs there. */
    bool runs_on(Backend backend) const;
    bool has(const char *option) const { return given.count(option) > 0; }
  };

  /** What --method may be, in the order of --help. */
  std::vector<std::string> solver_names();

  /**
   * Reads the command line and refuses what contradicts itself.
   * @return an exit code where the program is to end (--help, --version), or -1 to go on. @throws UsageError,
   * InvalidInput.
   */
  int parse_command_line(int argc, char **argv, Arguments &arguments);
} // namespace leopard::command_line
