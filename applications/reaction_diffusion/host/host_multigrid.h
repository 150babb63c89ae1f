// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "level_gcr.h"

#include <applications/reaction_diffusion/grid/node_grid.h>
#include <solvers/multigrid/cycle.h>

#include <memory>
#include <vector>

namespace leopard::reaction_diffusion
{
  /**
   * GCR with cycles as preconditioner on the levels of a domain, a HostGrid or a HostMesh, which has
   *
   *   levels, coarsest      the finest first; cycles go down to the number `coarsest`
   *   system                the equations
   *   smooth(level, implicit, after)   sweeps before or after the coarse correction; ghosts are current then
   *   restrict_to(l, f, r)  r = R f, from level l - 1 with its ghosts to level l
   *   prolongate(l)         d of level l - 1 += P d of level l
   *   solve_coarsest(implicit)
   */
  template <typename Domain>
  class HostMultigrid
  {
  public:
    using Level = typename Domain::Level;

    explicit HostMultigrid(CycleType type_)
      : type(type_)
    {
    }

    void allocate(const Domain &domain) { gcr.allocate(*domain.levels[0], Domain::n_directions); }

    /**
     * Solves A d = rhs on the finest level, whose blocks and those of all others must be up to date.
     * @param before_cycle is called before each cycle. @return the number of cycles.
     */
    template <typename BeforeCycle>
    int solve(Domain &domain, double implicit, double reduction, int max_cycles, const BeforeCycle &before_cycle)
    {
      Level &finest = *domain.levels[0];
      return gcr.solve(domain.system, implicit, finest, finest.rhs, reduction, max_cycles, [&] {
        before_cycle();
        cycle(domain, implicit, type);
      });
    }

    /** One cycle from d = 0. */
    static void cycle(Domain &domain, double implicit, CycleType type)
    {
      multigrid_cycle(Parts{domain, implicit}, static_cast<int>(domain.coarsest), type);
    }

  private:
    /** What multigrid_cycle() asks for; its level 0 is the coarsest one. */
    struct Parts
    {
      Domain      &domain;
      const double implicit;

      std::size_t number(int level) const { return domain.coarsest - level; }
      Level      &at(int level) const { return *domain.levels[number(level)]; }

      void smooth_before(int level) const { domain.smooth(at(level), implicit, false); }
      void smooth_after(int level) const { domain.smooth(at(level), implicit, true); }
      void set_zero(int level) const { at(level).clear(); }
      void solve_coarsest() const { domain.solve_coarsest(implicit); }

      void restrict_residual(int level) const
      {
        Level &fine = at(level);
        compute_residual(fine, domain.system, implicit);
        fine.update_ghosts(fine.residual.data());
        domain.restrict_to(number(level - 1), fine.residual.data(), at(level - 1).rhs.data());
      }

      void correct(int level) const
      {
        domain.prolongate(number(level - 1));
        at(level).update_ghosts(at(level).d.data());
      }
    };

    const CycleType type;
    LevelGcr<Level> gcr;
  };
} // namespace leopard::reaction_diffusion
