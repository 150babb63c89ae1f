// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../multigrid/aggregation.h"
#include "../multigrid/multigrid.h"

#include <deal.II/base/multithread_info.h>

namespace leopard
{
  /**
   * What n_threads = 0 stands for in the adaptors to deal.II: what dealii::MultithreadInfo::n_threads() allows, which a
   * program of ranks sets with MPI_InitFinalize. The library itself takes 0 for all cores, on each rank.
   */
  inline int within_thread_limit(int n_threads)
  {
    return n_threads == 0 ? static_cast<int>(dealii::MultithreadInfo::n_threads()) : n_threads;
  }

  inline AggregationOptions within_thread_limit(AggregationOptions options)
  {
    options.n_threads = within_thread_limit(options.n_threads);
    return options;
  }

  /** Where it is 0 for the smoother, that is the multigrid's. */
  inline MultigridOptions within_thread_limit(MultigridOptions options)
  {
    options.n_threads = within_thread_limit(options.n_threads);
    for (int *n_threads : {&options.smoother.block_async.n_threads, &options.smoother.chebyshev.n_threads})
      if (*n_threads == 0)
        *n_threads = options.n_threads;
    return options;
  }
} // namespace leopard
