// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <applications/reaction_diffusion/grid/grid_slabs.h>

#include <mpi.h>

#include <memory>
#include <string>

namespace leopard
{
  /**
   * Shares the grid of a reaction_diffusion::Stepper out over the ranks. Collective. @param why_not set, on all ranks
   * alike, where that cannot be: too few planes. @param staged values travel by messages in any case, see
   * make_transport(). @return null then, and for one rank. @throws DeviceError.
   */
  std::shared_ptr<reaction_diffusion::GridSlabs>
  make_grid_slabs(const reaction_diffusion::NodeGrid &grid, Backend backend, MPI_Comm comm, std::string &why_not, bool staged = false);
} // namespace leopard
