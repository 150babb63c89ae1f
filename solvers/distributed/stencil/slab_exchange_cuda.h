// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../../exchange/all_gather.h"
#include "../../exchange/slab_exchange.h"

#include <memory>

namespace leopard
{
  /**
   * The exchange between GPUs of one host, one rank each (or several ranks on one GPU): each rank lends its neighbours
   * a mailbox in its device memory (CUDA inter-process memory handles), kernels write planes into the neighbour's
   * mailbox, over NVLink where there is one, and raise a flag there; the neighbour's kernel waits for the flag and
   * copies the planes to the ghosts. Everything is queued; a CUDA graph can hold it. A rank that waits for longer than
   * some minutes, since another one has died, ends with a DeviceError at its next call.
   *
   * Collective. @param largest_plane values a plane, all fields together, at most; @param largest_vector values of
   * gather() at most; @param why_not set, on all ranks alike, where a GPU cannot write into another one's memory.
   * @return null then. @throws DeviceError.
   */
  std::unique_ptr<SlabExchange>
  make_cuda_slab_exchange(int rank, int n_ranks, long largest_plane, long largest_vector, const AllGather &all_gather, std::string &why_not);
} // namespace leopard
