// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "all_gather.h"
#include "transport.h"

#include <memory>
#include <string>

namespace leopard
{
  /**
   * Between GPUs of one host, one rank each (or several ranks on one GPU): each rank lends the others mailboxes in its
   * device memory (CUDA inter-process memory handles), kernels write values into them, over NVLink where there is one,
   * and raise a flag there; the other rank's kernel waits for the flag and copies the values to where they belong.
   * Everything is queued; a CUDA graph can hold it. A rank that waits for longer than some minutes, since another one
   * has died, ends with a DeviceError at its next call.
   *
   * Collective. @param largest_vector values of gather() at most; @param why_not set, on all ranks alike, where a GPU
   * cannot write into another one's memory. @return null then. @throws DeviceError.
   */
  std::unique_ptr<Transport> make_peer_transport(int rank, int n_ranks, long largest_vector, const AllGather &all_gather, std::string &why_not);
} // namespace leopard
