// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "node_grid.h"

#include <vector>

namespace leopard::reaction_diffusion
{
  /**
   * Eigenvectors of -laplace along one direction: from_modes diag(eigenvalue) to_modes = -laplace, and to_modes is the
   * inverse of from_modes. Square matrices by columns: entry (i, k) at k n + i.
   */
  struct AxisModes
  {
    std::vector<double> eigenvalue; ///< not negative, ascending; 1 / (unit of length)^2
    std::vector<double> to_modes, from_modes;
  };

  /** From the operator's symmetric form. O(n^3) operations. */
  AxisModes make_modes(const Axis &axis);
} // namespace leopard::reaction_diffusion
