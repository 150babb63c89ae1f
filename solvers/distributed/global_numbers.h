// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../matrix/crs_matrix.h"
#include "../relaxation/relaxation.h"

#include <mpi.h>

#include <vector>

namespace leopard
{
  /** One numbering for the unknowns of a matrix that is spread over ranks: rank after rank, each in its own order. */
  struct GlobalNumbers
  {
    /** Collective. @param communication of A's ghosts; null: A has none. */
    GlobalNumbers(const CrsMatrix<double> &A, const Communication<double> *communication, MPI_Comm comm);

    int n() const { return offsets.back(); } ///< of all ranks
    /** The rows of all ranks of A, or of a matrix with its pattern, columns by number. Collective. */
    CrsMatrix<double> gathered(const CrsMatrix<double> &A, MPI_Comm comm) const;

    std::vector<int> of_column; ///< number of each column of A: own ones, then ghosts
    std::vector<int> counts;    ///< own unknowns of each rank
    std::vector<int> offsets;   ///< the first number of each rank, and n()
    int              first = 0; ///< of this rank
  };

  /** Everybody's values, rank after rank. Collective. */
  std::vector<double> gathered(const std::vector<double> &own, MPI_Comm comm);
  std::vector<int>    gathered(const std::vector<int> &own, MPI_Comm comm);
} // namespace leopard
