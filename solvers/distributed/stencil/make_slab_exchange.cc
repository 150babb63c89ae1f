// SPDX-License-Identifier: Apache-2.0
#include "make_slab_exchange.h"

#include "slab_exchange_cuda.h"
#include "slab_exchange_mpi.h"

namespace leopard
{
  int rank_in(MPI_Comm comm)
  {
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    return rank;
  }

  int size_of(MPI_Comm comm)
  {
    int n = 1;
    MPI_Comm_size(comm, &n);
    return n;
  }

  namespace
  {
    bool one_host(MPI_Comm comm)
    {
      MPI_Comm host;
      MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
      const int one = size_of(host) == size_of(comm);
      MPI_Comm_free(&host);
      int all = 0;
      MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_MIN, comm);
      return all == 1;
    }
  } // namespace

  std::unique_ptr<SlabExchange> make_slab_exchange(MPI_Comm comm, Backend backend, bool staged, long largest_plane, long largest_vector)
  {
    if (backend != Backend::cuda)
      return std::make_unique<MpiSlabExchange>(comm, MemorySpace::host);
    std::string reason = "as asked for";
    if (!staged && !one_host(comm))
      reason = "the ranks are on several hosts";
    else if (!staged)
      {
        const AllGather all_gather = [comm](const void *own, std::size_t n_bytes, void *all) {
          MPI_Allgather(own, static_cast<int>(n_bytes), MPI_BYTE, all, static_cast<int>(n_bytes), MPI_BYTE, comm);
        };
        auto result = make_cuda_slab_exchange(rank_in(comm), size_of(comm), largest_plane, largest_vector, all_gather, reason);
        if (result != nullptr)
          return result;
      }
    return std::make_unique<MpiSlabExchange>(comm, MemorySpace::device, reason);
  }
} // namespace leopard
