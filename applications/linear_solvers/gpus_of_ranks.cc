// SPDX-License-Identifier: Apache-2.0
#include "gpus_of_ranks.h"

#include <solvers/device/waiting.h>
#include <solvers/distributed/gpus/unlike_gpus.h>

#include <deal.II/base/mpi.h>

#include <algorithm>

namespace leopard
{
  using namespace dealii;

  std::vector<RankGpu> gpus_of_ranks(bool uses_gpu, const std::string &kind, MPI_Comm comm)
  {
    MPI_Comm node;
    MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    const int  first   = Utilities::MPI::min(static_cast<int>(Utilities::MPI::this_mpi_process(comm)), node);
    const auto machine = Utilities::MPI::all_gather(comm, first);
    MPI_Comm_free(&node);
    char host[MPI_MAX_PROCESSOR_NAME] = "";
    int  length                       = 0;
    MPI_Get_processor_name(host, &length);
    const auto hosts   = Utilities::MPI::all_gather(comm, std::string(host, length));
    const auto bus_ids = Utilities::MPI::all_gather(comm, uses_gpu ? device::pci_bus_id() : std::string());
    const auto kinds   = Utilities::MPI::all_gather(comm, kind);

    std::vector<RankGpu> result;
    for (std::size_t rank = 0; rank < hosts.size(); ++rank)
      result.push_back({machine[rank], hosts[rank], bus_ids[rank], kinds[rank]});
    return result;
  }

  namespace
  {
    /** The first rank that has the GPU of a lower one; the number of ranks if there is none. */
    std::size_t first_that_shares(const std::vector<RankGpu> &gpus)
    {
      std::size_t rank = 0;
      while (rank < gpus.size() && std::none_of(gpus.begin(), gpus.begin() + rank, [&](const RankGpu &lower) { return lower.same_gpu(gpus[rank]); }))
        ++rank;
      return rank;
    }
  } // namespace

  bool share_a_gpu(const std::vector<RankGpu> &gpus)
  {
    return first_that_shares(gpus) < gpus.size();
  }

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
