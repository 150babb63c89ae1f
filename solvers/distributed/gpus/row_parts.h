// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../../exchange/exchange_pattern.h"
#include "../../matrix/blocks.h"
#include "../../matrix/crs_matrix.h"
#include "../../matrix/stencil.h"

#include <vector>

namespace leopard
{
  /**
   * Where the parts of consecutive rows begin into which a square matrix is cut, and the number of rows: at beginnings
   * of blocks, so that entries are shared out as `shares` says, as nearly as blocks allow, and each part has a block.
   * @param blocks without overlap, in the order of the rows. @param shares positive, one a part.
   * @throws InvalidInput if there are more parts than blocks, or for a share that is not a positive number.
   */
  template <typename Number>
  std::vector<int> part_offsets(const CrsMatrix<Number> &A, const Blocks &blocks, const std::vector<double> &shares);

  /** What a part has of the other parts' rows beside its own. */
  enum class OtherRows
  {
    needed, ///< those that its rows have entries in, by ascending number
    all     ///< all of them, by ascending number
  };

  /** Consecutive rows, and the rows of others whose values they need: host data. */
  struct RowPart
  {
    int              begin = 0, end = 0; ///< its rows
    std::vector<int> ghosts;             ///< the rows of others, ascending
    int              n_before = 0;       ///< so many ghosts stand before the own rows in a vector, the others behind them
    bool             has_all  = false;   ///< OtherRows::all: instead of ghosts
    ExchangePattern  pattern;            ///< what travels between the parts; entries of vectors with ghosts

    int n_rows() const { return end - begin; }
    /** Where ghost g stands in a vector. */
    int place(int g) const { return g < n_before ? g : n_rows() + g; }
  };

  /**
   * The parts of a matrix between the offsets; in vectors own rows come first. With OtherRows::all nothing is said of
   * ghosts and patterns.
   */
  template <typename Number>
  std::vector<RowPart> row_parts(const CrsMatrix<Number> &A, const std::vector<int> &offsets, OtherRows others);

  /** Of the rows at which blocks begin those of a part, counted from its first row, and its number of rows. */
  std::vector<int> block_offsets_of(const RowPart &part, const std::vector<int> &begin);

  /** The rows of a part: entries in the order of the whole matrix; columns: own rows, then the others. */
  template <typename Number>
  CrsMatrix<Number> rows_of(const CrsMatrix<Number> &A, const RowPart &part);

  /**
   * The parts of a grid: slabs of at least two planes, whose ghosts are the planes below and above (see Stencil).
   * @param tile planes of a tile: where there is one for each part, parts begin where tiles do.
   * @throws InvalidInput for slabs of slabs, more parts than there are planes for, or a share that is not a positive
   * number.
   */
  template <typename Number>
  std::vector<RowPart> slab_parts(const Stencil<Number> &stencil, const std::vector<double> &shares, int tile = 1);

  /** The slab of a part. */
  template <typename Number>
  Stencil<Number> slab_of(const Stencil<Number> &stencil, const RowPart &part);
} // namespace leopard
