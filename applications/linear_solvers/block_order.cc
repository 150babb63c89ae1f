// SPDX-License-Identifier: Apache-2.0
#include "block_order.h"

#include <applications/discretization/level_source.h>

#include <algorithm>

namespace leopard
{
  BlockOrder::BlockOrder(const LinearSolverParameters &parameters, CrsMatrix<double> &A, const LevelSource *levels, bool tunes)
    : block_async(parameters.block_async)
  {
    block_async.omega                    = parameters.omega;
    const bool                compact    = parameters.has_compact_blocks() && (tunes || A.n_rows > block_async.block_size);
    const std::vector<double> nodes      = compact && levels != nullptr ? levels->nodes() : std::vector<double>();
    const auto                compact_of = [&](int size) {
      return compact_partition(A, nodes, nodes.empty() ? 0 : levels->dimension(), size, parameters.block_async.n_threads);
    };
    if (tunes)
      {
        tuned       = tune_async(parameters, A, [&](int size) { return compact ? compact_of(size) : contiguous_partition(A.n_rows, size); });
        block_async = tuned->options;
      }
    if (!compact || A.n_rows <= block_async.block_size)
      return;
    partition = compact_of(block_async.block_size);
    entries   = permuted_entries(A, partition.old_row, partition.old_row);
    A         = permute(A, partition);
    if (block_async.overlap == Overlap::none) // blocks that overlap have block_size rows each; in this order they are compact, too
      block_async.block_offsets = partition.block_offsets;
  }

  void BlockOrder::take_values(const double *values, CrsMatrix<double> &A) const
  {
    if (entries.empty())
      std::copy_n(values, A.values.size(), A.values.begin());
    for (std::size_t p = 0; p < entries.size(); ++p)
      A.values[p] = values[entries[p]];
  }

  void BlockOrder::take(const HostVector &v, double *in_order) const
  {
    if (old_row().empty())
      std::copy(v.begin(), v.end(), in_order);
    for (std::size_t i = 0; i < old_row().size(); ++i)
      in_order[i] = v.begin()[old_row()[i]];
  }

  void BlockOrder::give(const double *in_order, HostVector &v) const
  {
    if (old_row().empty())
      std::copy_n(in_order, v.locally_owned_size(), v.begin());
    for (std::size_t i = 0; i < old_row().size(); ++i)
      v.begin()[old_row()[i]] = in_order[i];
  }
} // namespace leopard
