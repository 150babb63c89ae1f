// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mesh.h"

namespace leopard
{
  /** @throws Error for more unknowns than deal.II counts. */
  void check_count(double n_cells, int dimension, unsigned int n_components, unsigned int degree);

  /**
   * Before a mesh is made that takes all memory. @throws Error for more unknowns than deal.II counts once it is
   * refined, or a coarse mesh that this machine has no room for.
   */
  void check_before_it_is_made(const MeshParameters &mesh, int dimension, unsigned int n_components, unsigned int degree);
} // namespace leopard
