// SPDX-License-Identifier: Apache-2.0
#include "chebyshev.h"

#include "../base/errors.h"
#include "../base/thread_pool.h"
#include "../base/words.h"
#include "../matrix/matrix_entries.h"
#include "host_relaxation.h"
#include "methods.h"
#include "relaxation_engine.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <string>
#include <utility>

namespace leopard
{
  namespace
  {
    constexpr double safety        = 1.05;
    constexpr double default_ratio = 30.; ///< lambda_max / lambda_min for smoothing

    constexpr long rows_a_part = 4096; ///< whose sum is one number, so that it does not depend on the threads
    long           n_parts(int n_rows)
    {
      return (n_rows + rows_a_part - 1) / rows_a_part;
    }
    std::size_t n_work(int n_rows)
    {
      return 2 * static_cast<std::size_t>(n_rows) + n_parts(n_rows);
    }

    /** w = D^-1 A v, own columns only; returns w^T |D| w. @param sums one a part. */
    template <typename Number>
    double multiply_scaled(const CrsMatrix<Number> &A, const double *v, double *w, double *sums, ThreadPool &pool)
    {
      parallel_for(pool, n_parts(A.n_rows), 1, [&](long first, long last) {
        for (long part = first; part < last; ++part)
          {
            double norm_squared = 0.;
            for (int i = static_cast<int>(part * rows_a_part), end = static_cast<int>(std::min<long>(A.n_rows, i + rows_a_part)); i < end; ++i)
              {
                double sum = 0., diagonal = 0.;
                for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
                  if (A.columns[p] < A.n_rows)
                    {
                      sum += static_cast<double>(A.values[p]) * v[A.columns[p]];
                      if (A.columns[p] == i)
                        diagonal = A.values[p];
                    }
                w[i] = sum / diagonal;
                norm_squared += std::abs(diagonal) * w[i] * w[i];
              }
            sums[part] = norm_squared;
          }
      });
      return std::accumulate(sums, sums + n_parts(A.n_rows), 0.);
    }

    [[noreturn]] void refuse_overflow()
    {
      throw InvalidInput("the power iteration for the largest eigenvalue of D^-1 A has overflowed\n  expected: entries of moderate size beside "
                         "their diagonal entry, or the option lambda_max");
    }

    /** What is taken for the largest eigenvalue. */
    double with_safety(double estimate, double bound)
    {
      return estimate > 0. ? std::min(safety * estimate, bound) : bound;
    }

    /**
     * Polynomials of the fourth kind are 0.2 at their upper end and 1 a little beyond, where those of the first kind
     * are still small: an estimate that is too low costs them more than one that is too high.
     */
    template <typename Matrix>
    double with_margin(double estimate, const ChebyshevOptions &options, const Matrix &A)
    {
      constexpr double margin = 1.1;
      return options.fourth_kind ? std::min(margin * estimate, gershgorin_bound(A)) : estimate;
    }

    /** estimate_lambda_max() that allocates nothing. @param work n_work() values. */
    template <typename Number>
    double estimate_lambda_max(const CrsMatrix<Number> &A, std::vector<double> &work, ThreadPool &pool, int n_steps = 40)
    {
      double                                *v = work.data(), *w = v + A.n_rows, *sums = w + A.n_rows;
      std::mt19937_64                        random(1);
      std::uniform_real_distribution<double> value(-1., 1.);
      for (int i = 0; i < A.n_rows; ++i)
        v[i] = value(random);
      double estimate = 0.;
      for (int step = 0; step <= n_steps; ++step)
        {
          const double norm = std::sqrt(multiply_scaled(A, v, w, sums, pool));
          if (!std::isfinite(norm))
            refuse_overflow();
          if (norm == 0.)
            break;
          if (step > 0) // the first only gives the random vector the norm 1
            estimate = norm;
          parallel_for(pool, A.n_rows, rows_a_part, [&](long begin, long end) {
            std::transform(w + begin, w + end, w + begin, [norm](double x) { return x / norm; });
          });
          std::swap(v, w);
        }
      return with_safety(estimate, gershgorin_bound(A));
    }

    template <typename Number>
    class HostChebyshev : public HostRelaxation<Number>
    {
    public:
      HostChebyshev(const CrsMatrix<Number> &A_, const ChebyshevOptions &options)
        : HostRelaxation<Number>(A_)
        , pool(shared_thread_pool(options.n_threads))
        , recurrence(A, options)
        , direction(A.n_rows)
      {
      }

      std::string name() const override { return recurrence.name(); }
      std::string description() const override { return recurrence.text(); }
      bool        is_symmetric_map() const override { return true; }
      void        restart() override { recurrence.restart(); }

      void iterate(Number *x, const Number *b, int n_iterations) override
      {
        recurrence.begin(n_iterations);
        for (int n = 0; n < n_iterations; ++n)
          {
            const auto   factors = recurrence.next();
            const Number a = static_cast<Number>(factors.direction), c = static_cast<Number>(factors.residual);
            parallel_for(*pool, A.n_rows, rows_a_part, [&](long begin, long end) {
              for (int i = static_cast<int>(begin); i < end; ++i)
                {
                  const Number step = c * inverse_diagonal[i] * residual_of_row(i, x, b);
                  direction[i]      = a == Number(0) ? step : a * direction[i] + step; // what was before the first step may be anything
                }
            });
            parallel_for(*pool, A.n_rows, rows_a_part, [&](long begin, long end) {
              for (long i = begin; i < end; ++i)
                x[i] += direction[i];
            });
          }
      }

      void update_values(const Number *values) override
      {
        HostRelaxation<Number>::update_values(values);
        recurrence.update(A);
      }

    private:
      using HostRelaxation<Number>::A;
      using HostRelaxation<Number>::inverse_diagonal;
      using HostRelaxation<Number>::residual_of_row;

      const std::shared_ptr<ThreadPool> pool;
      ChebyshevRecurrence               recurrence;
      std::vector<Number>               direction; ///< d_k
    };
  } // namespace

  void ChebyshevOptions::validate() const
  {
    for (const auto &[name, value] : {std::pair("lambda_min", lambda_min), std::pair("lambda_max", lambda_max)})
      if (!(value >= 0. && std::isfinite(value)))
        throw InvalidInput(std::string("Chebyshev iteration: ") + name + " is " + short_text(value) +
                           "\n  expected: a number > 0, or 0 to have it chosen");
    if (!(ratio == 0. || (ratio > 1. && std::isfinite(ratio))))
      throw InvalidInput("Chebyshev iteration: ratio is " + short_text(ratio) + "\n  expected: a number > 1, or 0 to have it chosen");
    if (fourth_kind && lambda_min != 0.)
      throw InvalidInput("Chebyshev iteration: lambda_min is " + short_text(lambda_min) +
                         " for polynomials of the fourth kind\n  expected: 0; they have an upper end only");
    if (lambda_max > 0. && !(lambda_min < lambda_max))
      throw InvalidInput("Chebyshev iteration: lambda_min is " + short_text(lambda_min) + " and lambda_max is " + short_text(lambda_max) +
                         "\n  expected: 0 < lambda_min < lambda_max, or 0 to have one chosen");
  }

  template <typename Number>
  double gershgorin_bound(const CrsMatrix<Number> &A)
  {
    double bound = 0.;
    for (int i = 0; i < A.n_rows; ++i)
      {
        double sum = 0.;
        for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
          sum += std::abs(static_cast<double>(A.values[p]));
        bound = std::max(bound, sum / std::abs(static_cast<double>(entry(A, i, i))));
      }
    return bound;
  }

  template <typename Number>
  double gershgorin_bound(const device::DeviceCrs<Number> &A)
  {
    return device::row_sum_bound(A);
  }

  template <typename Number>
  double estimate_lambda_max(const device::DeviceCrs<Number> &A, int n_steps)
  {
    const double estimate = device::power_iteration(A, n_steps);
    if (!std::isfinite(estimate))
      refuse_overflow();
    return with_safety(estimate, device::row_sum_bound(A));
  }

  template <typename Number>
  double estimate_lambda_max(const CrsMatrix<Number> &A, int n_steps, int n_threads)
  {
    std::vector<double> work(n_work(A.n_rows));
    return estimate_lambda_max(A, work, *shared_thread_pool(n_threads), n_steps);
  }

  void ChebyshevRecurrence::check_ghosts(int n_ghosts) const
  {
    if (estimates() && n_ghosts > 0)
      throw InvalidInput("Chebyshev iteration: lambda_max is 0, to be estimated, but the matrix has " + std::to_string(n_ghosts) +
                         " ghost columns, and each rank would find another number\n  expected: lambda_max, the same on all ranks; for example the "
                         "maximum of estimate_lambda_max() over the ranks");
  }

  template <typename Number>
  ChebyshevRecurrence::ChebyshevRecurrence(const CrsMatrix<Number> &A, const ChebyshevOptions &options_)
    : options(options_)
    , pool(shared_thread_pool(options_.n_threads))
    , work(options_.lambda_max == 0. ? n_work(A.n_rows) : 0)
  {
    check_ghosts(A.n_columns - A.n_rows);
    update(A);
  }

  template <typename Number>
  ChebyshevRecurrence::ChebyshevRecurrence(const device::DeviceCrs<Number> &A, const ChebyshevOptions &options_)
    : options(options_)
  {
    check_ghosts(A.n_columns - A.n_rows);
    update(A);
  }

  template <typename Number>
  void ChebyshevRecurrence::update(const CrsMatrix<Number> &A)
  {
    set_interval(estimates() && A.n_rows > 0 ? with_margin(estimate_lambda_max(A, work, *pool), options, A) : 1.);
  }

  template <typename Number>
  void ChebyshevRecurrence::update(const device::DeviceCrs<Number> &A)
  {
    constexpr int few = 15, more = 40; // steps of power iteration
    set_interval(estimates() && A.n_rows > 0 ? with_margin(estimate_lambda_max(A, options.fourth_kind ? more : few), options, A) : 1.);
  }

  void ChebyshevRecurrence::set_interval(double estimated)
  {
    const double largest  = estimates() ? estimated : options.lambda_max;
    const double smallest = options.fourth_kind       ? 0.
                            : options.lambda_min > 0. ? options.lambda_min
                                                      : largest / (options.ratio > 0. ? options.ratio : default_ratio);
    if (!(smallest < largest))
      throw InvalidInput("Chebyshev iteration: lambda_min is " + short_text(smallest) + ", and the estimate of the largest eigenvalue of D^-1 A is " +
                         short_text(largest) + "\n  expected: a lambda_min below that, or 0 to have it chosen");
    lambda_min = smallest;
    lambda_max = largest;
    restart();
  }

  std::vector<double> fourth_kind_weights(int k)
  {
    static const std::vector<double> weights[most_fourth_kind] = {
      {1.5},
      {1.1180339887499, 3.6180339887499},
      {1.0549581320874, 1.6920214716301, 6.8508550753271},
      {1.032088886238, 1.3472963553339, 2.532088886238, 11.170244610953},
      {1.0211085581132, 1.2137940802183, 1.7784344533347, 3.6014930128914, 16.572244934797},
      {1.0149639154749, 1.146261232709, 1.4868897570955, 2.3176504130529, 4.8921667694478, 23.055782447022},
      {1.0111702974325, 1.1068636913174, 1.3382612127177, 1.8270909152852, 2.9562952014676, 6.4014201055027, 30.620464060164},
      {1.0086609187584, 1.081706121589, 1.2506076090467, 1.5780010743357, 2.2262967851645, 3.6910738223324, 8.1281320875152, 39.266117370002}};
    if (k < 1 || k > most_fourth_kind)
      throw InvalidInput("Chebyshev polynomials of the fourth kind: " + std::to_string(k) + " sweeps\n  expected: 1 to " +
                         std::to_string(most_fourth_kind));
    return weights[k - 1];
  }

  void ChebyshevRecurrence::begin(int n_steps)
  {
    weights.clear();
    for (int n_left = options.fourth_kind ? n_steps : 0; n_left > 0;)
      {
        const int                 n_polynomials = (n_left + most_fourth_kind - 1) / most_fourth_kind, k = n_left / n_polynomials;
        const std::vector<double> next = fourth_kind_weights(k);
        weights.insert(weights.end(), next.begin(), next.end());
        n_left -= k;
      }
    std::reverse(weights.begin(), weights.end());
  }

  ChebyshevRecurrence::Coefficients ChebyshevRecurrence::next()
  {
    if (options.fourth_kind)
      {
        const double weight = weights.back();
        weights.pop_back();
        return {0., weight / lambda_max};
      }
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
    if (options.fourth_kind)
      return "for eigenvalues of D^-1 A up to " + short_text(lambda_max) + (estimates() ? " (estimated)" : " (given)");
    return "for eigenvalues of D^-1 A between " + short_text(lambda_min) +
           (options.lambda_min > 0.
              ? " (given)"
              : std::string(" (1/").append(short_text(options.ratio > 0. ? options.ratio : default_ratio)).append(" of the largest)")) +
           " and " + short_text(lambda_max) + (estimates() ? " (estimated)" : " (given)");
  }

  template <typename Number>
  std::unique_ptr<Relaxation<Number>> make_chebyshev(const CrsMatrix<Number> &A, const ChebyshevOptions &options)
  {
    options.validate();
    if (options.backend == Backend::cuda)
      return make_chebyshev_cuda(A, options);
    return std::make_unique<HostChebyshev<Number>>(A, options);
  }

  namespace
  {
    /** For the list of methods, of the first or the fourth kind. */
    template <bool fourth_kind>
    constexpr auto make_of_kind = [](const auto &A, const MethodOptions &given) {
      ChebyshevOptions options = given.chebyshev;
      options.backend          = given.backend;
      options.fourth_kind      = fourth_kind;
      return make_chebyshev(A, options);
    };

    template <bool fourth_kind>
    constexpr auto make_of_kind_on_device = [](const auto &A, const MethodOptions &given) {
      ChebyshevOptions options = given.chebyshev;
      options.fourth_kind      = fourth_kind;
      options.validate();
      return make_chebyshev_cuda(A, options);
    };
  } // namespace

  extern const Method chebyshev_method = {.name           = "chebyshev",
                                          .meaning        = "Chebyshev iteration for an interval of eigenvalues",
                                          .uses_on_cuda   = everywhere,
                                          .omega          = OmegaRange::none,
                                          .has_interval   = true,
                                          .make           = make_of_kind<false>,
                                          .make_on_device = make_of_kind_on_device<false>};

  extern const Method chebyshev4_method = {.name           = "chebyshev4",
                                           .meaning        = "Chebyshev polynomials of the fourth kind with optimized weights",
                                           .uses           = as_smoother,
                                           .uses_on_cuda   = as_smoother,
                                           .omega          = OmegaRange::none,
                                           .has_interval   = true,
                                           .make           = make_of_kind<true>,
                                           .make_on_device = make_of_kind_on_device<true>};

#define INSTANTIATE(Number)                                                                                               \
  template double gershgorin_bound(const CrsMatrix<Number> &A);                                                           \
  template double gershgorin_bound(const device::DeviceCrs<Number> &A);                                                   \
  template double estimate_lambda_max(const device::DeviceCrs<Number> &A, int n_steps);                                   \
  template double estimate_lambda_max(const CrsMatrix<Number> &A, int n_steps, int n_threads);                            \
  template ChebyshevRecurrence::ChebyshevRecurrence(const CrsMatrix<Number> &A, const ChebyshevOptions &options);         \
  template void ChebyshevRecurrence::update(const CrsMatrix<Number> &A);                                                  \
  template ChebyshevRecurrence::ChebyshevRecurrence(const device::DeviceCrs<Number> &A, const ChebyshevOptions &options); \
  template void                                ChebyshevRecurrence::update(const device::DeviceCrs<Number> &A);           \
  template std::unique_ptr<Relaxation<Number>> make_chebyshev(const CrsMatrix<Number> &A, const ChebyshevOptions &options);
  LEOPARD_FOR_EACH_NUMBER(INSTANTIATE)
#undef INSTANTIATE
} // namespace leopard
