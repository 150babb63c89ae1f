// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../../exchange/slab_exchange.h"
#include "../../relaxation/relaxation.h"

#include <mpi.h>

#include <memory>

namespace leopard
{
  /** The number of this rank. */
  int rank_in(MPI_Comm comm);
  /** How many ranks there are. */
  int size_of(MPI_Comm comm);

  /**
   * The best exchange between the ranks: for the backend cuda kernels that write into the other GPUs' memory where the
   * ranks are on one host whose GPUs can do that, else MPI messages. Collective. @param staged messages in any case.
   * @param largest_plane values a plane, all fields together, at most;
   * @param largest_vector values of Transport::gather() at most. @throws DeviceError.
   */
  std::unique_ptr<SlabExchange> make_slab_exchange(MPI_Comm comm, Backend backend, bool staged, long largest_plane, long largest_vector);
} // namespace leopard
