// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

namespace leopard
{
  /**
   * Random numbers that are functions: of a place, of which number there it is, and of a seed. Whoever computes them,
   * on whichever rank and in whichever order, gets the same ones. Places are rounded to resolution_of_places, since
   * ranks may compute them differently. The bits come from splitmix64 (Steele, Lea, Flood, OOPSLA 2014, 453).
   */
  constexpr double resolution_of_places = 1. / 1e9; ///< dimensionless, as places

  /** In [-1, 1), all alike. @param number below 16, for example the field. */
  double uniform_at(const std::array<double, 3> &place, unsigned int number, std::uint64_t seed);

  /** Of the normal distribution with mean 0 and variance 1 (Box and Muller 1958). @param step a second number. */
  double normal_at(const std::array<double, 3> &place, unsigned int number, std::uint64_t step, std::uint64_t seed);
} // namespace leopard
