// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <solvers/multigrid/multigrid.h>
#include <solvers/refinement/mixed_vectors.h>

#include <string>

namespace dealii
{
  class ParameterHandler;
}

namespace leopard
{
  /** Section "Multigrid" of the parameter file. */
  struct MultigridParameters
  {
    MultigridOptions options;                                         ///< coarse_solver is that of the next line
    bool             chooses_smoother = true;                         ///< whether options.smoother is that of the entry "automatic"
    std::string      coarse_solver    = "dense";                      ///< dense, direct, cg, amg
    unsigned int     n_levels         = 0;                            ///< 0: all that the mesh has
    std::string      form             = "automatic";                  ///< stored, stencil, or the latter where it can be had
    std::string      precision        = "automatic";                  ///< of the cycles that precondition, until LinearSolverParameters::choose()
    Arithmetic       arithmetic       = Arithmetic::double_precision; ///< likewise, after it

    /**
     * Of levels by smoothed aggregation that precondition: of the options cycle, smoothing, waiting, graph; V(1,1) with
     * chebyshev where nothing else is said.
     */
    MultigridOptions of_aggregation() const;

    void declare(dealii::ParameterHandler &prm);
    /** @param block_async what section "Linear solver" says of async. @throws Error. */
    void read(dealii::ParameterHandler &prm, const BlockAsyncOptions &block_async, bool any_block_size);
  };
} // namespace leopard
