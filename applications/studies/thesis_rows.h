// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "smoother_row.h"

#include <applications/base/log.h>
#include <applications/studies/papers/sample_statistics.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

namespace leopard
{
  /** Mean cycles to convergence. */
  inline double cycles(const SmootherRow &row)
  {
    return row.cycle_statistics().mean;
  }

  /** The rows of a case, by what distinguishes them. */
  class RowSet
  {
  public:
    explicit RowSet(const std::vector<SmootherRow> &all)
      : rows(all)
    {
      for (const SmootherRow &row : rows)
        {
          if (row.method == "async")
            add(asyncs, row.smoother);
          else if (row.method == "gauss-seidel")
            gauss_seidel = row.smoother;
          else if (row.method == "jacobi" || row.method == "damped-jacobi")
            add(jacobis, row.smoother);
          add(smoothers, row.smoother);
          add(epsilons, row.epsilon);
          add(sizes, row.unknowns);
          add(levels, row.levels);
          add(steps, row.smoothing_steps);
        }
      std::sort(epsilons.begin(), epsilons.end());
      std::sort(sizes.begin(), sizes.end());
      std::sort(levels.begin(), levels.end());
      std::sort(steps.begin(), steps.end());
    }

    /** The row of a smoother that differs from another in nothing else; null if there is none that was run. */
    const SmootherRow *like(const SmootherRow &row, const std::string &smoother) const
    {
      return find(smoother, row.epsilon, row.unknowns, row.levels, row.smoothing_steps);
    }

    const SmootherRow *find(const std::string &smoother, double epsilon, long long size, int n_levels, int n_steps) const
    {
      for (const SmootherRow &row : rows)
        if (row.smoother == smoother && row.epsilon == epsilon && row.unknowns == size && row.levels == n_levels && row.smoothing_steps == n_steps &&
            !row.cycles.empty())
          return &row;
      return nullptr;
    }

    const std::vector<SmootherRow> &rows;
    std::string                     gauss_seidel; ///< as written; empty: there is none
    std::vector<std::string>        asyncs, jacobis, smoothers;
    std::vector<double>             epsilons;
    std::vector<long long>          sizes;
    std::vector<int>                levels, steps;

  private:
    template <typename T>
    static void add(std::vector<T> &list, const T &value)
    {
      if (std::find(list.begin(), list.end(), value) == list.end())
        list.push_back(value);
    }
  };

  /** Collects a number from pairs of rows, to judge a finding by its extremes. */
  struct Range
  {
    double minimum = std::numeric_limits<double>::infinity(), maximum = -std::numeric_limits<double>::infinity(), sum = 0.;
    int    n = 0;

    /** What is not a number makes all of them so. */
    void add(double value)
    {
      minimum = -larger_or_nan(-minimum, -value);
      maximum = larger_or_nan(maximum, value);
      sum += value;
      ++n;
    }
    double      mean() const { return sum / n; }
    std::string text(const char *number = "%.2f") const { return format(number, minimum) + " to " + format(number, maximum); }
  };
} // namespace leopard
