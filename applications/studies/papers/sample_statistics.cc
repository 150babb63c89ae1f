// SPDX-License-Identifier: Apache-2.0
#include "sample_statistics.h"

#include <solvers/base/errors.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

namespace leopard::studies
{
  Statistics statistics(const std::vector<double> &samples)
  {
    if (samples.empty())
      throw InvalidInput("statistics: there are no samples\n  expected: one at least");
    Statistics s;
    s.n       = static_cast<int>(samples.size());
    s.maximum = *std::max_element(samples.begin(), samples.end());
    s.minimum = *std::min_element(samples.begin(), samples.end());
    // around the first sample, since the samples differ by little
    for (const double x : samples)
      s.mean += (x - samples[0]) / s.n;
    s.mean += samples[0];
    s.absolute_variation = s.maximum - s.minimum;
    s.relative_variation = s.mean != 0. ? s.absolute_variation / s.mean : 0.;
    if (s.n > 1)
      for (const double x : samples)
        s.variance += (x - s.mean) * (x - s.mean) / (s.n - 1);
    s.standard_deviation = std::sqrt(s.variance);
    s.standard_error     = s.standard_deviation / std::sqrt(s.n);
    return s;
  }

  double median(std::vector<double> samples)
  {
    if (samples.empty())
      throw InvalidInput("median: there are no samples\n  expected: one at least");
    std::nth_element(samples.begin(), samples.begin() + samples.size() / 2, samples.end());
    return samples[samples.size() / 2];
  }

  double quantile(std::vector<double> samples, double p)
  {
    if (samples.empty())
      throw InvalidInput("quantile: there are no samples\n  expected: one at least");
    std::sort(samples.begin(), samples.end());
    const double      position = p * static_cast<double>(samples.size() - 1);
    const std::size_t below = static_cast<std::size_t>(position), above = std::min(below + 1, samples.size() - 1);
    return samples[below] + (position - static_cast<double>(below)) * (samples[above] - samples[below]);
  }

  Line fit_line(const std::vector<double> &x, const std::vector<double> &y)
  {
    const double n      = static_cast<double>(x.size());
    const double mean_x = std::accumulate(x.begin(), x.end(), 0.) / n, mean_y = std::accumulate(y.begin(), y.end(), 0.) / n;
    double       xx = 0., xy = 0.;
    for (std::size_t i = 0; i < x.size(); ++i)
      {
        xx += (x[i] - mean_x) * (x[i] - mean_x);
        xy += (x[i] - mean_x) * (y[i] - mean_y);
      }
    if (x.size() != y.size() || !(xx > 0.))
      throw InvalidInput("a line through " + std::to_string(x.size()) + " points\n  expected: two at least, with different x");
    Line line;
    line.slope     = xy / xx;
    line.intercept = mean_y - line.slope * mean_x;
    for (std::size_t i = 0; i < x.size(); ++i)
      line.deviation += std::pow(y[i] - line.intercept - line.slope * x[i], 2) / n;
    line.deviation = std::sqrt(line.deviation);
    return line;
  }
} // namespace leopard::studies
