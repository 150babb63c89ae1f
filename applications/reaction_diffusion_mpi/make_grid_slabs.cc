// SPDX-License-Identifier: Apache-2.0
#include "make_grid_slabs.h"

#include <applications/reaction_diffusion/rules/sums.h>
#include <solvers/distributed/mpi/mpi_transport.h>

#include <algorithm>

namespace leopard
{
  std::shared_ptr<reaction_diffusion::GridSlabs>
  make_grid_slabs(const reaction_diffusion::NodeGrid &grid, Backend backend, MPI_Comm comm, std::string &why_not, bool staged)
  {
    using reaction_diffusion::GridSlabs;
    const int n_ranks = size_of(comm);
    why_not           = GridSlabs::why_not(grid, n_ranks, backend);
    if (n_ranks == 1 || !why_not.empty())
      return nullptr;
    long n_coarse = 1; // the next coarser grid is gathered
    for (const int n : grid.n)
      n_coarse *= n / 2 + 1;
    const long                 largest_sums = static_cast<long>(std::max(reaction_diffusion::Sums::n, reaction_diffusion::max_directions)) * n_ranks;
    std::shared_ptr<Transport> transport    = make_transport(comm, backend, staged, std::max(n_coarse, largest_sums));
    return std::make_shared<GridSlabs>(grid, rank_in(comm), n_ranks, backend, std::move(transport));
  }
} // namespace leopard
