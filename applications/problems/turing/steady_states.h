// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kinetics.h"

#include <vector>

namespace leopard
{
  /**
   * Homogeneous steady states f(u) = 0 of kinetics, by Newton's method with backtracking from the guesses and from a
   * fixed set of starts between 0.01 and 100 (a grid for up to three species, 200 points spread at random for more; of
   * both signs unless positive). These starts are taken once more in units of each species' size in the first guess or
   * the initial values, as a power of ten, and, where nothing is found, in units from 1e-12 to 1e12. Species are
   * measured in units of their own.
   *
   * @param positive whether only states with all species above zero are wanted
   * @param guesses starts to be tried first, n numbers each; what they lead to stands first in the result
   * @param place where a reaction that depends on it is looked at
   * @param initial means of |u| of the initial values, a start, too; empty, or zeros, where they say nothing
   * @return the states found, without doubles; the same in each run. They need not be all there are.
   */
  std::vector<std::vector<double>> find_steady_states(const Kinetics                         &kinetics,
                                                      bool                                    positive,
                                                      const std::vector<std::vector<double>> &guesses,
                                                      const Places                           &place   = {},
                                                      const std::vector<double>              &initial = {});
} // namespace leopard
