// SPDX-License-Identifier: Apache-2.0
#include "going_on.h"

#include "../base/norms.h"
#include "../base/words.h"
#include "advice.h"
#include "quality.h"
#include "report.h"

#include <algorithm>

namespace leopard::command_line
{
  void go_on(Solution &found, const CrsMatrix<double> &system, const std::vector<double> &b, int n_more, StoppingCriteria criteria)
  {
    const auto               &partition = found.iteration.partition;
    const auto                in_order  = [&](const std::vector<double> &v) { return partition ? permute(v, *partition) : v; };
    const std::vector<double> x = partition ? permute_back(found.x, *partition) : found.x, r = residual_of(system, x, b);
    const double              goal = criteria.relative_tolerance * norm(b), before = norm(r);
    criteria.relative_tolerance = goal / before;
    criteria.max_iterations     = n_more;
    const bool is_limited       = criteria.max_seconds > 0.;
    criteria.max_seconds -= is_limited ? found.result.seconds : 0.;
    if (!(iterations_to_come(found.result, goal) <= n_more) || !(criteria.relative_tolerance < 1.) || (is_limited && !(criteria.max_seconds > 0.)))
      return;
    log_line("goes on",
             "as the residual falls: about " + short_text(iterations_to_come(found.result, goal), 2) + " more " + found.iteration.solver->unit());
    std::vector<double> d;
    const SolveResult   more = found.iteration.solver->solve(in_order(r), criteria, d, log_line);
    if (!reached(more.final_residual, before))
      return;
    std::transform(d.begin(), d.end(), found.x.begin(), found.x.begin(), [](double v, double w) { return v + w; });
    SolveResult &all = found.result;
    for (std::size_t i = 1; i < more.history_residuals.size(); ++i)
      {
        all.history_iterations.push_back(all.n_iterations + more.history_iterations[i]);
        all.history_residuals.push_back(more.history_residuals[i]);
        all.history_seconds.push_back(all.seconds + more.history_seconds[i]);
      }
    all.status = more.status;
    all.n_iterations += more.n_iterations;
    all.min_iterations += more.min_iterations;
    all.mean_iterations += more.mean_iterations;
    all.seconds += more.seconds;
    all.final_residual = more.final_residual;
  }
} // namespace leopard::command_line
