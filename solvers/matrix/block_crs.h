// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "blocks.h"
#include "crs_matrix.h"

#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

namespace leopard
{
  [[noreturn]] void refuse_new_value(int row, double value, bool is_diagonal);

  /** @throws InvalidInput if a new value of a row is not finite, or that on the diagonal is zero. */
  inline void check_new_value(int row, double value, bool is_diagonal)
  {
    if (!std::isfinite(value) || (is_diagonal && value == 0.))
      refuse_new_value(row, value, is_diagonal);
  }

  /**
   * A matrix split for block relaxation (thesis, section 4.8.2): the diagonal, the rest of the diagonal blocks with
   * 16-bit column indices that count from the block's first row, and all entries outside the diagonal blocks (ghost
   * columns among them) with 32-bit column indices. Host memory.
   *
   * The rows of the blocks stand one block after the other and are numbered as *local rows*: block J has the local rows
   * first_local[J] <= l < first_local[J+1], of which the first is row blocks.begin[J]. Without overlap, and
   * with the blocks in the order of the rows, they are the matrix' rows.
   */
  template <typename Number>
  struct BlockCrs
  {
    /** One of the two parts: local row l holds the entries offsets[l] <= p < offsets[l+1]. */
    template <typename Index>
    struct Part
    {
      std::vector<int>    offsets = {0};
      std::vector<Index>  columns;
      std::vector<Number> values;
      std::vector<int>    source; ///< which entry of the CrsMatrix a value comes from
    };

    /**
     * Splits A, which must be valid. @param n_threads that do it; 0: as many as this process may use. @throws
     * InvalidInput if a block has more than 65536 rows, the blocks do not cover the matrix, or a value is not finite,
     * or zero on the diagonal.
     */
    BlockCrs(const CrsMatrix<Number> &A, const Blocks &blocks, int n_threads = 1);

    struct DiagonalBlocks
    {
    };
    /**
     * The diagonal blocks of another one, nothing outside them, and all values zero for the time being. Their sources
     * are the numbers of the other's inner entries.
     */
    template <typename Other>
    BlockCrs(const BlockCrs<Other> &whole, DiagonalBlocks /*only*/)
      : n_rows(whole.n_rows)
      , n_columns(whole.n_columns)
      , blocks(whole.blocks)
      , first_local(whole.first_local)
      , diagonal(whole.diagonal.size(), Number(0))
      , diagonal_source(whole.diagonal_source)
    {
      inner.offsets = whole.inner.offsets;
      inner.columns = whole.inner.columns;
      inner.values.assign(inner.columns.size(), Number(0));
      inner.source.resize(inner.columns.size());
      std::iota(inner.source.begin(), inner.source.end(), 0);
      outer.offsets.assign(inner.offsets.size(), 0);
    }

    /**
     * New values in the order of the CrsMatrix. @throws InvalidInput if one is not finite, or zero on the diagonal;
     * then nothing has changed.
     */
    void update_values(const Number *new_values);

    /**
     * weights[l] = omega / d_l for each local row l, where d_l = a_ll, or with l1 weights a_ll + sign(a_ll) times the
     * sum of the |a_lj| outside the diagonal block (thesis, section 4.10.2.3). Allocates only if the length changes.
     */
    void compute_weights(double omega, bool l1_weights, std::vector<Number> &weights) const;

    int n_blocks() const { return blocks.n_blocks(); }
    int n_local_rows() const { return first_local.back(); }

    int                 n_rows, n_columns;
    Blocks              blocks;
    std::vector<int>    first_local = {0}; ///< n_blocks + 1
    std::vector<Number> diagonal;          ///< one a local row
    std::vector<int>    diagonal_source;
    Part<std::uint16_t> inner; ///< within the diagonal blocks, without the diagonal
    Part<int>           outer; ///< everything else

  private:
    void check_values(const Number *new_values) const;
  };
} // namespace leopard
