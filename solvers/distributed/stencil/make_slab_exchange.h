// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../../reaction_diffusion/grid_slabs.h"

#include <mpi.h>

#include <memory>

namespace leopard
{
  int rank_in(MPI_Comm comm);
  int size_of(MPI_Comm comm);

  /**
   * The best exchange between the ranks: for the backend cuda kernels that write into the other GPUs' memory where the ranks are on one host whose GPUs can do that,
   * else MPI messages. Collective. @param staged messages in any case. @param largest_plane values a plane, all fields together, at most;
   * @param largest_vector values of SlabExchange::gather() at most. @throws DeviceError.
   */
  std::unique_ptr<SlabExchange> make_slab_exchange(MPI_Comm comm, Backend backend, bool staged, long largest_plane, long largest_vector);

  /**
   * Shares the grid of a reaction_diffusion::Stepper out over the ranks. Collective. @param why_not set, on all ranks alike, where that cannot be: too few
   * planes, or GPUs that cannot write into one another's memory. @return null then, and for one rank. @throws DeviceError.
   */
  std::shared_ptr<reaction_diffusion::GridSlabs>
  make_grid_slabs(const reaction_diffusion::NodeGrid &grid, int n_fields, Backend backend, MPI_Comm comm, std::string &why_not);
} // namespace leopard
