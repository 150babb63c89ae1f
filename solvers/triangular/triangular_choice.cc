// SPDX-License-Identifier: Apache-2.0
#include "triangular_choice.h"

namespace leopard
{
  TriangularChoice choose_triangular(Backend backend, bool needs_fixed_map, const BlockAsyncOptions &block_async)
  {
    TriangularChoice   choice;
    TriangularOptions &options  = choice.options;
    options.block_async         = block_async;
    options.block_async.backend = backend;
    if (backend != Backend::cuda)
      {
        choice.text = "exact, which a host does faster than anything else";
        return choice;
      }
    options.solve                        = TriangularSolve::asynchronous;
    options.n_iterations                 = needs_fixed_map ? 8 : 12; // those that were measured
    options.block_async.local_iterations = 2;
    options.block_async.schedule         = needs_fixed_map ? Schedule::synchronous : Schedule::chaotic;
    choice.text = "async, " + std::to_string(options.n_iterations) + " iterations of " + std::to_string(options.block_async.local_iterations) +
                  " sweeps" + (needs_fixed_map ? ", synchronous" : "") + ", as exact ones take many times as long on a GPU";
    return choice;
  }
} // namespace leopard
