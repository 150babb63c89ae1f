// SPDX-License-Identifier: Apache-2.0
#include "../device/block_sum.cuh"
#include "../device/cuda_error.cuh"
#include "../device/scratch.cuh"
#include "../device/sparse_handle.cuh"
#include "blocks.h"
#include "device_crs.h"

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_segmented_sort.cuh>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace leopard::device
{
  namespace
  {
    constexpr int threads = 256;

    int blocks_for(std::size_t n)
    {
      return static_cast<int>(std::min<std::size_t>((n + threads - 1) / threads, 1 << 20));
    }

    template <typename T>
    __device__ T first_index()
    {
      return static_cast<T>(blockIdx.x) * blockDim.x + threadIdx.x;
    }
    template <typename T>
    __device__ T stride()
    {
      return static_cast<T>(gridDim.x) * blockDim.x;
    }

    cudaStream_t stream()
    {
      return cudaStreamPerThread;
    }

    template <typename T>
    T to_host(const T *value)
    {
      T result;
      copy_to_host(&result, value, sizeof(T));
      return result;
    }

    /** new_of[old_of[i]] = i, and i behind the end of old_of. */
    __global__ void invert_kernel(int *new_of, const int *old_of, int n_ordered, int n)
    {
      for (int i = first_index<int>(); i < n; i += stride<int>())
        new_of[i < n_ordered ? old_of[i] : i] = i;
    }

    /** 1 where offsets are not those of n_rows rows. */
    __global__ void check_offsets_kernel(const int *offsets, int n_rows, int n_entries, int *wrong)
    {
      for (int i = first_index<int>(); i < n_rows; i += stride<int>())
        if (offsets[i] < 0 || offsets[i] > offsets[i + 1] || offsets[i + 1] > n_entries || (i == 0 && offsets[0] != 0) ||
            (i == n_rows - 1 && offsets[n_rows] != n_entries))
          *wrong = 1;
    }

    __global__ void row_lengths_kernel(int *lengths, const int *offsets, const int *old_row, int n_rows)
    {
      for (int i = first_index<int>(); i < n_rows; i += stride<int>())
        {
          const int row = old_row == nullptr ? i : old_row[i];
          lengths[i]    = offsets[row + 1] - offsets[row];
        }
    }

    constexpr int lanes = 8; ///< threads a row

    /**
     * Rows in their places, each sorted by the rank of its columns: the number of smaller ones. Result: of Number, or
     * int for the numbers of the entries.
     */
    template <typename Number, typename Result>
    __global__ void permute_rows_kernel(const int    *to_offsets,
                                        int          *to_columns,
                                        Result       *to_values,
                                        const int    *offsets,
                                        const int    *columns,
                                        const Number *values,
                                        const int    *old_row,
                                        const int    *new_column,
                                        int           n_rows,
                                        int           n_columns,
                                        bool          sorts,
                                        int          *wrong)
    {
      for (long t = first_index<long>(); t < static_cast<long>(n_rows) * lanes; t += stride<long>())
        {
          const int  i = static_cast<int>(t / lanes), row = old_row == nullptr ? i : old_row[i];
          const int  first = offsets[row], n = offsets[row + 1] - first, to = to_offsets[i];
          const auto column_of = [&](int e) {
            const int column = columns[first + e];
            if (column < 0 || column >= n_columns)
              {
                *wrong = 1;
                return 0;
              }
            return new_column == nullptr ? column : new_column[column];
          };
          for (int e = static_cast<int>(t % lanes); e < n; e += lanes)
            {
              const int mine = column_of(e);
              int       rank = e;
              if (sorts)
                {
                  rank = 0;
                  for (int q = 0; q < n; ++q)
                    {
                      const int other = column_of(q);
                      rank += other < mine || (other == mine && q < e);
                    }
                }
              to_columns[to + rank] = mine;
              if constexpr (std::is_same_v<Result, int>)
                to_values[to + rank] = first + e;
              else
                {
                  if (!isfinite(static_cast<double>(values[first + e])))
                    *wrong = 1;
                  to_values[to + rank] = static_cast<Result>(values[first + e]);
                }
            }
        }
    }

    /** Entries twice in a row, and diagonals that are missing or zero. */
    template <typename Number>
    __global__ void check_rows_kernel(CrsView<Number> A, bool with_diagonal, int *wrong)
    {
      for (int i = first_index<int>(); i < A.n_rows; i += stride<int>())
        {
          bool found = !with_diagonal;
          for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
            {
              if (p > A.row_offsets[i] && A.columns[p] == A.columns[p - 1])
                *wrong = 1;
              found = found || (A.columns[p] == i && A.values[p] != Number(0));
            }
          if (!found)
            *wrong = 1;
        }
    }

    void exclusive_scan(int *offsets, int n)
    {
      with_scratch([&](void *memory, std::size_t &n_bytes) { return cub::DeviceScan::ExclusiveSum(memory, n_bytes, offsets, offsets, n, stream()); });
    }

    struct Order
    {
      const int         *old_row;
      const Scratch<int> new_column;

      Order(const Array<int> &rows, const Array<int> &columns, int n_columns)
        : old_row(rows.data())
        , new_column(columns.size() > 0 ? n_columns : 0)
      {
        if (new_column.size() > 0)
          invert_kernel<<<blocks_for(n_columns), threads, 0, stream()>>>(
            new_column.data(), columns.data(), static_cast<int>(columns.size()), n_columns);
      }
    };

    /** @return whether the matrix is one. Values to Result as in the kernel. */
    template <typename Result>
    bool permute_rows(
      const CrsMatrix<double> &A, const Array<int> &rows, const Array<int> &columns, Array<int> &to_offsets, int *to_columns, Result *to_values)
    {
      const int             n_entries = A.n_entries();
      const Scratch<int>    from_offsets(A.row_offsets.size()), from_columns(A.columns.size()), wrong(1);
      const Scratch<double> from_values(std::is_same_v<Result, int> ? 0 : A.values.size());
      LEOPARD_CHECK(cudaMemsetAsync(wrong.data(), 0, sizeof(int), stream()));
      copy_to_device(from_offsets.data(), A.row_offsets.data(), A.row_offsets.size() * sizeof(int));
      check_offsets_kernel<<<blocks_for(A.n_rows), threads, 0, stream()>>>(from_offsets.data(), A.n_rows, n_entries, wrong.data());
      copy_to_device(from_columns.data(), A.columns.data(), A.columns.size() * sizeof(int));
      if (from_values.size() > 0)
        copy_to_device(from_values.data(), A.values.data(), A.values.size() * sizeof(double));
      if (to_host(wrong.data()) != 0)
        return false;
      const Order order(rows, columns, A.n_columns);
      LEOPARD_CHECK(cudaMemsetAsync(to_offsets.data() + A.n_rows, 0, sizeof(int), stream()));
      row_lengths_kernel<<<blocks_for(A.n_rows), threads, 0, stream()>>>(to_offsets.data(), from_offsets.data(), order.old_row, A.n_rows);
      const Scratch<int> longest(1);
      with_scratch([&](void *memory, std::size_t &n_bytes) {
        return cub::DeviceReduce::Max(memory, n_bytes, to_offsets.data(), longest.data(), A.n_rows, stream());
      });
      exclusive_scan(to_offsets.data(), A.n_rows + 1);
      const bool is_long = to_host(longest.data()) > 1024; // the rank of a column costs as many steps as the row has entries
      const auto fill    = [&](int *out_columns, Result *out_values) {
        permute_rows_kernel<<<blocks_for(static_cast<std::size_t>(A.n_rows) * lanes), threads, 0, stream()>>>(to_offsets.data(),
                                                                                                              out_columns,
                                                                                                              out_values,
                                                                                                              from_offsets.data(),
                                                                                                              from_columns.data(),
                                                                                                              from_values.data(),
                                                                                                              order.old_row,
                                                                                                              order.new_column.data(),
                                                                                                              A.n_rows,
                                                                                                              A.n_columns,
                                                                                                              !is_long,
                                                                                                              wrong.data());
        LEOPARD_CHECK(cudaGetLastError());
      };
      if (!is_long)
        fill(to_columns, to_values);
      else
        {
          const Scratch<int>    unsorted_columns(n_entries);
          const Scratch<Result> unsorted_values(n_entries);
          fill(unsorted_columns.data(), unsorted_values.data());
          with_scratch([&](void *memory, std::size_t &n_bytes) {
            return cub::DeviceSegmentedSort::StableSortPairs(memory,
                                                             n_bytes,
                                                             unsorted_columns.data(),
                                                             to_columns,
                                                             unsorted_values.data(),
                                                             to_values,
                                                             n_entries,
                                                             A.n_rows,
                                                             to_offsets.data(),
                                                             to_offsets.data() + 1,
                                                             stream());
          });
        }
      return to_host(wrong.data()) == 0;
    }

    template <typename Number>
    DeviceCrs<Number> allocated(int n_rows, int n_columns, int n_entries)
    {
      DeviceCrs<Number> result   = {n_rows, n_columns, n_entries, std::make_shared<typename DeviceCrs<Number>::Arrays>()};
      result.arrays->row_offsets = Array<int>(static_cast<std::size_t>(n_rows) + 1);
      result.arrays->columns     = Array<int>(static_cast<std::size_t>(n_entries));
      result.arrays->values      = Array<Number>(static_cast<std::size_t>(n_entries));
      return result;
    }
  } // namespace

  template <typename Number>
  DeviceCrs<Number> to_device(const CrsMatrix<Number> &A)
  {
    DeviceCrs<Number> result   = {A.n_rows, A.n_columns, A.n_entries(), std::make_shared<typename DeviceCrs<Number>::Arrays>()};
    result.arrays->row_offsets = Array<int>(A.row_offsets);
    result.arrays->columns     = Array<int>(A.columns);
    result.arrays->values      = Array<Number>(A.values);
    return result;
  }

  template <typename Number>
  DeviceCrs<Number> permuted(const CrsMatrix<double> &A, const Array<int> &old_row, const Array<int> &old_column, bool with_diagonal)
  {
    DeviceCrs<Number> result = allocated<Number>(A.n_rows, A.n_columns, A.n_entries());
    if (A.n_rows == 0)
      return to_device(rounded_to<Number>(A));
    const auto &arrays = *result.arrays;
    bool        is_one = A.row_offsets.size() == A.n_rows + std::size_t(1) && A.columns.size() == A.values.size() &&
                  permute_rows(A, old_row, old_column, result.arrays->row_offsets, arrays.columns.data(), arrays.values.data());
    if (is_one)
      {
        const Scratch<int> wrong(1);
        LEOPARD_CHECK(cudaMemsetAsync(wrong.data(), 0, sizeof(int), stream()));
        check_rows_kernel<<<blocks_for(A.n_rows), threads, 0, stream()>>>(result.view(), with_diagonal, wrong.data());
        LEOPARD_CHECK(cudaGetLastError());
        is_one = to_host(wrong.data()) == 0;
      }
    if (is_one)
      return result;
    DeviceCrs<Number> none;
    none.n_rows = -1;
    return none;
  }

  Array<int> permuted_entries(const CrsMatrix<double> &A, const Array<int> &old_row, const Array<int> &old_column)
  {
    Array<int>         entries(A.columns.size()), offsets(A.row_offsets.size());
    const Scratch<int> columns(A.columns.size());
    if (A.n_rows > 0 && !permute_rows(A, old_row, old_column, offsets, columns.data(), entries.data()))
      A.validate_entries(); // says what it is
    return entries;
  }

  namespace
  {
    template <typename Number>
    __global__ void permuted_values_kernel(Number *values, const double *new_values, const int *entries, int n)
    {
      for (int p = first_index<int>(); p < n; p += stride<int>())
        values[p] = static_cast<Number>(new_values[entries[p]]);
    }

    template <typename Number>
    __global__ void gershgorin_kernel(double *bound, CrsView<Number> A)
    {
      for (int i = first_index<int>(); i < A.n_rows; i += stride<int>())
        {
          double sum = 0., diagonal = 0.;
          for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
            {
              sum += fabs(static_cast<double>(A.values[p]));
              if (A.columns[p] == i)
                diagonal = fabs(static_cast<double>(A.values[p]));
            }
          bound[i] = sum / diagonal;
        }
    }
  } // namespace

  template <typename Number>
  void permuted_values(Number *result, const std::vector<double> &values, const Array<int> &entries)
  {
    if (entries.size() == 0)
      return;
    const Scratch<double> given(values.size());
    copy_to_device(given.data(), values.data(), values.size() * sizeof(double));
    const int n = static_cast<int>(entries.size());
    permuted_values_kernel<<<blocks_for(n), threads, 0, stream()>>>(result, given.data(), entries.data(), n);
    LEOPARD_CHECK(cudaGetLastError());
  }

  template <typename Number>
  double row_sum_bound(const DeviceCrs<Number> &A)
  {
    if (A.n_rows == 0)
      return 0.;
    const Scratch<double> bounds(A.n_rows), largest(1);
    gershgorin_kernel<<<blocks_for(A.n_rows), threads, 0, stream()>>>(bounds.data(), A.view());
    LEOPARD_CHECK(cudaGetLastError());
    with_scratch(
      [&](void *memory, std::size_t &n_bytes) { return cub::DeviceReduce::Max(memory, n_bytes, bounds.data(), largest.data(), A.n_rows, stream()); });
    return to_host(largest.data());
  }

  namespace
  {
    /** Numbers in [-1, 1) that look random. */
    __global__ void random_kernel(double *v, int n)
    {
      for (int i = first_index<int>(); i < n; i += stride<int>())
        {
          std::uint64_t bits = (static_cast<std::uint64_t>(i) + 1) * 0x9e3779b97f4a7c15ull;
          bits               = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9ull;
          bits               = (bits ^ bits >> 27) * 0x94d049bb133111ebull;
          v[i]               = static_cast<double>((bits ^ bits >> 31) >> 11) * 0x1p-52 - 1.;
        }
    }

    /**
     * w = D^-1 A v / ||v||; parts: one of ||w||^2 a thread block; in the norm of |D|. @param before ||v||^2; null: 1.
     */
    template <typename Number>
    __global__ void scaled_product_kernel(double *w, double *parts, CrsView<Number> A, const double *v, const double *before)
    {
      const double scale           = before == nullptr ? 1. : 1. / sqrt(*before);
      double       norm_squared[1] = {0.};
      for (int i = first_index<int>(); i < A.n_rows; i += stride<int>())
        {
          double sum = 0., diagonal = 0.;
          for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
            if (const int column = A.columns[p]; column < A.n_rows)
              {
                const double value = A.values[p];
                sum += value * v[column];
                if (column == i)
                  diagonal = value;
              }
          w[i] = scale * sum / diagonal;
          norm_squared[0] += fabs(diagonal) * w[i] * w[i];
        }
      __shared__ double partial[32];
      merge_over_block<Addition>(norm_squared, partial);
      if (threadIdx.x == 0)
        parts[blockIdx.x] = norm_squared[0];
    }

    __global__ void sum_kernel(double *sum, const double *parts, int n)
    {
      __shared__ double partial[32];
      double            mine[1] = {0.};
      for (int i = threadIdx.x; i < n; i += blockDim.x)
        mine[0] += parts[i];
      merge_over_block<Addition>(mine, partial);
      if (threadIdx.x == 0)
        *sum = mine[0];
    }
  } // namespace

  template <typename Number>
  double power_iteration(const DeviceCrs<Number> &A, int n_steps)
  {
    if (A.n_rows == 0)
      return 0.;
    Scratch<double>       v(A.n_rows), w(A.n_rows);
    const int             n_blocks = std::min(blocks_for(A.n_rows), 4096);
    const Scratch<double> norms(n_steps + 1l), parts(n_blocks);
    double               *from = v.data(), *to = w.data();
    random_kernel<<<blocks_for(A.n_rows), threads, 0, stream()>>>(from, A.n_rows);
    for (int step = 0; step <= n_steps; ++step, std::swap(from, to)) // the first only gives the vector a norm
      {
        scaled_product_kernel<<<n_blocks, threads, 0, stream()>>>(to, parts.data(), A.view(), from, step == 0 ? nullptr : norms.data() + step - 1);
        sum_kernel<<<1, threads, 0, stream()>>>(norms.data() + step, parts.data(), n_blocks);
      }
    LEOPARD_CHECK(cudaGetLastError());
    return std::sqrt(to_host(norms.data() + n_steps));
  }

  template <typename Number>
  DeviceCrs<Number> transposed(const DeviceCrs<Number> &A)
  {
    DeviceCrs<Number> result = allocated<Number>(A.n_columns, A.n_rows, A.n_entries);
    if (A.n_entries == 0)
      {
        LEOPARD_CHECK(cudaMemsetAsync(result.arrays->row_offsets.data(), 0, (A.n_columns + 1l) * sizeof(int), stream()));
        return result;
      }
    const auto  type    = std::is_same_v<Number, double> ? CUDA_R_64F : CUDA_R_32F;
    std::size_t n_bytes = 0;
    const auto &from = *A.arrays, &to = *result.arrays;
    LEOPARD_CHECK(cusparseCsr2cscEx2_bufferSize(sparse_handle(),
                                                A.n_rows,
                                                A.n_columns,
                                                A.n_entries,
                                                from.values.data(),
                                                from.row_offsets.data(),
                                                from.columns.data(),
                                                to.values.data(),
                                                to.row_offsets.data(),
                                                to.columns.data(),
                                                type,
                                                CUSPARSE_ACTION_NUMERIC,
                                                CUSPARSE_INDEX_BASE_ZERO,
                                                CUSPARSE_CSR2CSC_ALG1,
                                                &n_bytes));
    const Scratch<char> buffer(std::max<std::size_t>(n_bytes, 1));
    LEOPARD_CHECK(cusparseCsr2cscEx2(sparse_handle(),
                                     A.n_rows,
                                     A.n_columns,
                                     A.n_entries,
                                     from.values.data(),
                                     from.row_offsets.data(),
                                     from.columns.data(),
                                     to.values.data(),
                                     to.row_offsets.data(),
                                     to.columns.data(),
                                     type,
                                     CUSPARSE_ACTION_NUMERIC,
                                     CUSPARSE_INDEX_BASE_ZERO,
                                     CUSPARSE_CSR2CSC_ALG1,
                                     buffer.data()));
    return result;
  }

  namespace
  {
    __device__ std::uint64_t ordered_bits(double value)
    {
      const auto bits = static_cast<std::uint64_t>(__double_as_longlong(value + 0.)); // -0. is 0.
      return bits >> 63 != 0 ? ~bits : bits | 0x8000000000000000ull;
    }

    __global__ void coordinate_keys_kernel(std::uint64_t *keys, int *rows, const double *coordinates, int dim, int d, int n, int *wrong)
    {
      for (int i = first_index<int>(); i < n; i += stride<int>())
        {
          const double x = coordinates[static_cast<long>(dim) * i + d];
          if (!isfinite(x))
            *wrong = 1;
          keys[i] = ordered_bits(x);
          rows[i] = i;
        }
    }

    /** ranks[rows[i]] = i. */
    __global__ void ranks_kernel(int *ranks, const int *rows, int n)
    {
      for (int i = first_index<int>(); i < n; i += stride<int>())
        ranks[rows[i]] = i;
    }

    __device__ int part_of(int position, const int *begins, int n_parts)
    {
      int low = 0, high = n_parts; // begins[low] <= position < begins[high]
      while (high - low > 1)
        {
          const int middle                          = (low + high) / 2;
          (begins[middle] <= position ? low : high) = middle;
        }
      return low;
    }

    /** The smallest and the largest coordinate of each part, as ordered bits, 2 dim numbers a part. */
    __global__ void
    boxes_kernel(unsigned long long *boxes, const double *coordinates, int dim, const int *rows, const int *begins, int n_parts, int n)
    {
      constexpr int a_thread = 16;
      // a warp has 32 a_thread rows, nearly always of one part
      const long warp = first_index<long>() / 32;
      const int  lane = threadIdx.x % 32;
      for (long from = warp * 32 * a_thread; from < n; from += stride<long>() / 32 * 32 * a_thread)
        {
          const int  last     = static_cast<int>(min(from + 32 * a_thread, static_cast<long>(n))) - 1;
          const int  part     = part_of(static_cast<int>(from), begins, n_parts);
          const bool one_part = last < begins[part + 1];
          for (int d = 0; d < dim; ++d)
            {
              unsigned long long low = ~0ull, high = 0;
              for (long i = from + lane; i <= last; i += 32)
                {
                  const unsigned long long key = ordered_bits(coordinates[static_cast<long>(dim) * rows[i] + d]);
                  if (one_part)
                    {
                      low  = min(low, key);
                      high = max(high, key);
                    }
                  else
                    {
                      const int mine = part_of(static_cast<int>(i), begins, n_parts);
                      atomicMin(boxes + (static_cast<long>(mine) * dim + d) * 2, key);
                      atomicMax(boxes + (static_cast<long>(mine) * dim + d) * 2 + 1, key);
                    }
                }
              if (!one_part)
                continue;
              for (int offset = 16; offset > 0; offset /= 2)
                {
                  low  = min(low, __shfl_xor_sync(0xffffffffu, low, offset));
                  high = max(high, __shfl_xor_sync(0xffffffffu, high, offset));
                }
              if (lane == 0)
                {
                  atomicMin(boxes + (static_cast<long>(part) * dim + d) * 2, low);
                  atomicMax(boxes + (static_cast<long>(part) * dim + d) * 2 + 1, high);
                }
            }
        }
    }

    __device__ double from_ordered_bits(unsigned long long key)
    {
      return __longlong_as_double(static_cast<long long>(key >> 63 != 0 ? key & 0x7fffffffffffffffull : ~key));
    }

    __global__ void empty_boxes_kernel(unsigned long long *boxes, int n)
    {
      for (int i = first_index<int>(); i < n; i += stride<int>())
        boxes[i] = i % 2 == 0 ? ~0ull : 0ull;
    }

    __global__ void longest_side_kernel(int *longest, const unsigned long long *boxes, int dim, int n_parts)
    {
      for (int part = first_index<int>(); part < n_parts; part += stride<int>())
        {
          int    best   = 0;
          double length = -1.;
          for (int d = 0; d < dim; ++d)
            {
              const unsigned long long *box = boxes + (static_cast<long>(part) * dim + d) * 2;
              const double              l   = from_ordered_bits(box[1]) - from_ordered_bits(box[0]);
              if (l > length)
                {
                  best   = d;
                  length = l;
                }
            }
          longest[part] = best;
        }
    }

    /** By part, and in it by the rank along its longest side, or, with longest null, by row. */
    __global__ void
    part_keys_kernel(std::uint64_t *keys, const int *rows, const int *ranks, const int *longest, const int *begins, int n_parts, int bits, int n)
    {
      for (int i = first_index<int>(); i < n; i += stride<int>())
        {
          const int part = part_of(i, begins, n_parts), row = rows[i];
          const int rank = longest == nullptr ? row : ranks[static_cast<long>(longest[part]) * n + row];
          keys[i]        = static_cast<std::uint64_t>(part) << bits | static_cast<std::uint64_t>(rank);
        }
    }

    int bits_of(long n)
    {
      int bits = 1;
      while ((1l << bits) < n)
        ++bits;
      return bits;
    }
  } // namespace

  Array<int> coordinate_order(const std::vector<double> &coordinates, int dim, int block_size, std::vector<int> &block_offsets)
  {
    const int n   = static_cast<int>(coordinates.size() / dim);
    block_offsets = {0};
    if (n == 0)
      return {};
    const Scratch<double>        points(coordinates.size());
    const Scratch<std::uint64_t> keys(n), other_keys(n);
    const Scratch<int>           other_rows(n), ranks(static_cast<std::size_t>(dim) * n), wrong(1);
    Array<int>                   rows(static_cast<std::size_t>(n));
    LEOPARD_CHECK(cudaMemsetAsync(wrong.data(), 0, sizeof(int), stream()));
    copy_to_device(points.data(), coordinates.data(), coordinates.size() * sizeof(double));
    const auto sort = [&](int end_bit) { // of keys and rows, which both come back
      cub::DoubleBuffer<std::uint64_t> key_buffer(keys.data(), other_keys.data());
      cub::DoubleBuffer<int>           row_buffer(rows.data(), other_rows.data());
      with_scratch([&](void *memory, std::size_t &n_bytes) {
        return cub::DeviceRadixSort::SortPairs(memory, n_bytes, key_buffer, row_buffer, n, 0, end_bit, stream());
      });
      if (row_buffer.Current() != rows.data())
        LEOPARD_CHECK(cudaMemcpyAsync(rows.data(), row_buffer.Current(), n * sizeof(int), cudaMemcpyDeviceToDevice, stream()));
    };
    for (int d = 0; d < dim; ++d)
      {
        coordinate_keys_kernel<<<blocks_for(n), threads, 0, stream()>>>(keys.data(), rows.data(), points.data(), dim, d, n, wrong.data());
        sort(64);
        ranks_kernel<<<blocks_for(n), threads, 0, stream()>>>(ranks.data() + static_cast<std::size_t>(d) * n, rows.data(), n);
      }
    if (to_host(wrong.data()) != 0)
      return {};

    // where parts begin does not depend on the coordinates; finished ones stay
    std::vector<int> begins = {0, n};
    const int        bits   = bits_of(n);
    while (true)
      {
        const int        n_parts = static_cast<int>(begins.size()) - 1;
        std::vector<int> next    = {0};
        for (int part = 0; part < n_parts; ++part)
          {
            const long size = begins[part + 1] - begins[part], n_blocks = (size - 1) / block_size + 1;
            if (n_blocks > 1)
              next.push_back(begins[part] + static_cast<int>(size * (n_blocks / 2) / n_blocks));
            next.push_back(begins[part + 1]);
          }
        const bool         done = next.size() == begins.size();
        const Scratch<int> begins_here(begins.size()), longest(n_parts);
        copy_to_device(begins_here.data(), begins.data(), begins.size() * sizeof(int));
        if (!done)
          {
            const Scratch<unsigned long long> boxes(static_cast<std::size_t>(n_parts) * dim * 2);
            empty_boxes_kernel<<<blocks_for(boxes.size()), threads, 0, stream()>>>(boxes.data(), static_cast<int>(boxes.size()));
            boxes_kernel<<<blocks_for(n / 16 + 1), threads, 0, stream()>>>(
              boxes.data(), points.data(), dim, rows.data(), begins_here.data(), n_parts, n);
            longest_side_kernel<<<blocks_for(n_parts), threads, 0, stream()>>>(longest.data(), boxes.data(), dim, n_parts);
          }
        part_keys_kernel<<<blocks_for(n), threads, 0, stream()>>>(
          keys.data(), rows.data(), ranks.data(), done ? nullptr : longest.data(), begins_here.data(), n_parts, bits, n);
        LEOPARD_CHECK(cudaGetLastError());
        sort(bits + bits_of(n_parts));
        if (done)
          break;
        begins = next;
      }
    block_offsets = begins;
    return rows;
  }

#define INSTANTIATE(Number)                                                                                                                     \
  template DeviceCrs<Number> to_device(const CrsMatrix<Number> &A);                                                                             \
  template DeviceCrs<Number> permuted(const CrsMatrix<double> &A, const Array<int> &old_row, const Array<int> &old_column, bool with_diagonal); \
  template DeviceCrs<Number> transposed(const DeviceCrs<Number> &A);                                                                            \
  template void              permuted_values(Number *result, const std::vector<double> &values, const Array<int> &entries);                     \
  template double            power_iteration(const DeviceCrs<Number> &A, int n_steps);                                                          \
  template double            row_sum_bound(const DeviceCrs<Number> &A);
  LEOPARD_FOR_EACH_NUMBER(INSTANTIATE)
#undef INSTANTIATE
} // namespace leopard::device
