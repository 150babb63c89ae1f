// SPDX-License-Identifier: Apache-2.0
#include "direct_method.h"

#include "../base/errors.h"
#include "../base/norms.h"
#include "../base/stopwatch.h"
#include "../base/usable_resources.h"
#include "../base/words.h"
#include "quality.h"
#include "singular.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace leopard::command_line
{
  DirectMethod::DirectMethod(const CrsMatrix<double> &A_, bool has_dear_factors, const Log &log)
    : A(A_)
  {
    if (A.n_rows > most_rows_of_direct || has_dear_factors)
      check_cost(log);
    try
      {
        factors = make_sparse_factors(A);
      }
    catch (const InvalidInput &)
      {
        const std::string why = why_structurally_singular(A);
        throw InvalidInput("direct: " + (why.empty() ? "the matrix is singular, so its factors cannot be computed" : why) +
                           "\n  expected: a regular matrix, or a right-hand side in its range and another method: gmres with the "
                           "preconditioner none, or cg with jacobi for a symmetric one");
      }
  }

  SolveResult DirectMethod::solve(const std::vector<double> &b, const StoppingCriteria &criteria, std::vector<double> &x, const Log & /*log*/)
  {
    constexpr int       most  = 5;
    const double        start = now();
    std::vector<double> r(b), next(b.size());
    x.assign(b.size(), 0.);
    SolveResult result;
    result.initial_residual   = norm(b);
    result.final_residual     = result.initial_residual;
    result.history_residuals  = {result.initial_residual};
    result.history_iterations = {0};
    result.history_seconds    = {now() - start};
    const double goal         = criteria.relative_tolerance * result.initial_residual;
    const auto   time_is_over = [&] { return criteria.max_seconds > 0. && !(now() - start < criteria.max_seconds); };
    while (!reached(result.final_residual, goal) && result.n_iterations < std::min(most, criteria.max_iterations) && !time_is_over())
      {
        factors->solve(next.data(), r.data());
        for (std::size_t i = 0; i < x.size(); ++i)
          next[i] += x[i];
        r                   = residual_of(A, next, b);
        const double before = result.final_residual, after = norm(r);
        ++result.n_iterations;
        if (result.n_iterations > 1 && !reached(after, before)) // a correction that spoils x
          break;
        std::swap(x, next);
        result.final_residual = after;
        result.history_iterations.push_back(result.n_iterations);
        result.history_residuals.push_back(after);
        result.history_seconds.push_back(now() - start);
        if (!(after < 0.5 * before))
          break;
      }
    result.status          = reached(result.final_residual, goal)             ? SolveStatus::converged
                             : !std::isfinite(result.final_residual)          ? SolveStatus::diverged
                             : time_is_over()                                 ? SolveStatus::time_limit
                             : result.n_iterations == criteria.max_iterations ? SolveStatus::iteration_limit
                                                                              : SolveStatus::stagnated;
    result.min_iterations  = result.n_iterations;
    result.mean_iterations = result.n_iterations;
    result.seconds         = now() - start;
    return result;
  }

  /**
   * Of many rows: an analysis of the pattern tells the multiplications of Cholesky factors, c_j^2 for each column's c_j
   * entries, of which there are at most sqrt(n sum c_j^2) then; LU factors in another order take some times as much.
   * @throws InvalidInput if that is too much.
   */
  void DirectMethod::check_cost(const Log &log) const
  {
    constexpr double of_lu = 4.;
    const double     work  = of_lu * cholesky_operations(A) * A.n_entries();
    const double     bytes = of_lu * 12. * std::sqrt(work / of_lu * A.n_rows);
    const double     half  = 0.5 * usable_memory();
    const auto       text  = [](double operations, double memory) {
      return short_text(operations, 1) + " multiplications and " + short_text(memory / 1e9, 2) + " GB";
    };
    log("direct", "factors of " + std::to_string(A.n_rows) + " rows take about " + text(work, bytes));
    if (!(work <= most_operations && bytes <= half))
      throw InvalidInput("direct: factors of " + std::to_string(A.n_rows) + " rows take about " + text(work, bytes) + "\n  expected: at most " +
                         text(most_operations, half) + ", half of the memory; another method for larger ones");
  }
} // namespace leopard::command_line
