// SPDX-License-Identifier: Apache-2.0
#include "smoother_tables.h"

#include <applications/base/log.h>

#include <cmath>
#include <sstream>

namespace leopard
{
  using studies::cell;
  using studies::Table;

  namespace
  {
    std::string number(double value)
    {
      return std::isfinite(value) ? format("%.6g", value) : "";
    }

    /** What tells rows apart; the first columns of all tables. */
    const std::vector<std::string> key_columns = {
      "case", "published", "problem", "epsilon", "unknowns", "levels", "cycle", "smoothing_steps", "smoother", "solver", "backend"};

    std::vector<std::string> key(const SmootherRow &row)
    {
      return {row.case_name,
              row.published,
              row.problem,
              number(row.epsilon),
              std::to_string(row.unknowns),
              std::to_string(row.levels),
              row.cycle,
              std::to_string(row.smoothing_steps),
              row.smoother,
              row.solver,
              row.backend};
    }

    std::vector<std::string> with_key(std::vector<std::string> columns)
    {
      columns.insert(columns.begin(), key_columns.begin(), key_columns.end());
      return columns;
    }

    std::string cycles_text(const SmootherRow &row)
    {
      const auto s = row.cycle_statistics();
      if (!row.converged())
        return row.status;
      return s.minimum == s.maximum ? format("%.0f", s.minimum) : format("%.3g (%.0f to %.0f)", row.cycles_quantile(0.5), s.minimum, s.maximum);
    }

    /** Median and quartiles. */
    std::string time_text(const SmootherRow &row)
    {
      const auto ms = [&](double p) { return 1e3 * row.seconds_quantile(p); };
      return format("%.4g", ms(0.5)) + (row.seconds.size() > 1 ? format(" (%.4g to %.4g)", ms(0.25), ms(0.75)) : "");
    }
  } // namespace

  std::string competition_text(const std::vector<SmootherRow> &rows, const Winner &winner)
  {
    const SmootherRow &first = rows.at(0);
    Table table((first.case_name.empty() ? "" : first.case_name + ": ") + first.problem + ", " + std::to_string(first.unknowns) + " unknowns, " +
                  std::to_string(first.levels) + (first.levels == 1 ? " level" : " levels"),
                {"smoother",
                 "on",
                 "cycles",
                 "factor",
                 "time to solution [ms]: median (quartiles)",
                 "cycle [ms]",
                 "smoother",
                 "residual, transfers",
                 "coarse",
                 "copies",
                 "set-up [ms]"});
    std::string notes;
    bool        varies = false;
    for (const SmootherRow &row : rows)
      {
        varies = varies || row.varies;
        if (!row.note.empty())
          notes += row.label() + ": " + row.note + "\n";
        const std::string label = row.label() + (row.varies ? " *" : "");
        if (row.seconds.empty())
          {
            table.add_row({label, row.backend, row.status, "-", "-", "-", "-", "-", "-", "-", "-"});
            continue;
          }
        const auto ms = [](double seconds) { return format("%.3g", 1e3 * seconds); };
        table.add_row({label,
                       row.backend,
                       cycles_text(row),
                       cell(row.factor, "%.4f"),
                       row.converged() ? time_text(row) : "-",
                       ms(row.seconds_per_cycle()),
                       ms(row.smoother_seconds),
                       ms(row.transfer_seconds),
                       ms(row.coarse_seconds),
                       ms(row.copy_seconds),
                       ms(row.setup_seconds)});
      }
    std::ostringstream text;
    table.write_text(text);
    text << notes;
    if (varies)
      text << "* asynchronous: cycles and residuals can differ from run to run\n";
    text << "winner: " << (winner.row < 0 ? "" : rows[winner.row].label() + ": ") << winner.reason << "\n";
    return text.str();
  }

  Table study_table(const std::vector<SmootherRow> &rows)
  {
    Table table("",
                with_key({"status",
                          "varies",
                          "repetitions",
                          "cycles_mean",
                          "cycles_min",
                          "cycles_max",
                          "convergence_factor",
                          "seconds_mean",
                          "seconds_min",
                          "seconds_max",
                          "seconds_standard_deviation",
                          "cycles_median",
                          "seconds_median",
                          "seconds_lower_quartile",
                          "seconds_upper_quartile",
                          "seconds_a_cycle",
                          "smoother_seconds_a_cycle",
                          "residual_and_transfers_seconds_a_cycle",
                          "coarse_solver_seconds_a_cycle",
                          "copies_seconds_a_cycle",
                          "setup_seconds",
                          "hierarchy_seconds",
                          "memory_bytes",
                          "attainable_residual",
                          "winner_reason",
                          "note"}));
    for (const SmootherRow &row : rows)
      {
        std::vector<std::string> cells = key(row);
        cells.insert(cells.end(), {row.status, row.varies ? "yes" : "no", std::to_string(row.seconds.size())});
        if (row.seconds.empty())
          cells.insert(cells.end(), 18, "");
        else
          {
            const auto cycles = row.cycle_statistics(), seconds = row.time_statistics();
            for (const double value : {cycles.mean,
                                       cycles.minimum,
                                       cycles.maximum,
                                       row.factor,
                                       seconds.mean,
                                       seconds.minimum,
                                       seconds.maximum,
                                       seconds.standard_deviation,
                                       row.cycles_quantile(0.5),
                                       row.seconds_quantile(0.5),
                                       row.seconds_quantile(0.25),
                                       row.seconds_quantile(0.75),
                                       row.seconds_per_cycle(),
                                       row.smoother_seconds,
                                       row.transfer_seconds,
                                       row.coarse_seconds,
                                       row.copy_seconds,
                                       row.setup_seconds})
              cells.push_back(number(value));
          }
        cells.insert(cells.end(), {number(row.hierarchy_seconds), std::to_string(row.memory), number(row.attainable), row.winner_reason, row.note});
        table.add_row(std::move(cells));
      }
    return table;
  }

  Table history_table(const std::vector<SmootherRow> &rows)
  {
    Table table("", with_key({"repetition", "cycle_number", "seconds", "relative_residual"}));
    for (const SmootherRow &row : rows)
      for (std::size_t r = 0; r < row.histories.size(); ++r)
        for (std::size_t c = 0; c < row.histories[r].relative_residuals.size(); ++c)
          {
            std::vector<std::string> cells = key(row);
            cells.insert(cells.end(),
                         {std::to_string(r),
                          std::to_string(c),
                          format("%.6g", static_cast<double>(c) * row.histories[r].seconds_per_cycle),
                          format("%.6g", row.histories[r].relative_residuals[c])});
            table.add_row(std::move(cells));
          }
    return table;
  }

  Table winner_table(const std::vector<SmootherRow> &rows)
  {
    Table table("Winners", {"case", "problem", "unknowns", "levels", "winner", "cycles", "time [ms]", "reason"});
    for (const SmootherRow &row : rows)
      if (!row.winner_reason.empty())
        table.add_row({row.case_name,
                       row.problem,
                       std::to_string(row.unknowns),
                       std::to_string(row.levels),
                       row.label(),
                       cell(row.cycles_quantile(0.5), "%.1f"),
                       cell(1e3 * row.seconds_quantile(0.5), "%.4g"),
                       row.winner_reason});
    return table;
  }
} // namespace leopard
