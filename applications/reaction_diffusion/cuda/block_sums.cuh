// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "grid_kernels.cuh"

#include <solvers/device/device_array.h>
#include <solvers/exchange/ranks.h>

#include <algorithm>
#include <vector>

namespace leopard::reaction_diffusion
{
  /**
   * What a kernel's thread blocks add up to, n values a block, and with several ranks, merged, a rank. Device memory.
   */
  template <typename Merger, int n>
  class BlockSums
  {
  public:
    /** @param ranks_ null: one rank. */
    BlockSums(int n_blocks_, const Ranks *ranks_)
      : n_blocks(n_blocks_)
      , ranks(ranks_)
      , offsets(ranks != nullptr ? ranks->offsets(n) : std::vector<int>())
      , of_blocks(std::vector<double>(static_cast<std::size_t>(n) * n_blocks, 0.))
      , of_ranks(std::vector<double>(ranks != nullptr ? offsets.back() : 0, 0.))
    {
    }

    /** For the kernel, a block for each of n_blocks. */
    double *blocks() { return of_blocks.data(); }

    /** Queued, collective: parts() are those of all ranks. */
    void gather(cudaStream_t stream)
    {
      if (ranks == nullptr)
        return;
      merge_rank<Merger, n><<<1, grid_threads, 0, stream>>>(of_blocks.data(), n_blocks, of_ranks.data() + offsets[ranks->rank]);
      ranks->transport->gather(of_ranks.data(), offsets);
    }

    /** What is to be merged, n values each. */
    const double *parts() const { return ranks != nullptr ? of_ranks.data() : of_blocks.data(); }
    int           n_parts() const { return ranks != nullptr ? ranks->n_ranks() : n_blocks; }

    const int n_blocks;

  private:
    const Ranks *const     ranks; ///< or null
    const std::vector<int> offsets;
    device::Array<double>  of_blocks, of_ranks;
  };

  /** Collective. @param ranks null: one rank. */
  inline double max_over_ranks(const Ranks *ranks, double value)
  {
    if (ranks == nullptr)
      return value;
    std::vector<double>         values(ranks->n_ranks(), value);
    const device::Array<double> all(values);
    ranks->transport->gather(all.data(), ranks->offsets(1));
    device::copy_to_host(values.data(), all.data(), values.size() * sizeof(double));
    return *std::max_element(values.begin(), values.end());
  }
} // namespace leopard::reaction_diffusion
