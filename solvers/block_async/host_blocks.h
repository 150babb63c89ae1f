// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../base/norms.h"
#include "../matrix/block_crs.h"
#include "block_async_engine.h"
#include "host_scheduler.h"

#include <algorithm>
#include <string>
#include <vector>

namespace leopard
{
  /** The blocks of a stored matrix on host threads, whatever is done in a block. */
  template <typename Number>
  class HostBlocks : public BlockAsyncEngine<Number>
  {
  public:
    HostBlocks(const CrsMatrix<Number> &A, const BlockAsyncOptions &options_)
      : options(options_)
      , omega(static_cast<Number>(options_.omega))
      , block_omega(static_cast<Number>(options_.block_omega))
      , matrix(A, options_.blocks(A.n_rows), options_.n_threads)
      , scheduler(matrix.n_blocks(), A.n_rows, options_.n_threads)
      , old_x(options_.schedule == Schedule::synchronous ? A.n_columns : 0)
    {
    }

    MemorySpace memory_space() const override { return MemorySpace::host; }
    bool        is_fixed_linear_map() const override { return options.schedule == Schedule::synchronous || scheduler.n_threads() == 1; }

    std::string description() const override
    {
      return std::to_string(matrix.n_blocks()) + " blocks of up to " + std::to_string(matrix.blocks.largest()) + " rows on " +
             std::to_string(scheduler.n_threads()) + " threads, values stored as " + (std::is_same_v<Number, double> ? "double" : "single");
    }

    void restart() override {}

    void iterate(Number *x, const Number *b, int n_iterations) override
    {
      if (options.schedule == Schedule::synchronous)
        for (int n = 0; n < n_iterations; ++n)
          {
            std::copy_n(x, matrix.n_columns, old_x.begin());
            relax_all(x, old_x.data(), b, 1);
          }
      else
        relax_all(x, x, b, n_iterations);
    }

    double residual_norm_squared(const Number *x, const Number *b) override
    {
      return sum_over_rows([&](int i, int l, int first) {
        Number r = b[i] - matrix.diagonal[l] * x[i];
        for (int p = matrix.inner.offsets[l]; p < matrix.inner.offsets[l + 1]; ++p)
          r -= matrix.inner.values[p] * x[first + matrix.inner.columns[p]];
        for (int p = matrix.outer.offsets[l]; p < matrix.outer.offsets[l + 1]; ++p)
          r -= matrix.outer.values[p] * x[matrix.outer.columns[p]];
        return square(r);
      });
    }

    double norm_squared(const Number *b) override
    {
      return sum_over_rows([&](int i, int /*l*/, int /*first*/) { return square(b[i]); });
    }

    void set_omega(double value) override
    {
      options.omega = value;
      omega         = static_cast<Number>(value);
    }

  protected:
    /** Once a global iteration, by one thread at a time. */
    virtual void relax_block(int block, Number *x, const Number *off_block, const Number *b, int thread) = 0;

    int local_iterations(int block) const
    {
      return options.local_iterations_per_block.empty() ? options.local_iterations : options.local_iterations_per_block[block];
    }

    /** frozen = b less the off-block part of a block's rows. */
    void freeze(int block, const Number *off_block, const Number *b, Number *frozen) const
    {
      const int     begin = matrix.blocks.begin[block], n = matrix.blocks.end[block] - begin;
      const int    *outer         = matrix.outer.offsets.data() + matrix.first_local[block];
      const Number *outer_values  = matrix.outer.values.data();
      const int    *outer_columns = matrix.outer.columns.data();
      for (int i = 0; i < n; ++i)
        {
          Number sum = b[begin + i];
          for (int p = outer[i]; p < outer[i + 1]; ++p)
            sum -= outer_values[p] * load(off_block[outer_columns[p]]);
          frozen[i] = sum;
        }
    }

    BlockAsyncOptions options;
    Number            omega;
    const Number      block_omega;
    BlockCrs<Number>  matrix;
    HostScheduler     scheduler;

  private:
    void relax_all(Number *x, const Number *off_block, const Number *b, int n_iterations)
    {
      scheduler.run(n_iterations, [&](int block, int thread) { relax_block(block, x, off_block, b, thread); });
    }

    /** Sums term(row, local row, the block's first row). */
    template <typename Term>
    double sum_over_rows(const Term &term)
    {
      return scheduler.sum([&](int block) {
        double sum = 0.;
        for (int i = matrix.blocks.owned_begin[block]; i < matrix.blocks.owned_end[block]; ++i)
          sum += term(i, matrix.first_local[block] + i - matrix.blocks.begin[block], matrix.blocks.begin[block]);
        return sum;
      });
    }

    std::vector<Number> old_x; ///< synchronous schedule only
  };
} // namespace leopard
