// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../matrix/crs_matrix.h"

#include <deal.II/base/index_set.h>
#include <deal.II/lac/trilinos_sparse_matrix.h>
#include <deal.II/lac/trilinos_vector.h>

namespace leopard
{
  using HostVector = dealii::TrilinosWrappers::MPI::Vector;
  using HostMatrix = dealii::TrilinosWrappers::SparseMatrix;

  /**
   * What this rank holds of a distributed Trilinos matrix, as the solver library wants it: own rows, own columns first,
   * then one ghost column for each entry of `ghosts`, in its order.
   */
  struct LocalMatrix
  {
    CrsMatrix<double> matrix;
    dealii::IndexSet  owned;  ///< the rank's rows, contiguous
    dealii::IndexSet  ghosts; ///< columns that other ranks own
  };

  /**
   * Copies the rank's rows out of A, which must be compressed and square. Entries keep Trilinos' order, so that
   * Relaxation::update_values(local_values(A)) can follow.
   * @throws InvalidInput if the rank's rows are not contiguous.
   */
  LocalMatrix local_matrix(const HostMatrix &A);

  /**
   * The rank's values of A, one an entry in the order of local_matrix(A), in Trilinos' own memory: valid while A lives.
   */
  const double *local_values(const HostMatrix &A);

  /** The same memory for writing: a change of values on a fixed pattern without Trilinos' index searches. */
  double *local_values(HostMatrix &A);
} // namespace leopard
