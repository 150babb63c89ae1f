// SPDX-License-Identifier: Apache-2.0
#include "../base/norms.h"
#include "../matrix/block_crs.h"
#include "block_async_engine.h"
#include "host_scheduler.h"
#include "sliced_rows.h"

namespace leopard
{
  namespace
  {
    template <typename Number>
    struct Scratch
    {
      std::vector<Number> frozen, current, next; ///< one block each, rounded up to whole slices
    };

    /** The blocks of a stored matrix on host threads. */
    template <typename Number>
    class HostEngine : public BlockAsyncEngine<Number>
    {
    public:
      HostEngine(const CrsMatrix<Number> &A, const BlockAsyncOptions &options_)
        : options(options_)
        , omega(static_cast<Number>(options_.omega))
        , block_omega(static_cast<Number>(options_.block_omega))
        , momentum(static_cast<Number>(options_.momentum))
        , matrix(A, options_.blocks(A.n_rows))
        , inner(matrix)
        , velocity(options_.momentum > 0. ? matrix.n_local_rows() : 0)
        , scheduler(matrix.n_blocks(), A.n_rows, options_.n_threads)
        , scratch(scheduler.n_threads())
        , old_x(options_.schedule == Schedule::synchronous ? A.n_columns : 0)
      {
        update_weights();
        for (Scratch<Number> &s : scratch)
          for (std::vector<Number> *v : {&s.frozen, &s.current, &s.next})
            v->resize(SlicedRows<Number>::rounded_up(matrix.blocks.largest()));
      }

      MemorySpace memory_space() const override { return MemorySpace::host; }
      bool        is_fixed_linear_map() const override { return options.schedule == Schedule::synchronous || scheduler.n_threads() == 1; }

      std::string description() const override
      {
        return std::to_string(matrix.n_blocks()) + " blocks of up to " + std::to_string(matrix.blocks.largest()) + " rows on " +
               std::to_string(scheduler.n_threads()) + " threads, values stored as " + (std::is_same_v<Number, double> ? "double" : "single");
      }

      void restart() override { std::fill(velocity.begin(), velocity.end(), Number(0)); }

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

      void update_values(const Number *values) override
      {
        matrix.update_values(values);
        update_weights();
      }

    private:
      void update_weights()
      {
        matrix.compute_weights(options.omega, options.l1_weights, weights);
        inner.update(matrix, weights);
      }

      void relax_all(Number *x, const Number *off_block, const Number *b, int n_iterations)
      {
        scheduler.run(n_iterations, [&](int block, int thread) { relax_block(block, x, off_block, b, scratch[thread]); });
      }

      void relax_block(int block, Number *x, const Number *off_block, const Number *b, Scratch<Number> &s)
      {
        const Blocks &blocks = matrix.blocks;
        const int     begin = blocks.begin[block], n = blocks.end[block] - begin, first = matrix.first_local[block];
        const int     k           = options.local_iterations_per_block.empty() ? options.local_iterations : options.local_iterations_per_block[block];
        const int    *outer       = matrix.outer.offsets.data() + first;
        const int     owned_begin = blocks.owned_begin[block] - begin, owned_end = blocks.owned_begin[block + 1] - begin;

        const Number *outer_values  = matrix.outer.values.data();
        const int    *outer_columns = matrix.outer.columns.data();
        Number       *frozen        = s.frozen.data();
        for (int i = 0; i < n; ++i)
          {
            Number sum = b[begin + i];
            for (int p = outer[i]; p < outer[i + 1]; ++p)
              sum -= outer_values[p] * load(off_block[outer_columns[p]]);
            frozen[i] = sum;
          }
        // own values are written by nobody else
        for (int i = 0; i < n; ++i)
          s.current[i] = i >= owned_begin && i < owned_end ? x[begin + i] : load(off_block[begin + i]);
        for (int sweep = 0; sweep < k; ++sweep)
          {
            if (sweep > 0)
              std::swap(s.current, s.next);
            local_sweep(block, n, s.current.data(), s.frozen.data(), s.next.data());
          }
        const Number *result = s.next.data();
        Number       *out    = x + begin;
        if (options.block_omega == 1.)
          for (int i = owned_begin; i < owned_end; ++i)
            store(out[i], result[i]);
        else
          for (int i = owned_begin; i < owned_end; ++i)
            store(out[i], out[i] + block_omega * (result[i] - out[i]));
      }

      /** One Jacobi sweep inside a block: next_i = y_i + omega / d_i (frozen_i - sum of a_ij y_j) + momentum v_i. */
      void local_sweep(int block, int n, const Number *y, const Number *frozen, Number *next)
      {
        inner.sweep(block, Number(1) - omega, y, frozen, next); // 1 - omega is left of y_i where d_i = a_ii
        const int     first  = matrix.first_local[block];
        const Number *weight = weights.data() + first;
        if (options.l1_weights)
          {
            const Number *diagonal = matrix.diagonal.data() + first;
            for (int i = 0; i < n; ++i)
              next[i] += (omega - weight[i] * diagonal[i]) * y[i];
          }
        if (options.momentum > 0.)
          for (int i = 0; i < n; ++i)
            {
              Number &v = velocity[first + i];
              next[i] += momentum * v;
              v = next[i] - y[i];
            }
      }

      /** Sums term(row, local row, the block's first row). */
      template <typename Term>
      double sum_over_rows(const Term &term)
      {
        return scheduler.sum([&](int block) {
          double sum = 0.;
          for (int i = matrix.blocks.owned_begin[block]; i < matrix.blocks.owned_begin[block + 1]; ++i)
            sum += term(i, matrix.first_local[block] + i - matrix.blocks.begin[block], matrix.blocks.begin[block]);
          return sum;
        });
      }

      const BlockAsyncOptions      options;
      const Number                 omega, block_omega, momentum;
      BlockCrs<Number>             matrix;
      SlicedRows<Number>           inner;
      std::vector<Number>          weights, velocity; ///< one a local row: omega / d_l; and velocities, with momentum only
      HostScheduler                scheduler;
      std::vector<Scratch<Number>> scratch; ///< one a thread
      std::vector<Number>          old_x;   ///< synchronous schedule only
    };
  } // namespace

  template <typename Number>
  std::unique_ptr<BlockAsyncEngine<Number>> make_host_engine(const CrsMatrix<Number> &A, const BlockAsyncOptions &options)
  {
    return std::make_unique<HostEngine<Number>>(A, options);
  }

#define INSTANTIATE(Number) \
  template std::unique_ptr<BlockAsyncEngine<Number>> make_host_engine(const CrsMatrix<Number> &A, const BlockAsyncOptions &options);
  LEOPARD_FOR_EACH_NUMBER(INSTANTIATE)
#undef INSTANTIATE
} // namespace leopard
