// SPDX-License-Identifier: Apache-2.0
#include "plain_crs.h"

#include <solvers/device/cuda_error.cuh>
#include <solvers/device/device_array.h>

#include <cuda/atomic>

#include <vector>

namespace leopard::studies
{
  namespace
  {
    // off-block values are read while other blocks write them, as in BlockAsync
    using Shared = cuda::atomic_ref<double, cuda::thread_scope_device>;

    struct CrsView
    {
      const int    *offsets, *columns;
      const double *values;
      int           n_rows;
    };

    /** A thread block a block of rows; y: two halves of blockDim.x values. */
    __global__ void relax_kernel(CrsView A, double *x, const double *b, int local_iterations)
    {
      extern __shared__ double y[];
      const int                begin = blockIdx.x * blockDim.x, end = min(begin + static_cast<int>(blockDim.x), A.n_rows), i = begin + threadIdx.x;
      const bool               has_row = i < end;
      const int                first = has_row ? A.offsets[i] : 0, last = has_row ? A.offsets[i + 1] : 0;
      double                   value = has_row ? x[i] : 0., frozen = has_row ? b[i] : 0.;
      int                      from = 0;
      y[threadIdx.x]                = value;
      __syncthreads();
      for (int sweep = 0; sweep < local_iterations; ++sweep)
        {
          double inner = 0., diagonal = 1.;
          for (int p = first; p < last; ++p)
            {
              const int    j    = A.columns[p];
              const double a_ij = A.values[p];
              if (j == i)
                diagonal = a_ij;
              else if (j >= begin && j < end)
                inner += a_ij * y[from + j - begin];
              else if (sweep == 0)
                frozen -= a_ij * Shared(x[j]).load(cuda::std::memory_order_relaxed);
            }
          value                 = (frozen - inner) / diagonal;
          from                  = static_cast<int>(blockDim.x) - from;
          y[from + threadIdx.x] = value;
          __syncthreads();
        }
      if (has_row)
        Shared(x[i]).store(value, cuda::std::memory_order_relaxed);
    }

    /**
     * Algorithms 16 and 17: a thread a row, values of the block's own rows as new as they are, of other rows as the
     * caches have them.
     */
    template <FindsDiagonal finds_diagonal>
    __global__ void printed_kernel(CrsView A, double *x, const double *b, int n_sweeps)
    {
      using Newest       = cuda::atomic_ref<double, cuda::thread_scope_block>; // a plain load, as printed, that no compiler may take out of the loop
      const int  i       = blockIdx.x * blockDim.x + threadIdx.x;
      const bool has_row = i < A.n_rows;
      const int  first = has_row ? A.offsets[i] : 0, last = has_row ? A.offsets[i + 1] : 0;
      for (int sweep = 0; sweep < n_sweeps; ++sweep)
        {
          double sum = 0., diagonal = 0.;
          for (int p = first; p < last; ++p)
            {
              const int    j    = A.columns[p];
              const double a_ij = A.values[p];
              if constexpr (finds_diagonal == FindsDiagonal::by_branch)
                {
                  if (j == i)
                    diagonal = a_ij;
                }
              else
                diagonal += static_cast<int>(j == i) * a_ij;
              sum += a_ij * Newest(x[j]).load(cuda::std::memory_order_relaxed);
            }
          if (has_row)
            Newest(x[i]).store(Newest(x[i]).load(cuda::std::memory_order_relaxed) + (b[i] - sum) / diagonal, cuda::std::memory_order_relaxed);
          __syncthreads(); // the rows of a block make a sweep before the next begins
        }
    }

    /** sum += ||b - A x||^2, or with x null ||b||^2. */
    __global__ void residual_kernel(CrsView A, const double *x, const double *b, double *sum)
    {
      const int i = blockIdx.x * blockDim.x + threadIdx.x;
      double    r = i < A.n_rows ? b[i] : 0.;
      if (i < A.n_rows && x != nullptr)
        for (int p = A.offsets[i]; p < A.offsets[i + 1]; ++p)
          r -= A.values[p] * x[A.columns[p]];
      r *= r;
      for (int offset = 16; offset > 0; offset /= 2)
        r += __shfl_down_sync(0xffffffffu, r, offset);
      if (threadIdx.x % 32 == 0)
        atomicAdd(sum, r);
    }

    /** A launch a global iteration, of relax_kernel or of one of the printed kernels. */
    class PlainCrsCuda : public Relaxation<double>
    {
    public:
      using Kernel = void (*)(CrsView, double *, const double *, int);

      PlainCrsCuda(const CrsMatrix<double> &A, int block_size_, int n_sweeps_, Kernel kernel_, bool is_fixed_, std::string name_)
        : rows(A.n_rows)
        , block_size(block_size_)
        , n_sweeps(n_sweeps_)
        , kernel(kernel_)
        , is_fixed(is_fixed_)
        , own_name(std::move(name_))
        , offsets(A.row_offsets)
        , columns(A.columns)
        , values(A.values)
        , sum(1)
      {
        if (block_size < 1 || block_size > 1024)
          throw InvalidInput("plain CRS: block_size is " + std::to_string(block_size) + "\n  expected: 1 to 1024 on the backend cuda");
      }

      std::string name() const override { return own_name; }
      std::string description() const override { return "plain CRS, launch form"; }
      int         n_rows() const override { return rows; }
      int         n_columns() const override { return rows; }
      MemorySpace memory_space() const override { return MemorySpace::device; }
      bool        is_fixed_linear_map() const override { return is_fixed; }

      void iterate(double *x, const double *b, int n_iterations) override
      {
        for (int n = 0; n < n_iterations; ++n)
          kernel<<<(rows + block_size - 1) / block_size, block_size, 2 * block_size * sizeof(double)>>>(view(), x, b, n_sweeps);
        LEOPARD_CHECK(cudaGetLastError());
      }

      double residual_norm_squared(const double *x, const double *b) override
      {
        LEOPARD_CHECK(cudaMemset(sum.data(), 0, sizeof(double)));
        residual_kernel<<<(rows + 255) / 256, 256>>>(view(), x, b, sum.data());
        LEOPARD_CHECK(cudaGetLastError());
        double result = 0.;
        device::copy_to_host(&result, sum.data(), sizeof(double));
        return result;
      }

      double norm_squared(const double *b) override { return residual_norm_squared(nullptr, b); }
      void   update_values(const double *new_values) override { device::copy_to_device(values.data(), new_values, values.size() * sizeof(double)); }

    private:
      CrsView view() const { return {offsets.data(), columns.data(), values.data(), rows}; }

      const int             rows, block_size, n_sweeps;
      const Kernel          kernel;
      const bool            is_fixed;
      const std::string     own_name;
      device::Array<int>    offsets, columns;
      device::Array<double> values, sum;
    };
  } // namespace

  std::unique_ptr<Relaxation<double>> make_plain_crs_cuda(const CrsMatrix<double> &A, int block_size, int local_iterations)
  {
    return std::make_unique<PlainCrsCuda>(
      A, block_size, local_iterations, relax_kernel, A.n_rows <= block_size, "async-(" + std::to_string(local_iterations) + ") on plain CRS");
  }

  std::unique_ptr<Relaxation<double>>
  make_printed_crs_cuda(const CrsMatrix<double> &A, int block_size, int local_iterations, FindsDiagonal finds_diagonal)
  {
    if (finds_diagonal == FindsDiagonal::by_branch)
      return std::make_unique<PlainCrsCuda>(
        A, block_size, 1 + local_iterations, printed_kernel<FindsDiagonal::by_branch>, false, name_of_printed(finds_diagonal));
    return std::make_unique<PlainCrsCuda>(
      A, block_size, 1 + local_iterations, printed_kernel<FindsDiagonal::by_product>, false, name_of_printed(finds_diagonal));
  }
} // namespace leopard::studies
