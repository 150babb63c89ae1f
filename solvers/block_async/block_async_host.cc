// SPDX-License-Identifier: Apache-2.0
#include "host_blocks.h"
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

    template <typename Number>
    class HostEngine : public HostBlocks<Number>
    {
    public:
      HostEngine(const CrsMatrix<Number> &A, const BlockAsyncOptions &options_)
        : HostBlocks<Number>(A, options_)
        , momentum(static_cast<Number>(options_.momentum))
        , inner(matrix)
        , velocity(options_.momentum > 0. ? matrix.n_local_rows() : 0)
        , scratch(this->scheduler.n_threads())
      {
        update_weights();
        for (Scratch<Number> &s : scratch)
          for (std::vector<Number> *v : {&s.frozen, &s.current, &s.next})
            v->resize(SlicedRows<Number>::rounded_up(matrix.blocks.largest()));
      }

      void restart() override { std::fill(velocity.begin(), velocity.end(), Number(0)); }

      void update_values(const Number *values) override
      {
        matrix.update_values(values);
        update_weights();
      }

    private:
      using Base = HostBlocks<Number>;
      using Base::matrix, Base::omega, Base::options;

      void update_weights()
      {
        matrix.compute_weights(options.omega, options.l1_weights, weights);
        inner.update(matrix, weights);
      }

      void relax_block(int block, Number *x, const Number *off_block, const Number *b, int thread) override
      {
        const Blocks    &blocks = matrix.blocks;
        const int        begin = blocks.begin[block], n = blocks.end[block] - begin, k = this->local_iterations(block);
        const int        owned_begin = blocks.owned_begin[block] - begin, owned_end = blocks.owned_end[block] - begin;
        Scratch<Number> &s = scratch[thread];
        this->freeze(block, off_block, b, s.frozen.data());
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
            store(out[i], out[i] + this->block_omega * (result[i] - out[i]));
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

      const Number                 momentum;
      SlicedRows<Number>           inner;
      std::vector<Number>          weights, velocity; ///< one a local row: omega / d_l; and velocities, with momentum only
      std::vector<Scratch<Number>> scratch;           ///< one a thread
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
