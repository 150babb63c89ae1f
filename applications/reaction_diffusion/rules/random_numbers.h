// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <solvers/base/host_device.h>

#include <array>
#include <cmath>
#include <cstdint>

namespace leopard::reaction_diffusion
{
  // Random numbers that are functions: of a place, of which number there it is, and of a seed. Whoever computes them,
  // on whichever rank and in whichever order, gets the same ones; GPUs too, but for the rounding of their functions.
  // The bits come from splitmix64 (Steele, Lea, Flood, OOPSLA 2014, 453).

  /** Places are rounded to this, since ranks may compute them differently; dimensionless, as places. */
  constexpr double resolution_of_places = 1. / 1e9;

  /** A place in units of resolution_of_places. */
  struct RoundedPlace
  {
    std::int64_t x, y, z;
  };

  inline RoundedPlace rounded(const std::array<double, 3> &place)
  {
    return {std::llround(place[0] * 1e9), std::llround(place[1] * 1e9), std::llround(place[2] * 1e9)};
  }

  namespace random_numbers
  {
    /** splitmix64: spreads the bits of a number over all bits. */
    LEOPARD_HOST_DEVICE inline std::uint64_t mix(std::uint64_t z)
    {
      z += 0x9e3779b97f4a7c15ULL;
      z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
      z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
      return z ^ (z >> 31);
    }

    LEOPARD_HOST_DEVICE inline std::uint64_t hash_of(const RoundedPlace &place, std::uint64_t start)
    {
      std::uint64_t hash = mix(start);
      hash               = mix(hash ^ static_cast<std::uint64_t>(place.x));
      hash               = mix(hash ^ static_cast<std::uint64_t>(place.y));
      return mix(hash ^ static_cast<std::uint64_t>(place.z));
    }

    /** In [0, 1). */
    LEOPARD_HOST_DEVICE inline double fraction(std::uint64_t hash)
    {
      return static_cast<double>(hash >> 11) * 0x1p-53;
    }
  } // namespace random_numbers

  /** In [-1, 1), all alike. @param number below 16, for example the field. */
  LEOPARD_HOST_DEVICE inline double uniform_at(const RoundedPlace &place, unsigned int number, std::uint64_t seed)
  {
    using namespace random_numbers;
    return 2. * fraction(hash_of(place, seed * 16 + number)) - 1.;
  }

  /** Of the normal distribution with mean 0 and variance 1 (Box and Muller 1958). @param step a second number. */
  LEOPARD_HOST_DEVICE inline double normal_at(const RoundedPlace &place, unsigned int number, std::uint64_t step, std::uint64_t seed)
  {
    using namespace random_numbers;
    const std::uint64_t hash = hash_of(place, mix(seed * 16 + number) ^ mix(~step));
    constexpr double    pi   = 3.14159265358979323846;
    return std::sqrt(-2. * std::log1p(-fraction(hash))) * std::cos(2. * pi * fraction(mix(hash)));
  }
} // namespace leopard::reaction_diffusion
