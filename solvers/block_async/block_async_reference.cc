// SPDX-License-Identifier: Apache-2.0
#include "../base/norms.h"
#include "../relaxation/diagonal.h"
#include "block_async_engine.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <random>

namespace leopard
{
  namespace
  {
    /**
     * The oracle: sequential, straight from the definition, on the CRS matrix as it came. Chaotic means here: blocks in
     * their order, each with the newest values. Replay: in each global iteration a random order of blocks, and each
     * block reads its off-block values as they are now or as they were at the beginning of one of the last two global
     * iterations of this call.
     */
    template <typename Number>
    class ReferenceEngine : public BlockAsyncEngine<Number>
    {
    public:
      ReferenceEngine(const CrsMatrix<Number> &A_, const BlockAsyncOptions &options_)
        : A(A_)
        , options(options_)
        , omega(static_cast<Number>(options_.omega))
        , block_omega(static_cast<Number>(options_.block_omega))
        , momentum(static_cast<Number>(options_.momentum))
        , blocks(options_.blocks(A_.n_rows))
        , random(options_.seed)
        , order(blocks.n_blocks())
        , frozen(blocks.largest())
        , y(blocks.largest())
        , next(blocks.largest())
        , diagonal(A_.n_rows)
        , diagonal_entry(diagonal_entries(A_))
        , velocity(blocks.n_blocks())
      {
        for (auto &snapshot : snapshots)
          snapshot.resize(A.n_columns);
        for (int block = 0; block < blocks.n_blocks(); ++block)
          velocity[block].resize(blocks.end[block] - blocks.begin[block]);
        update_values(A_.values.data());
      }

      MemorySpace memory_space() const override { return MemorySpace::host; }
      bool        is_fixed_linear_map() const override { return options.schedule != Schedule::replay; }

      std::string description() const override
      {
        return std::to_string(blocks.n_blocks()) + " blocks of up to " + std::to_string(blocks.largest()) + " rows, in sequence";
      }

      void restart() override
      {
        for (std::vector<Number> &v : velocity)
          std::fill(v.begin(), v.end(), Number(0));
      }

      void iterate(Number *x, const Number *b, int n_iterations) override
      {
        for (auto &snapshot : snapshots)
          std::copy_n(x, A.n_columns, snapshot.begin());
        for (int n = 0; n < n_iterations; ++n)
          {
            std::rotate(snapshots.rbegin(), snapshots.rbegin() + 1, snapshots.rend());
            std::copy_n(x, A.n_columns, snapshots[0].begin()); // [0]: this iteration's beginning, [1]: the one before
            std::iota(order.begin(), order.end(), 0);
            if (options.schedule == Schedule::replay)
              for (std::size_t i = order.size(); i > 1; --i)
                std::swap(order[i - 1], order[random() % i]);
            for (const int block : order)
              relax(block, x, values_to_read(x), b);
          }
      }

      double residual_norm_squared(const Number *x, const Number *b) override { return square(residual_norm(A, x, b)); }

      double norm_squared(const Number *b) override
      {
        return std::accumulate(b, b + A.n_rows, 0., [](double sum, Number value) { return sum + square(value); });
      }

      void update_values(const Number *values) override
      {
        check_new_values(A.row_offsets, diagonal_entry, values);
        std::copy_n(values, A.values.size(), A.values.begin());
        for (int i = 0; i < A.n_rows; ++i)
          diagonal[i] = A.values[diagonal_entry[i]];
      }

    private:
      const Number *values_to_read(const Number *x)
      {
        if (options.schedule == Schedule::synchronous)
          return snapshots[0].data();
        if (options.schedule == Schedule::chaotic)
          return x;
        const auto staleness = random() % 3;
        return staleness == 0 ? x : snapshots[staleness - 1].data();
      }

      void relax(int block, Number *x, const Number *off_block, const Number *b)
      {
        const int  begin = blocks.begin[block], end = blocks.end[block];
        const int  k      = options.local_iterations_per_block.empty() ? options.local_iterations : options.local_iterations_per_block[block];
        const auto inside = [&](int column) { return column >= begin && column < end; };
        const auto owned  = [&](int row) { return row >= blocks.owned_begin[block] && row < blocks.owned_begin[block + 1]; };
        for (int i = begin; i < end; ++i)
          {
            y[i - begin]      = owned(i) ? x[i] : off_block[i];
            frozen[i - begin] = b[i];
            for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
              if (!inside(A.columns[p]))
                frozen[i - begin] -= A.values[p] * off_block[A.columns[p]];
          }
        for (int sweep = 0; sweep < k; ++sweep)
          {
            for (int i = begin; i < end; ++i)
              {
                Number r = frozen[i - begin], l1 = 0; // the residual, diagonal included
                for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
                  if (inside(A.columns[p]))
                    r -= A.values[p] * y[A.columns[p] - begin];
                  else
                    l1 += std::abs(A.values[p]);
                const Number d  = diagonal[i] + (options.l1_weights ? std::copysign(l1, diagonal[i]) : Number(0));
                Number      &v  = velocity[block][i - begin];
                v               = omega / d * r + momentum * v;
                next[i - begin] = y[i - begin] + v;
              }
            y.swap(next);
          }
        for (int i = blocks.owned_begin[block]; i < blocks.owned_begin[block + 1]; ++i)
          x[i] += block_omega * (y[i - begin] - x[i]);
      }

      CrsMatrix<Number>                  A;
      const BlockAsyncOptions            options;
      const Number                       omega, block_omega, momentum;
      const Blocks                       blocks;
      std::mt19937_64                    random;
      std::vector<int>                   order;
      std::array<std::vector<Number>, 2> snapshots;
      std::vector<Number>                frozen, y, next, diagonal;
      std::vector<int>                   diagonal_entry; ///< of each row
      std::vector<std::vector<Number>>   velocity;       ///< one vector a block, overlap included
    };
  } // namespace

  template <typename Number>
  std::unique_ptr<BlockAsyncEngine<Number>> make_reference_engine(const CrsMatrix<Number> &A, const BlockAsyncOptions &options)
  {
    return std::make_unique<ReferenceEngine<Number>>(A, options);
  }

#define INSTANTIATE(Number) \
  template std::unique_ptr<BlockAsyncEngine<Number>> make_reference_engine(const CrsMatrix<Number> &A, const BlockAsyncOptions &options);
  LEOPARD_FOR_EACH_NUMBER(INSTANTIATE)
#undef INSTANTIATE
} // namespace leopard
