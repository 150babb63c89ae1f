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

  /**
   * The best transport between the ranks: for the backend cuda kernels that write into the other GPUs' memory where the
   * ranks are on one host whose GPUs can do that, else MPI messages. Collective. @param staged messages in any case.
   * @param largest_vector values of Transport::gather() at most. @throws DeviceError.
   */
  std::unique_ptr<Transport> make_transport(MPI_Comm comm, Backend backend, bool staged, long largest_vector);
} // namespace leopard
