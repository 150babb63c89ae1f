// SPDX-License-Identifier: Apache-2.0
#include "host_blocks.h"

namespace leopard
{
  namespace
  {
    /**
     * Two-stage inner, outer and total (thesis, Algorithms 12, 13 and 15): a thread takes the rows of a block one after
     * the other, in their order (with the last block first in reversed order), each from the newest values of the
     * block.
     */
    template <typename Number>
    class HostTwoStage : public HostBlocks<Number>
    {
    public:
      HostTwoStage(const CrsMatrix<Number> &A, const BlockAsyncOptions &options_)
        : HostBlocks<Number>(A, options_)
        , scratch(options_.two_stage == TwoStage::total ? 0 : this->scheduler.n_threads())
      {
        update_weights();
        for (Scratch &s : scratch)
          for (std::vector<Number> *v : {&s.frozen, &s.y})
            v->resize(matrix.blocks.largest());
      }

      void update_values(const Number *values) override
      {
        matrix.update_values(values);
        update_weights();
      }

    private:
      using Base = HostBlocks<Number>;
      using Base::matrix, Base::options;

      /** Of one block. */
      struct Scratch
      {
        std::vector<Number> frozen, y;
      };

      void update_weights() { matrix.compute_weights(options.omega, options.l1_weights, weights); }

      void relax_block(int block, Number *x, const Number *off_block, const Number *b, int thread) override
      {
        if (options.two_stage == TwoStage::total)
          relax_published(block, x, b);
        else
          relax_frozen(block, x, off_block, b, scratch[thread]);
      }

      /** The row of a block of n rows that comes at this place. */
      int row_at(int place, int n) const { return options.last_block_first ? n - 1 - place : place; }

      /** right less the block's part of a row of A y, the diagonal included, where y are values of the block. */
      Number residual_of_block(int local_row, int i, Number right, const Number *y) const
      {
        Number r = right - matrix.diagonal[local_row] * y[i];
        for (int p = matrix.inner.offsets[local_row]; p < matrix.inner.offsets[local_row + 1]; ++p)
          r -= matrix.inner.values[p] * y[matrix.inner.columns[p]];
        return r;
      }

      void relax_frozen(int block, Number *x, const Number *off_block, const Number *b, Scratch &s)
      {
        const Blocks &blocks = matrix.blocks;
        const int     begin = blocks.begin[block], n = blocks.end[block] - begin, first = matrix.first_local[block];
        const int     owned_begin = blocks.owned_begin[block] - begin, owned_end = blocks.owned_end[block] - begin;
        this->freeze(block, off_block, b, s.frozen.data());
        // own values are written by nobody else
        for (int i = 0; i < n; ++i)
          s.y[i] = i >= owned_begin && i < owned_end ? x[begin + i] : load(off_block[begin + i]);
        for (int sweep = 0; sweep < this->local_iterations(block); ++sweep)
          for (int place = 0; place < n; ++place)
            {
              const int i = row_at(place, n);
              s.y[i] += weights[first + i] * residual_of_block(first + i, i, s.frozen[i], s.y.data());
            }
        Number *own = x + begin;
        for (int i = owned_begin; i < owned_end; ++i)
          store(own[i], own[i] + this->block_omega * (s.y[i] - own[i]));
      }

      void relax_published(int block, Number *x, const Number *b)
      {
        const int begin = matrix.blocks.begin[block], n = matrix.blocks.end[block] - begin, first = matrix.first_local[block];
        Number   *own = x + begin; // written by nobody else
        for (int sweep = 0; sweep < this->local_iterations(block); ++sweep)
          for (int place = 0; place < n; ++place)
            {
              const int i     = row_at(place, n);
              Number    right = b[begin + i];
              for (int p = matrix.outer.offsets[first + i]; p < matrix.outer.offsets[first + i + 1]; ++p)
                right -= matrix.outer.values[p] * load(x[matrix.outer.columns[p]]);
              store(own[i], own[i] + weights[first + i] * residual_of_block(first + i, i, right, own));
            }
      }

      std::vector<Number>  weights; ///< omega / d of each local row
      std::vector<Scratch> scratch; ///< one a thread, where off-block values are frozen
    };
  } // namespace

  template <typename Number>
  std::unique_ptr<BlockAsyncEngine<Number>> make_host_two_stage_engine(const CrsMatrix<Number> &A, const BlockAsyncOptions &options)
  {
    return std::make_unique<HostTwoStage<Number>>(A, options);
  }

#define INSTANTIATE(Number) \
  template std::unique_ptr<BlockAsyncEngine<Number>> make_host_two_stage_engine(const CrsMatrix<Number> &A, const BlockAsyncOptions &options);
  LEOPARD_FOR_EACH_NUMBER(INSTANTIATE)
#undef INSTANTIATE
} // namespace leopard
