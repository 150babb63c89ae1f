// SPDX-License-Identifier: Apache-2.0
#include "fault_run.h"
#include "faults.h"

#include <solvers/base/stopwatch.h>

namespace leopard::studies
{
  FaultRun::FaultRun(
    const Problem &problem_, Experiment &healthy_, const BlockAsyncOptions &options, const Settings &settings, std::vector<int> rows_)
    : problem(problem_)
    , healthy(healthy_)
    , rows(std::move(rows_))
  {
    if (rows.empty())
      return;
    stopped_method     = make_varying(stop_rows(problem.A, rows), options, settings);
    stopped_experiment = std::make_unique<Experiment>(*stopped_method, problem.b);
  }

  void FaultRun::start()
  {
    is_stopped = false;
    healthy.start();
  }

  void FaultRun::stop()
  {
    if (stopped_experiment == nullptr || is_stopped)
      return;
    const std::vector<double> x = healthy.x();
    stopped_experiment->set_b(stopped_right_hand_side(problem.A, problem.b, rows, x));
    stopped_experiment->set_x(x);
    is_stopped = true;
  }

  void FaultRun::recover()
  {
    if (is_stopped)
      healthy.set_x(stopped_experiment->x());
    is_stopped = false;
  }

  double FaultRun::iterate(int n_iterations)
  {
    const double start = now();
    (is_stopped ? *stopped_experiment : healthy).iterate(n_iterations);
    return now() - start;
  }

  double FaultRun::relative_residual()
  {
    if (is_stopped)
      healthy.set_x(stopped_experiment->x());
    return healthy.relative_residual();
  }

  void FaultRun::change(const std::vector<int> &changed_rows, double relative_change)
  {
    healthy.set_x(corrupt(healthy.x(), changed_rows, relative_change));
  }
} // namespace leopard::studies
