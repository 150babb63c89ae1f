// SPDX-License-Identifier: Apache-2.0
#include "corrections.h"
#include "host_blocks.h"
#include "sliced_rows.h"

namespace leopard
{
  namespace
  {
    /** One block each, rounded up to whole slices. */
    template <typename Number, typename Low>
    struct CorrectionScratch
    {
      std::vector<Number> frozen, y, r;
      std::vector<Low>    low_r, current, next;
    };

    /** Block-asynchronous refinement, as BlockAsync describes it, with corrections in the precision of Low. */
    template <typename Number, typename Low>
    class HostCorrections : public HostBlocks<Number>
    {
    public:
      HostCorrections(const CrsMatrix<Number> &A, const BlockAsyncOptions &options_)
        : HostBlocks<Number>(A, options_)
        , low(matrix, options_.omega, options_.l1_weights)
        , low_inner(low.matrix)
        , inner(in_one_precision ? nullptr : std::make_unique<SlicedRows<Number>>(matrix))
        , scratch(this->scheduler.n_threads())
      {
        update_inner();
        const int n = SlicedRows<Number>::rounded_up(matrix.blocks.largest());
        for (CorrectionScratch<Number, Low> &s : scratch)
          {
            for (std::vector<Number> *v : {&s.frozen, &s.y, &s.r})
              v->resize(n);
            for (std::vector<Low> *v : {&s.low_r, &s.current, &s.next})
              v->resize(n);
          }
      }

      std::string description() const override { return Base::description() + (in_one_precision ? "" : ", of blocks in single too"); }

      void update_values(const Number *values) override
      {
        LowBlocks<Number, Low>::check(matrix, values);
        matrix.update_values(values);
        low.update(matrix, options.omega, options.l1_weights);
        update_inner();
      }

    private:
      using Base = HostBlocks<Number>;
      using Base::matrix, Base::omega, Base::options;
      static constexpr bool in_one_precision = std::is_same_v<Number, Low>;

      void update_inner()
      {
        low_inner.update(low.matrix, low.weights);
        if (inner != nullptr)
          inner->update(matrix, matrix.diagonal); // whose weights nobody reads
      }

      /** result = frozen - sum over j != i of a_ij y_j. */
      void subtract_inner(int block, const Number *y, const Number *frozen, Number *result) const
      {
        if constexpr (in_one_precision)
          low_inner.subtract(block, y, frozen, result);
        else
          inner->subtract(block, y, frozen, result);
      }

      void relax_block(int block, Number *x, const Number *off_block, const Number *b, int thread) override
      {
        const int                       begin = matrix.blocks.begin[block], n = matrix.blocks.end[block] - begin;
        CorrectionScratch<Number, Low> &s = scratch[thread];
        this->freeze(block, off_block, b, s.frozen.data());
        std::copy_n(x + begin, n, s.y.begin()); // own values are written by nobody else
        for (int loop = 0; loop < options.correction_loops; ++loop)
          correct(block, n, s);
        for (int i = 0; i < n; ++i)
          store(x[begin + i], s.y[i]);
      }

      /** One correction of y. */
      void correct(int block, int n, CorrectionScratch<Number, Low> &s)
      {
        const int     first    = matrix.first_local[block];
        const Number *diagonal = matrix.diagonal.data() + first, *scale = low.scale.data() + first;
        subtract_inner(block, s.y.data(), s.frozen.data(), s.r.data());
        Number largest = 0;
        for (int i = 0; i < n; ++i)
          {
            s.r[i]  = scale[i] * (s.r[i] - diagonal[i] * s.y[i]);
            largest = std::max(largest, std::abs(s.r[i]));
          }
        const Number unit    = unit_of<Low>(largest);
        const Low   *weights = low.weights.data() + first;
        for (int i = 0; i < n; ++i)
          {
            s.low_r[i] = static_cast<Low>(unit * s.r[i]);
            s.next[i]  = weights[i] * s.low_r[i]; // the first sweep, from zero
          }
        for (int sweep = 1; sweep < this->local_iterations(block); ++sweep)
          {
            std::swap(s.current, s.next);
            low_inner.sweep(block, Low(1) - static_cast<Low>(omega), s.current.data(), s.low_r.data(), s.next.data());
            if (options.l1_weights) // 1 - omega is left of c_i where d_i = a_ii
              for (int i = 0; i < n; ++i)
                s.next[i] += (static_cast<Low>(omega) - weights[i] * low.matrix.diagonal[first + i]) * s.current[i];
          }
        const Number back = this->block_omega / unit;
        for (int i = 0; i < n; ++i)
          s.y[i] += back * scale[i] * static_cast<Number>(s.next[i]);
      }

      LowBlocks<Number, Low>                      low;
      SlicedRows<Low>                             low_inner;
      const std::unique_ptr<SlicedRows<Number>>   inner;   ///< if Low is not Number
      std::vector<CorrectionScratch<Number, Low>> scratch; ///< one a thread
    };
  } // namespace

  template <typename Number>
  std::unique_ptr<BlockAsyncEngine<Number>> make_host_correction_engine(const CrsMatrix<Number> &A, const BlockAsyncOptions &options)
  {
    if (options.corrections == Corrections::single_precision)
      return std::make_unique<HostCorrections<Number, float>>(A, options);
    return std::make_unique<HostCorrections<Number, Number>>(A, options);
  }

#define INSTANTIATE(Number) \
  template std::unique_ptr<BlockAsyncEngine<Number>> make_host_correction_engine(const CrsMatrix<Number> &A, const BlockAsyncOptions &options);
  LEOPARD_FOR_EACH_NUMBER(INSTANTIATE)
#undef INSTANTIATE
} // namespace leopard
