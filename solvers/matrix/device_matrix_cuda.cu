// SPDX-License-Identifier: Apache-2.0
#include "../device/cuda_error.cuh"
#include "../device/device_array.h"
#include "../device/launch.cuh"
#include "../device/library_handles.cuh"
#include "compact_rows.cuh"
#include "device_matrix.h"

#include <optional>
#include <type_traits>

namespace leopard::device
{
  namespace
  {
    /** As cuSPARSE calls it. */
    template <typename Number>
    constexpr cudaDataType data_type = std::is_same_v<Number, double> ? CUDA_R_64F : CUDA_R_32F;

    /** Below, a product takes as long as its launch: benchmarks/results/2026-11-29_h200_small_stored_levels.md. */
    constexpr int fewest_large_entries = 400000;
    /** Above, rows have so many entries that a lane is too few for them. */
    constexpr int longest_compact_mean = 48;

    /** The sum over `lanes` neighbouring threads, in the first of them. */
    template <int lanes, typename Number>
    __device__ Number sum_over_lanes(Number sum)
    {
#pragma unroll
      for (int offset = lanes / 2; offset > 0; offset /= 2)
        sum += __shfl_down_sync(0xffffffffu, sum, offset, lanes);
      return sum;
    }

    /** z = alpha A x + beta y, `lanes` threads a row. */
    template <int lanes, typename Number>
    __global__ void __launch_bounds__(threads)
      small_product_kernel(const CrsView<Number> A, Number alpha, const Number *x, Number beta, const Number *y, Number *z)
    {
      const int  row = first_index<int>() / lanes, lane = threadIdx.x % lanes;
      const bool exists = row < A.n_rows;
      const int  begin = exists ? A.row_offsets[row] : 0, end = exists ? A.row_offsets[row + 1] : 0; // never written again
      wait_for_previous();
      Number sum = 0;
      for (int p = begin + lane; p < end; p += lanes)
        sum += A.values[p] * x[A.columns[p]];
      sum = sum_over_lanes<lanes>(sum);
      if (exists && lane == 0)
        z[row] = beta == Number(0) ? alpha * sum : alpha * sum + beta * y[row];
    }

    /** See restricted_residual(): a warp a coarse row, four lanes a row of A. */
    template <typename Number>
    __global__ void __launch_bounds__(threads) restricted_residual_kernel(
      const CrsView<Number> R, const CrsView<Number> A, const Number *x, const Number *b, Number *coarse_b, Number *coarse_x)
    {
      constexpr int lanes = 4, at_once = 32 / lanes;
      const int     row = first_index<int>() / 32, lane = threadIdx.x % lanes, group = threadIdx.x % 32 / lanes;
      const bool    exists = row < R.n_rows;
      const int     begin = exists ? R.row_offsets[row] : 0, end = exists ? R.row_offsets[row + 1] : 0; // never written again
      wait_for_previous();
      Number sum = 0;
      for (int p = begin + group; p < end; p += at_once)
        {
          const int j        = R.columns[p];
          Number    residual = lane == 0 ? b[j] : Number(0);
          for (int q = A.row_offsets[j] + lane; q < A.row_offsets[j + 1]; q += lanes)
            residual -= A.values[q] * x[A.columns[q]];
          sum += R.values[p] * residual;
        }
      sum = sum_over_lanes<32>(sum);
      if (exists && threadIdx.x % 32 == 0)
        {
          coarse_b[row] = sum;
          coarse_x[row] = 0;
        }
    }

    /** z = alpha A x + beta y. */
    template <typename Number>
    __global__ void __launch_bounds__(threads)
      compact_product_kernel(const CompactView<Number> A, Number alpha, const Number *x, Number beta, const Number *y, Number *z)
    {
      const unsigned int row = blockIdx.x * blockDim.x + threadIdx.x, slice = row / 32, n = A.n_rows;
      if (32 * slice >= n)
        return;
      const bool   exists = row < n;
      const Number start  = beta != Number(0) && exists ? beta * y[row] : Number(0);
      const Number sum    = A.product(slice, threadIdx.x % 32, x);
      if (exists)
        z[row] = alpha * sum + start;
    }

    constexpr int dense_threads = 128;

    /** y = A x by a thread block a row, so that the loads of all rows are on their way at once. */
    template <typename Number>
    __global__ void __launch_bounds__(dense_threads) dense_kernel(int n, const Number *A, const Number *x, Number *y)
    {
      __shared__ Number of_warps[dense_threads / 32];
      wait_for_previous();
      const Number *const row = A + static_cast<std::size_t>(blockIdx.x) * n;
      Number              sum = 0;
#pragma unroll 8
      for (int j = threadIdx.x; j < n; j += dense_threads)
        sum += row[j] * x[j];
      sum = sum_over_lanes<32>(sum);
      if (threadIdx.x % 32 == 0)
        of_warps[threadIdx.x / 32] = sum;
      __syncthreads();
      if (threadIdx.x == 0)
        y[blockIdx.x] = (of_warps[0] + of_warps[1]) + (of_warps[2] + of_warps[3]);
    }
  } // namespace

  template <typename Number>
  struct DeviceMatrix<Number>::Data
  {
    DeviceCrs<Number>                  A;
    bool                               may_be_compact; ///< not yet looked at: products are to come
    std::optional<CompactRows<Number>> compact;        ///< where they serve
    cusparseSpMatDescr_t               matrix = nullptr;
    cusparseDnVecDescr_t               x = nullptr, y = nullptr;
    Array<char>                        buffer;

    Data(const DeviceCrs<Number> &A_, bool may_be_compact_)
      : A(A_)
      , may_be_compact(may_be_compact_ && !is_small() && A.n_entries / longest_compact_mean <= A.n_rows)
    {
      if (is_small())
        synchronize(); // kernels that are launched early read row offsets before they wait for others
      else if (!may_be_compact)
        prepare();
    }

    bool is_small() const { return A.n_entries < fewest_large_entries; }

    /** Before a product. Many matrices of a set-up never have one. */
    void choose()
    {
      if (!may_be_compact)
        return;
      may_be_compact = false;
      compact.emplace(A);
      if (compact->is_empty())
        {
          compact.reset();
          prepare();
        }
    }

    /** For cuSPARSE. */
    void prepare()
    {
      cusparseHandle_t const handle = sparse_handle();
      LEOPARD_CHECK(cusparseCreateCsr(&matrix,
                                      A.n_rows,
                                      A.n_columns,
                                      A.n_entries,
                                      A.arrays->row_offsets.data(),
                                      A.arrays->columns.data(),
                                      A.arrays->values.data(),
                                      CUSPARSE_INDEX_32I,
                                      CUSPARSE_INDEX_32I,
                                      CUSPARSE_INDEX_BASE_ZERO,
                                      data_type<Number>));
      // cuSPARSE wants vectors with the descriptor; the real ones come with each product
      const Array<Number> some_x(A.n_columns), some_y(A.n_rows);
      LEOPARD_CHECK(cusparseCreateDnVec(&x, A.n_columns, some_x.data(), data_type<Number>));
      LEOPARD_CHECK(cusparseCreateDnVec(&y, A.n_rows, some_y.data(), data_type<Number>));
      const Number one = 1, zero = 0;
      std::size_t  n_bytes = 0;
      LEOPARD_CHECK(cusparseSpMV_bufferSize(
        handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, matrix, x, &zero, y, data_type<Number>, CUSPARSE_SPMV_ALG_DEFAULT, &n_bytes));
      buffer = Array<char>(n_bytes);
      LEOPARD_CHECK(cusparseSpMV_preprocess(
        handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, matrix, x, &zero, y, data_type<Number>, CUSPARSE_SPMV_ALG_DEFAULT, buffer.data()));
    }

    ~Data()
    {
      if (x != nullptr)
        cusparseDestroyDnVec(x);
      if (y != nullptr)
        cusparseDestroyDnVec(y);
      if (matrix != nullptr)
        cusparseDestroySpMat(matrix);
    }
  };

  template <typename Number>
  DeviceMatrix<Number>::DeviceMatrix(const CrsMatrix<Number> &A, bool may_be_compact)
    : data(std::make_unique<Data>(to_device(A), may_be_compact))
  {
  }

  template <typename Number>
  DeviceMatrix<Number>::DeviceMatrix(const DeviceCrs<Number> &A, bool may_be_compact)
    : data(std::make_unique<Data>(A, may_be_compact))
  {
  }

  template <typename Number>
  DeviceMatrix<Number>::~DeviceMatrix() = default;

  template <typename Number>
  void DeviceMatrix<Number>::multiply(Number *z, Number alpha, const Number *x, Number beta, const Number *y) const
  {
    const int n = data->A.n_rows;
    if (n == 0)
      return;
    data->choose();
    if (data->compact)
      {
        compact_product_kernel<<<(n + threads - 1u) / threads, threads>>>(data->compact->view(), alpha, x, beta, y, z);
        LEOPARD_CHECK(cudaGetLastError());
        return;
      }
    if (data->is_small())
      {
        const int  mean = data->A.n_entries / n;
        const auto call = [&](auto kernel, int lanes) {
          launch_early(kernel, (static_cast<unsigned int>(n) * lanes + threads - 1) / threads, threads, 0, data->A.view(), alpha, x, beta, y, z);
        };
        mean < 2    ? call(small_product_kernel<2, Number>, 2)
        : mean < 8  ? call(small_product_kernel<4, Number>, 4)
        : mean < 24 ? call(small_product_kernel<8, Number>, 8)
                    : call(small_product_kernel<32, Number>, 32);
        return;
      }
    if (beta != Number(0) && z != y)
      copy_on_device(z, y, n * sizeof(Number));
    LEOPARD_CHECK(cusparseDnVecSetValues(data->x, const_cast<Number *>(x)));
    LEOPARD_CHECK(cusparseDnVecSetValues(data->y, z));
    LEOPARD_CHECK(cusparseSpMV(sparse_handle(),
                               CUSPARSE_OPERATION_NON_TRANSPOSE,
                               &alpha,
                               data->matrix,
                               data->x,
                               &beta,
                               data->y,
                               data_type<Number>,
                               CUSPARSE_SPMV_ALG_DEFAULT,
                               data->buffer.data()));
  }

  template <typename Number>
  void DeviceMatrix<Number>::update_values(const Number *values)
  {
    if (data->A.n_entries == 0)
      return;
    copy_to_device(data->A.arrays->values.data(), values, data->A.n_entries * sizeof(Number));
    if (!data->compact && !data->may_be_compact)
      return;
    data->may_be_compact = false; // values that change once will change again
    data->compact.reset();
    data->prepare();
  }

  template <typename Number>
  bool DeviceMatrix<Number>::is_small() const
  {
    return data->is_small();
  }

  template <typename Number>
  int DeviceMatrix<Number>::n_rows() const
  {
    return data->A.n_rows;
  }

  template <typename Number>
  int DeviceMatrix<Number>::n_columns() const
  {
    return data->A.n_columns;
  }

  template <typename Number>
  CrsView<Number> DeviceMatrix<Number>::view() const
  {
    return data->A.view();
  }

  template <typename Number>
  bool DeviceMatrix<Number>::is_compact() const
  {
    return data->compact.has_value();
  }

  template <typename Number>
  CompactView<Number> DeviceMatrix<Number>::compact_view() const
  {
    data->choose();
    return data->compact ? data->compact->view() : CompactView<Number>{};
  }

  template <typename Number>
  void restricted_residual(
    Number *coarse_b, Number *coarse_x, const DeviceMatrix<Number> &R, const DeviceMatrix<Number> &A, const Number *x, const Number *b)
  {
    if (R.n_rows() > 0)
      launch_early(
        restricted_residual_kernel<Number>, (32u * R.n_rows() + threads - 1) / threads, threads, 0, R.view(), A.view(), x, b, coarse_b, coarse_x);
  }

  template <typename Number>
  struct DenseMatrix<Number>::Data
  {
    int           n;
    Array<Number> values;
  };

  template <typename Number>
  DenseMatrix<Number>::DenseMatrix(const std::vector<Number> &values, int n)
  {
    if (values.size() != static_cast<std::size_t>(n) * n)
      throw InvalidInput("a dense matrix of " + std::to_string(n) + " rows has " + std::to_string(values.size()) +
                         " values\n  expected: as many as rows times rows");
    data = std::make_unique<Data>(Data{n, Array<Number>(values)});
  }

  template <typename Number>
  DenseMatrix<Number>::~DenseMatrix() = default;

  template <typename Number>
  void DenseMatrix<Number>::update_values(const std::vector<Number> &values)
  {
    if (values.size() != data->values.size())
      throw InvalidInput("a dense matrix of " + std::to_string(data->n) + " rows gets " + std::to_string(values.size()) +
                         " new values\n  expected: as many as rows times rows");
    if (data->n > 0)
      copy_to_device(data->values.data(), values.data(), values.size() * sizeof(Number));
  }

  template <typename Number>
  void DenseMatrix<Number>::multiply(Number *y, const Number *x) const
  {
    if (data->n > 0)
      launch_early(dense_kernel<Number>, data->n, dense_threads, 0, data->n, data->values.data(), x, y);
  }

#define INSTANTIATE(Number)            \
  template class DeviceMatrix<Number>; \
  template class DenseMatrix<Number>;  \
  template void restricted_residual(   \
    Number *coarse_b, Number *coarse_x, const DeviceMatrix<Number> &R, const DeviceMatrix<Number> &A, const Number *x, const Number *b);
  LEOPARD_FOR_EACH_NUMBER(INSTANTIATE)
#undef INSTANTIATE
} // namespace leopard::device
