// SPDX-License-Identifier: Apache-2.0
#include "slab_operations.h"

#include "../../device/device.h"
#include "../../exchange/slab_pattern.h"

#include <algorithm>

namespace leopard
{
  namespace
  {
    void copy(MemorySpace space, double *to, const double *from, long n)
    {
      if (space == MemorySpace::device)
        device::copy_on_device(to, from, n * sizeof(double));
      else
        std::copy_n(from, n, to);
    }
  } // namespace

  SlabOperations::SlabOperations(const SlabPartition &partition_, int rank_, SlabParts &&parts, const MultigridOptions &options, bool loose_)
    : partition(partition_)
    , rank(rank_)
    , slabs(std::move(parts.slabs))
    , gathered(std::move(parts.gathered))
    , transport(std::move(parts.transport))
    , sum(std::move(parts.sum))
    , all_ranks(parts.max)
    , iterations_per_step(options.smoother.iterations_per_step)
    , smooths_afterwards(options.post_smoothing > 0)
    , loose(loose_)
    , n_gathered(gathered->n_levels())
    , current(slabs->n_levels(), false)
  {
    for (int s = 0; s < slabs->n_levels(); ++s)
      {
        const Slab slab{rank, partition.n_ranks, 1, partition.n_owned(s, rank)};
        const auto connect = [&](const ExchangePattern &pattern) { return transport->connect(pattern, plane(s)); };
        auto       x       = connect(slab_pattern(slab));
        ghosts.push_back({std::move(x), connect(slab_pattern_for_restriction(slab))});
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
    current[slab_level(l)] = false; // who asks may write
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
    slabs->set_zero(slab_level(l)); // ghosts too
    current[slab_level(l)] = l < n_levels() - 1;
  }

  void SlabOperations::smooth(int l, int n_steps)
  {
    if (!is_distributed(l))
      return gathered->smooth(l, n_steps * iterations_per_step);
    const int s = slab_level(l);
    for (int i = 0; i < n_steps * iterations_per_step; ++i)
      {
        if (loose && i == 1)
          ghosts[s].x->begin();
        if (loose && i > 0)
          ghosts[s].x->update_loosely(slabs->x(s) - plane(s));
        else if (!current[s])
          update_ghosts(s);
        slabs->smooth(s, 1);
        current[s] = false;
      }
  }

  void SlabOperations::update_for_restriction(int s)
  {
    ghosts[s].for_restriction->update(slabs->x(s) - plane(s), slabs->b(s) - plane(s));
    current[s] = true;
  }

  void SlabOperations::gather_right_hand_side()
  {
    const int        coarse  = n_gathered - 1;
    std::vector<int> offsets = partition.offsets[0];
    for (int &offset : offsets)
      offset *= plane(0);
    copy(memory_space(), gathered->b(coarse) + offsets[rank], slabs->b(0), slabs->n_unknowns(0));
    transport->gather(gathered->b(coarse), offsets);
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

  /** The ghost planes of x on the level below s, from which the level s is corrected. */
  void SlabOperations::bring_coarse_ghosts(int s)
  {
    if (s > 1)
      {
        if (!current[s - 1])
          update_ghosts(s - 1);
        current[s - 1] = true;
        return;
      }
    // the gathered level: everything is here
    const int begin = partition.begin(0, rank) - (rank > 0 ? 1 : 0), end = partition.begin(0, rank + 1) + (rank < partition.n_ranks - 1 ? 2 : 0);
    copy(memory_space(),
         slabs->x(0) - (rank > 0 ? plane(0) : 0),
         gathered->x(n_gathered - 1) + static_cast<long>(begin) * plane(0),
         static_cast<long>(end - begin) * plane(0));
  }

  void SlabOperations::correct(int l)
  {
    if (!is_distributed(l))
      return gathered->correct(l);
    const int s = slab_level(l);
    bring_coarse_ghosts(s);
    slabs->correct(s); // ghost planes too: they are as current as they were
    if (l == n_levels() - 1 && !smooths_afterwards)
      current[s] = false;
  }

  void SlabOperations::interpolate(int l)
  {
    if (!is_distributed(l))
      return gathered->interpolate(l);
    const int s = slab_level(l);
    bring_coarse_ghosts(s);
    slabs->interpolate(s);
    current[s] = false;
  }

  void SlabOperations::set_solution(const double *x)
  {
    slabs->set_solution(x);
    current.back() = false;
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
