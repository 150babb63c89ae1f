// SPDX-License-Identifier: Apache-2.0
// How incomplete factors are solved with.
#include "linear_solver.h"

#include <applications/base/log.h>
#include <solvers/base/errors.h>

#include <deal.II/base/timer.h>

namespace leopard
{
  using namespace dealii;

  TriangularChoice LinearSolverParameters::chosen_triangular() const
  {
    BlockAsyncOptions common          = for_changing_values();
    common.n_threads                  = block_async.n_threads;
    const bool       wants_repetition = block_async.schedule != Schedule::chaotic;
    TriangularChoice choice =
      choose_triangular(has_async_factors_at_first() ? Backend::cuda : block_async.backend, method == "cg" || wants_repetition, common);
    choice.options.block_async.backend = block_async.backend;
    return choice;
  }

  void LinearSolverParameters::choose_triangular_solves()
  {
    if (triangular_solves == "automatic")
      triangular_solves = chosen_triangular().is_asynchronous() ? async_at_first : "exact";
  }

  IncompleteOptions LinearSolverParameters::incomplete_options() const
  {
    IncompleteOptions options;
    options.factors.kind       = preconditioner == "ic" ? FactorKind::ic : FactorKind::ilu;
    options.factors.fill_level = fill_level;
    options.n_sweeps           = factor_sweeps;
    if (has_async_factors_at_first())
      {
        options.solves = chosen_triangular().options;
        return options;
      }
    options.solves.solve        = triangular_solves == "async" ? TriangularSolve::asynchronous : TriangularSolve::exact;
    options.solves.n_iterations = triangular_iterations;
    options.solves.block_async  = block_async;

    options.solves.block_async.block_omega = 1.;
    options.solves.block_async.l1_weights  = false;
    return options;
  }

  LinearSolveResult LinearSolver::solve_or_exactly(HostVector &x, const HostVector &b, const LinearTarget &target)
  {
    guess_of_factors = x;
    std::string       why;
    LinearSolveResult result;
    try
      {
        result = solve_in_precisions(x, b, target);
        if (result.converged || result.at_rounding || result.negative_curvature || target.relative_tolerance == 0.)
          return result;
        why = format("after %d iterations the residual is %.3e", result.n_iterations, result.final_residual);
      }
    catch (const ConvergenceFailure &failure)
      {
        why = failure.what();
        x   = guess_of_factors;
      }
    const int   n_in_vain = result.n_iterations;
    const Timer timer;
    make_exact(why);
    seconds += timer.wall_time();
    result = solve_in_precisions(x, b, target);
    result.n_iterations += n_in_vain;
    return result;
  }

  void LinearSolver::make_exact(const std::string &why)
  {
    implementation.reset(); // the memory is needed for the new one
    parameters.triangular_solves = "exact";
    or_in_double([this] { make(); });
    const std::string said =
      parameters.name() + " with exact triangular solves from now on, as asynchronous ones do not do: " + why.substr(0, why.find('\n'));
    note = note.empty() ? said : note + "; " + said;
  }
} // namespace leopard
