// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "triangular_solver.h"

#include <string>

namespace leopard
{
  /** How the factors of a preconditioner are best solved with, and why. */
  struct TriangularChoice
  {
    TriangularOptions options;
    std::string       text; ///< "async, 8 iterations of 2 sweeps, synchronous, as ..."

    bool is_asynchronous() const { return options.solve == TriangularSolve::asynchronous; }
    /** Whether two calls differ. */
    bool varies() const { return is_asynchronous() && options.block_async.schedule != Schedule::synchronous; }
  };

  /**
   * On a GPU asynchronous solves, which take some iterations of the Krylov method more and a tenth of the time of exact
   * ones, or less: there exact ones go through the levels of the dependencies one after the other. On the host exact
   * ones. Where a matrix does not bear asynchronous ones, exact ones are to be tried next.
   * @param needs_fixed_map of conjugate gradients, or where results are to repeat: then they are synchronous, the same
   * map in each call, and symmetric if the factors are. Others read newer values, which saves iterations of FGMRES.
   * @param block_async what the solves are begun with: threads, storage, size of blocks.
   * Measured: benchmarks/results/2026-11-24_h200_weights_and_factors.md, 2026-12-01_h200_periodic.md.
   */
  TriangularChoice choose_triangular(Backend backend, bool needs_fixed_map, const BlockAsyncOptions &block_async = {});
} // namespace leopard
