// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../../multigrid/find_stencil.h"
#include "distributed_stencil_multigrid.h"
#include "rows_on_slabs.h"

#include <memory>
#include <vector>

namespace leopard
{
  /** Multigrid on slabs of the ranks, and the way there from the rows of a matrix. */
  struct MultigridOnSlabs
  {
    std::shared_ptr<DistributedStencilMultigrid> multigrid;
    std::unique_ptr<RowsOnSlabs>                 rows;
  };

  /**
   * Of a stencil that several ranks have found in a matrix. Collective. @param entries where the coupled rows,
   * found.rows, stand in the rank's vectors. @param n_levels as for DistributedStencilMultigrid. @throws InvalidInput,
   * DeviceError, as that and RowsOnSlabs.
   */
  MultigridOnSlabs multigrid_on_slabs(
    const FoundStencil &found, const std::vector<int> &entries, MPI_Comm comm, int n_levels, const DistributedStencilOptions &options);
} // namespace leopard
