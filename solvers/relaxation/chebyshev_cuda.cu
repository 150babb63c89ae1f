// SPDX-License-Identifier: Apache-2.0
#include "device_sell.cuh"
#include "relaxation_engine.h"

namespace leopard
{
  namespace
  {
    // The residual of a row wants the old x of its neighbours, so that x cannot be overwritten row by row. Two ways
    // out, with the bytes a row that they move beside the matrix, its diagonal included:
    // - a direction vector, d = a d + c D^-1 r, and then x += d in a second kernel: x, b, d, d written; x, d, x
    //   written: 56;
    // - two x-vectors, d_{k-1} being x_k - x_{k-1}: x_{k-1} is read and x_{k+1} written in its place: x, b, x_{k-1},
    //   x_{k+1}: 32.
    // The second it is. After an odd number of iterations the newest x is in our vector and the one before in the
    // user's: they are exchanged, 32 bytes more once a call.

    /**
     * other_i = x_i + direction (x_i - other_i) + residual (D^-1 (b - A x))_i: other is x_{k-1} and becomes x_{k+1}.
     */
    template <typename Number>
    __global__ void chebyshev_kernel(SellView<Number> A, const Number *x, const Number *b, Number *other, ChebyshevRecurrence::Coefficients factors)
    {
      const int slot = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
      if (slot >= A.n_slots)
        return;
      const int row = A.row(slot);
      if (row < 0)
        return;
      const Number value = x[row];
      // in the first step there is no x_{k-1}, and what is in its place may be no number
      const Number direction = factors.direction == 0. ? Number(0) : static_cast<Number>(factors.direction) * (value - other[row]);
      other[row] = value + direction + static_cast<Number>(factors.residual) / __ldg(A.diagonal + slot) * A.residual(slot, row, x, __ldg(b + row));
    }

    template <typename Number>
    __global__ void swap_kernel(Number *x, Number *y, int n)
    {
      const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
      if (i >= n)
        return;
      const Number value = x[i];
      x[i]               = y[i];
      y[i]               = value;
    }

    std::vector<int> natural_order(int n)
    {
      std::vector<int> rows(n);
      std::iota(rows.begin(), rows.end(), 0);
      return rows;
    }

    template <typename Number>
    class CudaChebyshev : public Relaxation<Number>
    {
    public:
      CudaChebyshev(const CrsMatrix<Number> &A, const ChebyshevOptions &options)
        : rows(A.n_rows)
        , columns(A.n_columns)
        , recurrence(A, options)
        , matrix(A, natural_order(A.n_rows), {0, A.n_rows})
        , other(A.n_columns)
        , host_matrix(recurrence.estimates() ? A : CrsMatrix<Number>())
      {
      }

      std::string name() const override { return "Chebyshev"; }
      std::string description() const override { return recurrence.text() + ", " + matrix.description(); }
      int         n_rows() const override { return rows; }
      int         n_columns() const override { return columns; }
      MemorySpace memory_space() const override { return MemorySpace::device; }
      bool        is_fixed_linear_map() const override { return true; }
      bool        is_symmetric_map() const override { return true; }
      void        restart() override { recurrence.restart(); }

      /** Returns when the work is queued on the default stream. */
      void iterate(Number *x, const Number *b, int n_iterations) override
      {
        if (rows == 0)
          return;
        if (columns > rows && n_iterations > 1) // the iterations that read our vector want the ghosts in it
          device::copy_on_device(other.data() + rows, x + rows, static_cast<std::size_t>(columns - rows) * sizeof(Number));
        Number *newest = x, *next = other.data();
        for (int n = 0; n < n_iterations; ++n)
          {
            chebyshev_kernel<<<DeviceSell<Number>::blocks_for(matrix.first(1)), sell_threads>>>(matrix.view(), newest, b, next, recurrence.next());
            LEOPARD_CHECK(cudaGetLastError());
            std::swap(newest, next);
          }
        if (newest == x)
          return;
        swap_kernel<<<DeviceSell<Number>::blocks_for(rows), sell_threads>>>(x, other.data(), rows);
        LEOPARD_CHECK(cudaGetLastError());
      }

      double residual_norm_squared(const Number *x, const Number *b) override { return matrix.residual_norm_squared(x, b); }
      double norm_squared(const Number *b) override { return matrix.norm_squared(b); }

      void update_values(const Number *values) override
      {
        matrix.update_values(values);
        if (recurrence.estimates())
          std::copy_n(values, host_matrix.values.size(), host_matrix.values.begin());
        recurrence.update(host_matrix);
      }

    private:
      const int             rows, columns;
      ChebyshevRecurrence   recurrence;
      DeviceSell<Number>    matrix;
      device::Array<Number> other;       ///< x_{k-1} between two calls
      CrsMatrix<Number>     host_matrix; ///< for estimates of an interval that was not given
    };
  } // namespace

  template <typename Number>
  std::unique_ptr<Relaxation<Number>> make_chebyshev_cuda(const CrsMatrix<Number> &A, const ChebyshevOptions &options)
  {
    A.validate();
    return std::make_unique<CudaChebyshev<Number>>(A, options);
  }

#define INSTANTIATE(Number) \
  template std::unique_ptr<Relaxation<Number>> make_chebyshev_cuda(const CrsMatrix<Number> &A, const ChebyshevOptions &options);
  LEOPARD_FOR_EACH_NUMBER(INSTANTIATE)
#undef INSTANTIATE
} // namespace leopard
