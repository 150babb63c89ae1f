// SPDX-License-Identifier: Apache-2.0
#include "../device/block_sum.cuh"
#include "../device/cuda_error.cuh"
#include "../device/exclusive_scan.cuh"
#include "../device/grid_stride.cuh"
#include "../device/library_handles.cuh"
#include "../device/scratch.cuh"
#include "device_crs.h"

#include <cub/device/device_reduce.cuh>
#include <cub/device/device_segmented_sort.cuh>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>

namespace leopard::device
{
  namespace
  {
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
              if (with_diagonal && p > A.row_offsets[i] && A.columns[p] == A.columns[p - 1])
                *wrong = 1;
              found = found || (A.columns[p] == i && A.values[p] != Number(0));
            }
          if (!found)
            *wrong = 1;
        }
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

    /**
     * A in a new order. @param A of this size, on the device, its offsets checked. @param wrong becomes 1 where columns
     * or values are.
     */
    template <typename Number, typename Result>
    void permute_rows(const CrsView<Number> &A,
                      int                    n_columns,
                      int                    n_entries,
                      const Array<int>      &rows,
                      const Array<int>      &new_columns,
                      Array<int>            &to_offsets,
                      int                   *to_columns,
                      Result                *to_values,
                      int                   *wrong)
    {
      const Order order(rows, new_columns, n_columns);
      LEOPARD_CHECK(cudaMemsetAsync(to_offsets.data() + A.n_rows, 0, sizeof(int), stream()));
      row_lengths_kernel<<<blocks_for(A.n_rows), threads, 0, stream()>>>(to_offsets.data(), A.row_offsets, order.old_row, A.n_rows);
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
                                                                                                              A.row_offsets,
                                                                                                              A.columns,
                                                                                                              A.values,
                                                                                                              order.old_row,
                                                                                                              order.new_column.data(),
                                                                                                              A.n_rows,
                                                                                                              n_columns,
                                                                                                              !is_long,
                                                                                                              wrong);
        LEOPARD_CHECK(cudaGetLastError());
      };
      if (!is_long)
        {
          fill(to_columns, to_values);
          return;
        }
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

    /** The same for a matrix in host memory. @return whether it is one. Values to Result as in the kernel. */
    template <typename Result>
    bool permute_rows(
      const CrsMatrix<double> &A, const Array<int> &rows, const Array<int> &columns, Array<int> &to_offsets, int *to_columns, Result *to_values)
    {
      const Scratch<int>    from_offsets(A.row_offsets.size()), from_columns(A.columns.size()), wrong(1);
      const Scratch<double> from_values(std::is_same_v<Result, int> ? 0 : A.values.size());
      LEOPARD_CHECK(cudaMemsetAsync(wrong.data(), 0, sizeof(int), stream()));
      copy_to_device(from_offsets.data(), A.row_offsets.data(), A.row_offsets.size() * sizeof(int));
      check_offsets_kernel<<<blocks_for(A.n_rows), threads, 0, stream()>>>(from_offsets.data(), A.n_rows, A.n_entries(), wrong.data());
      copy_to_device(from_columns.data(), A.columns.data(), A.columns.size() * sizeof(int));
      if (from_values.size() > 0)
        copy_to_device(from_values.data(), A.values.data(), A.values.size() * sizeof(double));
      if (to_host(wrong.data()) != 0)
        return false;
      const CrsView<double> given = {A.n_rows, from_offsets.data(), from_columns.data(), from_values.data()};
      permute_rows(given, A.n_columns, A.n_entries(), rows, columns, to_offsets, to_columns, to_values, wrong.data());
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
  CrsMatrix<Number> to_host(const DeviceCrs<Number> &A)
  {
    CrsMatrix<Number> result;
    result.n_rows    = A.n_rows;
    result.n_columns = A.n_columns;
    result.row_offsets.assign(A.n_rows + 1l, 0);
    if (A.arrays == nullptr)
      return result;
    result.columns.resize(A.n_entries);
    result.values.resize(A.n_entries);
    copy_to_host(result.row_offsets.data(), A.arrays->row_offsets.data(), result.row_offsets.size() * sizeof(int));
    copy_to_host(result.columns.data(), A.arrays->columns.data(), result.columns.size() * sizeof(int));
    copy_to_host(result.values.data(), A.arrays->values.data(), result.values.size() * sizeof(Number));
    return result;
  }

  namespace
  {
    template <typename To, typename From>
    __global__ void round_kernel(To *to, const From *from, int n)
    {
      for (int p = first_index<int>(); p < n; p += stride<int>())
        to[p] = static_cast<To>(from[p]);
    }
  } // namespace

  template <typename To, typename From>
  DeviceCrs<To> rounded_to(const DeviceCrs<From> &A)
  {
    if constexpr (std::is_same_v<To, From>)
      return A;
    else
      {
        DeviceCrs<To> result = allocated<To>(A.n_rows, A.n_columns, A.n_entries);
        copy_on_device(result.arrays->row_offsets.data(), A.arrays->row_offsets.data(), (A.n_rows + 1l) * sizeof(int));
        copy_on_device(result.arrays->columns.data(), A.arrays->columns.data(), A.n_entries * sizeof(int));
        round_kernel<<<blocks_for(A.n_entries), threads, 0, stream()>>>(result.arrays->values.data(), A.arrays->values.data(), A.n_entries);
        LEOPARD_CHECK(cudaGetLastError());
        return result;
      }
  }

  namespace
  {
    template <typename Number>
    __global__ void check_values_kernel(CrsView<Number> A, int *wrong)
    {
      for (int i = first_index<int>(); i < A.n_rows; i += stride<int>())
        {
          bool found = false, finite = true;
          for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
            {
              found  = found || (A.columns[p] == i && A.values[p] != Number(0));
              finite = finite && isfinite(A.values[p]);
            }
          if (!found || !finite)
            *wrong = 1;
        }
    }
  } // namespace

  template <typename Number>
  bool has_valid_values(const DeviceCrs<Number> &A)
  {
    if (A.n_rows == 0)
      return true;
    const Scratch<int> wrong(1);
    LEOPARD_CHECK(cudaMemsetAsync(wrong.data(), 0, sizeof(int), stream()));
    check_values_kernel<<<blocks_for(A.n_rows), threads, 0, stream()>>>(A.view(), wrong.data());
    LEOPARD_CHECK(cudaGetLastError());
    return to_host(wrong.data()) == 0;
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

  template <typename To, typename From>
  DeviceCrs<To> permuted(const DeviceCrs<From> &A, const Array<int> &old_row, const Array<int> &old_column)
  {
    if (A.n_entries == 0 || (old_row.size() == 0 && old_column.size() == 0))
      return rounded_to<To>(A);
    DeviceCrs<To>      result = allocated<To>(A.n_rows, A.n_columns, A.n_entries);
    auto              &arrays = *result.arrays;
    const Scratch<int> wrong(1);
    permute_rows(
      A.view(), A.n_columns, A.n_entries, old_row, old_column, arrays.row_offsets, arrays.columns.data(), arrays.values.data(), wrong.data());
    return result;
  }

  Array<int> permuted_entries(const CrsMatrix<double> &A, const Array<int> &old_row, const Array<int> &old_column)
  {
    Array<int>         entries(A.columns.size()), offsets(A.row_offsets.size());
    const Scratch<int> columns(A.columns.size());
    if (A.n_rows > 0 && !permute_rows(A, old_row, old_column, offsets, columns.data(), entries.data()))
      A.validate_entries(); // says what it is
    return entries;
  }

  template <typename Number>
  Array<int> permuted_entries(const DeviceCrs<Number> &A, const Array<int> &old_row)
  {
    Array<int>         entries(static_cast<std::size_t>(A.n_entries)), offsets(A.n_rows + std::size_t(1));
    const Scratch<int> columns(A.n_entries), wrong(1);
    if (A.n_rows > 0)
      permute_rows(A.view(), A.n_columns, A.n_entries, old_row, old_row, offsets, columns.data(), entries.data(), wrong.data());
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

    __global__ void round_to_bfloat16_kernel(CrsView<float> A, float *values)
    {
      for (int i = first_index<int>(); i < A.n_rows; i += stride<int>())
        {
          double change   = 0.;
          int    diagonal = A.row_offsets[i];
          for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
            if (A.columns[p] == i)
              diagonal = p;
            else
              {
                const float        value = values[p];
                const unsigned int bits = __float_as_uint(value), to_even = bits >> 16 & 1u;
                values[p] = __uint_as_float((bits + 0x7fffu + to_even) & 0xffff0000u);
                change += static_cast<double>(value) - static_cast<double>(values[p]);
              }
          values[diagonal] = static_cast<float>(values[diagonal] + change);
        }
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

  void round_to_bfloat16(DeviceCrs<float> &A)
  {
    if (A.n_rows == 0)
      return;
    round_to_bfloat16_kernel<<<blocks_for(A.n_rows), threads, 0, stream()>>>(A.view(), A.arrays->values.data());
    LEOPARD_CHECK(cudaGetLastError());
  }

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
     * w = D^-1 A v / ||v||, D null: A's diagonal; parts: one of ||w||^2 a thread block; in the norm of |D|. @param
     * before ||v||^2; null: 1.
     */
    template <typename Number>
    __global__ void scaled_product_kernel(double *w, double *parts, CrsView<Number> A, const double *D, const double *v, const double *before)
    {
      const double scale           = before == nullptr ? 1. : *before == 0. ? 0. : 1. / sqrt(*before);
      double       norm_squared[1] = {0.};
      for (int i = first_index<int>(); i < A.n_rows; i += stride<int>())
        {
          double sum = 0., diagonal = D == nullptr ? 0. : D[i];
          for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
            if (const int column = A.columns[p]; column < A.n_rows)
              {
                const double value = A.values[p];
                sum += value * v[column];
                if (column == i && D == nullptr)
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
  double power_iteration(const DeviceCrs<Number> &A, int n_steps, const double *diagonal)
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
        scaled_product_kernel<<<n_blocks, threads, 0, stream()>>>(
          to, parts.data(), A.view(), diagonal, from, step == 0 ? nullptr : norms.data() + step - 1);
        sum_kernel<<<1, threads, 0, stream()>>>(norms.data() + step, parts.data(), n_blocks);
      }
    LEOPARD_CHECK(cudaGetLastError());
    std::vector<double> found(norms.size());
    copy_to_host(found.data(), norms.data(), found.size() * sizeof(double));
    double estimate = 0.;
    for (int step = 0; step <= n_steps; ++step)
      {
        if (!(found[step] > 0. && std::isfinite(found[step])))
          return found[step] == 0. ? estimate : found[step];
        if (step > 0)
          estimate = std::sqrt(found[step]);
      }
    return estimate;
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
    const auto call = [&, &from = *A.arrays, &to = *result.arrays](const auto function, auto *last) {
      LEOPARD_CHECK(function(sparse_handle(),
                             A.n_rows,
                             A.n_columns,
                             A.n_entries,
                             from.values.data(),
                             from.row_offsets.data(),
                             from.columns.data(),
                             to.values.data(),
                             to.row_offsets.data(),
                             to.columns.data(),
                             std::is_same_v<Number, double> ? CUDA_R_64F : CUDA_R_32F,
                             CUSPARSE_ACTION_NUMERIC,
                             CUSPARSE_INDEX_BASE_ZERO,
                             CUSPARSE_CSR2CSC_ALG1,
                             last));
    };
    std::size_t n_bytes = 0;
    call(cusparseCsr2cscEx2_bufferSize, &n_bytes);
    const Scratch<char> buffer(std::max<std::size_t>(n_bytes, 1));
    call(cusparseCsr2cscEx2, buffer.data());
    return result;
  }

#define INSTANTIATE(Number)                                                                                                                     \
  template DeviceCrs<Number> to_device(const CrsMatrix<Number> &A);                                                                             \
  template DeviceCrs<Number> permuted(const CrsMatrix<double> &A, const Array<int> &old_row, const Array<int> &old_column, bool with_diagonal); \
  template CrsMatrix<Number> to_host(const DeviceCrs<Number> &A);                                                                               \
  template DeviceCrs<Number> rounded_to(const DeviceCrs<double> &A);                                                                            \
  template bool              has_valid_values(const DeviceCrs<Number> &A);                                                                      \
  template DeviceCrs<Number> permuted(const DeviceCrs<double> &A, const Array<int> &old_row, const Array<int> &old_column);                     \
  template Array<int>        permuted_entries(const DeviceCrs<Number> &A, const Array<int> &old_row);                                           \
  template DeviceCrs<Number> transposed(const DeviceCrs<Number> &A);                                                                            \
  template void              permuted_values(Number *result, const std::vector<double> &values, const Array<int> &entries);                     \
  template double            power_iteration(const DeviceCrs<Number> &A, int n_steps, const double *diagonal);                                  \
  template double            row_sum_bound(const DeviceCrs<Number> &A);
  LEOPARD_FOR_EACH_NUMBER(INSTANTIATE)
#undef INSTANTIATE
  template DeviceCrs<float> permuted(const DeviceCrs<float> &A, const Array<int> &old_row, const Array<int> &old_column);
} // namespace leopard::device
