// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../device/device.h"
#include "operations.h"

#include <chrono>
#include <memory>
#include <string>

namespace leopard
{
  /** The cycle itself, on the vectors of the levels. */
  template <typename Number>
  struct MultigridData
  {
    MultigridData(std::unique_ptr<MultigridOperations<Number>> operations,
                  std::unique_ptr<CoarseSolver<Number>>        coarse,
                  const MultigridOptions                      &options);

    int finest() const { return operations->n_levels() - 1; }
    /** Level as which Operations know the whole problem. */
    int whole() const { return operations->n_levels(); }

    /** From the present b_L (on adaptive hierarchies all b_l) and x_L; afterwards x_L (all x_l) is the result. */
    void cycle();
    /** The same from x_L = 0, whatever x_L is. */
    void cycle_from_zero();
    /** From the present b_L: one cycle on each level from the coarsest up. */
    void full_multigrid();
    /**
     * Values have changed: what was recorded may hold numbers that depend on them (coefficients of Chebyshev's
     * iteration).
     */
    void forget_recorded();
    /** One cycle for x and b of the whole problem. */
    void iterate(Number *x, const Number *b);

    const MultigridOptions                             options;
    const std::unique_ptr<MultigridOperations<Number>> operations;
    const std::unique_ptr<CoarseSolver<Number>>        coarse;
    bool                                               own_coarse_solver = true;  ///< that takes means out by itself
    bool                                               blocks_move       = false; ///< or tiles, all relaxed at once
    std::string                                        matrices;                  ///< "stored matrices" or "stencils", for a log
    std::vector<StencilGrid>                           stencils;                  ///< the levels, if they are stencils
    std::vector<StencilGrid>                           next_stencils;             ///< where new values are looked at first
    CrsMatrix<double>                                  coarsest_stencil;          ///< and the coarsest as a matrix
    MultigridProfile                                  *profile = nullptr;         ///< where times go, while they are taken

  private:
    /**
     * A sequence of device work that is queued piece by piece at first and recorded as a graph when it is wanted again.
     */
    struct Recorded
    {
      bool                           used = false;
      std::unique_ptr<device::Graph> graph;
    };

    bool can_be_recorded() const;
    /** function(), as a graph where that is possible. */
    template <typename Function>
    void run(Recorded &recorded, const Function &function);
    struct Parts; ///< of the cycle, timed if a profile is taken
    void solve_coarse();
    /** function(), and its time added to `seconds` of the profile if one is taken. */
    template <typename Function>
    void timed(double MultigridProfile::Level::*seconds, int level, const Function &function);
    void wait() const;

    Recorded recorded_cycle, recorded_from_zero, recorded_start;
  };
} // namespace leopard
