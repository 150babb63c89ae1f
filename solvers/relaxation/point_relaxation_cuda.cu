// SPDX-License-Identifier: Apache-2.0
#include "../device/launch.cuh"
#include "../matrix/colouring.h"
#include "device_sell.cuh"
#include "relaxation_engine.h"

namespace leopard
{
  namespace
  {
    /**
     * x_i += (omega / a_ii) (b - A x)_i for the rows of one colour. None is the neighbour of another: nothing that is
     * read here is written here.
     */
    template <typename Number>
    __global__ void relax_colour_kernel(SellView<Number> A, int first_slot, int end_slot, Number *x, const Number *b, Number omega)
    {
      device::wait_for_previous();
      const int slot = first_slot + static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
      if (slot >= end_slot)
        return;
      const int row = A.row(slot);
      if (row >= 0)
        x[row] += omega / __ldg(A.diagonal + slot) * A.residual(slot, row, x, b[row]);
    }

    template <typename Number>
    class CudaMulticolour : public Relaxation<Number>
    {
    public:
      CudaMulticolour(const CrsMatrix<Number> &A, const PointRelaxationOptions &options_)
        : options(options_)
        , rows(A.n_rows)
        , columns(A.n_columns)
        , colouring(greedy_colouring(A))
        , matrix(A, colouring.rows, colouring.offsets)
      {
      }

      std::string name() const override { return "multicolour " + to_string(options.method); }
      int         n_rows() const override { return rows; }
      int         n_columns() const override { return columns; }
      MemorySpace memory_space() const override { return MemorySpace::device; }
      bool        is_fixed_linear_map() const override { return true; }
      bool        is_symmetric_map() const override { return options.method == PointMethod::ssor; }

      std::string description() const override
      {
        return std::to_string(colouring.n_colours()) + " colours of " + std::to_string(colouring.smallest()) + " to " +
               std::to_string(colouring.largest()) + " rows, " + matrix.description();
      }

      /** Returns when the work is queued on the default stream. */
      void iterate(Number *x, const Number *b, int n_iterations) override
      {
        for (int n = 0; n < n_iterations; ++n)
          {
            for (int colour = 0; colour < colouring.n_colours(); ++colour)
              relax(colour, x, b);
            if (options.method == PointMethod::ssor)
              for (int colour = colouring.n_colours() - 1; colour >= 0; --colour)
                relax(colour, x, b);
          }
      }

      double residual_norm_squared(const Number *x, const Number *b) override { return matrix.residual_norm_squared(x, b); }
      double norm_squared(const Number *b) override { return matrix.norm_squared(b); }
      void   update_values(const Number *values) override { matrix.update_values(values); }

    private:
      void relax(int colour, Number *x, const Number *b) const
      {
        const int first = matrix.first(colour), end = matrix.first(colour + 1);
        device::launch_early(relax_colour_kernel<Number>,
                             DeviceSell<Number>::blocks_for(end - first),
                             sell_threads,
                             0,
                             matrix.view(),
                             first,
                             end,
                             x,
                             b,
                             static_cast<Number>(options.omega));
      }

      const PointRelaxationOptions options;
      const int                    rows, columns;
      const Colouring              colouring;
      DeviceSell<Number>           matrix;
    };
  } // namespace

  template <typename Number>
  std::unique_ptr<Relaxation<Number>> make_multicolour_cuda(const CrsMatrix<Number> &A, const PointRelaxationOptions &options)
  {
    A.validate();
    return std::make_unique<CudaMulticolour<Number>>(A, options);
  }

#define INSTANTIATE(Number) \
  template std::unique_ptr<Relaxation<Number>> make_multicolour_cuda(const CrsMatrix<Number> &A, const PointRelaxationOptions &options);
  LEOPARD_FOR_EACH_NUMBER(INSTANTIATE)
#undef INSTANTIATE
} // namespace leopard
