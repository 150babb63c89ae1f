// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "host_device.h"

#include <algorithm>
#include <cmath>

namespace leopard
{
  /**
   * v^2, but for v != 0 never less than the smallest normal number: so a sum of squares is zero for zeros only, and a
   * norm that is too small to be trusted is not taken for the norm of zeros.
   */
  LEOPARD_HOST_DEVICE inline double square(double v)
  {
    constexpr double smallest = 2.2250738585072014e-308;
    const double     result   = v * v;
    return v != 0. && result < smallest ? smallest : result;
  }

  /**
   * Whether a norm has come down to its goal: never where one of them is not a number, nor where the goal is infinite.
   * Everything that decides on convergence or accepts a step asks this.
   */
  LEOPARD_HOST_DEVICE inline bool reached(double norm, double goal)
  {
    constexpr double largest = 1.7976931348623157e308;
    return norm <= goal && goal <= largest;
  }

  /** The larger number; not a number if one of them is none, where std::max() may forget it. */
  LEOPARD_HOST_DEVICE inline double larger_or_nan(double a, double b)
  {
    return a > b || a != a ? a : b;
  }

  /** The power of two p for which p |value| is in [1/2, 1); 1 for zero and for what is not finite. */
  inline double to_about_one(double value)
  {
    int exponent = 0;
    if (std::isfinite(value))
      std::frexp(value, &exponent);
    return std::ldexp(1., std::clamp(-exponent, -1000, 1000));
  }

  /**
   * The Euclidean norm of numbers that come one by one, whatever their magnitude: squares are those of quotients by the
   * largest.
   */
  class SafeNorm
  {
  public:
    void add(double v)
    {
      const double magnitude = std::abs(v);
      if (magnitude > largest)
        {
          sum     = 1. + sum * (largest / magnitude) * (largest / magnitude);
          largest = magnitude;
        }
      else if (v != 0.) // what is no number comes here, too
        sum += (magnitude / largest) * (magnitude / largest);
    }

    /** The numbers that another one has got. */
    void add(const SafeNorm &other)
    {
      const double common = std::max(largest, other.largest);
      const auto   part   = [common](const SafeNorm &of) {
        const double ratio = of.largest < common ? of.largest / common : 1.; // 1 where both are infinite
        return of.largest > 0. ? of.sum * ratio * ratio : of.sum;            // zero, or no number
      };
      sum     = part(*this) + part(other);
      largest = common;
    }

    double value() const { return largest * std::sqrt(sum); }

  private:
    double largest = 0., sum = 0.;
  };
} // namespace leopard
