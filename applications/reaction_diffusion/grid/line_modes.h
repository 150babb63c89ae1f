// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "node_grid.h"

#include <vector>

namespace leopard::reaction_diffusion
{
  // Eigenvectors of differences along a line of n nodes i, and their products on a grid: those of its Laplacian. With
  // symmetric ends mode k is cos(pi k i / (n - 1)), k = 0 ... n - 1. In a periodic direction it is cos(2 pi k i / n)
  // for k <= n / 2, and sin(2 pi (n - k) i / n) for the others.

  /**
   * Of -laplace, of each mode of a grid, mode k where node i = k is: the sum over the directions of 4 sin^2(pi k_d / (2
   * (n_d - 1))) / h_d^2, in a periodic one of 4 sin^2(pi k_d / n_d) / h_d^2.
   */
  std::vector<double> mode_eigenvalues(const NodeGrid &grid);

  /**
   * Values at the nodes of a line are from_modes times what the modes have, which is to_modes times the values. Square
   * matrices by columns: entry (i, k) at k n + i.
   */
  struct LineModes
  {
    LineModes(int n, bool periodic);
    std::vector<double> to_modes, from_modes;
  };
} // namespace leopard::reaction_diffusion
