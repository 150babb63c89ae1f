// SPDX-License-Identifier: Apache-2.0
#include "smoother_row.h"

#include <applications/base/log.h>

#include <algorithm>
#include <map>
#include <utility>

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
          if (row.cycles_quantile(0.5) < best.cycles_quantile(0.5))
            {
              fewest = false;
              if (fewer_cycles == nullptr || row.cycles_quantile(0.5) < fewer_cycles->cycles_quantile(0.5))
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

  namespace
  {
    /** Whether the quartiles of two times to solution overlap. */
    bool within_spread(const SmootherRow &faster, const SmootherRow &slower)
    {
      return !(faster.seconds_quantile(0.75) < slower.seconds_quantile(0.25));
    }
  } // namespace

  Winner choose_winner(const std::vector<SmootherRow> &rows)
  {
    std::vector<int> order;
    for (std::size_t i = 0; i < rows.size(); ++i)
      if (rows[i].converged())
        order.push_back(static_cast<int>(i));
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return rows[a].seconds_quantile(0.5) < rows[b].seconds_quantile(0.5); });
    if (order.empty())
      return {-1, "none has converged"};
    if (order.size() == 1)
      return {order[0], rows.size() == 1 ? "the only one" : "the only one that has converged"};

    const SmootherRow &best = rows[order[0]], &next = rows[order[1]];
    const double       ratio = next.seconds_quantile(0.5) / best.seconds_quantile(0.5);
    Winner             winner{order[0], why_fastest(rows, order[0])};
    if (within_spread(best, next))
      winner.reason = "differences within the spread: " + next.label() + " took " + format("%.1f", 100. * (ratio - 1.)) +
                      " percent longer; otherwise " + winner.reason;
    else
      winner.reason += "; " + format("%.2f", ratio) + " times as fast as " + next.label();
    if (std::min(best.seconds.size(), next.seconds.size()) == 1)
      winner.reason += " (one repetition: the spread is not known)";
    return winner;
  }

  namespace
  {
    /** What one smoother has won. */
    struct Victories
    {
      int                 n = 0, within_the_spread = 0;
      std::vector<double> ratios; ///< times of the fastest other smoother, against the winner's
    };

    void add_victory(const std::vector<SmootherRow> &rows, const SmootherRow &winner, Victories &victories)
    {
      const SmootherRow *next = nullptr; // the fastest one with another smoother
      for (const SmootherRow &row : rows)
        if (row.competes_with(winner) && row.converged() && row.smoother != winner.smoother &&
            (next == nullptr || row.seconds_quantile(0.5) < next->seconds_quantile(0.5)))
          next = &row;
      ++victories.n;
      if (next == nullptr)
        return;
      victories.ratios.push_back(next->seconds_quantile(0.5) / winner.seconds_quantile(0.5));
      victories.within_the_spread += within_spread(winner, *next);
    }
  } // namespace

  std::string conclusion(const std::vector<SmootherRow> &rows)
  {
    std::map<std::string, Victories> smoothers;
    int                              n = 0;
    for (const SmootherRow &row : rows)
      if (!row.winner_reason.empty())
        {
          ++n;
          add_victory(rows, row, smoothers[row.smoother]);
        }
    if (n == 0)
      return "Conclusion: no smoother has reached the tolerance.";
    std::vector<std::pair<std::string, Victories>> sorted(smoothers.begin(), smoothers.end());
    std::stable_sort(sorted.begin(), sorted.end(), [](const auto &a, const auto &b) { return a.second.n > b.second.n; });
    std::string text;
    for (const auto &[smoother, victories] : sorted)
      {
        text += (text.empty() ? "Conclusion: " : "; ") + smoother + " is the fastest in " + std::to_string(victories.n) + " of " + std::to_string(n) +
                (n == 1 ? " comparison" : " comparisons");
        if (victories.ratios.empty())
          {
            text += " (no other smoother has converged)";
            continue;
          }
        text += ", " + format("%.2f", studies::quantile(victories.ratios, 0.5)) + " times as fast as the next smoother" +
                (victories.ratios.size() > 1 ? " in the median" : "") +
                (victories.within_the_spread == 0 ? ", beyond the spread"
                 : victories.ratios.size() == 1   ? ", which is within the spread"
                                                  : ", " + std::to_string(victories.within_the_spread) + " of them within the spread");
      }
    return text + ".";
  }
} // namespace leopard
