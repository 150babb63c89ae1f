// SPDX-License-Identifier: Apache-2.0
#include "../device/launch.cuh"
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
     * @param was_zero x_{k-1} is zero, whatever is in its place.
     */
    template <typename Number>
    __global__ void
    chebyshev_kernel(SellView<Number> A, const Number *x, const Number *b, Number *other, ChebyshevRecurrence::Coefficients factors, bool was_zero)
    {
      device::wait_for_previous();
      const int slot = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
      if (slot >= A.n_slots)
        return;
      const int row = A.row(slot);
      if (row < 0)
        return;
      const Number value = x[row];
      // in the first step there is no x_{k-1}, and what is in its place may be no number
      const Number before    = was_zero || factors.direction == 0. ? Number(0) : other[row];
      const Number direction = factors.direction == 0. ? Number(0) : static_cast<Number>(factors.direction) * (value - before);
      other[row] = value + direction + static_cast<Number>(factors.residual) / __ldg(A.diagonal + slot) * A.residual(slot, row, x, b[row]);
    }

    /** The first step from zero: x = residual D^-1 b, and zeros for ghosts. */
    template <typename Number>
    __global__ void from_zero_kernel(SellView<Number> A, const Number *b, Number *x, Number residual, int n_columns)
    {
      device::wait_for_previous();
      const int slot = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
      if (const int row = slot < A.n_slots ? A.row(slot) : -1; row >= 0)
        x[row] = residual / __ldg(A.diagonal + slot) * b[row];
      if (const int ghost = A.n_rows + slot; ghost < n_columns)
        x[ghost] = Number(0);
    }

    template <typename Number>
    __global__ void swap_kernel(Number *x, Number *y, int n)
    {
      device::wait_for_previous();
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

      explicit CudaChebyshev(const device::DeviceCrs<Number> &A, const ChebyshevOptions &options)
        : rows(A.n_rows)
        , columns(A.n_columns)
        , recurrence(A, options)
        , matrix(A)
        , other(A.n_columns)
        , crs(A)
        , is_from_device(true)
      {
      }

      std::string name() const override { return recurrence.name(); }
      std::string description() const override { return recurrence.text() + ", " + matrix.description(); }
      int         n_rows() const override { return rows; }
      int         n_columns() const override { return columns; }
      MemorySpace memory_space() const override { return MemorySpace::device; }
      bool        is_fixed_linear_map() const override { return true; }
      bool        is_symmetric_map() const override { return true; }
      void        restart() override
      {
        recurrence.restart();
        last_was_zero = false;
      }

      /** Returns when the work is queued on the default stream. */
      void iterate(Number *x, const Number *b, int n_iterations) override
      {
        if (rows == 0)
          return;
        recurrence.begin(n_iterations);
        if (columns > rows && n_iterations > 1) // the iterations that read our vector want the ghosts in it
          device::copy_on_device(other.data() + rows, x + rows, static_cast<std::size_t>(columns - rows) * sizeof(Number));
        step(x, other.data(), b, n_iterations);
        if (n_iterations % 2 == 0)
          return;
        device::launch_early(swap_kernel<Number>, blocks, sell_threads, 0, x, other.data(), rows);
      }

      /** The first iteration does not read the matrix, and the vector that it writes is such that the last is in x. */
      void iterate_from_zero(Number *x, const Number *b, int n_iterations) override
      {
        if (rows == 0 || columns > 2 * rows || n_iterations == 0 || recurrence.has_started())
          {
            Relaxation<Number>::iterate_from_zero(x, b, n_iterations);
            return;
          }
        recurrence.begin(n_iterations);
        Number *first = n_iterations % 2 == 1 ? x : other.data(), *second = n_iterations % 2 == 1 ? other.data() : x;
        if (columns > rows)
          device::set_zero(second + rows, static_cast<std::size_t>(columns - rows) * sizeof(Number));
        const auto factor = static_cast<Number>(recurrence.next().residual);
        device::launch_early(from_zero_kernel<Number>, blocks, sell_threads, 0, matrix.view(), b, first, factor, columns);
        last_was_zero = true;
        step(first, second, b, n_iterations - 1);
      }

      double residual_norm_squared(const Number *x, const Number *b) override { return matrix.residual_norm_squared(x, b); }
      double norm_squared(const Number *b) override { return matrix.norm_squared(b); }

      void update_values(const Number *values) override
      {
        if (is_from_device)
          {
            if (rows == 0)
              return;
            if (values != crs.arrays->values.data())
              device::copy_on_device(crs.arrays->values.data(), values, crs.n_entries * sizeof(Number));
            matrix.update_values(crs.view());
            recurrence.update(crs);
            return;
          }
        matrix.update_values(values);
        if (recurrence.estimates())
          std::copy_n(values, host_matrix.values.size(), host_matrix.values.begin());
        recurrence.update(host_matrix);
      }

    private:
      /** Steps from x_k in `newest`, with x_{k-1} in `before`; they change roles with each of them. */
      void step(Number *newest, Number *before, const Number *b, int n_steps)
      {
        for (int n = 0; n < n_steps; ++n)
          {
            device::launch_early(
              chebyshev_kernel<Number>, blocks, sell_threads, 0, matrix.view(), newest, b, before, recurrence.next(), last_was_zero);
            last_was_zero = false;
            std::swap(newest, before);
          }
      }

      const int             rows, columns;
      ChebyshevRecurrence   recurrence;
      DeviceSell<Number>    matrix;
      device::Array<Number> other;       ///< x_{k-1} between two calls
      CrsMatrix<Number>     host_matrix; ///< for estimates of an interval that was not given

      const int blocks        = DeviceSell<Number>::blocks_for(matrix.first(1));
      bool      last_was_zero = false; ///< x_{k-1} is, and nobody has written it

      device::DeviceCrs<Number> crs; ///< what it was made of, if that was on the device
      const bool                is_from_device = false;
    };
  } // namespace

  template <typename Number>
  std::unique_ptr<Relaxation<Number>> make_chebyshev_cuda(const CrsMatrix<Number> &A, const ChebyshevOptions &options)
  {
    A.validate();
    return std::make_unique<CudaChebyshev<Number>>(A, options);
  }

  template <typename Number>
  std::unique_ptr<Relaxation<Number>> make_chebyshev_cuda(const device::DeviceCrs<Number> &A, const ChebyshevOptions &options)
  {
    return std::make_unique<CudaChebyshev<Number>>(A, options);
  }

#define INSTANTIATE(Number)                                                                                                      \
  template std::unique_ptr<Relaxation<Number>> make_chebyshev_cuda(const CrsMatrix<Number> &A, const ChebyshevOptions &options); \
  template std::unique_ptr<Relaxation<Number>> make_chebyshev_cuda(const device::DeviceCrs<Number> &A, const ChebyshevOptions &options);
  LEOPARD_FOR_EACH_NUMBER(INSTANTIATE)
#undef INSTANTIATE
} // namespace leopard
