// SPDX-License-Identifier: Apache-2.0
#include "reference_blocks.h"

#include <cmath>

namespace leopard
{
  namespace
  {
    template <typename Number>
    class ReferenceEngine : public ReferenceBlocks<Number>
    {
    public:
      ReferenceEngine(const CrsMatrix<Number> &A_, const BlockAsyncOptions &options_)
        : ReferenceBlocks<Number>(A_, options_)
        , momentum(static_cast<Number>(options_.momentum))
        , next(this->largest_block())
        , velocity(blocks.n_blocks())
      {
        for (int block = 0; block < blocks.n_blocks(); ++block)
          velocity[block].resize(rows[block].size());
      }

      void restart() override
      {
        for (std::vector<Number> &v : velocity)
          std::fill(v.begin(), v.end(), Number(0));
      }

    private:
      using Base = ReferenceBlocks<Number>;
      using Base::A, Base::blocks, Base::frozen, Base::local, Base::rows, Base::y;

      void relax(int block, Number *x) override
      {
        for (int sweep = 0; sweep < this->local_iterations(block); ++sweep)
          {
            for (const int i : rows[block])
              {
                Number r = frozen[local[i]]; // the residual, diagonal included
                for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
                  if (this->is_inside(A.columns[p]))
                    r -= A.values[p] * y[local[A.columns[p]]];
                Number &v      = velocity[block][local[i]];
                v              = this->factor(sweep) / this->weighted_diagonal(i) * r + momentum * v;
                next[local[i]] = y[local[i]] + v;
              }
            y.swap(next);
          }
        for (int i = blocks.owned_begin[block]; i < blocks.owned_end[block]; ++i)
          this->write(i, y[local[i]], x);
      }

      const Number                     momentum;
      std::vector<Number>              next;
      std::vector<std::vector<Number>> velocity; ///< one vector a block, overlap included
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
