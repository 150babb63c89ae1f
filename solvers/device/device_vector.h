// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../base/rank_sums.h"

#include <cstddef>
#include <utility>

namespace leopard
{
  /**
   * A dense vector in device memory that satisfies the vector concept of deal.II's solver templates, so that
   * dealii::SolverCG, SolverGMRES, SolverFGMRES and Multigrid run on the GPU as they stand. In a distributed program it
   * holds the rank's own entries, and inner products and norms sum over ranks with the RankSums (a Communication) it
   * was given, which must outlive it. Built without CUDA, everything but an empty vector throws DeviceError.
   */
  template <typename Number>
  class DeviceVector
  {
  public:
    using value_type = Number;
    using real_type  = Number;
    using size_type  = std::size_t;

    DeviceVector() = default;
    explicit DeviceVector(size_type n, const RankSums *over_ranks = nullptr);
    DeviceVector(const DeviceVector &v);
    DeviceVector(DeviceVector &&v) noexcept;
    ~DeviceVector();
    DeviceVector &operator=(const DeviceVector &v);
    DeviceVector &operator=(DeviceVector &&v) noexcept;
    /** Sets all entries to s. */
    DeviceVector &operator=(Number s);

    /** Own entries; set to zero unless omit_zeroing. Allocates only if the length changes. */
    void reinit(size_type n, bool omit_zeroing = false);
    /** Same length and communication as v. */
    void reinit(const DeviceVector &v, bool omit_zeroing = false);
    void swap(DeviceVector &v) noexcept
    {
      std::swap(n, v.n);
      std::swap(values, v.values);
      std::swap(comm, v.comm);
    }

    size_type     size() const { return n; }       ///< own entries
    size_type     local_size() const { return n; } ///< the same
    Number       *data() { return values; }        ///< device memory
    const Number *data() const { return values; }  ///< device memory
    /** Bytes, those on the device included; newer deal.II asks for it. */
    std::size_t memory_consumption() const { return sizeof(*this) + static_cast<std::size_t>(n) * sizeof(Number); }

    void copy_from_host(const Number *values); ///< size() values from host memory
    void copy_to_host(Number *values) const;   ///< size() values to host memory

    Number operator*(const DeviceVector &v) const; ///< inner product
    Number l2_norm() const;
    Number norm_sqr() const;
    Number linfty_norm() const;
    bool   all_zero() const;

    DeviceVector &operator*=(Number a); ///< this = a this
    /** this = this / a */
    DeviceVector &operator/=(Number a) { return *this *= Number(1) / a; }
    /** this += v */
    DeviceVector &operator+=(const DeviceVector &v)
    {
      add(Number(1), v);
      return *this;
    }
    /** this -= v */
    DeviceVector &operator-=(const DeviceVector &v)
    {
      add(Number(-1), v);
      return *this;
    }
    void add(Number a, const DeviceVector &v); ///< this += a v
    /** this += a v + b w */
    void add(Number a, const DeviceVector &v, Number b, const DeviceVector &w) { combine(Number(1), a, v, b, w); }
    /** this = s this + a v */
    void sadd(Number s, Number a, const DeviceVector &v) { combine(s, a, v, Number(0), v); }
    /** this = a v */
    void equ(Number a, const DeviceVector &v) { combine(Number(0), a, v, Number(0), v); }
    void scale(const DeviceVector &factors); ///< this_i *= factors_i
    /** this += a v; returns this * w */
    Number add_and_dot(Number a, const DeviceVector &v, const DeviceVector &w)
    {
      add(a, v);
      return *this * w;
    }

  private:
    void combine(Number s, Number a, const DeviceVector &v, Number b, const DeviceVector &w); ///< this = s this + a v + b w

    size_type       n      = 0;
    Number         *values = nullptr;
    const RankSums *comm   = nullptr;
  };
} // namespace leopard
