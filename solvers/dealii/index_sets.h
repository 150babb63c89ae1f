// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../distributed/mpi/distributed_rows.h"
#include "trilinos_matrix.h"

#include <deal.II/base/index_set.h>

#include <vector>

namespace leopard
{
  // deal.II's index sets, and matrices with them, as solvers/distributed has them.

  /**
   * Collective. @throws InvalidInput, on all ranks, where owned indices of a rank do not follow those of the one
   * before.
   */
  OwnRange own_range(const dealii::IndexSet &owned, MPI_Comm comm);

  /** The indices of a set, sorted. */
  std::vector<int> numbers_of(const dealii::IndexSet &set);

  /** The rank's rows of a compressed matrix; those named in identity_rows become rows of the identity. */
  DistributedRows rows_of(const HostMatrix &matrix, const dealii::IndexSet &identity_rows = dealii::IndexSet());

  /** The same for a matrix whose columns are numbered. */
  DistributedRows rows_of(const LocalMatrix &matrix, const dealii::IndexSet &identity_rows);
} // namespace leopard
