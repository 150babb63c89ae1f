// SPDX-License-Identifier: Apache-2.0
#include "smoother_row.h"

#include <applications/run/log.h>

#include <algorithm>

namespace leopard
{
  std::string SmootherRow::label() const
  {
    const std::string steps = std::to_string(smoothing_steps);
    return smoother + ", " + cycle + "(" + steps + "," + steps + ")" + (solver == "multigrid" ? "" : ", " + solver);
  }

  bool SmootherRow::competes_with(const SmootherRow &other) const
  {
    return case_name == other.case_name && problem == other.problem && unknowns == other.unknowns && levels == other.levels;
  }

  namespace
  {
    /** Why the row at `first` is faster than all others that converged. */
    std::string why_fastest(const std::vector<SmootherRow> &rows, int first)
    {
      const SmootherRow &best   = rows[first];
      bool               fewest = true, fastest = true;
      const SmootherRow *fewer_cycles = nullptr, *faster_cycle = nullptr; // the best of the others
      for (const SmootherRow &row : rows)
        {
          if (!row.converged() || &row == &best)
            continue;
          if (row.cycle_statistics().mean < best.cycle_statistics().mean)
            {
              fewest = false;
              if (fewer_cycles == nullptr || row.cycle_statistics().mean < fewer_cycles->cycle_statistics().mean)
                fewer_cycles = &row;
            }
          if (row.seconds_per_cycle() < best.seconds_per_cycle())
            {
              fastest = false;
              if (faster_cycle == nullptr || row.seconds_per_cycle() < faster_cycle->seconds_per_cycle())
                faster_cycle = &row;
            }
        }
      if (fewest && fastest)
        return "fewest cycles and fastest cycle";
      if (fewest)
        return "fewest cycles";
      if (fastest)
        return "fastest cycle";
      return "best product of cycles and time a cycle (" + fewer_cycles->label() + " has fewer cycles, " + faster_cycle->label() + " faster ones)";
    }
  } // namespace

  Winner choose_winner(const std::vector<SmootherRow> &rows)
  {
    std::vector<int> order;
    for (std::size_t i = 0; i < rows.size(); ++i)
      if (rows[i].converged())
        order.push_back(static_cast<int>(i));
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return rows[a].time_statistics().mean < rows[b].time_statistics().mean; });
    if (order.empty())
      return {-1, "none has converged"};
    if (order.size() == 1)
      return {order[0], rows.size() == 1 ? "the only one" : "the only one that has converged"};

    const SmootherRow &best = rows[order[0]], &next = rows[order[1]];
    const auto         t_best = best.time_statistics(), t_next = next.time_statistics();
    Winner             winner{order[0], why_fastest(rows, order[0])};
    if (t_next.mean - t_best.mean <= t_best.standard_deviation + t_next.standard_deviation)
      winner.reason = "differences within the spread: " + next.label() + " took " + format("%.1f", 100. * (t_next.mean / t_best.mean - 1.)) +
                      " percent longer; otherwise " + winner.reason;
    else
      winner.reason += "; " + format("%.2f", t_next.mean / t_best.mean) + " times as fast as " + next.label();
    if (std::min(t_best.n, t_next.n) == 1)
      winner.reason += " (one repetition: the spread is not known)";
    return winner;
  }
} // namespace leopard
