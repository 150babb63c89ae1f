// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../exchange/communication.h"
#include "../matrix/stencil.h"

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace leopard
{
  /** The ranks that share a matrix, whose columns are a rank's own rows, then ghosts. The default: there is one. */
  struct RowsOfRanks
  {
    const Communication<double> *communication = nullptr; ///< of vectors with a value a column; null: one rank
    int                          first         = 0;       ///< the number of this rank's first row among all, for messages
  };

  /**
   * A matrix that is a stencil, but for the order of its rows and for rows that are coupled to none. On several ranks
   * the stencil is that of the whole grid, the same on all of them, and the rest is of the rank's own rows.
   */
  struct FoundStencil
  {
    Stencil<double>     stencil;
    std::vector<int>    rows;                    ///< the matrix' row of each of the stencil's nodes, x fastest; several ranks: own ones
    std::vector<int>    nodes;                   ///< the node of each of the matrix' columns; -1: none
    std::vector<int>    isolated_rows;           ///< the others (boundary values): a_ii x_i = b_i
    std::vector<double> isolated_diagonal;       ///< their a_ii
    bool                diagonal_varies = false; ///< from row to row
    std::vector<double> own_diagonal;            ///< several ranks: then that of rows, and stencil.diagonal is empty
    double              deviation = 0.;          ///< largest |a_ij - coefficient| over the largest diagonal entry; 0: every entry is equal exactly
  };

  /**
   * Recognizes a stencil in a stored matrix: rows that are coupled to others must stand at the nodes of a whole lattice
   * with equal intervals in each direction, their couplings must reach one interval at most, and those of one direction
   * must be equal, up to a tolerance, in all rows; where there is no node, zero boundary values are meant. A diagonal
   * that varies more than the tolerance becomes the stencil's. Every entry is looked at once.
   *
   * On several ranks it is collective, and all find the same or nothing, for the same reason. That no two ranks have a
   * row at the same node is not looked at.
   *
   * @param coordinates dim numbers a row, row after row; any unit.
   * @param why_not if not null and nothing is found, receives the reason.
   * @param tolerance of deviation. Assembled matrices differ by rounding: by 1e-16 times the number of nodes in a
   * direction.
   * @throws InvalidInput if A has ghosts on one rank, or not dim coordinates a row, or one of a coupled row is not
   * finite.
   */
  std::optional<FoundStencil> find_stencil(const CrsMatrix<double>   &A,
                                           const std::vector<double> &coordinates,
                                           int                        dim,
                                           std::string               *why_not   = nullptr,
                                           double                     tolerance = 1e-11,
                                           const RowsOfRanks         &ranks     = {});

  /**
   * The same where row k stands at node k of a grid of n[0] x n[1] x n[2] nodes, x fastest, whose every row is coupled
   * to others: no coordinates, one pass over the entries by all threads. One rank; the sums do not depend on the
   * threads. @throws InvalidInput unless A is square with that many rows.
   */
  std::optional<FoundStencil>
  find_stencil_on_grid(const CrsMatrix<double> &A, const std::array<int, 3> &n, std::string *why_not = nullptr, double tolerance = 1e-11);

  /**
   * The stencil of a matrix with other values and the rows where they were. Rows keep their nodes, so that this takes a
   * fraction of find_stencil()'s time, and no memory where the pattern stays. @return false if A is not such a stencil;
   * then `found` is of no use. Collective on several ranks.
   */
  bool update_stencil(FoundStencil &found, const CrsMatrix<double> &A, double tolerance = 1e-11, const RowsOfRanks &ranks = {});
} // namespace leopard
