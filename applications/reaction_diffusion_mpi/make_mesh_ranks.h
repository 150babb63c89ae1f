// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <applications/reaction_diffusion/mesh/mesh_hierarchy.h>
#include <solvers/base/backend.h>

#include <mpi.h>

#include <memory>
#include <string>

namespace leopard
{
  /**
   * A coarser level with fewer nodes, of all ranks, is whole on every rank: to compute there takes less time than to
   * exchange values.
   */
  int smallest_shared_level(Backend backend);

  /**
   * The ranks' parts of a mesh, for a reaction_diffusion::Stepper. Collective.
   * @param mesh the rank's rows, columns in the numbering of all ranks, in which its nodes follow those of the rank
   * before. @param with_coarser whether levels for multigrid are wanted. @param why_not set, on all ranks alike, where
   * that cannot be: a rank without nodes. @param staged values travel by messages in any case, see make_transport().
   * @return null then, and for one rank. @throws DeviceError; InvalidInput as make_distributed_levels().
   */
  std::shared_ptr<reaction_diffusion::MeshRanks> make_mesh_ranks(reaction_diffusion::MeshLaplacian mesh,
                                                                 bool                              with_coarser,
                                                                 int                               smallest_shared,
                                                                 Backend                           backend,
                                                                 MPI_Comm                          comm,
                                                                 std::string                      &why_not,
                                                                 bool                              staged = false);
} // namespace leopard
