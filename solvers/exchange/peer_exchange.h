// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "all_gather.h"
#include "transport.h"

#include <memory>

namespace leopard
{
  /**
   * The exchange of a pattern between GPUs of one host, one rank each (or several ranks on one GPU): each rank lends
   * its neighbours a mailbox in its device memory. One kernel packs the own entries into the neighbours' mailboxes,
   * raises a flag there, waits for theirs, and copies what has come to the ghosts. Everything is queued; a CUDA graph
   * can hold it. A rank that waits for longer than some minutes, since another one has died, ends with a DeviceError at
   * its next call.
   *
   * Collective. @param n_values of an entry, see Transport::connect(). @param sent counts what this rank sends.
   * @throws DeviceError on all ranks, if memory is missing on one or cannot be opened, InvalidInput if patterns of two
   * ranks do not fit.
   */
  std::unique_ptr<Exchange> make_peer_exchange(
    const ExchangePattern &pattern, int n_values, int rank, int n_ranks, const AllGather &all_gather, const std::shared_ptr<Traffic> &sent);
} // namespace leopard
