// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "device_aggregation.h"

namespace leopard::device
{
  // Aggregation of systems, several unknowns a node or vectors near the null space, step by step in device memory.
  // Each function does what the host's of its name does (near_null_space.h, aggregation.h), but for rounding.

  NearNullSpace make_near_null_space(int n_rows, const AggregationOptions &options);

  /** As couplings_of_nodes(). */
  DeviceCrs<double> couplings_of_nodes(const DeviceCrs<double> &A, const NearNullSpace &space);

  /** As leopard::Aggregates of a system. */
  struct SystemAggregates
  {
    Array<int>        of_row;
    int               n = 0;
    DeviceCrs<double> strong;
    Array<double>     diagonal, lost;
  };

  SystemAggregates aggregate(const DeviceCrs<double> &A, double strength, const NearNullSpace &space);

  struct TentativeProlongation
  {
    DeviceCrs<double> prolongation;
    NearNullSpace     coarse;
  };

  TentativeProlongation tentative_prolongation(const Array<int> &of_row, int n, const NearNullSpace &space);

  /** @throws InvalidInput as the host's. */
  DeviceCrs<double> smoothed_prolongation(const SystemAggregates &aggregates, const TentativeProlongation &tentative);

  /** The first row of those in an aggregate whose entry of the diagonal is zero or no number. @throws InvalidInput. */
  void check_diagonal(const double *diagonal, const int *of_row, int n);

  /** a_ii; 0 where there is none. */
  Array<double> diagonal_of(const DeviceCrs<double> &A);

  /** I - factor D^-1 S in the place of S; rows in no aggregate are zero. */
  DeviceCrs<double> smoothing_matrix(DeviceCrs<double> S, const double *diagonal, const int *of_row, double factor);

  /** 1 in the row and column of each row that is in an aggregate, and its number. */
  DeviceCrs<double> membership(const int *of_row, int n_rows, int n_aggregates);
} // namespace leopard::device
