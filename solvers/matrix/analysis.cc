// SPDX-License-Identifier: Apache-2.0
#include "analysis.h"

#include "crs_matrix.h"

#include <cmath>
#include <random>

namespace leopard
{
  namespace
  {
    std::vector<double> inverse_diagonal(const CrsMatrix &A)
    {
      std::vector<double> inverse(A.n_rows);
      for (int i = 0; i < A.n_rows; ++i)
        for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
          if (A.columns[p] == i)
            inverse[i] = 1. / A.values[p];
      return inverse;
    }

    double normalize(std::vector<double> &v)
    {
      double sum = 0.;
      for (const double x : v)
        sum += x * x;
      const double norm = std::sqrt(sum);
      if (norm > 0.)
        for (double &x : v)
          x /= norm;
      return norm;
    }

    /** Power iteration with whatever step() does to a vector; returns the growth factor. */
    template <typename Step>
    double power_iteration(std::vector<double> v, const Step &step, int max_iterations, double tolerance)
    {
      normalize(v);
      double estimate = 0.;
      for (int n = 0; n < max_iterations; ++n)
        {
          step(v);
          const double growth = normalize(v);
          const bool   done   = n > 5 && std::abs(growth - estimate) <= tolerance * growth;
          estimate            = growth;
          if (done || growth == 0.)
            break;
        }
      return estimate;
    }
  } // namespace

  double estimate_spectral_radius_abs(const CrsMatrix &A, int max_iterations, double tolerance)
  {
    const std::vector<double> inverse = inverse_diagonal(A);
    std::vector<double>       image(A.n_rows);
    const auto                step = [&](std::vector<double> &v) {
      for (int i = 0; i < A.n_rows; ++i)
        {
          double sum = 0.;
          for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
            if (A.columns[p] != i && A.columns[p] < A.n_rows)
              sum += std::abs(A.values[p] * inverse[i]) * v[A.columns[p]];
          image[i] = sum + v[i];
        }
      v.swap(image);
    };
    return power_iteration(std::vector<double>(A.n_rows, 1.), step, max_iterations, tolerance) - 1.;
  }

  double estimate_spectral_radius(const CrsMatrix &A, int max_iterations, double tolerance)
  {
    const std::vector<double> inverse = inverse_diagonal(A);
    std::vector<double>       image(A.n_rows);
    const auto                step = [&](std::vector<double> &v) {
      for (int twice = 0; twice < 2; ++twice)
        {
          for (int i = 0; i < A.n_rows; ++i)
            {
              double sum = 0.;
              for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
                if (A.columns[p] != i && A.columns[p] < A.n_rows)
                  sum -= A.values[p] * inverse[i] * v[A.columns[p]];
              image[i] = sum;
            }
          v.swap(image);
        }
    };
    std::mt19937_64                        random(1);
    std::uniform_real_distribution<double> value(-1., 1.);
    std::vector<double>                    v(A.n_rows);
    for (double &x : v)
      x = value(random);
    return std::sqrt(power_iteration(v, step, max_iterations, tolerance));
  }
} // namespace leopard
