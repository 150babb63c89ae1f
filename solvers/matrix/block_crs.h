// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "crs_matrix.h"

#include <cstdint>
#include <vector>

namespace leopard
{
  /**
   * A matrix split for block relaxation with blocks of consecutive rows (thesis, section 4.8.2): the diagonal, the rest of the
   * diagonal blocks with 16-bit column indices that count from the block's first row, and all entries outside the diagonal blocks
   * (ghost columns among them) with 32-bit column indices. Host memory.
   */
  struct BlockCrs
  {
    /** One of the two parts: row i holds the entries offsets[i] <= p < offsets[i+1]. */
    template <typename Index>
    struct Part
    {
      std::vector<int>    offsets = {0};
      std::vector<Index>  columns;
      std::vector<double> values;
      std::vector<int>    source; ///< which entry of the CrsMatrix a value comes from
    };

    /** Splits A, which must be valid. @throws InvalidInput if block_size is not in 1 ... 65536. */
    BlockCrs(const CrsMatrix &A, int block_size);

    /** New values in the order of the CrsMatrix. @throws InvalidInput for a diagonal entry that is zero or not finite. */
    void update_values(const double *new_values);

    int block_begin(int block) const { return block * block_size; }
    int block_end(int block) const { return block + 1 < n_blocks ? (block + 1) * block_size : n_rows; }

    int                 n_rows, n_columns, block_size, n_blocks;
    std::vector<double> diagonal, inverse_diagonal;
    std::vector<int>    diagonal_source;
    Part<std::uint16_t> inner; ///< within the diagonal blocks, without the diagonal
    Part<int>           outer; ///< everything else
  };
} // namespace leopard
