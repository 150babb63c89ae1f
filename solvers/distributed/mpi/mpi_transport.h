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
   * Why device arrays travel by messages, without a try at another way; empty: there is no reason. Kernels of ranks
   * that have one GPU together would wait for one another there and need not end: by messages a rank waits on the host
   * and leaves the GPU to the others. @param shares_gpu two ranks have the same.
   */
  std::string why_by_messages(bool asked_for, bool on_one_host, bool shares_gpu);

  /**
   * The best transport between the ranks: for the backend cuda kernels that write into the other GPUs' memory where the
   * ranks are on one host whose GPUs can do that, one for each, else MPI messages, and why. Who exchanges device
   * vectors asks here. Collective. @param staged messages in any case. @param largest_vector values of
   * Transport::gather() at most.
   * @throws DeviceError.
   */
  std::unique_ptr<Transport> make_transport(MPI_Comm comm, Backend backend, bool staged, long largest_vector);
} // namespace leopard
