// SPDX-License-Identifier: Apache-2.0
#include "random_numbers.h"

#include <cmath>

namespace leopard
{
  namespace
  {
    /** splitmix64: spreads the bits of a number over all bits. */
    std::uint64_t mix(std::uint64_t z)
    {
      z += 0x9e3779b97f4a7c15ULL;
      z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
      z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
      return z ^ (z >> 31);
    }

    std::uint64_t hash_of(const std::array<double, 3> &place, std::uint64_t start)
    {
      std::uint64_t hash = mix(start);
      for (const double x : place)
        hash = mix(hash ^ static_cast<std::uint64_t>(std::llround(x * 1e9)));
      return hash;
    }

    /** In [0, 1). */
    double fraction(std::uint64_t hash)
    {
      return static_cast<double>(hash >> 11) * 0x1p-53;
    }
  } // namespace

  double uniform_at(const std::array<double, 3> &place, unsigned int number, std::uint64_t seed)
  {
    return 2. * fraction(hash_of(place, seed * 16 + number)) - 1.;
  }

  double normal_at(const std::array<double, 3> &place, unsigned int number, std::uint64_t step, std::uint64_t seed)
  {
    const std::uint64_t hash = hash_of(place, mix(seed * 16 + number) ^ mix(~step));
    constexpr double    pi   = 3.14159265358979323846;
    return std::sqrt(-2. * std::log1p(-fraction(hash))) * std::cos(2. * pi * fraction(mix(hash)));
  }
} // namespace leopard
