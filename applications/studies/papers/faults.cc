// SPDX-License-Identifier: Apache-2.0
#include "faults.h"

#include "sample_statistics.h"

#include <solvers/base/errors.h>
#include <solvers/matrix/matrix_entries.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <string>

namespace leopard::studies
{
  std::vector<int> choose_rows(int n_rows, double fraction, std::uint64_t seed)
  {
    if (!(fraction >= 0. && fraction <= 1.))
      throw InvalidInput("the fraction of components that fail is " + std::to_string(fraction) + "\n  expected: 0 to 1");
    std::mt19937_64  random(seed);
    std::vector<int> rows(n_rows);
    std::iota(rows.begin(), rows.end(), 0);
    const std::size_t n = static_cast<std::size_t>(std::lround(fraction * n_rows));
    for (std::size_t i = 0; i < n; ++i)
      std::swap(rows[i], rows[i + random() % (rows.size() - i)]);
    rows.resize(n);
    std::sort(rows.begin(), rows.end());
    return rows;
  }

  CrsMatrix<double> stop_rows(const CrsMatrix<double> &A, const std::vector<int> &rows)
  {
    std::vector<bool> stopped(A.n_rows, false);
    for (const int i : rows)
      stopped[i] = true;
    CrsMatrix<double> result;
    result.n_rows    = A.n_rows;
    result.n_columns = A.n_columns;
    for (int i = 0; i < A.n_rows; ++i)
      {
        for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
          if (!stopped[i] || A.columns[p] == i)
            {
              result.columns.push_back(A.columns[p]);
              result.values.push_back(A.values[p]);
            }
        result.row_offsets.push_back(result.n_entries());
      }
    return result;
  }

  std::vector<double>
  stopped_right_hand_side(const CrsMatrix<double> &A, const std::vector<double> &b, const std::vector<int> &rows, const std::vector<double> &x)
  {
    std::vector<double> result = b;
    for (const int i : rows)
      result[i] = entry(A, i, i) * x[i];
    return result;
  }

  std::vector<double> corrupt(std::vector<double> x, const std::vector<int> &rows, double relative_change)
  {
    for (const int i : rows)
      x[i] *= 1. + relative_change;
    return x;
  }

  Calibration calibrate(const std::vector<std::vector<double>> &histories, int window, double floor)
  {
    if (histories.empty() || window < 1)
      throw InvalidInput("calibration from " + std::to_string(histories.size()) + " fault-free runs with a window of " + std::to_string(window) +
                         "\n  expected: one run at least, and a window of one iteration at least");
    const std::size_t n = histories[0].size();
    for (const auto &history : histories)
      if (history.size() != n)
        throw InvalidInput("calibration: a history has " + std::to_string(history.size()) + " residuals\n  expected: as the first, " +
                           std::to_string(n));
    Calibration result;
    result.window = window;
    result.log_reduction.assign(n, std::numeric_limits<double>::quiet_NaN());
    result.deviation = result.log_reduction;
    for (std::size_t t = window; t < n; ++t)
      {
        std::vector<double> logs;
        double              mean = 0.;
        for (const auto &history : histories)
          {
            logs.push_back(std::log(history[t] / history[t - window]));
            mean += history[t] / static_cast<double>(histories.size());
          }
        if (!(mean > floor))
          break;
        const Statistics s      = statistics(logs);
        result.log_reduction[t] = s.mean;
        result.deviation[t]     = s.standard_deviation;
      }
    return result;
  }

  double delay(const Calibration &calibration, const std::vector<double> &history, int t)
  {
    if (t < calibration.window || t >= calibration.n_iterations() || t >= static_cast<int>(history.size()))
      return std::numeric_limits<double>::quiet_NaN();
    return calibration.window * (1. - std::log(history[t] / history[t - calibration.window]) / calibration.log_reduction[t]);
  }

  int suspected_at(const Calibration &calibration, const std::vector<double> &history, double threshold, int from)
  {
    for (int t = std::max(from, calibration.window); t < std::min(calibration.n_iterations(), static_cast<int>(history.size())); ++t)
      if (const double d = delay(calibration, history, t); !std::isfinite(history[t]) || d > threshold)
        return t;
    return -1;
  }
} // namespace leopard::studies
