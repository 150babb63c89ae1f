// SPDX-License-Identifier: Apache-2.0
#include "krylov_method.h"

#include "../base/norms.h"
#include "../base/stopwatch.h"
#include "../base/words.h"
#include "vectors.h"

#include <limits>
#include <utility>

namespace leopard::command_line
{
  namespace
  {
    SolveStatus status_of(KrylovReason reason)
    {
      switch (reason)
        {
          case KrylovReason::converged:
            return SolveStatus::converged;
          case KrylovReason::maximum_iterations:
            return SolveStatus::iteration_limit;
          case KrylovReason::time_limit:
            return SolveStatus::time_limit;
          case KrylovReason::not_finite:
            return SolveStatus::diverged;
          default:
            return SolveStatus::stagnated;
        }
    }
  } // namespace

  KrylovMethod::KrylovMethod(
    std::unique_ptr<KrylovSolver<double>> krylov_, const std::string &preconditioner, std::vector<double> null_space_, double start, bool fixed_)
    : krylov(std::move(krylov_))
    , title(krylov->name() + (preconditioner.empty() ? "" : " with " + preconditioner))
    , about("set up in " + short_text(now() - start, 2) + " s")
    , null_space(std::move(null_space_))
    , fixed(fixed_)
  {
  }

  SolveResult KrylovMethod::solve(const std::vector<double> &b, const StoppingCriteria &criteria, std::vector<double> &x, const Log &log)
  {
    const double start    = now();
    KrylovLimits limits   = krylov->limits();
    limits.tolerance      = criteria.relative_tolerance;
    limits.max_iterations = criteria.max_iterations;
    limits.max_seconds    = criteria.max_seconds;
    if (std::exchange(goes_on, true))
      limits.early_iterations = 0;
    x.assign(b.size(), 0.);
    const KrylovResult found =
      with_vectors(krylov->memory_space(), b, x, [&](double *x_, const double *b_) { return krylov->solve(x_, b_, limits); });
    take_out(null_space, x);
    SolveResult result;
    result.seconds      = now() - start;
    result.status       = status_of(found.reason);
    result.n_iterations = result.min_iterations = found.n_iterations;
    result.mean_iterations                      = found.n_iterations;
    SafeNorm norm_b;
    for (const double value : b)
      norm_b.add(value);
    result.initial_residual   = norm_b.value();
    result.final_residual     = found.residual;
    result.history_residuals  = {result.initial_residual};
    result.history_iterations = {0};
    result.history_seconds    = {0.};
    for (int i = 0; i + 1 < found.n_iterations && i < static_cast<int>(found.history.size()); ++i)
      {
        result.history_iterations.push_back(i + 1);
        result.history_residuals.push_back(found.history[i]);
        result.history_seconds.push_back(i < static_cast<int>(found.history_seconds.size()) ? found.history_seconds[i]
                                                                                            : std::numeric_limits<double>::quiet_NaN());
      }
    if (found.n_iterations > 0)
      {
        result.history_iterations.push_back(found.n_iterations);
        result.history_residuals.push_back(found.residual);
        result.history_seconds.push_back(result.seconds);
      }
    is_indefinite = found.reason == KrylovReason::indefinite;
    is_standing   = found.reason == KrylovReason::standing_still;
    if (!found.converged)
      log("ended", krylov->name() + ": " + to_string(found.reason));
    return result;
  }
} // namespace leopard::command_line
