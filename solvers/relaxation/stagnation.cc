// SPDX-License-Identifier: Apache-2.0
#include "stagnation.h"

#include <algorithm>
#include <cmath>

namespace leopard
{
  namespace
  {
    /** Of the logarithm of the residual, an iteration. */
    struct Slope
    {
      double value = 0., standard_error = 0.;
    };

    /**
     * Least squares over the means of at most 16 parts of the window [first, end): neighbours in a history are not
     * independent, but parts of a long window are.
     */
    Slope fitted_slope(const std::vector<int> &iterations, const std::vector<double> &residuals, std::size_t first)
    {
      constexpr std::size_t most_parts = 16;
      const std::size_t     n = residuals.size(), n_parts = std::min(most_parts, n - first), length = (n - first) / n_parts;
      double                x[most_parts] = {}, y[most_parts] = {}, mean_x = 0., mean_y = 0.;
      for (std::size_t part = 0; part < n_parts; ++part)
        {
          const std::size_t begin = n - (n_parts - part) * length;
          for (std::size_t i = begin; i < begin + length; ++i)
            {
              x[part] += static_cast<double>(iterations[i]) / length;
              y[part] += std::log(std::max(residuals[i], 1e-300)) / length;
            }
          mean_x += x[part] / n_parts;
          mean_y += y[part] / n_parts;
        }
      double xx = 0., xy = 0.;
      for (std::size_t part = 0; part < n_parts; ++part)
        {
          xx += (x[part] - mean_x) * (x[part] - mean_x);
          xy += (x[part] - mean_x) * (y[part] - mean_y);
        }
      const double slope   = xy / xx;
      double       scatter = 0., neighbours = 0., before = 0.;
      for (std::size_t part = 0; part < n_parts; ++part)
        {
          const double off = y[part] - mean_y - slope * (x[part] - mean_x);
          scatter += off * off;
          neighbours += off * before;
          before = off;
        }
      const double correlation = std::clamp(scatter > 0. ? neighbours / scatter : 0., 0., 0.9); // what jitters slowly looks like a slope
      return {slope, std::sqrt(scatter / (static_cast<double>(n_parts) - 2.) / xx * (1. + correlation) / (1. - correlation))};
    }
  } // namespace

  bool StagnationTest::stagnates(const std::vector<int> &iterations, const std::vector<double> &residuals)
  {
    constexpr double  precision = 6., significance = 2.5; // standard errors
    const std::size_t n = residuals.size();
    if (n_tests == 0 || n < next_look)
      return false;
    next_look               = n + 1 + n / 32; // so that the looks at a long history cost no more than its length
    const double done       = iterations.back() - iterations.front();
    const double worthwhile = std::min(1. - slowest_factor, std::log(2.) / std::max(1., done)), nothing = 1e-3 * worthwhile;
    for (std::size_t w = std::max<std::size_t>(n_tests, 3); w < n; w *= 2)
      {
        const auto   begin = residuals.end() - static_cast<std::ptrdiff_t>(w + 1), half = residuals.end() - static_cast<std::ptrdiff_t>(w / 2);
        const double smallest = *std::min_element(residuals.begin(), half), largest = *std::max_element(begin, residuals.end());
        const double length = iterations.back() - iterations[n - 1 - w];
        if (!(length > 0.) || *std::min_element(half, residuals.end()) < smallest * (1. - nothing * length))
          continue;
        if (w < 4 * n_tests && largest > 2. * smallest)
          continue;
        const Slope slope = fitted_slope(iterations, residuals, n - 1 - w);
        if (precision * slope.standard_error <= worthwhile && slope.value >= -significance * slope.standard_error - nothing)
          return true;
        if (w >= 4 * n_tests && slope.value > 2. * significance * slope.standard_error)
          return true;
      }
    return false;
  }
} // namespace leopard
