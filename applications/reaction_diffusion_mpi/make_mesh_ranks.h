// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <applications/reaction_diffusion/mesh/mesh_parts.h>
#include <solvers/relaxation/relaxation.h>

#include <mpi.h>

#include <memory>
#include <string>
#include <vector>

namespace leopard
{
  /**
   * Shares the mesh of a reaction_diffusion::Stepper out over the ranks. Collective. @param owner of each node the
   * rank, on all ranks alike. @param why_not set, on all ranks alike, where that cannot be: a rank without nodes, or
   * GPUs that cannot write into one another's memory. @return null then, and for one rank.
   * @throws DeviceError.
   */
  std::shared_ptr<reaction_diffusion::MeshRanks> make_mesh_ranks(const std::vector<int> &owner, Backend backend, MPI_Comm comm, std::string &why_not);
} // namespace leopard
