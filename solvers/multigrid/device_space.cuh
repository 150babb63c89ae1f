// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../device/exclusive_scan.cuh"
#include "../device/grid_stride.cuh"
#include "device_systems.h"

#include <memory>
#include <utility>

namespace leopard::device
{
  // What kernels of systems see.

  constexpr int no_aggregate = -1, most_unknowns = AggregationOptions::most_on_device;

  struct SpaceView
  {
    const int    *first_row, *node_of; ///< null: each row is a node
    const double *values;
    int           n_vectors;

    explicit SpaceView(const NearNullSpace &space)
      : first_row(space.first_row.data())
      , node_of(space.node_of.data())
      , values(space.values.data())
      , n_vectors(space.n_vectors)
    {
    }

    __device__ int node(int row) const { return node_of == nullptr ? row : node_of[row]; }
    __device__ int first(int node) const { return first_row == nullptr ? node : first_row[node]; }
    __device__ int unknown(int row) const { return row - first(node(row)); }

    __device__ double entry(int row, int k) const { return values[static_cast<long>(row) * n_vectors + k]; }
  };

  /** A matrix without columns and values yet. @param row_offsets lengths of the rows, and room for one number more. */
  inline DeviceCrs<double> with_lengths(int n_rows, int n_columns, Array<int> row_offsets)
  {
    DeviceCrs<double> result = {n_rows, n_columns, 0, std::make_shared<DeviceCrs<double>::Arrays>()};
    auto             &arrays = *result.arrays;
    arrays.row_offsets       = std::move(row_offsets);
    LEOPARD_CHECK(cudaMemsetAsync(arrays.row_offsets.data() + n_rows, 0, sizeof(int), stream()));
    exclusive_scan(arrays.row_offsets.data(), n_rows + 1l);
    result.n_entries = to_host(arrays.row_offsets.data() + n_rows);
    arrays.columns   = Array<int>(static_cast<std::size_t>(result.n_entries));
    arrays.values    = Array<double>(static_cast<std::size_t>(result.n_entries));
    return result;
  }
} // namespace leopard::device
