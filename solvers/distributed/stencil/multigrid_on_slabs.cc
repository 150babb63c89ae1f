// SPDX-License-Identifier: Apache-2.0
#include "multigrid_on_slabs.h"

#include "../mpi/mpi_transport.h"

#include <numeric>

namespace leopard
{
  MultigridOnSlabs multigrid_on_slabs(
    const FoundStencil &found, const std::vector<int> &entries, MPI_Comm comm, int n_levels, const DistributedStencilOptions &options)
  {
    const int        n_ranks = size_of(comm), rank = rank_in(comm);
    std::vector<int> offsets; // of nodes
    for (int r = 0; r < n_ranks; ++r)
      offsets.push_back(found.stencil.plane() * DistributedStencilMultigrid::own_planes(found.stencil, r, n_ranks, options).first);
    offsets.push_back(found.stencil.n_rows());
    std::vector<int> nodes;
    for (const int row : found.rows)
      nodes.push_back(found.nodes[row]);

    std::vector<double> diagonal;
    if (found.diagonal_varies)
      {
        std::vector<int> places(found.rows.size()); // as own_diagonal is in the order of rows
        std::iota(places.begin(), places.end(), 0);
        diagonal.resize(offsets[rank + 1] - offsets[rank]);
        RowsOnSlabs(nodes, places, offsets, comm, Backend::host).to_slab(diagonal.data(), found.own_diagonal.data());
      }
    MultigridOnSlabs result;
    result.rows      = std::make_unique<RowsOnSlabs>(nodes, entries, offsets, comm, options.multigrid.backend);
    result.multigrid = std::make_shared<DistributedStencilMultigrid>(found.stencil, comm, options, diagonal, n_levels);
    return result;
  }
} // namespace leopard
