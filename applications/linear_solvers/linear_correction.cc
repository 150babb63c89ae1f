// SPDX-License-Identifier: Apache-2.0
#include "linear_correction.h"

#include <applications/base/log.h>
#include <solvers/base/norms.h>
#include <solvers/dealii/vector_norm.h>

#include <algorithm>
#include <cmath>

namespace leopard
{
  bool LinearCorrection::is_at_rounding(const HostVector &u, double goal, std::string &note) const
  {
    if (A == nullptr || b == nullptr)
      return false;
    const ResidualRounding found = rounding_of_residual(*A, u, *b);
    constexpr double       much = 1e-3, most = 0.1; // of the right-hand side
    const double           size = goal / tolerance;
    if (!found.is_rounding() || !reached(found.of_each_row, tolerance) || !reached(found.residual, most * size))
      return false;
    const bool hides = !reached(found.residual, much * size); // what rounding leaves is seen in the solution, perhaps
    note += (note.empty() ? "" : "; ") +
            format("%sthe residual, %.1e of the right-hand side, is what rounding errors leave: coefficients or cells differ so much that terms %.1e "
                   "times as large cancel in the equations; 'Linear solver/Relative tolerance' = %g cannot be reached in double precision, and each "
                   "row is solved to %.1e of its terms",
                   hides ? "warning: " : "",
                   found.residual / size,
                   found.terms() / size,
                   tolerance,
                   found.of_each_row);
    return true;
  }

  LinearSolveResult
  LinearCorrection::operator()(HostVector &u, HostVector &residual, HostVector &update, const std::function<void()> &compute_residual) const
  {
    const double      first = l2_norm(residual), goal = tolerance * std::max(scale, first);
    LinearSolveResult result;
    const auto        report_missed = [&] { solver.report_missed_tolerance(tolerance, result.progress(first, goal), to_try); };
    result.final_residual           = first;
    const auto n_left               = [&] { return max_iterations - result.n_iterations; };
    for (int n_solves = 0; n_solves < 2 && std::isfinite(result.final_residual) && !reached(result.final_residual, goal); ++n_solves)
      {
        if (n_solves > 0 && n_left() <= 0)
          break;
        LinearTarget target;
        target.relative_tolerance      = goal / result.final_residual;
        target.max_iterations          = n_left();
        update                         = 0.;
        const LinearSolveResult solved = solver.solve(update, residual, target);
        result.n_iterations += solved.n_iterations;
        result.n_corrections += solved.n_corrections;
        result.has_momentum       = result.has_momentum || solved.has_momentum;
        result.rate               = solved.rate;
        result.stagnated          = solved.stagnated;
        result.negative_curvature = solved.negative_curvature;
        result.at_rounding        = solved.at_rounding;
        result.ill_conditioned    = solved.ill_conditioned;
        result.final_residual     = solved.final_residual;
        result.note += solved.note;
        if (n_solves == 0)
          result.convergence_factor = solved.convergence_factor;
        if (!solved.converged && (A == nullptr || !std::isfinite(solved.final_residual)))
          report_missed();
        u.add(1., update);
        compute_residual();
        if (const double after = l2_norm(residual); solved.converged || reached(after, goal) || is_at_rounding(u, goal, result.note))
          result.final_residual = after;
        else
          report_missed();
        if (!solved.converged)
          return result;
        if (tolerance == 0.)
          break;
      }
    if (tolerance > 0. ? !reached(result.final_residual, goal) : !std::isfinite(result.final_residual))
      {
        if (tolerance > 0. && is_at_rounding(u, goal, result.note))
          return result;
        result.stagnated = true; // the solver thinks that it has come to its goal
        report_missed();
      }
    return result;
  }
} // namespace leopard
