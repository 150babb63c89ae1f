// SPDX-License-Identifier: Apache-2.0
#include "../base/errors.h"
#include "../device/grid_stride.cuh"
#include "../device/scratch.cuh"
#include "device_space.cuh"
#include "device_systems.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>

namespace leopard::device
{
  namespace
  {
    using View = CrsView<double>;

    /** The same entries, with values that are to be written. */
    DeviceCrs<double> with_new_values(const DeviceCrs<double> &A)
    {
      DeviceCrs<double> result = {A.n_rows, A.n_columns, A.n_entries, std::make_shared<DeviceCrs<double>::Arrays>()};
      const auto        copy   = [](Array<int> &to, const Array<int> &from) {
        to = Array<int>(from.size());
        copy_on_device(to.data(), from.data(), from.size() * sizeof(int));
      };
      copy(result.arrays->row_offsets, A.arrays->row_offsets);
      copy(result.arrays->columns, A.arrays->columns);
      result.arrays->values = Array<double>(static_cast<std::size_t>(A.n_entries));
      return result;
    }

    // Couplings of nodes: N^T W N with the entries of W, those of A with the weights of the trace, and N's rows' nodes.

    __global__ void weigh_kernel(double *values, View A, SpaceView space)
    {
      for (int i = first_index<int>(); i < A.n_rows; i += stride<int>())
        for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
          {
            const int j      = A.columns[p];
            double    weight = 0.;
            for (int k = 0; k < space.n_vectors; ++k)
              weight += space.entry(i, k) * space.entry(j, k);
            if (space.n_vectors == 0)
              weight = space.unknown(i) == space.unknown(j) ? 1. : 0.;
            values[p] = weight * A.values[p];
          }
    }

    __global__ void is_member_kernel(int *is_member, const int *of_row, int n)
    {
      for (int i = first_index<int>(); i < n; i += stride<int>())
        is_member[i] = of_row[i] != no_aggregate;
    }

    __global__ void membership_kernel(int *columns, double *values, const int *offsets, const int *of_row, int n)
    {
      for (int i = first_index<int>(); i < n; i += stride<int>())
        if (of_row[i] != no_aggregate)
          {
            columns[offsets[i]] = of_row[i];
            values[offsets[i]]  = 1.;
          }
    }

    // Aggregates of rows are those of their nodes.

    __global__ void aggregates_of_rows_kernel(int *of_row, View A, const int *of_node, SpaceView space)
    {
      for (int i = first_index<int>(); i < A.n_rows; i += stride<int>())
        {
          bool coupled = false;
          for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1] && !coupled; ++p)
            coupled = A.columns[p] != i && A.values[p] != 0.;
          of_row[i] = coupled ? of_node[space.node(i)] : no_aggregate;
        }
    }

    /** What StrongRow of the host (aggregation.cc) does with a row. */
    struct StrongRow
    {
      View      A, nodes; ///< nodes: the strong couplings of nodes
      SpaceView space;

      __device__ bool is_strong(int node, int other) const
      {
        for (int p = nodes.row_offsets[node]; p < nodes.row_offsets[node + 1]; ++p)
          if (nodes.columns[p] == other)
            return true;
        return false;
      }

      /**
       * @param place of the row's first entry in columns and values; columns null: nothing is written. @param lost
       * n_vectors numbers. @return the number of its entries.
       */
      __device__ int write(int i, int place, int *columns, double *values, double *lost) const
      {
        const int node = space.node(i), first = space.first(node), n = space.first(node + 1) - first, begin = place;
        double    weak[most_unknowns];
        int       own[most_unknowns]; // the node's own entries
        for (int unknown = 0; unknown < n; ++unknown)
          {
            weak[unknown] = 0.;
            own[unknown]  = no_aggregate;
          }
        for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
          {
            const int j = A.columns[p], other = space.node(j), unknown = j - space.first(other);
            if (is_strong(node, other))
              {
                if (other == node)
                  own[unknown] = place;
                if (columns != nullptr)
                  {
                    columns[place] = j;
                    values[place]  = A.values[p];
                  }
                ++place;
                continue;
              }
            if (unknown < n)
              weak[unknown] += A.values[p];
            for (int k = 0; k < space.n_vectors && columns != nullptr; ++k)
              lost[k] += A.values[p] * (space.entry(j, k) - (unknown < n ? space.entry(first + unknown, k) : 0.));
          }
        for (int unknown = 0; unknown < n; ++unknown)
          if (own[unknown] != no_aggregate)
            {
              if (columns != nullptr)
                values[own[unknown]] += weak[unknown];
            }
          else if (weak[unknown] != 0.)
            {
              if (columns != nullptr)
                {
                  columns[place] = first + unknown;
                  values[place]  = weak[unknown];
                }
              ++place;
            }
        return place - begin;
      }
    };

    __global__ void strong_lengths_kernel(int *lengths, StrongRow row)
    {
      for (int i = first_index<int>(); i < row.A.n_rows; i += stride<int>())
        lengths[i] = row.write(i, 0, nullptr, nullptr, nullptr);
    }

    __global__ void strong_rows_kernel(int *columns, double *values, double *lost, const int *offsets, StrongRow row)
    {
      for (int i = first_index<int>(); i < row.A.n_rows; i += stride<int>())
        row.write(i, offsets[i], columns, values, lost + static_cast<long>(i) * row.space.n_vectors);
    }

    // The prolongation.

    __global__ void diagonal_kernel(double *diagonal, View A)
    {
      for (int i = first_index<int>(); i < A.n_rows; i += stride<int>())
        {
          double found = 0.;
          for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
            if (A.columns[p] == i)
              found = A.values[p];
          diagonal[i] = found;
        }
    }

    /** The first row of an aggregate with a diagonal that is zero, no number, or not there; n: none. */
    __global__ void check_diagonal_kernel(int *first, const double *diagonal, const int *of_row, int n)
    {
      for (int i = first_index<int>(); i < n; i += stride<int>())
        if (of_row[i] != no_aggregate && !(fabs(diagonal[i]) > 0.))
          atomicMin(first, i);
    }

    /** I - factor D^-1 S; rows in no aggregate are zero. */
    __global__ void smooth_kernel(double *values, View S, const double *diagonal, const int *of_row, double factor)
    {
      for (int i = first_index<int>(); i < S.n_rows; i += stride<int>())
        for (int p = S.row_offsets[i]; p < S.row_offsets[i + 1]; ++p)
          values[p] = of_row[i] == no_aggregate ? 0. : (S.columns[p] == i ? 1. : 0.) - factor / diagonal[i] * S.values[p];
    }

    /** What LostMotions of the host (aggregation.cc) does with a row. */
    struct LostMotions
    {
      View          S, P;
      const int    *of_row, *first_row; ///< first_row: of the coarse level's nodes
      const double *R;
      int           m;

      __device__ int  rank(int aggregate) const { return first_row[aggregate + 1] - first_row[aggregate]; }
      __device__ bool is_whole(int aggregate) const { return rank(aggregate) == m; }

      /** The entry of P's row, whose columns are sorted. */
      __device__ int place(int i, int column) const
      {
        int begin = P.row_offsets[i], end = P.row_offsets[i + 1];
        while (end - begin > 1)
          {
            const int middle                            = (begin + end) / 2;
            (P.columns[middle] <= column ? begin : end) = middle;
          }
        return begin;
      }

      __device__ void give(int i, int aggregate, double factor, double *rest, double *values) const
      {
        const int     first = first_row[aggregate];
        const double *rows  = R + static_cast<long>(first) * m;
        int           pivot = 0;
        for (int l = 0; l < rank(aggregate); ++l, ++pivot)
          {
            while (rows[l * m + pivot] == 0.)
              ++pivot;
            const double x = rest[pivot] / rows[l * m + pivot];
            for (int k = pivot; k < m; ++k)
              rest[k] -= x * rows[l * m + k];
            values[place(i, first + l)] += factor * x;
          }
      }

      __device__ void add(int i, double factor, const double *lost, double *values) const
      {
        double rest[most_unknowns];
        for (int k = 0; k < m; ++k)
          rest[k] = lost[k];
        const int own = of_row[i];
        give(i, own, factor, rest, values);
        for (int p = S.row_offsets[i]; p < S.row_offsets[i + 1] && !is_whole(own); ++p)
          if (const int other = of_row[S.columns[p]]; other != no_aggregate && is_whole(other))
            {
              give(i, other, factor, rest, values);
              return;
            }
      }
    };

    __global__ void lost_motions_kernel(double *values, LostMotions motions, const double *lost, const double *diagonal, double factor)
    {
      for (int i = first_index<int>(); i < motions.S.n_rows; i += stride<int>())
        if (motions.of_row[i] != no_aggregate)
          motions.add(i, -factor / diagonal[i], lost + static_cast<long>(i) * motions.m, values);
    }
  } // namespace

  DeviceCrs<double> membership(const int *of_row, int n_rows, int n_aggregates)
  {
    Array<int> lengths(n_rows + 1l);
    is_member_kernel<<<blocks_for(n_rows), threads, 0, stream()>>>(lengths.data(), of_row, n_rows);
    LEOPARD_CHECK(cudaGetLastError());
    DeviceCrs<double> result = with_lengths(n_rows, n_aggregates, std::move(lengths));
    auto             &arrays = *result.arrays;
    membership_kernel<<<blocks_for(n_rows), threads, 0, stream()>>>(
      arrays.columns.data(), arrays.values.data(), arrays.row_offsets.data(), of_row, n_rows);
    LEOPARD_CHECK(cudaGetLastError());
    return result;
  }

  DeviceCrs<double> couplings_of_nodes(const DeviceCrs<double> &A, const NearNullSpace &space)
  {
    DeviceCrs<double> weighted = with_new_values(A);
    weigh_kernel<<<blocks_for(A.n_rows), threads, 0, stream()>>>(weighted.arrays->values.data(), A.view(), SpaceView(space));
    LEOPARD_CHECK(cudaGetLastError());
    if (space.first_row.size() == 0)
      return weighted;
    const DeviceCrs<double> nodes = membership(space.node_of.data(), A.n_rows, space.n_nodes);
    return product(transposed(nodes), product(weighted, nodes));
  }

  SystemAggregates aggregate(const DeviceCrs<double> &A, double strength, const NearNullSpace &space)
  {
    const int        n       = A.n_rows;
    const Aggregates of_node = aggregate(couplings_of_nodes(A, space), strength);
    SystemAggregates result  = {Array<int>(static_cast<std::size_t>(n)), of_node.n, {}, diagonal_of(A), {}};
    aggregates_of_rows_kernel<<<blocks_for(n), threads, 0, stream()>>>(result.of_row.data(), A.view(), of_node.of_row.data(), SpaceView(space));
    const StrongRow row = {A.view(), of_node.strong.view(), SpaceView(space)};
    Array<int>      lengths(n + 1l);
    strong_lengths_kernel<<<blocks_for(n), threads, 0, stream()>>>(lengths.data(), row);
    LEOPARD_CHECK(cudaGetLastError());
    result.strong = with_lengths(n, n, std::move(lengths));
    result.lost   = Array<double>(static_cast<std::size_t>(n) * space.n_vectors);
    LEOPARD_CHECK(cudaMemsetAsync(result.lost.data(), 0, result.lost.size() * sizeof(double), stream()));
    auto &arrays = *result.strong.arrays;
    strong_rows_kernel<<<blocks_for(n), threads, 0, stream()>>>(
      arrays.columns.data(), arrays.values.data(), result.lost.data(), arrays.row_offsets.data(), row);
    LEOPARD_CHECK(cudaGetLastError());
    return result;
  }

  Array<double> diagonal_of(const DeviceCrs<double> &A)
  {
    Array<double> result(static_cast<std::size_t>(A.n_rows));
    diagonal_kernel<<<blocks_for(A.n_rows), threads, 0, stream()>>>(result.data(), A.view());
    LEOPARD_CHECK(cudaGetLastError());
    return result;
  }

  void check_diagonal(const double *diagonal, const int *of_row, int n)
  {
    const Scratch<int> first(1);
    copy_to_device(first.data(), &n, sizeof(int));
    check_diagonal_kernel<<<blocks_for(n), threads, 0, stream()>>>(first.data(), diagonal, of_row, n);
    LEOPARD_CHECK(cudaGetLastError());
    if (const int row = to_host(first.data()); row < n)
      throw InvalidInput("aggregation: row " + std::to_string(row) +
                         " has a diagonal entry that is zero, or no number, where weak couplings are added to it (the first row is 0)\n  expected: "
                         "a number that is not zero");
  }

  DeviceCrs<double> smoothing_matrix(DeviceCrs<double> S, const double *diagonal, const int *of_row, double factor)
  {
    smooth_kernel<<<blocks_for(S.n_rows), threads, 0, stream()>>>(S.arrays->values.data(), S.view(), diagonal, of_row, factor);
    LEOPARD_CHECK(cudaGetLastError());
    return S;
  }

  DeviceCrs<double> smoothed_prolongation(const SystemAggregates &aggregates, const TentativeProlongation &tentative)
  {
    const DeviceCrs<double> &S        = aggregates.strong;
    const double            *diagonal = aggregates.diagonal.data();
    const int               *of_row   = aggregates.of_row.data();
    check_diagonal(diagonal, of_row, S.n_rows);
    const double      factor = 4. / (3. * 1.1 * power_iteration(S, 15, diagonal));
    DeviceCrs<double> P      = product(smoothing_matrix(S, diagonal, of_row, factor), tentative.prolongation);
    const int         m      = tentative.coarse.n_vectors;
    if (m == 0)
      return P;
    const LostMotions motions = {S.view(), P.view(), of_row, tentative.coarse.first_row.data(), tentative.coarse.values.data(), m};
    lost_motions_kernel<<<blocks_for(S.n_rows), threads, 0, stream()>>>(P.arrays->values.data(), motions, aggregates.lost.data(), diagonal, factor);
    LEOPARD_CHECK(cudaGetLastError());
    return P;
  }
} // namespace leopard::device
