// SPDX-License-Identifier: Apache-2.0
// What tests of the Turing analysis look at.
#pragma once

#include <applications/problems/turing/turing_analysis.h>

#include <vector>

namespace leopard
{
  /** A rectangle or a box. */
  inline Domain box(const std::vector<double> &lengths)
  {
    Domain domain;
    domain.name      = "box";
    domain.dimension = static_cast<int>(lengths.size());
    domain.lengths   = lengths;
    for (const double length : lengths)
      domain.measure *= length;
    return domain;
  }

  /**
   * Around the state (1, 1): the Jacobian gamma times the one given, by rows, and the diffusion coefficients 1 and
   * kappa.
   */
  inline LinearizedSystem two_species(const std::vector<double> &jacobian, double gamma, double kappa)
  {
    LinearizedSystem system;
    system.species      = {"u", "v"};
    system.steady_state = {1., 1.};
    system.diffusion    = {1., kappa};
    for (const double entry : jacobian)
      system.jacobian.push_back(gamma * entry);
    return system;
  }
} // namespace leopard
