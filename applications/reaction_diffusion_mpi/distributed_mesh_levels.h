// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <applications/reaction_diffusion/mesh/mesh_hierarchy.h>

#include <mpi.h>

#include <vector>

namespace leopard
{
  /**
   * The levels of a mesh that is spread over ranks, as reaction_diffusion::make_levels() makes them of a whole one; but
   * on shared levels aggregates have nodes of one rank each. A rank makes its own part only, until a level has fewer
   * than smallest_shared nodes of all ranks, or would have hardly fewer than the one before, as of ranks whose nodes
   * are scattered: that one is gathered, and all ranks make the rest of it. The mesh itself is shared in any case.
   * Collective.
   * @param mesh the rank's rows, columns in the numbering of all ranks, in which its nodes follow those of the rank
   * before; each rank has some.
   * @param with_coarser whether more than the mesh is wanted. @throws InvalidInput, on all ranks, where
   * MeshLaplacian::validate() does.
   */
  std::vector<reaction_diffusion::MeshLevel>
  make_distributed_levels(reaction_diffusion::MeshLaplacian mesh, bool with_coarser, int smallest_shared, MPI_Comm comm);
} // namespace leopard
