// SPDX-License-Identifier: Apache-2.0
#include "reference_blocks.h"

namespace leopard
{
  namespace
  {
    /**
     * Two-stage inner and outer (thesis, Algorithms 12 and 13): rows of a block in random order, off-block values
     * frozen.
     */
    template <typename Number>
    class ReferenceFrozenRows : public ReferenceBlocks<Number>
    {
    public:
      using Base = ReferenceBlocks<Number>;
      using Base::A, Base::blocks, Base::frozen, Base::local, Base::rows, Base::y;
      using Base::Base;

      bool is_fixed_linear_map() const override { return false; } // random numbers go on from call to call

    private:
      void relax(int block, Number *x) override
      {
        row_order = rows[block];
        for (int sweep = 0; sweep < this->local_iterations(block); ++sweep)
          {
            this->shuffle(row_order);
            for (const int i : row_order)
              {
                Number r = frozen[local[i]]; // the residual, diagonal included
                for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
                  if (this->is_inside(A.columns[p]))
                    r -= A.values[p] * y[local[A.columns[p]]];
                y[local[i]] += this->omega / this->weighted_diagonal(i) * r;
              }
          }
        for (int i = blocks.owned_begin[block]; i < blocks.owned_end[block]; ++i)
          this->write(i, y[local[i]], x);
      }

      std::vector<int> row_order; ///< of the block at work
    };

    /**
     * Two-stage total (thesis, Algorithm 15): in a global iteration each block makes its sweeps in random order of its
     * rows, but a row of this block is followed by a row of that one, at random. Each row takes values as they are when
     * it is relaxed, those of other blocks as old as the schedule says for the sweep, and is written at once.
     */
    template <typename Number>
    class ReferencePublishedRows : public ReferenceBlocks<Number>
    {
    public:
      using Base = ReferenceBlocks<Number>;
      using Base::A, Base::blocks, Base::rows;

      ReferencePublishedRows(const CrsMatrix<Number> &A_, const BlockAsyncOptions &options_)
        : Base(A_, options_)
        , block_of(A_.n_columns, -1)
        , sweeps(blocks.n_blocks())
      {
        for (int block = 0; block < blocks.n_blocks(); ++block)
          for (const int i : rows[block])
            block_of[i] = block;
      }

      bool is_fixed_linear_map() const override { return false; } // random numbers go on from call to call

    private:
      /** What a block is doing. */
      struct Sweep
      {
        std::vector<int> row_order;
        std::size_t      n_done;    ///< rows of them
        const Number    *off_block; ///< the vector that has other blocks' values
      };

      void relax(int /*block*/, Number * /*x*/) override {} // no block is relaxed as a whole

      void relax_all(Number *x, const Number *b) override
      {
        turns.clear(); // of each block as many as it has rows to relax
        for (int block = 0; block < blocks.n_blocks(); ++block)
          {
            sweeps[block] = {rows[block], rows[block].size(), nullptr};
            turns.insert(turns.end(), this->local_iterations(block) * rows[block].size(), block);
          }
        this->shuffle(turns);
        for (const int block : turns)
          {
            Sweep &sweep = sweeps[block];
            if (sweep.n_done == sweep.row_order.size())
              {
                sweep.off_block = this->values_to_read(x);
                this->shuffle(sweep.row_order);
                sweep.n_done = 0;
              }
            relax_row(sweep.row_order[sweep.n_done++], x, sweep.off_block, b);
          }
      }

      void relax_row(int i, Number *x, const Number *off_block, const Number *b)
      {
        const auto is_inside = [&](int column) { return block_of[column] == block_of[i]; };
        Number     r         = b[i];
        for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
          if (!is_inside(A.columns[p]))
            r -= A.values[p] * off_block[A.columns[p]];
        for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
          if (is_inside(A.columns[p]))
            r -= A.values[p] * x[A.columns[p]];
        this->write(i, x[i] + this->omega / this->weighted_diagonal(i, is_inside) * r, x);
      }

      std::vector<int>   block_of; ///< of a column; -1 for ghosts
      std::vector<Sweep> sweeps;   ///< of each block
      std::vector<int>   turns;
    };
  } // namespace

  template <typename Number>
  std::unique_ptr<BlockAsyncEngine<Number>> make_reference_two_stage_engine(const CrsMatrix<Number> &A, const BlockAsyncOptions &options)
  {
    if (options.two_stage == TwoStage::total)
      return std::make_unique<ReferencePublishedRows<Number>>(A, options);
    return std::make_unique<ReferenceFrozenRows<Number>>(A, options);
  }

#define INSTANTIATE(Number) \
  template std::unique_ptr<BlockAsyncEngine<Number>> make_reference_two_stage_engine(const CrsMatrix<Number> &A, const BlockAsyncOptions &options);
  LEOPARD_FOR_EACH_NUMBER(INSTANTIATE)
#undef INSTANTIATE
} // namespace leopard
