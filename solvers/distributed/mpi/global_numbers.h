// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../../exchange/communication.h"
#include "distributed_rows.h"

#include <vector>

namespace leopard
{
  /** One numbering for the unknowns of a matrix that is spread over ranks: rank after rank, each in its own order. */
  struct GlobalNumbers
  {
    /** Collective. @param communication of A's ghosts; null: A has none. */
    GlobalNumbers(const CrsMatrix<double> &A, const Communication<double> *communication, MPI_Comm comm);

    int n() const { return own.n_all(); } ///< of all ranks
    /** The rows of all ranks of A, or of a matrix with its pattern, columns by number. Collective. */
    CrsMatrix<double> gathered(const CrsMatrix<double> &A, MPI_Comm comm) const;

    OwnRange         own;
    std::vector<int> counts;    ///< own unknowns of each rank
    std::vector<int> of_column; ///< number of each column of A: own ones, then ghosts
  };
} // namespace leopard
