// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../../exchange/exchange_pattern.h"
#include "../../matrix/blocks.h"
#include "../../matrix/crs_matrix.h"

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

  /** Which columns a part has behind those of its own rows. */
  enum class OtherColumns
  {
    needed, ///< those that its rows have entries in, by ascending number
    all     ///< all others, by ascending number
  };

  /** A part of a matrix as its own GPU sees it; host memory. */
  template <typename Number>
  struct RowPart
  {
    int               begin = 0, end = 0; ///< its rows
    CrsMatrix<Number> A;                  ///< entries in the order of the whole matrix; columns: own rows, then the others
    std::vector<int>  ghosts;             ///< with OtherColumns::needed: the rows that those are
    ExchangePattern   pattern;            ///< likewise: what travels between the parts
  };

  /** The parts between the offsets. Entries of ranks' patterns are those of vectors with own rows first, then ghosts. */
  template <typename Number>
  std::vector<RowPart<Number>> row_parts(const CrsMatrix<Number> &A, const std::vector<int> &offsets, OtherColumns others);
} // namespace leopard
