// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../base/norms.h"
#include "../base/thread_pool.h"
#include "mixed_vectors.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

namespace leopard
{
  /** MixedVectors, and what else has them, on host threads. @tparam Interface MixedVectors or one derived from it. */
  template <typename Number, typename Interface>
  class HostVectors : public Interface
  {
  public:
    HostVectors(int n_, std::vector<double> scale_, double weight_, int n_threads)
      : n(n_)
      , scale(std::move(scale_))
      , weight(weight_)
      , pool(shared_thread_pool(n_threads))
    {
    }

    int         n_rows() const override { return n; }
    MemorySpace memory_space() const override { return MemorySpace::host; }

    RoundedNorms round(Number *low, const double *v, double unit, double factor) override
    {
      const double sum = parallel_sum(*pool, n, grain, [&](long begin, long end) {
        double part = 0.;
        for (long i = begin; i < end; ++i)
          {
            low[i] = static_cast<Number>(scale.empty() ? factor * v[i] : factor * scale[i] * v[i]);
            part += square(unit * v[i]);
          }
        return part;
      });
      return norms_of(std::sqrt(sum), low, unit, factor);
    }

    void add(double *x, const Number *c, double factor) override
    {
      const double back = weight / factor;
      parallel_for(*pool, n, grain, [&](long begin, long end) {
        for (long i = begin; i < end; ++i)
          if (std::isfinite(c[i]))
            x[i] += (scale.empty() ? back : scale[i] * back) * static_cast<double>(c[i]);
      });
    }

    void set(double *x, const Number *c, double factor) override
    {
      const double back = weight / factor;
      parallel_for(*pool, n, grain, [&](long begin, long end) {
        for (long i = begin; i < end; ++i)
          x[i] = (scale.empty() ? back : scale[i] * back) * static_cast<double>(c[i]);
      });
    }

    void take_step(Number *c, Number *s, double a, double momentum, bool goes_on) override
    {
      parallel_for(*pool, n, grain, [&](long begin, long end) {
        for (long i = begin; i < end; ++i)
          {
            const double y = goes_on ? s[i] : Number(0), new_part = std::isfinite(c[i]) ? a * (static_cast<double>(c[i]) - y) : 0.;
            const double step = momentum != 0. ? new_part + momentum * static_cast<double>(s[i]) : new_part;
            s[i]              = static_cast<Number>(step);
            c[i]              = static_cast<Number>(y + step);
          }
      });
    }

    double largest(const double *v) override
    {
      // as their bits, which are in the order of the numbers; infinity and what is no number are largest
      std::atomic<std::uint64_t> result{0};
      parallel_for(*pool, n, grain, [&](long begin, long end) {
        std::uint64_t own = 0;
        for (long i = begin; i < end; ++i)
          own = std::max(own, std::bit_cast<std::uint64_t>(std::abs(v[i])));
        for (std::uint64_t before = result.load(); own > before && !result.compare_exchange_weak(before, own);)
          ;
      });
      return std::bit_cast<double>(result.load());
    }

    double norm(const Number *c) override { return norm_of(c, 1.); }
    double norm(const double *v, double unit) override { return norm_of(v, unit); }

    std::shared_ptr<Number[]> vector() const override { return std::shared_ptr<Number[]>(new Number[n]()); }
    std::shared_ptr<double[]> double_vector() const override { return std::shared_ptr<double[]>(new double[n]()); }
    void                      copy(double *to, const double *from) const override { std::copy_n(from, n, to); }

  protected:
    template <typename T>
    double norm_of(const T *v, double unit) const
    {
      return std::sqrt(parallel_sum(*pool, n, grain, [&](long begin, long end) {
        double sum = 0.;
        for (long i = begin; i < end; ++i)
          sum += square(unit * static_cast<double>(v[i]));
        return sum;
      }));
    }

    RoundedNorms norms_of(double of_vector, const Number *low, double unit, double factor) const
    {
      return {of_vector, scale.empty() ? of_vector * (factor / unit) : norm_of(low, 1.)};
    }

    static constexpr long grain = 8192; ///< entries or numbers that are worth waking a thread for

    const int                         n;
    std::vector<double>               scale;
    const double                      weight; ///< of corrections
    const std::shared_ptr<ThreadPool> pool;
  };
} // namespace leopard
