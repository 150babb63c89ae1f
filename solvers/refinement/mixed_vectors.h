// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../base/backend.h"
#include "../base/norms.h"

#include <cmath>
#include <functional>
#include <memory>

namespace leopard
{
  /** The number type of what computes inside something whose vectors are double. */
  enum class Arithmetic
  {
    double_precision,
    single_precision
  };

  /** Of a vector and of what has been rounded of it. */
  struct RoundedNorms
  {
    double vector = 0.; ///< ||unit v||_2
    double low    = 0.; ///< ||low||_2
  };

  /**
   * Vectors in double and in the precision of Number, between which values are scaled before they are rounded: with a
   * diagonal S of powers of two (see ScaledMatrix), a weight, and a power of two of the vector's size, so that scaling
   * itself rounds nothing. Vectors have n_rows() values in memory_space(). Sums are double.
   */
  template <typename Number>
  class MixedVectors
  {
  public:
    virtual ~MixedVectors() = default;

    virtual int         n_rows() const       = 0;
    virtual MemorySpace memory_space() const = 0;

    /** low = fl(factor S v); waits for it. @param unit, factor powers of two. */
    virtual RoundedNorms round(Number *low, const double *v, double unit, double factor) = 0;
    /** The same without norms, of one rank; on the device it is queued: nothing waits for it. */
    virtual void only_round(Number *low, const double *v, double factor) { round(low, v, 1., factor); }
    /** x += weight S c / factor; entries of c that are not finite are left out. */
    virtual void add(double *x, const Number *c, double factor) = 0;
    /** x = weight S c / factor. */
    virtual void set(double *x, const Number *c, double factor) = 0;
    /**
     * A step of CorrectionMomentum: c is what an iteration has made of y, which is zero (goes_on = false), or the last
     * step s. s = weight (c - y) + momentum s, c = y + s; s is not read where nothing depends on it, and entries of c
     * that are not finite are taken as those of y.
     */
    virtual void take_step(Number *c, Number *s, double weight, double momentum, bool goes_on) = 0;
    /** The largest |v_i|; not finite where one is not. */
    virtual double largest(const double *v) = 0;
    /** ||c||_2. */
    virtual double norm(const Number *c) = 0;
    /** ||unit v||_2. */
    virtual double norm(const double *v, double unit) = 0;
    /** n_rows() Numbers where vectors live, and doubles. */
    virtual std::shared_ptr<Number[]> vector() const                             = 0;
    virtual std::shared_ptr<double[]> double_vector() const                      = 0;
    virtual void                      copy(double *to, const double *from) const = 0;

    /**
     * low = fl(f S v) with a power of two f for which low keeps the digits of v: the largest |v_i| comes near 1, and
     * further where S asks for that. A v that is not finite stays so. On the device with S = 1, and one rank, it is
     * queued: nothing waits for it.
     */
    virtual void to_low(Number *low, const double *v);
    /** x = weight S c / f, with the f of the last to_low(). */
    virtual void from_low(double *x, const Number *c);

  private:
    double last_factor = 1.;
  };

  /** Of n values, with S = 1. @param n_threads host. @throws DeviceError. */
  template <typename Number>
  std::unique_ptr<MixedVectors<Number>> make_mixed_vectors(int n, double weight, Backend backend, int n_threads = 0);

  /**
   * Rounds again, with other factors, as long as what has been rounded would lose digits by its size.
   * @param norms what the first attempt has found, which was made with `factor`. @param round as
   * MixedVectors::round(), with the factor that it is told. @param factor on return, the last. @return ||v|| and ||S
   * v||.
   */
  template <typename Round>
  RoundedNorms round_to_fit(RoundedNorms norms, double unit, double &factor, const Round &round)
  {
    constexpr int max_attempts = 24;
    for (int attempt = 0;; ++attempt)
      {
        // within these bounds the rounded vector keeps its digits; beyond them it is taken again
        const bool fits = norms.vector == 0. || (norms.low > 1e-9 && norms.low < 1e6);
        if (fits || attempt == max_attempts || !std::isfinite(norms.vector))
          return {norms.vector / unit, norms.low / factor};
        // what has overflowed or vanished says only in which direction
        factor *= std::isfinite(norms.low) && norms.low > 0. ? to_about_one(norms.low) : norms.low > 0. ? std::ldexp(1., -100) : std::ldexp(1., 100);
        norms = round(factor);
      }
  }

  /**
   * x = C b for a map C of Numbers that is made for S A S / weight: b is rounded so that it fits, whatever its units;
   * see MixedVectors::to_low(). @param low_x, low_b workspace of n_rows() Numbers. @param map low_x = C low_b.
   */
  template <typename Number>
  void apply_rounded(MixedVectors<Number>                                          &vectors,
                     double                                                        *x,
                     const double                                                  *b,
                     Number                                                        *low_x,
                     Number                                                        *low_b,
                     const std::function<void(Number *low_x, const Number *low_b)> &map);
} // namespace leopard
