// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <cstddef>
#include <string>
#include <vector>

namespace leopard
{
  /**
   * The GPU of a rank. Numbers of devices do not tell it: each machine counts from 0, and so does CUDA_VISIBLE_DEVICES.
   */
  struct RankGpu
  {
    int         machine = 0; ///< the first rank on it
    std::string host;        ///< the machine's name
    std::string bus_id;      ///< PCI; empty: the rank uses none. Parts of a GPU (MIG) have that of the whole
    std::string kind;        ///< kind_of() it

    bool same_gpu(const RankGpu &other) const { return !bus_id.empty() && machine == other.machine && bus_id == other.bus_id; }
  };

  /**
   * Of each rank. Collective. @param uses_gpu whether it uses its current device. @param kind of that.
   * @throws DeviceError on all ranks.
   */
  std::vector<RankGpu> gpus_of_ranks(bool uses_gpu, const std::string &kind, MPI_Comm comm);

  /** The first rank that has the GPU of a lower one; the number of ranks if there is none. */
  std::size_t first_that_shares(const std::vector<RankGpu> &gpus);
  /** Whether two ranks have the same. */
  bool share_a_gpu(const std::vector<RankGpu> &gpus);
} // namespace leopard
