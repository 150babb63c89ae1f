// SPDX-License-Identifier: Apache-2.0
#include "gpu_remarks.h"

#include <solvers/distributed/gpus/unlike_gpus.h>

namespace leopard
{
  std::vector<std::string> remarks_on(const std::vector<RankGpu> &gpus, bool ranks_wait)
  {
    std::vector<std::string> result, kinds;
    if (const std::size_t second = first_that_shares(gpus); second < gpus.size())
      {
        const RankGpu &gpu = gpus[second];
        std::string    ranks;
        for (std::size_t rank = 0; rank < gpus.size(); ++rank)
          if (gpu.same_gpu(gpus[rank]))
            ranks += (ranks.empty() ? "" : ", ") + std::to_string(rank);
        result.push_back(std::string(ranks_wait ? "" : "warning: ") + "ranks share a GPU: ranks " + ranks + " have " + gpu.kind + ", " + gpu.bus_id +
                         " of " + gpu.host + "; a rank a GPU is faster, and ranks that share one should wait for one another's values" +
                         (ranks_wait ? "" : "\n  to try: 'Linear solver/Wait for ghosts' = true"));
      }
    for (const RankGpu &gpu : gpus)
      kinds.push_back(gpu.kind);
    if (const std::string unlike = unlike_gpus(kinds, "rank"); !unlike.empty())
      result.push_back("the GPUs of the ranks are not alike: " + unlike + "; ranks have equal shares, and are as fast as the slowest");
    return result;
  }
} // namespace leopard
