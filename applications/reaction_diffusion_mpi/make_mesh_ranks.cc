// SPDX-License-Identifier: Apache-2.0
#include "make_mesh_ranks.h"

#include "distributed_mesh_levels.h"

#include <applications/reaction_diffusion/host/level_gcr.h>
#include <applications/reaction_diffusion/rules/sums.h>
#include <solvers/distributed/mpi/distributed_rows.h>
#include <solvers/distributed/mpi/mpi_transport.h>
#include <solvers/distributed/mpi/own_range.h>

#include <algorithm>
#include <utility>

namespace leopard
{
  using namespace reaction_diffusion;

  int smallest_shared_level(Backend backend)
  {
    // an exchange takes some 10 microseconds, a sweep of a GPU over 500000 nodes as long
    return backend == Backend::cuda ? 500000 : 4000;
  }

  std::shared_ptr<MeshRanks>
  make_mesh_ranks(MeshLaplacian mesh, bool with_coarser, int smallest_shared, Backend backend, MPI_Comm comm, std::string &why_not, bool staged)
  {
    why_not                       = "";
    const std::vector<int> counts = own_range(mesh.n_nodes(), comm).counts();
    const auto             none   = std::find(counts.begin(), counts.end(), 0);
    if (none != counts.end())
      why_not = "rank " + std::to_string(none - counts.begin()) + " owns no node of the mesh";
    const int n_ranks = size_of(comm);
    if (n_ranks == 1 || !why_not.empty())
      return nullptr;
    // all that goes to all ranks by gather()
    const long                 largest_sums = static_cast<long>(std::max(Sums::n, mesh_directions)) * n_ranks;
    std::shared_ptr<Transport> transport    = make_transport(comm, backend, staged, largest_sums);
    std::vector<MeshLevel>     levels       = make_distributed_levels(std::move(mesh), with_coarser, smallest_shared, comm);
    double                     largest[2]   = {levels[0].mesh.largest_row(), levels[0].mesh.largest_excess()};
    MPI_Allreduce(MPI_IN_PLACE, largest, 2, MPI_DOUBLE, MPI_MAX, comm);
    const auto gather = [comm](const std::vector<double> &own) { return gathered(own, comm); };
    return std::make_shared<MeshRanks>(std::move(levels), with_coarser, largest[0], largest[1], rank_in(comm), n_ranks, std::move(transport), gather);
  }
} // namespace leopard
