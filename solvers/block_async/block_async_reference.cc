// SPDX-License-Identifier: Apache-2.0
#include "block_async_engine.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <random>

namespace leopard
{
  namespace
  {
    /**
     * The oracle: sequential, straight from the definition, on the CRS matrix as it came. Chaotic means here: blocks in their
     * order, each with the newest values. Replay: in each global iteration a random order of blocks, and each block reads its
     * off-block values as they are now or as they were at the beginning of one of the last two global iterations of this call.
     */
    class ReferenceEngine : public BlockAsync::Engine
    {
    public:
      ReferenceEngine(const CrsMatrix &A_, const BlockAsyncOptions &options_)
        : A(A_)
        , options(options_)
        , random(options_.seed)
        , order((A_.n_rows + options_.block_size - 1) / options_.block_size)
        , frozen(options_.block_size)
        , next(options_.block_size)
        , inverse_diagonal(A_.n_rows)
      {
        for (auto &snapshot : snapshots)
          snapshot.resize(A.n_columns);
        update_values(A_.values.data());
      }

      MemorySpace memory_space() const override { return MemorySpace::host; }
      bool        is_fixed_linear_map() const override { return options.schedule != Schedule::replay; }

      void iterate(double *x, const double *b, int n_iterations) override
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

      double residual_norm_squared(const double *x, const double *b) override
      {
        const double norm = residual_norm(A, x, b);
        return norm * norm;
      }

      double norm_squared(const double *b) override { return std::inner_product(b, b + A.n_rows, b, 0.); }

      void update_values(const double *values) override
      {
        std::copy_n(values, A.values.size(), A.values.begin());
        A.validate();
        for (int i = 0; i < A.n_rows; ++i)
          for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
            if (A.columns[p] == i)
              inverse_diagonal[i] = 1. / A.values[p];
      }

    private:
      const double *values_to_read(const double *x)
      {
        if (options.schedule == Schedule::synchronous)
          return snapshots[0].data();
        if (options.schedule == Schedule::chaotic)
          return x;
        const auto staleness = random() % 3;
        return staleness == 0 ? x : snapshots[staleness - 1].data();
      }

      void relax(int block, double *x, const double *off_block, const double *b)
      {
        const int  begin = block * options.block_size, end = std::min(begin + options.block_size, A.n_rows);
        const auto inside = [&](int column) { return column >= begin && column < end; };
        for (int i = begin; i < end; ++i)
          {
            frozen[i - begin] = b[i];
            for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
              if (!inside(A.columns[p]))
                frozen[i - begin] -= A.values[p] * off_block[A.columns[p]];
          }
        for (int k = 0; k < options.local_iterations; ++k)
          {
            for (int i = begin; i < end; ++i)
              {
                double r = frozen[i - begin];
                for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
                  if (inside(A.columns[p]))
                    r -= A.values[p] * x[A.columns[p]];
                next[i - begin] = x[i] + options.omega * inverse_diagonal[i] * r;
              }
            std::copy_n(next.begin(), end - begin, x + begin);
          }
      }

      CrsMatrix                          A;
      const BlockAsyncOptions            options;
      std::mt19937_64                    random;
      std::vector<int>                   order;
      std::array<std::vector<double>, 2> snapshots;
      std::vector<double>                frozen, next, inverse_diagonal;
    };
  } // namespace

  std::unique_ptr<BlockAsync::Engine> make_reference_engine(const CrsMatrix &A, const BlockAsyncOptions &options)
  {
    return std::make_unique<ReferenceEngine>(A, options);
  }
} // namespace leopard
