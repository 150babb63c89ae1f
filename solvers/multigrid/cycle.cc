// SPDX-License-Identifier: Apache-2.0
#include "multigrid_data.h"

#include "../base/stopwatch.h"

#include <algorithm>

namespace leopard
{
  template <typename Number>
  void MultigridData<Number>::wait() const
  {
    if (operations->memory_space() == MemorySpace::device)
      device::synchronize();
  }

  template <typename Number>
  template <typename Function>
  void MultigridData<Number>::timed(double MultigridProfile::Level::*seconds, int level, const Function &function)
  {
    if (profile == nullptr)
      {
        function();
        return;
      }
    const double start = now();
    function();
    wait();
    profile->levels[level].*seconds += now() - start;
  }

  /** What multigrid_cycle() and full_multigrid() ask for. */
  template <typename Number>
  struct MultigridData<Number>::Parts
  {
    using Level = MultigridProfile::Level;

    void smooth_before(int level)
    {
      if (data.options.pre_smoothing == 0 || zero_level != level)
        return smooth(level, data.options.pre_smoothing);
      zero_level = -1;
      data.timed(&Level::smoother, level, [&] { data.operations->smooth_from_zero(level, data.options.pre_smoothing); });
    }
    void smooth_after(int level) { smooth(level, data.options.post_smoothing); }
    void restrict_residual(int level)
    {
      transfer(level, [&] { data.operations->restrict_residual(level); });
    }
    void set_zero(int level) // one of the transfers from the next finer one
    {
      if (level > 0 && data.options.pre_smoothing > 0) // which comes next
        zero_level = level;
      else
        transfer(std::min(level + 1, data.finest()), [&] { data.operations->set_zero(level); });
    }
    void correct(int level)
    {
      transfer(level, [&] { data.operations->correct(level); });
    }
    void restrict_right_hand_side(int level)
    {
      transfer(level, [&] { data.operations->restrict_right_hand_side(level); });
    }
    void interpolate(int level)
    {
      transfer(level, [&] { data.operations->interpolate(level); });
    }
    void solve_coarsest() { data.solve_coarse(); }

    MultigridData &data;
    int            zero_level = -1; ///< whose x is to be zero and may not be so yet

  private:
    void smooth(int level, int n_steps)
    {
      data.timed(&Level::smoother, level, [&] { data.operations->smooth(level, n_steps); });
    }
    template <typename Function>
    void transfer(int level, const Function &function)
    {
      data.timed(&Level::residual_and_transfers, level, function);
    }
  };

  template <typename Number>
  bool MultigridData<Number>::can_be_recorded() const
  {
    return options.use_graph && profile == nullptr && operations->is_queued() && coarse->is_queued() &&
           (own_coarse_solver || !operations->is_singular()); // else means are taken out, for which the host waits
  }

  template <typename Number>
  template <typename Function>
  void MultigridData<Number>::run(Recorded &recorded, const Function &function)
  {
    // libraries set themselves up at the first use, which must not be recorded; while a graph that is to hold the cycle
    // is being recorded, it takes the parts
    if (!can_be_recorded() || !recorded.used || device::is_recording())
      {
        recorded.used = true;
        function();
        return;
      }
    if (recorded.graph == nullptr)
      {
        auto graph = std::make_unique<device::Graph>();
        graph->record(function);
        recorded.graph = std::move(graph);
      }
    recorded.graph->launch();
  }

  template <typename Number>
  void MultigridData<Number>::forget_recorded()
  {
    recorded_cycle.graph.reset();
    recorded_from_zero.graph.reset();
    recorded_start.graph.reset();
  }

  template <typename Number>
  void MultigridData<Number>::cycle()
  {
    run(recorded_cycle, [this] {
      if (operations->is_adaptive())
        for (int level = 0; level <= finest(); ++level)
          operations->set_zero(level);
      multigrid_cycle(Parts{*this}, finest(), options.cycle);
    });
  }

  template <typename Number>
  void MultigridData<Number>::cycle_from_zero()
  {
    if (operations->is_adaptive())
      return cycle();
    run(recorded_from_zero, [this] {
      Parts parts{*this};
      parts.set_zero(finest());
      multigrid_cycle(parts, finest(), options.cycle);
    });
  }

  template <typename Number>
  void MultigridData<Number>::full_multigrid()
  {
    run(recorded_start, [this] { leopard::full_multigrid(Parts{*this}, finest(), options.cycle); });
  }

  template <typename Number>
  void MultigridData<Number>::iterate(Number *x, const Number *b)
  {
    if (operations->is_adaptive())
      operations->set_residual(x, b);
    cycle();
    if (operations->is_adaptive())
      operations->add_solutions(x);
  }

  template <typename Number>
  void MultigridData<Number>::solve_coarse()
  {
    const double start = profile != nullptr ? now() : 0., copies = coarse->copy_seconds();
    const bool   project = operations->is_singular() && !own_coarse_solver;
    if (project)
      operations->remove_coarse_mean(operations->b(0));
    coarse->solve(operations->x(0), operations->b(0));
    if (project)
      operations->remove_coarse_mean(operations->x(0));
    if (profile == nullptr)
      return;
    wait();
    const double copied = coarse->copy_seconds() - copies;
    profile->copies += copied;
    profile->coarse_solver += now() - start - copied;
  }

#define INSTANTIATE(Number)                               \
  template void MultigridData<Number>::cycle();           \
  template void MultigridData<Number>::cycle_from_zero(); \
  template void MultigridData<Number>::full_multigrid();  \
  template void MultigridData<Number>::forget_recorded(); \
  template void MultigridData<Number>::iterate(Number *x, const Number *b);
  LEOPARD_FOR_EACH_NUMBER(INSTANTIATE)
#undef INSTANTIATE
} // namespace leopard
