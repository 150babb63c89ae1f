// SPDX-License-Identifier: Apache-2.0
#include "slab_operations.h"

#include "../../exchange/slab_pattern.h"

namespace leopard
{
  namespace
  {
    /**
     * Of x (n_x planes) and b (n_b) of a slab and those beside it, n_x and n_b planes of each neighbour. The vectors
     * begin with the ghost planes below.
     */
    ExchangePattern overlap_pattern(int rank, int n_ranks, int n_own, int n_x, int n_b)
    {
      ExchangePattern pattern;
      if (n_x > 0 && n_b > 0)
        pattern.second = n_own + 2 * n_x;
      const int  first_b = n_x > 0 ? n_own + 2 * n_x : 0;
      const auto add     = [&](int other, int own, int ghost, int n) {
        for (int i = 0; i < n; ++i)
          {
            pattern.add_sent(other, own + i);
            pattern.add_received(other, ghost + i);
          }
      };
      if (rank > 0)
        {
          add(rank - 1, n_x, 0, n_x);
          add(rank - 1, first_b + n_b, first_b, n_b);
        }
      if (rank + 1 < n_ranks)
        {
          add(rank + 1, n_own, n_x + n_own, n_x);
          add(rank + 1, first_b + n_own, first_b + n_b + n_own, n_b);
        }
      return pattern;
    }
  } // namespace

  SlabOperations::SlabOperations(const SlabPartition &partition_, int rank_, SlabParts &&parts, const MultigridOptions &options, bool loose_)
    : partition(partition_)
    , rank(rank_)
    , overlap(std::move(parts.overlap))
    , slabs(std::move(parts.slabs))
    , gathered(std::move(parts.gathered))
    , transport(std::move(parts.transport))
    , ghosts(slabs->n_levels())
    , sum(std::move(parts.sum))
    , all_ranks(parts.max)
    , iterations_per_step(options.smoother.iterations_per_step)
    , smooths_afterwards(options.post_smoothing > 0)
    , loose(loose_)
    , n_gathered(gathered->n_levels())
    , current(slabs->n_levels(), 0)
    , reaches_out(slabs->n_levels(), false)
  {
    const int  finest = slabs->n_levels() - 1;
    const long begin  = static_cast<long>(partition.begin(0, rank)) * plane(0);
    slabs->place_coarsest(gathered->x(n_gathered - 1) + begin, gathered->b(n_gathered - 1) + begin);
    for (int s = 1; s <= finest; ++s)
      {
        const int  n_own   = partition.n_owned(s, rank);
        const Slab slab    = {rank, partition.n_ranks, 1, n_own};
        const auto connect = [&](const ExchangePattern &pattern) { return transport->connect(pattern, plane(s)); };
        ghosts[s].x        = connect(slab_pattern(slab));
        if (overlap.planes == 0)
          {
            ghosts[s].for_restriction = connect(slab_pattern_for_restriction(slab));
            continue;
          }
        const auto of             = [&](int n_x, int n_b) { return connect(overlap_pattern(rank, partition.n_ranks, n_own, n_x, n_b)); };
        ghosts[s].for_restriction = of(overlap.below(), s < finest ? overlap.planes : 0);
        if (s < finest)
          ghosts[s].for_correction = of(overlap.coarse(), 0);
        else
          ghosts[s].b = of(0, overlap.planes);
      }
  }

  int SlabOperations::n_unknowns(int l) const
  {
    return is_distributed(l) ? slabs->n_unknowns(slab_level(l)) : gathered->n_unknowns(l);
  }

  Relaxation<double> &SlabOperations::smoother(int l)
  {
    return is_distributed(l) ? slabs->smoother(slab_level(l)) : gathered->smoother(l);
  }

  double *SlabOperations::x(int l)
  {
    if (!is_distributed(l))
      return gathered->x(l);
    current[slab_level(l)] = 0; // who asks may write
    return slabs->x(slab_level(l));
  }

  double *SlabOperations::b(int l)
  {
    return is_distributed(l) ? slabs->b(slab_level(l)) : gathered->b(l);
  }

  void SlabOperations::set_zero(int l)
  {
    if (!is_distributed(l))
      return gathered->set_zero(l);
    slabs->set_zero(slab_level(l));                      // ghosts too
    current[slab_level(l)] = l < n_levels() - 1 ? 1 : 0; // but not those of b that a second iteration needs
  }

  void SlabOperations::smooth_from_zero(int l, int n_steps)
  {
    if (!is_distributed(l))
      return gathered->smooth_from_zero(l, n_steps * iterations_per_step);
    const int s = slab_level(l);
    if (partition.n_ranks == 1) // no ghosts
      return slabs->smooth_from_zero(s, n_steps * iterations_per_step);
    if (overlap.planes == 0 || memory_space() == MemorySpace::host || n_steps * iterations_per_step != 1 || reaches_out[s])
      return MultigridOperations<double>::smooth_from_zero(l, n_steps);
    slabs->smooth_from_zero(s, 1);
    reaches_out[s] = true;
    current[s]     = 0;
  }

  /** With an overlap: one iteration. */
  void SlabOperations::iterate(int s)
  {
    if (!reaches_out[s] && !has_current(s, 1))
      update_ghosts(s);
    if (reaches_out[s] && !has_current(s, overlap.below()))
      update_for_restriction(s);
    slabs->smooth(s, 1);
    reaches_out[s] = !reaches_out[s];
    current[s]     = 0;
  }

  void SlabOperations::smooth(int l, int n_steps)
  {
    if (!is_distributed(l))
      return gathered->smooth(l, n_steps * iterations_per_step);
    const int s = slab_level(l);
    for (int i = 0; i < n_steps * iterations_per_step; ++i)
      {
        if (overlap.planes > 0)
          {
            iterate(s);
            continue;
          }
        if (loose && i == 1)
          ghosts[s].x->begin();
        if (loose && i > 0)
          ghosts[s].x->update_loosely(slabs->x(s) - plane(s));
        else if (!has_current(s, 1))
          update_ghosts(s);
        slabs->smooth(s, 1);
        current[s] = 0;
      }
  }

  void SlabOperations::update_for_restriction(int s)
  {
    if (overlap.planes == 0)
      ghosts[s].for_restriction->update(slabs->x(s) - plane(s), slabs->b(s) - plane(s));
    else if (s == slabs->n_levels() - 1)
      ghosts[s].for_restriction->update(slabs->x(s) - overlap.below() * plane(s));
    else
      ghosts[s].for_restriction->update(slabs->x(s) - overlap.below() * plane(s), slabs->b(s) - overlap.planes * plane(s));
    current[s] = overlap.below();
  }

  void SlabOperations::set_right_hand_sides(const double *b)
  {
    slabs->set_right_hand_sides(b);
    const int s = slabs->n_levels() - 1;
    if (overlap.planes > 0)
      ghosts[s].b->update(slabs->b(s) - overlap.planes * plane(s));
  }

  void SlabOperations::gather_right_hand_side()
  {
    std::vector<int> offsets = partition.offsets[0];
    for (int &offset : offsets)
      offset *= plane(0);
    transport->gather(gathered->b(n_gathered - 1), offsets);
  }

  void SlabOperations::restrict_residual(int l)
  {
    if (!is_distributed(l))
      return gathered->restrict_residual(l);
    const int s = slab_level(l);
    update_for_restriction(s);
    slabs->restrict_residual(s);
    if (s == 1)
      gather_right_hand_side();
  }

  void SlabOperations::restrict_right_hand_side(int l)
  {
    if (!is_distributed(l))
      return gathered->restrict_right_hand_side(l);
    const int s = slab_level(l);
    update_for_restriction(s);
    slabs->restrict_right_hand_side(s);
    if (s == 1)
      gather_right_hand_side();
  }

  /** The ghost planes of x on the level below s, from which the level s is corrected; the gathered level has all. */
  void SlabOperations::bring_coarse_ghosts(int s)
  {
    if (s == 1 || has_current(s - 1, overlap.coarse()))
      return;
    if (overlap.planes == 0)
      return update_ghosts(s - 1);
    ghosts[s - 1].for_correction->update(slabs->x(s - 1) - overlap.coarse() * plane(s - 1));
    current[s - 1] = overlap.coarse();
  }

  void SlabOperations::correct(int l)
  {
    if (!is_distributed(l))
      return gathered->correct(l);
    const int s = slab_level(l);
    bring_coarse_ghosts(s);
    slabs->correct(s); // ghost planes too: they are as current as they were
    if (l == n_levels() - 1 && !smooths_afterwards)
      current[s] = 0;
  }

  void SlabOperations::interpolate(int l)
  {
    if (!is_distributed(l))
      return gathered->interpolate(l);
    const int s = slab_level(l);
    bring_coarse_ghosts(s);
    slabs->interpolate(s);
    current[s] = 0;
  }

  void SlabOperations::set_solution(const double *x)
  {
    slabs->set_solution(x);
    current.back() = 0;
  }

  void SlabOperations::multiply(double *y, double *x)
  {
    const int s = slabs->n_levels() - 1;
    set_solution(x); // where there is room for ghost planes
    update_ghosts(s);
    slabs->multiply(y, slabs->x(s));
  }

  double SlabOperations::residual_norm_squared(double *x, const double *b)
  {
    const int s = slabs->n_levels() - 1;
    update_ghosts(s);
    return sum(slabs->residual_norm_squared(x, b));
  }
} // namespace leopard
