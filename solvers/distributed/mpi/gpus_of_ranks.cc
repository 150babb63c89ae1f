// SPDX-License-Identifier: Apache-2.0
#include "gpus_of_ranks.h"

#include "../../base/together.h"
#include "../../device/waiting.h"
#include "mpi_transport.h"

#include <algorithm>

namespace leopard
{
  namespace
  {
    /** A RankGpu on its way. */
    struct Record
    {
      int  machine                      = 0;
      char host[MPI_MAX_PROCESSOR_NAME] = "";
      char bus_id[32] = "", kind[288] = ""; ///< CUDA's names have up to 256 characters
    };

    template <std::size_t n>
    void put(char (&to)[n], const std::string &text)
    {
      text.copy(to, n - 1);
    }

    /** The first rank of those that share memory. */
    int machine_in(MPI_Comm comm)
    {
      MPI_Comm node;
      MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
      const int rank  = rank_in(comm);
      int       first = rank;
      MPI_Allreduce(&rank, &first, 1, MPI_INT, MPI_MIN, node);
      MPI_Comm_free(&node);
      return first;
    }
  } // namespace

  std::vector<RankGpu> gpus_of_ranks(bool uses_gpu, const std::string &kind, MPI_Comm comm)
  {
    Record own;
    own.machine = machine_in(comm);
    int length  = 0;
    MPI_Get_processor_name(own.host, &length);
    put(own.kind, kind);
    together([&] { put(own.bus_id, uses_gpu ? device::pci_bus_id() : ""); }, [comm](const std::string &text) { return first_error_in(comm, text); });
    std::vector<Record> all(size_of(comm));
    all_gather_in(comm)(&own, sizeof(Record), all.data());
    std::vector<RankGpu> result;
    for (const Record &record : all)
      result.push_back({record.machine, record.host, record.bus_id, record.kind});
    return result;
  }

  std::size_t first_that_shares(const std::vector<RankGpu> &gpus)
  {
    std::size_t rank = 0;
    while (rank < gpus.size() && std::none_of(gpus.begin(), gpus.begin() + rank, [&](const RankGpu &lower) { return lower.same_gpu(gpus[rank]); }))
      ++rank;
    return rank;
  }

  bool share_a_gpu(const std::vector<RankGpu> &gpus)
  {
    return first_that_shares(gpus) < gpus.size();
  }
} // namespace leopard
