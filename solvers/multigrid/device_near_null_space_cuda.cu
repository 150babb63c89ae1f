// SPDX-License-Identifier: Apache-2.0
#include "../base/errors.h"
#include "../base/norms.h"
#include "../device/grid_stride.cuh"
#include "../device/partial_sums.cuh"
#include "../device/scratch.cuh"
#include "device_space.cuh"
#include "device_systems.h"

#include <cub/device/device_radix_sort.cuh>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>

namespace leopard::device
{
  namespace
  {
    __global__ void nodes_of_rows_kernel(int *node_of, const int *first_row, int n_nodes)
    {
      for (int node = first_index<int>(); node < n_nodes; node += stride<int>())
        for (int i = first_row[node]; i < first_row[node + 1]; ++i)
          node_of[i] = node;
    }

    __global__ void multiples_kernel(int *result, int factor, int n)
    {
      for (int i = first_index<int>(); i < n; i += stride<int>())
        result[i] = factor * i;
    }

    /** @param space whose first_row is set. */
    void find_nodes(NearNullSpace &space, int n_rows)
    {
      space.node_of = Array<int>(static_cast<std::size_t>(n_rows));
      nodes_of_rows_kernel<<<blocks_for(space.n_nodes), threads, 0, stream()>>>(space.node_of.data(), space.first_row.data(), space.n_nodes);
      LEOPARD_CHECK(cudaGetLastError());
    }

    /** Nodes of so many rows each. */
    void set_equal_nodes(NearNullSpace &space, int n_nodes, int each)
    {
      space.n_nodes   = n_nodes;
      space.first_row = Array<int>(n_nodes + 1l);
      multiples_kernel<<<blocks_for(n_nodes + 1l), threads, 0, stream()>>>(space.first_row.data(), each, n_nodes + 1);
      find_nodes(space, n_nodes * each);
    }

    // The basis: Gram and Schmidt as the host has it (near_null_space.cc).

    /** v <- a v + b w. */
    __global__ void combine_kernel(double *v, double a, double b, const double *w, int n)
    {
      for (int i = first_index<int>(); i < n; i += stride<int>())
        v[i] = a * v[i] + b * w[i];
    }

    __global__ void interleave_kernel(double *values, const double *column, int k, int n_vectors, int n)
    {
      for (int i = first_index<int>(); i < n; i += stride<int>())
        values[static_cast<long>(i) * n_vectors + k] = column[i];
    }

    /** An orthonormal basis of the span, a vector after another. */
    std::vector<Array<double>> orthonormal_basis(int n, const std::vector<std::vector<double>> &vectors)
    {
      std::vector<Array<double>> basis;
      const PartialSums          sums(reduction_threads);
      const auto                 combine = [n](Array<double> &v, double a, double b, const Array<double> &w) {
        combine_kernel<<<blocks_for(n), threads, 0, stream()>>>(v.data(), a, b, w.data(), n);
        LEOPARD_CHECK(cudaGetLastError());
      };
      for (const std::vector<double> &given : vectors)
        {
          Array<double> v(given);
          double        largest = 0.;
          for (const double value : given)
            largest = std::max(largest, std::abs(value));
          combine(v, to_about_one(largest), 0., v);
          const double before = std::sqrt(sums.dot(v.data(), v.data(), n));
          for (int time = 0; time < 2; ++time)
            for (const Array<double> &q : basis)
              combine(v, 1., -sums.dot(v.data(), q.data(), n), q);
          const double left = std::sqrt(sums.dot(v.data(), v.data(), n));
          if (!(left > dependent_part * before))
            continue;
          combine(v, 1. / left, 0., v);
          basis.push_back(std::move(v));
        }
      return basis;
    }

    // The tentative prolongation of vectors: a warp an aggregate, whose lanes have its rows in turns.

    __device__ double sum_over_warp(double value)
    {
      for (int lanes = 16; lanes > 0; lanes /= 2)
        value += __shfl_xor_sync(0xffffffffu, value, lanes);
      return value;
    }

    /** to_about_one() of the largest value of the lanes. */
    __device__ double unit_of_warp(double value)
    {
      for (int lanes = 16; lanes > 0; lanes /= 2)
        value = fmax(value, __shfl_xor_sync(0xffffffffu, value, lanes));
      int exponent = 0;
      if (isfinite(value))
        frexp(value, &exponent);
      return ldexp(1., min(max(-exponent, -1000), 1000));
    }

    /** The rows of B of one aggregate, seen by a lane. */
    struct ColumnsOfWarp
    {
      double *values; ///< row after row
      int     n_rows, n_columns, lane;

      template <typename Function>
      __device__ void for_rows(const Function &function) const
      {
        for (int i = lane; i < n_rows; i += 32)
          function(values + static_cast<long>(i) * n_columns);
      }

      __device__ double dot(int k, int l) const
      {
        double sum = 0.;
        for_rows([&](const double *row) { sum += row[k] * row[l]; });
        return sum_over_warp(sum);
      }

      /** As Columns::orthonormalize() of the host. */
      __device__ bool orthonormalize(int k, int n, double *r) const
      {
        double largest = 0.;
        for_rows([&](const double *row) { largest = fmax(largest, fabs(row[k])); });
        const double unit = unit_of_warp(largest);
        for_rows([&](double *row) { row[k] *= unit; });
        const double before = sqrt(dot(k, k));
        for (int l = 0; l < n; ++l)
          r[l] = 0.;
        for (int time = 0; time < 2; ++time)
          for (int l = 0; l < n; ++l)
            {
              const double part = dot(k, l);
              r[l] += part / unit;
              for_rows([&](double *row) { row[k] -= part * row[l]; });
            }
        const double left = sqrt(dot(k, k));
        r[n]              = left / unit;
        if (!(left > dependent_part * before) || !(r[n] > 0.))
          return false;
        for_rows([&](double *row) { row[n] = row[k] / left; });
        return true;
      }
    };

    /** @param Q rows of B, aggregate after aggregate, which become those of Q. @param R, rank zeros. */
    __global__ void orthonormalize_kernel(double *Q, double *R, int *rank, const int *first, int n, int m)
    {
      const int lane = threadIdx.x % 32;
      for (int a = first_index<int>() / 32; a < n; a += stride<int>() / 32)
        {
          const ColumnsOfWarp columns = {Q + static_cast<long>(first[a]) * m, first[a + 1] - first[a], m, lane};
          double              r[most_unknowns + 1];
          int                 n_found = 0;
          for (int k = 0; k < m; ++k)
            {
              n_found += columns.orthonormalize(k, n_found, r) ? 1 : 0;
              for (int l = lane; l < n_found; l += 32)
                R[(static_cast<long>(a) * m + l) * m + k] = r[l];
            }
          if (lane == 0)
            rank[a] = n_found;
        }
    }

    __global__ void sort_keys_kernel(int *keys, int *rows, const int *of_row, int n, int n_aggregates)
    {
      for (int i = first_index<int>(); i < n; i += stride<int>())
        {
          rows[i] = i;
          keys[i] = of_row[i] == no_aggregate ? n_aggregates : of_row[i];
        }
    }

    /** first[a]: the first place of a key >= a, for a <= n_aggregates. */
    __global__ void first_places_kernel(int *first, const int *keys, int n, int n_aggregates)
    {
      for (int t = first_index<int>(); t <= n; t += stride<int>())
        for (int a = t == 0 ? 0 : keys[t - 1] + 1; a <= (t == n ? n_aggregates : min(keys[t], n_aggregates)); ++a)
          first[a] = t;
    }

    __global__ void take_rows_kernel(double *Q, const double *values, const int *rows, int n, int m)
    {
      for (long t = first_index<long>(); t < static_cast<long>(n) * m; t += stride<long>())
        Q[t] = values[static_cast<long>(rows[t / m]) * m + t % m];
    }

    /** The first rank[a] rows of each m x m matrix, one after another. */
    __global__ void coarse_values_kernel(double *values, const double *R, const int *first_row, int n, int m)
    {
      for (int a = first_index<int>(); a < n; a += stride<int>())
        for (int l = 0; l < (first_row[a + 1] - first_row[a]) * m; ++l)
          values[static_cast<long>(first_row[a]) * m + l] = R[static_cast<long>(a) * m * m + l];
    }

    __global__ void tentative_lengths_kernel(int *lengths, const int *of_row, const int *first_row, int n)
    {
      for (int i = first_index<int>(); i < n; i += stride<int>())
        lengths[i] = of_row[i] == no_aggregate ? 0 : first_row[of_row[i] + 1] - first_row[of_row[i]];
    }

    __global__ void tentative_kernel(
      int *columns, double *values, const int *offsets, const int *of_row, const int *first_row, const double *Q, const int *rows, int n, int m)
    {
      for (int t = first_index<int>(); t < n; t += stride<int>())
        {
          const int i = rows[t], begin = offsets[i];
          for (int p = begin; p < offsets[i + 1]; ++p)
            {
              columns[p] = first_row[of_row[i]] + p - begin;
              values[p]  = Q[static_cast<long>(t) * m + p - begin];
            }
        }
    }

    __global__ void columns_of_constants_kernel(int *of_unknown, const int *of_row, SpaceView space, int each, int n)
    {
      for (int i = first_index<int>(); i < n; i += stride<int>())
        of_unknown[i] = of_row[i] == no_aggregate ? no_aggregate : of_row[i] * each + space.unknown(i);
    }

    TentativeProlongation of_constants(const Array<int> &of_row, int n, const NearNullSpace &space)
    {
      const int             n_rows = static_cast<int>(of_row.size()), each = n_rows / space.n_nodes;
      const Scratch<int>    column(n_rows);
      TentativeProlongation result;
      columns_of_constants_kernel<<<blocks_for(n_rows), threads, 0, stream()>>>(column.data(), of_row.data(), SpaceView(space), each, n_rows);
      LEOPARD_CHECK(cudaGetLastError());
      result.prolongation = membership(column.data(), n_rows, n * each);
      set_equal_nodes(result.coarse, n, each);
      return result;
    }
  } // namespace

  NearNullSpace make_near_null_space(int n_rows, const AggregationOptions &options)
  {
    check_near_null_space(n_rows, options.block_unknowns, options.near_null_space);
    NearNullSpace space;
    space.n_nodes = n_rows;
    if (options.block_unknowns > 1)
      set_equal_nodes(space, n_rows / options.block_unknowns, options.block_unknowns);
    if (options.near_null_space.empty())
      return space;
    const std::vector<Array<double>> basis = orthonormal_basis(n_rows, options.near_null_space);
    space.n_vectors                        = static_cast<int>(basis.size());
    if (space.n_vectors == 0 && n_rows > 0)
      throw InvalidInput("aggregation: the vectors of the near null space are zero\n  expected: at least one that is not");
    space.values = Array<double>(static_cast<std::size_t>(n_rows) * basis.size());
    for (int k = 0; k < space.n_vectors; ++k)
      interleave_kernel<<<blocks_for(n_rows), threads, 0, stream()>>>(space.values.data(), basis[k].data(), k, space.n_vectors, n_rows);
    LEOPARD_CHECK(cudaGetLastError());
    return space;
  }

  leopard::NearNullSpace to_host(const NearNullSpace &space)
  {
    leopard::NearNullSpace result;
    result.n_vectors = space.n_vectors;
    result.first_row.resize(space.first_row.size());
    result.values.resize(space.values.size());
    copy_to_host(result.first_row.data(), space.first_row.data(), result.first_row.size() * sizeof(int));
    copy_to_host(result.values.data(), space.values.data(), result.values.size() * sizeof(double));
    return result;
  }

  TentativeProlongation tentative_prolongation(const Array<int> &of_row, int n, const NearNullSpace &space)
  {
    if (space.n_vectors == 0)
      return of_constants(of_row, n, space);
    const int             m = space.n_vectors, n_rows = static_cast<int>(of_row.size());
    const Scratch<int>    keys(n_rows), sorted_keys(n_rows), rows(n_rows), sorted_rows(n_rows), first(n + 1l);
    const Scratch<double> Q(static_cast<std::size_t>(n_rows) * m), R(static_cast<std::size_t>(n) * m * m);
    sort_keys_kernel<<<blocks_for(n_rows), threads, 0, stream()>>>(keys.data(), rows.data(), of_row.data(), n_rows, n);
    with_scratch([&](void *memory, std::size_t &n_bytes) {
      return cub::DeviceRadixSort::SortPairs(
        memory, n_bytes, keys.data(), sorted_keys.data(), rows.data(), sorted_rows.data(), n_rows, 0, bits_for(n), stream());
    });
    first_places_kernel<<<blocks_for(n_rows + 1l), threads, 0, stream()>>>(first.data(), sorted_keys.data(), n_rows, n);
    take_rows_kernel<<<blocks_for(Q.size()), threads, 0, stream()>>>(Q.data(), space.values.data(), sorted_rows.data(), n_rows, m);
    LEOPARD_CHECK(cudaMemsetAsync(R.data(), 0, R.size() * sizeof(double), stream()));

    TentativeProlongation result;
    NearNullSpace        &coarse = result.coarse;
    coarse.n_nodes               = n;
    coarse.n_vectors             = m;
    coarse.first_row             = Array<int>(n + 1l);
    orthonormalize_kernel<<<blocks_for(32l * n), threads, 0, stream()>>>(Q.data(), R.data(), coarse.first_row.data(), first.data(), n, m);
    LEOPARD_CHECK(cudaGetLastError());
    exclusive_scan(coarse.first_row.data(), n + 1l);
    const int n_coarse = to_host(coarse.first_row.data() + n);
    coarse.values      = Array<double>(static_cast<std::size_t>(n_coarse) * m);
    coarse_values_kernel<<<blocks_for(n), threads, 0, stream()>>>(coarse.values.data(), R.data(), coarse.first_row.data(), n, m);
    find_nodes(coarse, n_coarse);

    Array<int> lengths(n_rows + 1l);
    tentative_lengths_kernel<<<blocks_for(n_rows), threads, 0, stream()>>>(lengths.data(), of_row.data(), coarse.first_row.data(), n_rows);
    LEOPARD_CHECK(cudaGetLastError());
    result.prolongation = with_lengths(n_rows, n_coarse, std::move(lengths));
    auto &arrays        = *result.prolongation.arrays;
    tentative_kernel<<<blocks_for(n_rows), threads, 0, stream()>>>(arrays.columns.data(),
                                                                   arrays.values.data(),
                                                                   arrays.row_offsets.data(),
                                                                   of_row.data(),
                                                                   coarse.first_row.data(),
                                                                   Q.data(),
                                                                   sorted_rows.data(),
                                                                   n_rows,
                                                                   m);
    LEOPARD_CHECK(cudaGetLastError());
    return result;
  }
} // namespace leopard::device
