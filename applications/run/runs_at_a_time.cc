// SPDX-License-Identifier: Apache-2.0
#include "runs_at_a_time.h"

#include "choices.h"
#include "parameters.h"

#include <solvers/base/errors.h>

#include <algorithm>

namespace leopard
{
  RunsAtATime::RunsAtATime(int asked_, int ranks_per_run_)
    : asked(asked_)
    , ranks_per_run(ranks_per_run_)
  {
    if (asked > 1 && ranks_per_run > 1)
      throw Error("'Run/Sweep runs at a time' is " + std::to_string(asked) + ", but " + std::to_string(ranks_per_run) +
                  " ranks share a run\n  expected: 'Run/Sweep ranks per run' = 1, or one run at a time");
  }

  void RunsAtATime::look_at(const Parameters &run)
  {
    ++n_runs;
    threads         = std::max(threads, run.linear_solver.block_async.n_threads);
    fewest_threads  = std::min(fewest_threads, run.linear_solver.block_async.n_threads);
    gpu             = gpu || run.device() >= 0;
    sizes_are_known = sizes_are_known && run.n_unknowns > 0.;
    largest         = std::max(largest, run.n_unknowns);
    if (why_general.empty() && !run.problem->time_dependent())
      why_general = "the problem is stationary";
    else if (why_general.empty())
      why_general = why_general_time_loop(run, run.linear_solver);
  }

  int RunsAtATime::n() const
  {
    if (asked > 0)
      return std::min(asked, n_runs);
    if (ranks_per_run > 1 || !why_general.empty() || !sizes_are_known || fewest_threads < threads) // a sweep over 'Threads'
      return 1;
    constexpr double together = 4e6; // unknowns that hold some gigabytes of the host's memory
    constexpr int    on_a_gpu = 8;   // fill it: 16 are slower (benchmarks/results/2026-11-27_sweeps.md)
    const int        pay      = gpu ? std::min(on_a_gpu, threads) : threads;
    return std::max(1, std::min({n_runs, pay, static_cast<int>(together / std::max(1., largest))}));
  }

  int RunsAtATime::n_threads() const
  {
    return std::max(1, threads / n());
  }

  std::string RunsAtATime::warning() const
  {
    return n() == 1 || why_general.empty()
             ? ""
             : "'Run/Sweep runs at a time' is " + std::to_string(asked) +
                 ", but only the fused time loop lets other runs work meanwhile, and a run of the sweep cannot use it: " + why_general;
  }
} // namespace leopard
