// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "level_operator.h"

#include <solvers/krylov/gcr.h>

#include <utility>
#include <vector>

namespace leopard::reaction_diffusion
{
  /**
   * Directions that GCR keeps on meshes on the host: all of a Newton step's cycles (SteppingOptions::max_cycles). With
   * fewer, steps fail in which the reaction makes the Jacobian indefinite.
   */
  constexpr int mesh_directions = 20;

  /** GCR for A d = r on a level, a HostLevel or HostRows, whose d is also what the preconditioner works on. */
  template <typename Level>
  class LevelGcr
  {
  public:
    /** Allocates for systems on this level. */
    void allocate(const Level &level, int n_directions)
    {
      gcr.allocate(level, level.d.size(), n_directions);
      solution.resize(level.d.size());
    }

    /**
     * Adds to d until the residual is `reduction` times as large as at first. @param r the residual of d, before and
     * after. precondition() is to find an approximate solution of A d = r from d = 0. @return the number of iterations.
     */
    template <typename System, typename Precondition>
    int solve(const System        &system,
              double               implicit,
              Level               &level,
              std::vector<double> &r,
              double               reduction,
              int                  max_iterations,
              const Precondition  &precondition)
    {
      std::swap(solution, level.d);
      const int n_iterations = gcr.solve(
        level,
        solution,
        r,
        reduction,
        max_iterations,
        [&](const std::vector<double> &v, std::vector<double> &result) {
          multiply(level, system, implicit, v.data(), [&](long i, double product) { result[i] = product; });
        },
        [&](std::vector<double> &z, const std::vector<double> & /*r*/) {
          level.clear();
          precondition();
          std::swap(z, level.d);
        });
      std::swap(solution, level.d);
      return n_iterations;
    }

  private:
    Gcr<Level>          gcr;
    std::vector<double> solution;
  };
} // namespace leopard::reaction_diffusion
