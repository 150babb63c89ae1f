// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../../exchange/transport.h"
#include "../../multigrid/operations.h"
#include "slabs.h"

#include <functional>
#include <memory>
#include <vector>

namespace leopard
{
  /**
   * What SlabOperations is put together from; the operations of slabs and of the gathered levels are those of one
   * process.
   */
  struct SlabParts
  {
    using Number = std::function<double(double)>;
    std::unique_ptr<MultigridOperations<double>> slabs; ///< of SlabGrids::slabs, with one iteration a smoothing step and this overlap
    SlabOverlap                                  overlap;
    std::unique_ptr<MultigridOperations<double>> gathered; ///< of SlabGrids::whole (finest) and the levels below
    std::unique_ptr<Transport>                   transport;
    Number                                       sum, max; ///< over ranks; collective
  };

  /**
   * A multigrid cycle on several ranks with a slab of each distributed level, and the coarser levels gathered: they are
   * whole on every rank, and each does the same there. The work is that of the operations of one process; this class
   * knows when ghost planes have to be brought up to date:
   *   before each smoothing iteration, but for the first one after x = 0 or after a correction, which is applied to the
   *   ghost planes too,
   *   before a restriction, whose residual is computed in a ghost plane above instead of being exchanged,
   *   before a correction, those of the coarser level.
   * With an overlap (SlabOverlap) it is for a first and a second smoothing iteration, alternately:
   *   before the first one a ghost plane of x, but from zero,
   *   before a restriction all ghost planes of x and b that the second iteration needs, which the correction corrects
   *   too (of b on the finest level when it is set),
   *   before a correction, those of the coarser level from which they all are corrected.
   * So V(1,1) has two exchanges a level, where V(2,2) without an overlap has four.
   * All exchanges wait, but if loose, without an overlap, for those between two iterations of the same smoothing: there
   * a block takes what has arrived. Norms are those of all ranks.
   */
  class SlabOperations : public MultigridOperations<double>
  {
  public:
    /** Collective. */
    SlabOperations(const SlabPartition &partition, int rank, SlabParts &&parts, const MultigridOptions &options, bool loose);

    MemorySpace         memory_space() const override { return slabs->memory_space(); }
    int                 n_levels() const override { return n_gathered + slabs->n_levels() - 1; }
    int                 n_unknowns(int l) const override;
    std::size_t         memory() const override { return slabs->memory() + gathered->memory(); }
    Relaxation<double> &smoother(int l) override;
    double             *x(int l) override;
    double             *b(int l) override;

    void   set_zero(int l) override;
    void   smooth(int l, int n_steps) override;
    void   smooth_from_zero(int l, int n_steps) override;
    void   restrict_residual(int l) override;
    void   correct(int l) override;
    void   restrict_right_hand_side(int l) override;
    void   interpolate(int l) override;
    void   set_right_hand_sides(const double *b) override;
    void   set_solution(const double *x) override;
    void   get_solution(double *x) override { slabs->get_solution(x); }
    void   multiply(double *y, double *x) override;
    double residual_norm_squared(double *x, const double *b) override;
    double restricted_residual_norm_squared() override { return sum(slabs->restricted_residual_norm_squared()); }
    double norm_squared(const double *b) override { return sum(slabs->norm_squared(b)); }

    bool                         is_queued() const override { return transport->is_queued(); }
    const Communication<double> &communication(int /*level*/) const override { return all_ranks; }

  private:
    /** Norms are summed up here already; decisions by the time are those of the slowest rank. */
    class Ranks : public Communication<double>
    {
    public:
      explicit Ranks(const SlabParts::Number &maximum_)
        : maximum(maximum_)
      {
      }
      double max(double value) const override { return maximum(value); }

    private:
      const SlabParts::Number maximum;
    };

    bool is_distributed(int l) const { return l >= n_gathered; }
    int  slab_level(int l) const { return l - (n_gathered - 1); }
    /** Its values a plane. */
    int  plane(int slab_level) { return slabs->n_unknowns(slab_level) / partition.n_owned(slab_level, rank); }
    void update_ghosts(int slab_level)
    {
      ghosts[slab_level].x->update(slabs->x(slab_level) - plane(slab_level));
      current[slab_level] = 1;
    }
    bool has_current(int slab_level, int n_planes) const { return current[slab_level] >= n_planes; }
    void update_for_restriction(int slab_level);
    void iterate(int slab_level);
    void gather_right_hand_side();
    void bring_coarse_ghosts(int slab_level);

    /**
     * Of the ghost planes of a level. Vectors begin with the plane below; where there is an overlap, with all of those
     * that are exchanged. for_correction: of this level's x, before the next finer one is corrected.
     */
    struct Ghosts
    {
      std::unique_ptr<Exchange> x, for_restriction, for_correction, b;
    };

    const SlabPartition                          partition;
    const int                                    rank;
    const SlabOverlap                            overlap; ///< its planes
    std::unique_ptr<MultigridOperations<double>> slabs, gathered;
    std::unique_ptr<Transport>                   transport;
    std::vector<Ghosts>                          ghosts; ///< a level of the slabs
    SlabParts::Number                            sum;
    Ranks                                        all_ranks;
    const int                                    iterations_per_step;
    const bool                                   smooths_afterwards, loose;
    const int                                    n_gathered; ///< levels; the finest of them is also level 0 of the slabs
    /**
     * A level of the slabs: how many ghost planes of x are on each side. On the finest level, whose x can be another
     * one in each cycle, any only from a correction to the smoothing.
     */
    std::vector<int>  current;
    std::vector<bool> reaches_out; ///< with an overlap, a level of the slabs: whether the next iteration is a second one
  };
} // namespace leopard
