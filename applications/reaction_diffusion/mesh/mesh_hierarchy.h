// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mesh_laplacian.h"
#include "mesh_parts.h"

#include <vector>

namespace leopard::reaction_diffusion
{
  /** A mesh, or a coarser level of it: aggregates of nodes in the place of nodes. */
  struct MeshLevel
  {
    MeshLaplacian    mesh;
    int              n_all = 0; ///< nodes of all ranks
    std::vector<int> owner;     ///< of each node of the whole level the rank; empty: one rank
    MeshPart         part;      ///< several ranks: what this one exchanges; mesh and transfers are its own part of the level
    // to and from the next coarser level; empty on the coarsest
    CrsMatrix<double> restriction;  ///< R, rows sum to 1
    CrsMatrix<double> prolongation; ///< P, rows sum to 1
  };

  /**
   * The mesh and coarser levels by smoothed aggregation (Vanek, Mandel, Brezina, Computing 56 (1996) 179): aggregates
   * P_0 are nodes with their neighbours,
   *
   *   P = (I - omega D^-1 L) P_0,   omega = 4 / (3 lambda_max(D^-1 L)),   R = m_c^-1 P^T m,
   *   L_c = R L P,   m_c = P^T m,
   *
   * where L = -laplace and m are the lumped masses, so that a level is again a MeshLaplacian and Jacobians can be
   * formed there as on the mesh: 1 + dt L_c less the derivative of the reaction at R u. Down to some dozen nodes.
   * @param with_coarser whether more than the mesh is wanted. @param ranks null: one rank; else levels are this rank's
   * part of them.
   */
  std::vector<MeshLevel> make_levels(const MeshLaplacian &mesh, bool with_coarser = true, const MeshRanks *ranks = nullptr);

  constexpr int coarse_nodes        = 128; ///< a level with no more nodes, of all ranks, is not coarsened further
  constexpr int coarse_level_sweeps = 20;  ///< there
} // namespace leopard::reaction_diffusion
