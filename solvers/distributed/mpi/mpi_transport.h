// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../../base/backend.h"
#include "../../exchange/all_gather.h"
#include "../../exchange/transport.h"

#include <mpi.h>

#include <memory>
#include <string>

namespace leopard
{
  /** The number of this rank. */
  int rank_in(MPI_Comm comm);
  /** How many ranks there are. */
  int size_of(MPI_Comm comm);
  /** Of the ranks of the communicator, which is not copied. */
  AllGather all_gather_in(MPI_Comm comm);
  /** For together(): the text `own` of the first rank on which it is not empty. Collective. */
  std::string first_error_in(MPI_Comm comm, const std::string &own);

  /** Whether the kernels of ranks that have one GPU together may wait for one another. */
  enum class SharedGpu
  {
    waits, ///< for what has to be queued as a whole: they take turns of some milliseconds
    staged ///< messages, for which a rank waits on the host and leaves the GPU to the others
  };

  /**
   * The best transport between the ranks: for the backend cuda kernels that write into the other GPUs' memory where the
   * ranks are on one host whose GPUs can do that, else MPI messages, and why. Who exchanges device vectors asks here.
   * Collective. @param staged messages in any case. @param largest_vector values of Transport::gather() at most.
   * @throws DeviceError.
   */
  std::unique_ptr<Transport> make_transport(MPI_Comm comm, Backend backend, bool staged, long largest_vector, SharedGpu shared = SharedGpu::waits);
} // namespace leopard
