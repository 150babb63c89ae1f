// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mesh_laplacian.h"

#include <cstddef>
#include <vector>

namespace leopard::reaction_diffusion
{
  /** A mesh, or what stands for it on a coarser level. */
  struct MeshLevel
  {
    MeshLaplacian mesh;
    // to and from the next coarser level; empty on the coarsest
    CrsMatrix restriction;  ///< R, rows sum to 1
    CrsMatrix prolongation; ///< P, rows sum to 1
  };

  /**
   * The mesh and coarser levels by smoothed aggregation (Vanek, Mandel, Brezina, Computing 56 (1996) 179): aggregates P_0 are nodes with their neighbours,
   *
   *   P = (I - omega D^-1 L) P_0,   omega = 4 / (3 lambda_max(D^-1 L)),   R = m_c^-1 P^T m,   L_c = R L P,   m_c = P^T m,
   *
   * where L = -laplace and m are the lumped masses, so that a level is again a MeshLaplacian and Jacobians can be formed there as on the mesh: 1 + dt L_c less
   * the derivative of the reaction at R u. Down to some dozen nodes.
   */
  std::vector<MeshLevel> make_levels(const MeshLaplacian &mesh);

  /** The coarsest level of use, as coarsest_level() of grids. */
  std::size_t coarsest_level(const std::vector<MeshLevel> &levels, double diffusion, double rate);

  constexpr int coarse_nodes        = 128; ///< a level with no more nodes is not coarsened further
  constexpr int coarse_level_sweeps = 20;  ///< there
} // namespace leopard::reaction_diffusion
