// SPDX-License-Identifier: Apache-2.0
#include "chebyshev.h"

#include "../base/errors.h"
#include "host_relaxation.h"
#include "methods.h"
#include "relaxation_engine.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>
#include <string>
#include <utility>

namespace leopard
{
  namespace
  {
    constexpr double safety        = 1.05;
    constexpr double default_ratio = 30.; ///< lambda_max / lambda_min for smoothing

    std::string number(double value)
    {
      char text[32];
      std::snprintf(text, sizeof(text), "%.6g", value);
      return text;
    }

    double diagonal_of(const CrsMatrix &A, int i)
    {
      for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
        if (A.columns[p] == i)
          return A.values[p];
      return 0.;
    }

    /** w = D^-1 A v, own columns only; returns w^T |D| w. */
    double multiply_scaled(const CrsMatrix &A, const double *v, double *w)
    {
      double norm_squared = 0.;
      for (int i = 0; i < A.n_rows; ++i)
        {
          double sum = 0., diagonal = 0.;
          for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
            if (A.columns[p] < A.n_rows)
              {
                sum += A.values[p] * v[A.columns[p]];
                if (A.columns[p] == i)
                  diagonal = A.values[p];
              }
          w[i] = sum / diagonal;
          norm_squared += std::abs(diagonal) * w[i] * w[i];
        }
      return norm_squared;
    }

    /** estimate_lambda_max() that allocates nothing. @param work 2 n_rows values. */
    double estimate_lambda_max(const CrsMatrix &A, std::vector<double> &work, int n_steps = 40)
    {
      double                                *v = work.data(), *w = v + A.n_rows;
      std::mt19937_64                        random(1);
      std::uniform_real_distribution<double> value(-1., 1.);
      for (int i = 0; i < A.n_rows; ++i)
        v[i] = value(random);
      double estimate = 0.;
      for (int step = 0; step <= n_steps; ++step)
        {
          const double norm = std::sqrt(multiply_scaled(A, v, w));
          if (!std::isfinite(norm))
            throw InvalidInput("the power iteration for the largest eigenvalue of D^-1 A has overflowed\n  expected: entries of moderate size beside "
                               "their diagonal entry, or the option lambda_max");
          if (norm == 0.)
            break;
          if (step > 0) // the first only gives the random vector the norm 1
            estimate = norm;
          for (int i = 0; i < A.n_rows; ++i)
            w[i] /= norm;
          std::swap(v, w);
        }
      const double bound = gershgorin_bound(A);
      return estimate > 0. ? std::min(safety * estimate, bound) : bound;
    }

    class HostChebyshev : public HostRelaxation
    {
    public:
      HostChebyshev(const CrsMatrix &A_, const ChebyshevOptions &options)
        : HostRelaxation(A_)
        , recurrence(A, options)
        , direction(A.n_rows)
      {
      }

      std::string name() const override { return "Chebyshev"; }
      std::string description() const override { return recurrence.text(); }
      bool        is_symmetric_map() const override { return true; }
      void        restart() override { recurrence.restart(); }

      void iterate(double *x, const double *b, int n_iterations) override
      {
        for (int n = 0; n < n_iterations; ++n)
          {
            const auto [a, c] = recurrence.next();
            for (int i = 0; i < A.n_rows; ++i)
              {
                const double step = c * inverse_diagonal[i] * residual(i, x, b);
                direction[i]      = a == 0. ? step : a * direction[i] + step; // what was before the first step may be anything
              }
            for (int i = 0; i < A.n_rows; ++i)
              x[i] += direction[i];
          }
      }

      void update_values(const double *values) override
      {
        HostRelaxation::update_values(values);
        recurrence.update(A);
      }

    private:
      ChebyshevRecurrence recurrence;
      std::vector<double> direction; ///< d_k
    };
  } // namespace

  void ChebyshevOptions::validate() const
  {
    for (const auto &[name, value] : {std::pair("lambda_min", lambda_min), std::pair("lambda_max", lambda_max)})
      if (!(value >= 0. && std::isfinite(value)))
        throw InvalidInput(std::string("Chebyshev iteration: ") + name + " is " + number(value) +
                           "\n  expected: a number > 0, or 0 to have it chosen");
    if (!(ratio == 0. || (ratio > 1. && std::isfinite(ratio))))
      throw InvalidInput("Chebyshev iteration: ratio is " + number(ratio) + "\n  expected: a number > 1, or 0 to have it chosen");
    if (lambda_max > 0. && !(lambda_min < lambda_max))
      throw InvalidInput("Chebyshev iteration: lambda_min is " + number(lambda_min) + " and lambda_max is " + number(lambda_max) +
                         "\n  expected: 0 < lambda_min < lambda_max, or 0 to have one chosen");
  }

  double gershgorin_bound(const CrsMatrix &A)
  {
    double bound = 0.;
    for (int i = 0; i < A.n_rows; ++i)
      {
        double sum = 0.;
        for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
          sum += std::abs(A.values[p]);
        bound = std::max(bound, sum / std::abs(diagonal_of(A, i)));
      }
    return bound;
  }

  double estimate_lambda_max(const CrsMatrix &A, int n_steps)
  {
    std::vector<double> work(2 * static_cast<std::size_t>(A.n_rows));
    return estimate_lambda_max(A, work, n_steps);
  }

  ChebyshevRecurrence::ChebyshevRecurrence(const CrsMatrix &A, const ChebyshevOptions &options_)
    : options(options_)
    , work(options_.lambda_max == 0. ? 2 * static_cast<std::size_t>(A.n_rows) : 0)
  {
    if (estimates() && A.n_columns > A.n_rows)
      throw InvalidInput("Chebyshev iteration: lambda_max is 0, to be estimated, but the matrix has " + std::to_string(A.n_columns - A.n_rows) +
                         " ghost columns, and each rank would find another number\n  expected: lambda_max, the same on all ranks; for example the "
                         "maximum of estimate_lambda_max() over the ranks");
    update(A);
  }

  void ChebyshevRecurrence::update(const CrsMatrix &A)
  {
    const double largest  = !estimates() ? options.lambda_max : A.n_rows > 0 ? estimate_lambda_max(A, work) : 1.;
    const double smallest = options.lambda_min > 0. ? options.lambda_min : largest / (options.ratio > 0. ? options.ratio : default_ratio);
    if (!(smallest < largest))
      throw InvalidInput("Chebyshev iteration: lambda_min is " + number(smallest) + ", and the estimate of the largest eigenvalue of D^-1 A is " +
                         number(largest) + "\n  expected: a lambda_min below that, or 0 to have it chosen");
    lambda_min = smallest;
    lambda_max = largest;
    restart();
  }

  ChebyshevRecurrence::Coefficients ChebyshevRecurrence::next()
  {
    const double theta = 0.5 * (lambda_max + lambda_min), delta = 0.5 * (lambda_max - lambda_min), sigma = theta / delta;
    if (!started)
      {
        started = true;
        rho     = 1. / sigma;
        return {0., 1. / theta};
      }
    const double last = rho;
    rho               = 1. / (2. * sigma - last);
    return {rho * last, 2. * rho / delta};
  }

  std::string ChebyshevRecurrence::text() const
  {
    return "for eigenvalues of D^-1 A between " + number(lambda_min) +
           (options.lambda_min > 0.
              ? " (given)"
              : std::string(" (1/").append(number(options.ratio > 0. ? options.ratio : default_ratio)).append(" of the largest)")) +
           " and " + number(lambda_max) + (estimates() ? " (estimated)" : " (given)");
  }

  std::unique_ptr<Relaxation> make_chebyshev(const CrsMatrix &A, const ChebyshevOptions &options)
  {
    options.validate();
    if (options.backend == Backend::cuda)
      return make_chebyshev_cuda(A, options);
    return std::make_unique<HostChebyshev>(A, options);
  }

  extern const Method chebyshev_method = {.name         = "chebyshev",
                                          .meaning      = "Chebyshev iteration for an interval of eigenvalues",
                                          .uses_on_cuda = everywhere,
                                          .omega        = OmegaRange::none,
                                          .has_interval = true,
                                          .make         = [](const CrsMatrix &A, const MethodOptions &given) {
                                            ChebyshevOptions options = given.chebyshev;
                                            options.backend          = given.backend;
                                            return make_chebyshev(A, options);
                                          }};
} // namespace leopard
