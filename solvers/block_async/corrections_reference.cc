// SPDX-License-Identifier: Apache-2.0
#include "corrections.h"
#include "reference_blocks.h"

#include <cmath>

namespace leopard
{
  namespace
  {
    /** Block-asynchronous refinement, as BlockAsync describes it, with corrections in the precision of Low. */
    template <typename Number, typename Low>
    class ReferenceCorrections : public ReferenceBlocks<Number>
    {
    public:
      ReferenceCorrections(const CrsMatrix<Number> &A_, const BlockAsyncOptions &options_)
        : ReferenceBlocks<Number>(A_, options_)
        , scale(A_.n_rows, Number(1))
        , r(blocks.largest())
        , low_r(blocks.largest())
        , c(blocks.largest())
        , next(blocks.largest())
      {
        put_scale();
        LowBlocks<Number, Low>::check(BlockCrs<Number>(A_, blocks), A_.values.data());
      }

      void update_values(const Number *values) override
      {
        LowBlocks<Number, Low>::check(BlockCrs<Number>(A, blocks), values);
        Base::update_values(values);
        put_scale();
      }

    private:
      using Base = ReferenceBlocks<Number>;
      using Base::A, Base::blocks, Base::frozen, Base::y;

      void put_scale()
      {
        if constexpr (!std::is_same_v<Number, Low>)
          for (int i = 0; i < A.n_rows; ++i)
            scale[i] = scale_of(this->diagonal[i]);
      }

      Low in_low(int i, int p) const
      {
        const int j = A.columns[p];
        if constexpr (std::is_same_v<Number, Low>)
          return A.values[p];
        else
          return rounded_entry<Low>(scale[i] * A.values[p] * scale[j], A.values[p], i, j);
      }

      void relax(int block, Number *x) override
      {
        const int begin = blocks.begin[block], end = blocks.end[block];
        for (int loop = 0; loop < this->options.correction_loops; ++loop)
          {
            Number largest = 0;
            for (int i = begin; i < end; ++i)
              {
                Number sum = frozen[i - begin];
                for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
                  if (this->is_inside(A.columns[p]))
                    sum -= A.values[p] * y[A.columns[p] - begin];
                r[i - begin] = scale[i] * sum;
                largest      = std::max(largest, std::abs(r[i - begin]));
              }
            const Number unit = unit_of<Low>(largest);
            for (int i = 0; i < end - begin; ++i)
              {
                low_r[i] = static_cast<Low>(unit * r[i]);
                c[i]     = 0;
              }
            for (int sweep = 0; sweep < this->local_iterations(block); ++sweep)
              relax_correction(block);
            for (int i = begin; i < end; ++i)
              y[i - begin] += this->block_omega * (scale[i] / unit) * static_cast<Number>(c[i - begin]);
          }
        std::copy(y.begin(), y.begin() + (end - begin), x + begin);
      }

      void relax_correction(int block)
      {
        const int begin = blocks.begin[block], end = blocks.end[block];
        for (int i = begin; i < end; ++i)
          {
            Low sum = low_r[i - begin];
            for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
              if (this->is_inside(A.columns[p]))
                sum -= in_low(i, p) * c[A.columns[p] - begin];
            const Number d  = scale[i] * this->weighted_diagonal(i) * scale[i];
            next[i - begin] = c[i - begin] + static_cast<Low>(this->omega / d) * sum;
          }
        c.swap(next);
      }

      std::vector<Number> scale, r; ///< s_i; and the residual times it
      std::vector<Low>    low_r, c, next;
    };
  } // namespace

  template <typename Number>
  std::unique_ptr<BlockAsyncEngine<Number>> make_reference_correction_engine(const CrsMatrix<Number> &A, const BlockAsyncOptions &options)
  {
    if (options.corrections == Corrections::single_precision)
      return std::make_unique<ReferenceCorrections<Number, float>>(A, options);
    return std::make_unique<ReferenceCorrections<Number, Number>>(A, options);
  }

#define INSTANTIATE(Number) \
  template std::unique_ptr<BlockAsyncEngine<Number>> make_reference_correction_engine(const CrsMatrix<Number> &A, const BlockAsyncOptions &options);
  LEOPARD_FOR_EACH_NUMBER(INSTANTIATE)
#undef INSTANTIATE
} // namespace leopard
