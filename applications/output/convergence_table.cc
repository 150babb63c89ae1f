// SPDX-License-Identifier: Apache-2.0
#include "convergence_table.h"

#include <applications/base/files.h>
#include <applications/base/log.h>

#include <cmath>
#include <limits>

namespace leopard
{
  ConvergenceTable::ConvergenceTable(const std::string &refined)
    : refined_name(refined)
  {
  }

  void ConvergenceTable::add(unsigned long long n_unknowns, double refined, double l2, double h1_seminorm, double nodal_maximum, double for_rates)
  {
    rows.push_back({n_unknowns, refined, {l2, h1_seminorm, nodal_maximum}, for_rates > 0. ? for_rates : refined});
  }

  double ConvergenceTable::rate(std::size_t row, unsigned int error) const
  {
    if (row == 0 || row >= rows.size())
      return std::numeric_limits<double>::quiet_NaN();
    const double rate = std::log(rows[row - 1].errors[error] / rows[row].errors[error]) / std::log(rows[row - 1].for_rates / rows[row].for_rates);
    return std::isfinite(rate) ? rate : std::numeric_limits<double>::quiet_NaN();
  }

  double ConvergenceTable::last_l2_rate() const
  {
    const double last = rows.empty() ? 0. : rate(rows.size() - 1, 0);
    return std::isnan(last) ? 0. : last;
  }

  std::string ConvergenceTable::text() const
  {
    std::string result = format("  %5s %11s %12s %12s %6s %12s %6s %12s %6s\n",
                                "cycle",
                                "unknowns",
                                refined_name.c_str(),
                                "L2 error",
                                "rate",
                                "H1 seminorm",
                                "rate",
                                "at nodes",
                                "rate");
    for (std::size_t i = 0; i < rows.size(); ++i)
      {
        result += format("  %5zu %11llu %12.5e", i, rows[i].n_unknowns, rows[i].refined);
        for (unsigned int e = 0; e < 3; ++e)
          result += format(" %12.5e %6s", rows[i].errors[e], std::isnan(rate(i, e)) ? "-" : format("%.2f", rate(i, e)).c_str());
        result += "\n";
      }
    return result;
  }

  std::string ConvergenceTable::csv() const
  {
    std::string result =
      "cycle,unknowns," + refined_name + ",l2_error,l2_rate,h1_seminorm_error,h1_seminorm_rate,nodal_maximum_error,nodal_maximum_rate\n";
    for (std::size_t i = 0; i < rows.size(); ++i)
      {
        result += format("%zu,%llu,%.12e", i, rows[i].n_unknowns, rows[i].refined);
        for (unsigned int e = 0; e < 3; ++e)
          result += format(",%.12e,%s", rows[i].errors[e], std::isnan(rate(i, e)) ? "" : format("%.6f", rate(i, e)).c_str());
        result += "\n";
      }
    return result;
  }

  void ConvergenceTable::write(const std::string &base) const
  {
    write_file_atomically(base + ".txt", text());
    write_file_atomically(base + ".csv", csv());
  }
} // namespace leopard
