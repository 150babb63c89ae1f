// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../base/errors.h"
#include "trilinos_matrix.h"

#include <deal.II/lac/sparse_matrix.h>

#include <functional>
#include <string>

namespace leopard
{
  // What the adaptors that take deal.II's matrices have in common.

  /** @throws InvalidInput, beginning with who, where A is not square. */
  template <typename Matrix>
  void require_square(const Matrix &A, const std::string &who)
  {
    if (A.m() != A.n())
      throw InvalidInput(who + ": the matrix has " + std::to_string(A.m()) + " rows and " + std::to_string(A.n()) +
                         " columns\n  expected: a square matrix");
  }

  /**
   * A copy, entries in deal.II's order. @throws InvalidInput where it is not square or has too many entries. @param who
   * begins the message.
   */
  CrsMatrix<double> crs_matrix(const dealii::SparseMatrix<double> &A, const std::string &who);

  /**
   * The rank's rows of A without the columns of other ranks: what a preconditioner works on that has a rank's unknowns
   * to itself (block Jacobi over the ranks). @throws InvalidInput as local_matrix() and where A is not square.
   */
  CrsMatrix<double> own_block(const HostMatrix &A, const std::string &who);

  /**
   * Calls work() on each rank. If it throws on any, all ranks throw the error of the first of them, of its kind and
   * with its text, so that nobody waits for it. Collective. Without MPI_Init() there is one rank.
   */
  void together(MPI_Comm comm, const std::function<void()> &work);
} // namespace leopard
