// SPDX-License-Identifier: Apache-2.0
#include "../device/cuda_error.cuh"
#include "../device/device_array.h"
#include "../matrix/block_crs.h"
#include "block_async_engine.h"

#include <cuda/atomic>

#include <algorithm>
#include <vector>

namespace leopard
{
  namespace
  {
    // Off-block values are read while other blocks write them. That race is the method; relaxed atomic accesses of device scope
    // make it well defined: a read gives some value that was written, never a torn one.
    __device__ double load(const double *x)
    {
      return cuda::atomic_ref<double, cuda::thread_scope_device>(*const_cast<double *>(x)).load(cuda::std::memory_order_relaxed);
    }

    __device__ void store(double *x, double value)
    {
      cuda::atomic_ref<double, cuda::thread_scope_device>(*x).store(value, cuda::std::memory_order_relaxed);
    }

    /**
     * One of the two parts of a block-CRS matrix on the device. Within a block the rows are padded to the longest one and stored
     * column-wise, entry e of the block's row i at block_begin[block] + e * rows_of_block + i, so that neighbouring threads read neighbouring
     * values. Padding has the value zero and a column that exists.
     */
    template <typename Index>
    struct PartView
    {
      const int    *block_begin; ///< n_blocks + 1
      const Index  *columns;
      const double *values;
    };

    template <typename Index>
    struct DevicePart
    {
      device::Array<int>    block_begin, slot_source; ///< which entry of the CrsMatrix a slot holds, or -1
      device::Array<Index>  columns;
      device::Array<double> values;

      PartView<Index> view() const { return {block_begin.data(), columns.data(), values.data()}; }

      DevicePart(const BlockCrs &matrix, const BlockCrs::Part<Index> &part)
      {
        std::vector<int>    begin = {0}, source;
        std::vector<Index>  all_columns;
        std::vector<double> all_values;
        for (int block = 0; block < matrix.n_blocks; ++block)
          {
            const int first = matrix.block_begin(block), rows = matrix.block_end(block) - first;
            int       width = 0;
            for (int i = first; i < first + rows; ++i)
              width = std::max(width, part.offsets[i + 1] - part.offsets[i]);
            const std::size_t n_slots = static_cast<std::size_t>(begin.back()) + static_cast<std::size_t>(width) * rows;
            if (n_slots > 2147483647u)
              throw InvalidInput("the matrix needs more than 2^31 - 1 entries when its rows are padded for the GPU\n  expected: a smaller matrix, or "
                                 "smaller blocks if few rows are much longer than the others");
            source.resize(n_slots, -1);
            all_columns.resize(n_slots, 0);
            all_values.resize(n_slots, 0.);
            for (int i = 0; i < rows; ++i)
              for (int e = 0, p = part.offsets[first + i]; p < part.offsets[first + i + 1]; ++e, ++p)
                {
                  const std::size_t slot = static_cast<std::size_t>(begin.back()) + static_cast<std::size_t>(e) * rows + i;
                  source[slot]           = part.source[p];
                  all_columns[slot]      = part.columns[p];
                  all_values[slot]       = part.values[p];
                }
            begin.push_back(static_cast<int>(n_slots));
          }
        block_begin = device::Array<int>(begin);
        slot_source = device::Array<int>(source);
        columns     = device::Array<Index>(all_columns);
        values      = device::Array<double>(all_values);
      }
    };

    /** One global iteration: thread block J relaxes matrix block J with k local Jacobi sweeps. Shared memory: two blocks of values. */
    __global__ void relax_kernel(PartView<std::uint16_t> inner,
                                 PartView<int>           outer,
                                 const double           *inverse_diagonal,
                                 double                 *x,
                                 const double           *off_block,
                                 const double           *b,
                                 int                     n_rows,
                                 int                     local_iterations,
                                 double                  omega)
    {
      extern __shared__ double shared[];
      const int                first = blockIdx.x * blockDim.x, i = threadIdx.x, row = first + i;
      const int                rows   = min(static_cast<int>(blockDim.x), n_rows - first);
      const bool               active = i < rows;
      double                  *y = shared, *next = shared + blockDim.x;

      double frozen = 0., inverse = 0., value = 0.;
      if (active)
        {
          frozen = b[row];
          for (int p = outer.block_begin[blockIdx.x] + i; p < outer.block_begin[blockIdx.x + 1]; p += rows)
            frozen -= outer.values[p] * load(off_block + outer.columns[p]);
          inverse = inverse_diagonal[row];
          value   = x[row];
          y[i]    = value;
        }
      __syncthreads();
      const int begin = inner.block_begin[blockIdx.x] + i, end = inner.block_begin[blockIdx.x + 1];
      for (int k = 0; k < local_iterations; ++k)
        {
          if (active)
            {
              double sum = frozen;
              for (int p = begin; p < end; p += rows)
                sum -= inner.values[p] * y[inner.columns[p]];
              value   = (1. - omega) * value + omega * inverse * sum;
              next[i] = value;
            }
          __syncthreads(); // all have read y and written next
          double *swap = y;
          y            = next;
          next         = swap;
        }
      if (active)
        store(x + row, value);
    }

    /** Sums one value a thread over a block of a power of two of threads; thread 0 gets the sum. */
    __device__ double sum_over_block(double value, double *shared)
    {
      shared[threadIdx.x] = value;
      __syncthreads();
      for (int stride = blockDim.x / 2; stride > 0; stride /= 2)
        {
          if (static_cast<int>(threadIdx.x) < stride)
            shared[threadIdx.x] += shared[threadIdx.x + stride];
          __syncthreads();
        }
      return shared[0];
    }

    constexpr int reduction_threads = 256;

    /** partial[J] = sum over the rows of matrix block J of (b - A x)^2, or of b^2 if x is null. */
    __global__ void norm_kernel(PartView<std::uint16_t> inner,
                                PartView<int>           outer,
                                const double           *diagonal,
                                const double           *x,
                                const double           *b,
                                int                     n_rows,
                                int                     block_size,
                                double                 *partial)
    {
      __shared__ double shared[reduction_threads];
      const int         first = blockIdx.x * block_size, rows = min(block_size, n_rows - first);
      double            sum = 0.;
      for (int i = threadIdx.x; i < rows; i += blockDim.x)
        {
          double r = b[first + i];
          if (x != nullptr)
            {
              r -= diagonal[first + i] * x[first + i];
              for (int p = inner.block_begin[blockIdx.x] + i; p < inner.block_begin[blockIdx.x + 1]; p += rows)
                r -= inner.values[p] * x[first + inner.columns[p]];
              for (int p = outer.block_begin[blockIdx.x] + i; p < outer.block_begin[blockIdx.x + 1]; p += rows)
                r -= outer.values[p] * x[outer.columns[p]];
            }
          sum += r * r;
        }
      sum = sum_over_block(sum, shared);
      if (threadIdx.x == 0)
        partial[blockIdx.x] = sum;
    }

    __global__ void sum_kernel(const double *partial, int n, double *result)
    {
      __shared__ double shared[reduction_threads];
      double            sum = 0.;
      for (int i = threadIdx.x; i < n; i += blockDim.x)
        sum += partial[i];
      sum = sum_over_block(sum, shared);
      if (threadIdx.x == 0)
        *result = sum;
    }

    __global__ void pick_kernel(double *values, const int *source, const double *new_values, int n)
    {
      const int slot = blockIdx.x * blockDim.x + threadIdx.x;
      if (slot < n && source[slot] >= 0)
        values[slot] = new_values[source[slot]];
    }

    class CudaEngine : public BlockAsync::Engine
    {
    public:
      CudaEngine(const CrsMatrix &A, const BlockAsyncOptions &options_)
        : CudaEngine(BlockCrs(A, options_.block_size), A, options_)
      {
      }

      MemorySpace memory_space() const override { return MemorySpace::device; }
      bool        is_fixed_linear_map() const override { return options.schedule == Schedule::synchronous || n_blocks <= 1; }

      /** Returns when the work is queued on the default stream; whatever else that stream does comes after it. */
      void iterate(double *x, const double *b, int n_iterations) override
      {
        if (n_blocks == 0)
          return;
        const bool    synchronous = options.schedule == Schedule::synchronous;
        const double *off_block   = synchronous ? old_x.data() : x;
        for (int n = 0; n < n_iterations; ++n)
          {
            if (synchronous)
              device::copy_on_device(old_x.data(), x, old_x.size() * sizeof(double));
            relax_kernel<<<n_blocks, options.block_size, 2 * options.block_size * sizeof(double)>>>(
              inner.view(), outer.view(), inverse_diagonal.data(), x, off_block, b, n_rows, options.local_iterations, options.omega);
          }
        LEOPARD_CHECK(cudaGetLastError());
      }

      double residual_norm_squared(const double *x, const double *b) override { return sum_of_squares(x, b); }
      double norm_squared(const double *b) override { return sum_of_squares(nullptr, b); }

      void update_values(const double *values) override
      {
        if (n_rows == 0)
          return;
        for (int i = 0; i < n_rows; ++i)
          {
            const double d = values[diagonal_source[i]];
            if (!(std::isfinite(d) && d != 0.))
              throw InvalidInput("the diagonal entry of row " + std::to_string(i) + " is " + std::to_string(d) +
                                 "\n  expected: a finite number that is not zero");
            host_diagonal[i]         = d;
            host_inverse_diagonal[i] = 1. / d;
          }
        device::copy_to_device(diagonal.data(), host_diagonal.data(), n_rows * sizeof(double));
        device::copy_to_device(inverse_diagonal.data(), host_inverse_diagonal.data(), n_rows * sizeof(double));
        device::copy_to_device(new_values.data(), values, new_values.size() * sizeof(double));
        pick(inner);
        pick(outer);
      }

    private:
      CudaEngine(const BlockCrs &matrix, const CrsMatrix &A, const BlockAsyncOptions &options_)
        : options(options_)
        , n_rows(A.n_rows)
        , n_blocks(matrix.n_blocks)
        , inner(matrix, matrix.inner)
        , outer(matrix, matrix.outer)
        , diagonal(matrix.diagonal)
        , inverse_diagonal(matrix.inverse_diagonal)
        , new_values(A.values.size())
        , partial(matrix.n_blocks)
        , sum(1)
        , old_x(options_.schedule == Schedule::synchronous ? A.n_columns : 0)
        , diagonal_source(matrix.diagonal_source)
        , host_diagonal(A.n_rows)
        , host_inverse_diagonal(A.n_rows)
      {
      }

      template <typename Index>
      void pick(DevicePart<Index> &part)
      {
        const int n = static_cast<int>(part.values.size());
        if (n > 0)
          pick_kernel<<<(n + 255) / 256, 256>>>(part.values.data(), part.slot_source.data(), new_values.data(), n);
        LEOPARD_CHECK(cudaGetLastError());
      }

      double sum_of_squares(const double *x, const double *b)
      {
        if (n_blocks == 0)
          return 0.;
        norm_kernel<<<n_blocks, reduction_threads>>>(inner.view(), outer.view(), diagonal.data(), x, b, n_rows, options.block_size, partial.data());
        sum_kernel<<<1, reduction_threads>>>(partial.data(), n_blocks, sum.data());
        LEOPARD_CHECK(cudaGetLastError());
        double result = 0.;
        device::copy_to_host(&result, sum.data(), sizeof(double));
        return result;
      }

      const BlockAsyncOptions   options;
      const int                 n_rows, n_blocks;
      DevicePart<std::uint16_t> inner;
      DevicePart<int>           outer;
      device::Array<double>     diagonal, inverse_diagonal, new_values, partial, sum;
      device::Array<double>     old_x; ///< synchronous schedule only
      std::vector<int>          diagonal_source;
      std::vector<double>       host_diagonal, host_inverse_diagonal;
    };
  } // namespace

  std::unique_ptr<BlockAsync::Engine> make_cuda_engine(const CrsMatrix &A, const BlockAsyncOptions &options)
  {
    return std::make_unique<CudaEngine>(A, options);
  }
} // namespace leopard
