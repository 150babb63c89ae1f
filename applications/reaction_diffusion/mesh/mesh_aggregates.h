// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mesh_hierarchy.h"

#include <solvers/multigrid/aggregation.h>

namespace leopard::reaction_diffusion
{
  /**
   * Aggregates of a level by couplings of stiffness() above aggregate_strength, or weaker ones where a node would have
   * none that is strong and be in no aggregate: then levels would not have the constants. @param communication of the
   * ghosts: collective, the same strength on all ranks.
   */
  Aggregates aggregates_of(const MeshLaplacian &mesh, const Communication<double> &communication = Communication<double>());
} // namespace leopard::reaction_diffusion
