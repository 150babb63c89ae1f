// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../base/norms.h"
#include "../relaxation/diagonal.h"
#include "block_async_engine.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace leopard
{
  /**
   * The oracle of what relaxes blocks: sequential, straight from the definition, on the CRS matrix as it came. Chaotic
   * means here: blocks in their order, each with the newest values. Replay: in each global iteration a random order of
   * blocks, and each block reads its off-block values as they are now or as they were at the beginning of one of the
   * last two (BlockAsyncOptions::staleness) global iterations of this call. It alone has blocks whose overlap is by
   * graph distance, so that a block is a list of rows here.
   */
  template <typename Number>
  class ReferenceBlocks : public BlockAsyncEngine<Number>
  {
  public:
    ReferenceBlocks(const CrsMatrix<Number> &A_, const BlockAsyncOptions &options_)
      : A(A_)
      , options(options_)
      , omega(static_cast<Number>(options_.omega))
      , block_omega(static_cast<Number>(options_.block_omega))
      , sweep_weights(options_.sweep_weights)
      , blocks(options_.blocks(A_.n_rows))
      , random(options_.seed)
      , rows(rows_of_blocks())
      , order(blocks.n_blocks())
      , local(A_.n_columns, -1)
      , frozen(largest_block())
      , y(largest_block())
      , diagonal(A_.n_rows)
      , diagonal_entry(diagonal_entries(A_))
    {
      for (auto &snapshot : snapshots)
        snapshot.resize(A.n_columns);
      put_diagonal();
    }

    MemorySpace memory_space() const override { return MemorySpace::host; }
    bool        is_fixed_linear_map() const override { return options.schedule != Schedule::replay; }

    std::string description() const override
    {
      return std::to_string(blocks.n_blocks()) + " blocks of up to " + std::to_string(largest_block()) + " rows, in sequence";
    }

    void restart() override {}

    void iterate(Number *x, const Number *b, int n_iterations) override
    {
      for (auto &snapshot : snapshots)
        std::copy_n(x, A.n_columns, snapshot.begin());
      for (int n = 0; n < n_iterations; ++n)
        {
          std::rotate(snapshots.rbegin(), snapshots.rbegin() + 1, snapshots.rend());
          std::copy_n(x, A.n_columns, snapshots[0].begin()); // [0]: this iteration's beginning, [1]: the one before
          relax_all(x, b);
        }
    }

    double residual_norm_squared(const Number *x, const Number *b) override { return square(residual_norm(A, x, b)); }

    double norm_squared(const Number *b) override
    {
      return std::accumulate(b, b + A.n_rows, 0., [](double sum, Number value) { return sum + square(value); });
    }

    void set_omega(double value) override { omega = static_cast<Number>(value); }

    void set_sweep_weights(const std::vector<double> &weights) override { sweep_weights = weights; }

    void update_values(const Number *values) override
    {
      check_new_values(A.row_offsets, diagonal_entry, values);
      std::copy_n(values, A.values.size(), A.values.begin());
      put_diagonal();
    }

  protected:
    /** Writes the values of the rows that the block owns; y has its values, frozen b less the off-block part. */
    virtual void relax(int block, Number *x) = 0;

    /** A global iteration: blocks one after the other. */
    virtual void relax_all(Number *x, const Number *b)
    {
      std::iota(order.begin(), order.end(), 0);
      if (options.schedule == Schedule::replay)
        shuffle(order);
      for (const int block : order)
        {
          const Number *off_block = values_to_read(x);
          for (std::size_t r = 0; r < rows[block].size(); ++r)
            local[rows[block][r]] = static_cast<int>(r);
          freeze(block, x, off_block, b);
          relax(block, x);
          for (const int i : rows[block])
            local[i] = -1;
        }
    }

    void shuffle(std::vector<int> &list)
    {
      for (std::size_t i = list.size(); i > 1; --i)
        std::swap(list[i - 1], list[random() % i]);
    }

    /** Those of other blocks, as old as the schedule wants them. */
    const Number *values_to_read(const Number *x)
    {
      if (options.schedule == Schedule::synchronous)
        return snapshots[0].data();
      if (options.schedule == Schedule::chaotic)
        return x;
      const auto age = random() % (options.staleness + 1);
      return age == 0 ? x : snapshots[age - 1].data();
    }

    /** A row's value, at the end of what the block does. */
    void write(int i, Number value, Number *x) const { x[i] += block_omega * (value - x[i]); }

    /** Of the block at work. */
    bool is_inside(int column) const { return local[column] >= 0; }
    int  largest_block() const
    {
      std::size_t largest = 0;
      for (const std::vector<int> &of_block : rows)
        largest = std::max(largest, of_block.size());
      return static_cast<int>(largest);
    }
    int local_iterations(int block) const
    {
      return options.local_iterations_per_block.empty() ? options.local_iterations : options.local_iterations_per_block[block];
    }

    Number factor(int sweep) const { return sweep_weights.empty() ? omega : static_cast<Number>(sweep_weights[sweep]); }

    /**
     * d_i of a row of the block at work: a_ii, or with l1 weights a_ii + sign(a_ii) sum over j outside the block of
     * |a_ij|.
     */
    Number weighted_diagonal(int i) const
    {
      return weighted_diagonal(i, [this](int column) { return is_inside(column); });
    }
    /** @param is_inside_(column) of the block of row i. */
    template <typename Inside>
    Number weighted_diagonal(int i, const Inside &is_inside_) const
    {
      Number l1 = 0;
      for (int p = A.row_offsets[i]; options.l1_weights && p < A.row_offsets[i + 1]; ++p)
        if (!is_inside_(A.columns[p]))
          l1 += std::abs(A.values[p]);
      return diagonal[i] + std::copysign(l1, diagonal[i]);
    }

    CrsMatrix<Number>                   A;
    const BlockAsyncOptions             options;
    Number                              omega;
    const Number                        block_omega;
    std::vector<double>                 sweep_weights; ///< empty: omega in each sweep
    const Blocks                        blocks;
    std::mt19937_64                     random;
    const std::vector<std::vector<int>> rows; ///< of each block, sorted, overlap included
    std::vector<int>                    order;
    std::vector<int>                    local; ///< of each column its place among the rows of the block at work, or -1
    std::array<std::vector<Number>, 2>  snapshots;
    std::vector<Number>                 frozen, y, diagonal;
    std::vector<int>                    diagonal_entry; ///< of each row

  private:
    std::vector<std::vector<int>> rows_of_blocks() const
    {
      if (options.overlap_level > 0)
        return rows_with_overlap(A, blocks, options.overlap, options.overlap_level);
      std::vector<std::vector<int>> result(blocks.n_blocks());
      for (int block = 0; block < blocks.n_blocks(); ++block)
        for (int i = blocks.begin[block]; i < blocks.end[block]; ++i)
          result[block].push_back(i);
      return result;
    }

    void put_diagonal()
    {
      for (int i = 0; i < A.n_rows; ++i)
        diagonal[i] = A.values[diagonal_entry[i]];
    }

    void freeze(int block, const Number *x, const Number *off_block, const Number *b)
    {
      const auto owned = [&](int row) { return row >= blocks.owned_begin[block] && row < blocks.owned_end[block]; };
      for (const int i : rows[block])
        {
          const int r = local[i];
          y[r]        = owned(i) ? x[i] : off_block[i];
          frozen[r]   = b[i];
          for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
            if (!is_inside(A.columns[p]))
              frozen[r] -= A.values[p] * off_block[A.columns[p]];
        }
    }
  };
} // namespace leopard
