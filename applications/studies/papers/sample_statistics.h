// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <solvers/base/norms.h>

#include <vector>

namespace leopard::studies
{
  /**
   * What the thesis tabulates over runs (Tables 4.1 to 4.4), in the units of the sample; relative_variation is
   * dimensionless.
   */
  struct Statistics
  {
    int    n    = 0;
    double mean = 0., maximum = 0., minimum = 0.;
    double absolute_variation = 0.; ///< maximum - minimum
    double relative_variation = 0.; ///< absolute_variation / mean
    double variance           = 0.; ///< sum (x_i - mean)^2 / (n - 1); 0 for one sample
    double standard_deviation = 0.; ///< sqrt(variance)
    double standard_error     = 0.; ///< standard_deviation / sqrt(n)
  };

  /** @throws InvalidInput without samples. */
  Statistics statistics(const std::vector<double> &samples);

  /**
   * The middle one of the sorted samples, of an even number the upper of the two. @throws InvalidInput without samples.
   */
  double median(std::vector<double> samples);

  /**
   * The value below which the part p in [0, 1] of the samples lies, interpolated between two of them (Hyndman and Fan
   * 1996, type 7): 0.25, 0.5, 0.75 are the quartiles. @throws InvalidInput without samples.
   */
  double quantile(std::vector<double> samples, double p);

  /** Least squares y = intercept + slope x. */
  struct Line
  {
    double intercept = 0., slope = 0.;
    double deviation = 0.; ///< root of the mean squared distance of the y from it
  };

  /** @throws InvalidInput for fewer than two points or points of one x. */
  Line fit_line(const std::vector<double> &x, const std::vector<double> &y);
} // namespace leopard::studies
