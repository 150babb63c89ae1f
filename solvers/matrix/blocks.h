// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "crs_matrix.h"

#include <algorithm>
#include <string>
#include <vector>

namespace leopard
{
  /**
   * How the rows that a block relaxes extend into the blocks beside it (Anzt, Chow, Szyld, Dongarra 2016, section 4).
   */
  enum class Overlap
  {
    none,
    uniform, ///< half of it before and half of it behind the block's own rows
    upward,  ///< before them (smaller row numbers; the paper's "bottom-up", for lower triangular matrices)
    downward ///< behind them (larger row numbers; "top-down", for upper triangular matrices)
  };

  /** Which rows make a block. What takes a shape says which of them it knows. */
  enum class BlockShape
  {
    contiguous, ///< rows as they are numbered
    rcm,        ///< reverse Cuthill-McKee order, then consecutive rows
    tiles,      ///< compact in space, from coordinates
    metis       ///< compact parts of the matrix graph
  };

  /** "contiguous", "rcm", "tiles" or "metis". */
  std::string to_string(BlockShape shape);

  /**
   * Blocks of consecutive rows, in the order of the rows or reversed. Block J owns the rows
   * owned_begin[J] <= i < owned_end[J] and is the only one to write them; it relaxes the rows begin[J] <= i < end[J],
   * which contain its own.
   */
  struct Blocks
  {
    std::vector<int> owned_begin, owned_end, begin, end; ///< n_blocks each

    int n_blocks() const { return static_cast<int>(begin.size()); }
    int n_rows() const { return owned_end.empty() ? 0 : std::max(owned_end.front(), owned_end.back()); }
    /** Number of rows of the largest block, overlap included. */
    int largest() const;
    /** The last block first. */
    void reverse();
  };

  /**
   * Blocks of block_size rows, the last one shorter. With overlap a block still has block_size rows: percent of them
   * are overlap and the rest is its own, so that there are more blocks.
   * @param percent of the block, 0 <= percent <= 90. @throws InvalidInput.
   */
  Blocks contiguous_blocks(int n_rows, int block_size, Overlap overlap = Overlap::none, double percent = 0.);

  /**
   * The rows of each block, sorted, with overlap by graph distance ("algebraic Schwarz overlap"; the paper's section
   * 3.1): its own and those at most `level` edges away from them in the graph of A + A^T; upward of these only the rows
   * before its own, downward only those behind.
   */
  template <typename Number>
  std::vector<std::vector<int>> rows_with_overlap(const CrsMatrix<Number> &A, const Blocks &blocks, Overlap overlap, int level);

  /** Blocks between given rows: offsets[0] = 0, increasing, the last is the number of rows. @throws InvalidInput. */
  Blocks blocks_between(const std::vector<int> &offsets);

  /**
   * A numbering in which blocks are contiguous: new row i is old row old_row[i]. Applied once, at the entry: matrix and
   * right-hand side are permuted, the iteration knows nothing of it, and the solution is permuted back.
   */
  struct Partition
  {
    std::vector<int> old_row;       ///< n_rows
    std::vector<int> block_offsets; ///< for blocks_between()
  };

  /** The order as it is. */
  Partition contiguous_partition(int n_rows, int block_size);

  /**
   * Tiles of t_x x t_y x t_z nodes of an n_x x n_y x n_z grid whose numbering has x fastest; smaller at the far sides.
   * @throws InvalidInput.
   */
  Partition tile_partition(int n_x, int n_y, int n_z, int t_x, int t_y, int t_z);

  /**
   * Tiles from coordinates, by recursive bisection: the rows are halved along the longer side of their bounding box
   * until no part has more than block_size rows.
   * @param coordinates dim numbers a row, row after row; any unit. @param n_threads 0: as many as this process may use.
   * The result does not depend on it.
   * @param shifted tiles whose middles lie where four (eight) of the others meet, as far as rows are spread evenly;
   * those at the boundary are halves and quarters. ShiftedTiles says how they are cut; by one thread. Nothing in a
   * direction with one tile.
   * @throws InvalidInput.
   */
  Partition coordinate_partition(const std::vector<double> &coordinates, int dim, int block_size, int n_threads = 1, bool shifted = false);

  /**
   * METIS partition of the graph of A + A^T into parts of at most block_size rows. Where some rows that follow one
   * another are those of a node of a system (elasticity), as the pattern shows, it is the graph of nodes, whose rows
   * stay together. Where METIS fails for the number of parts that this takes, parts that are too large are split.
   * @throws InvalidInput where it fails at once.
   */
  template <typename Number>
  Partition metis_partition(const CrsMatrix<Number> &A, int block_size);

  /** Reverse Cuthill-McKee order of the graph of A + A^T (small bandwidth), then blocks of block_size rows. */
  template <typename Number>
  Partition rcm_partition(const CrsMatrix<Number> &A, int block_size);

  // permute() and permute_back() throw InvalidInput for an order that is not one: of another length, or with a row that
  // is missing.

  /** Blocks of a shape that needs nothing but the matrix. @throws InvalidInput for tiles. */
  template <typename Number>
  Partition shaped_partition(const CrsMatrix<Number> &A, BlockShape shape, int block_size);

  /**
   * Compact blocks of at most block_size rows: coordinate_partition() where coordinates are known, metis_partition()
   * otherwise.
   * @param coordinates dim numbers a node, node after node, whose rows (one or several each) stand together and stay
   * so; empty: not known. @throws InvalidInput.
   */
  template <typename Number>
  Partition compact_partition(const CrsMatrix<Number> &A, const std::vector<double> &coordinates, int dim, int block_size, int n_threads = 1);

  /** Rows and own columns in the new order, P A P^T; ghost columns stay. Entries of a row sorted by column. */
  template <typename Number>
  CrsMatrix<Number> permute(const CrsMatrix<Number> &A, const Partition &partition);

  /**
   * The same with an order each for rows and columns of a matrix of any shape; an empty order leaves them as they are.
   */
  template <typename Number>
  CrsMatrix<Number> permute(const CrsMatrix<Number> &A, const std::vector<int> &old_row, const std::vector<int> &old_column, int n_threads = 1);

  /**
   * Of each entry of permute(A, old_row, old_column), which one of A it is: with it new values follow the order.
   */
  template <typename Number>
  std::vector<int> permuted_entries(const CrsMatrix<Number> &A, const std::vector<int> &old_row, const std::vector<int> &old_column);

  /** new_v[i] = v[old_row[i]]. */
  template <typename Number>
  std::vector<Number> permute(const std::vector<Number> &v, const Partition &partition);

  /** The inverse: v[old_row[i]] = new_v[i]. */
  template <typename Number>
  std::vector<Number> permute_back(const std::vector<Number> &new_v, const Partition &partition);
} // namespace leopard
