// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mesh_laplacian.h"

#include <solvers/multigrid/aggregation.h>

namespace leopard::reaction_diffusion
{
  /** m L, symmetric: the stiffness of a mesh over its largest mass. */
  CrsMatrix<double> stiffness(const MeshLaplacian &mesh);

  /**
   * The smallest AggregationOptions::strength of couplings of stiffness() that aggregates follow. Bilinear and
   * trilinear elements that are long have couplings to the corners of 0.25 of those in the close direction, and where
   * one of both nodes is on the boundary of sqrt(2) / (4 above_mean) = 0.295: aggregates of these would join nodes that
   * are far from each other, and no level could correct their differences. The usual AggregationOptions::strength,
   * which is smaller, leaves them out, too; how many cycles meshes take with it has not been measured.
   */
  constexpr double aggregate_strength = 0.4;

  /**
   * Aggregates of a level by couplings of stiffness() above aggregate_strength. @param communication of the ghosts:
   * collective.
   */
  Aggregates aggregates_of(const MeshLaplacian &mesh, const Communication<double> &communication = Communication<double>());
} // namespace leopard::reaction_diffusion
