// SPDX-License-Identifier: Apache-2.0
#include "make_mesh_ranks.h"

#include <applications/reaction_diffusion/host/level_gcr.h>
#include <applications/reaction_diffusion/rules/sums.h>
#include <solvers/distributed/mpi/mpi_transport.h>

#include <algorithm>

namespace leopard
{
  std::shared_ptr<reaction_diffusion::MeshRanks> make_mesh_ranks(const std::vector<int> &owner, Backend backend, MPI_Comm comm, std::string &why_not)
  {
    using reaction_diffusion::MeshRanks;
    const int n_ranks = size_of(comm);
    why_not           = MeshRanks::why_not(owner, n_ranks);
    if (n_ranks == 1 || !why_not.empty())
      return nullptr;
    // all that goes to all ranks by gather()
    const long                 largest_sums = static_cast<long>(std::max(reaction_diffusion::Sums::n, reaction_diffusion::mesh_directions)) * n_ranks;
    std::shared_ptr<Transport> transport    = make_transport(comm, backend, false, largest_sums);
    if (backend == Backend::cuda && !transport->is_queued())
      {
        why_not = "values would travel by " + transport->description();
        return nullptr;
      }
    // an exchange takes some 10 microseconds, a sweep of a GPU over 500000 nodes as long
    const int smallest_shared = backend == Backend::cuda ? 500000 : 4000;
    return std::make_shared<MeshRanks>(owner, smallest_shared, rank_in(comm), n_ranks, std::move(transport));
  }
} // namespace leopard
