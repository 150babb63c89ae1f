// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "time_integrator.h"

#include <functional>
#include <string>
#include <vector>

namespace leopard
{
  class Log;

  /** When fields, log lines and checkpoints are written and when the wall clock ends the run. */
  struct TimeLoopParameters
  {
    std::vector<double> output_times;             ///< times at which fields are written, beside the first and the last
    double              output_interval    = 0.;  ///< and every so much time; 0: none
    unsigned int        log_every          = 1;   ///< steps between two lines of log and statistics
    double              checkpoint_minutes = 10.; ///< wall-clock minutes between two checkpoints
    unsigned int        checkpoint_steps   = 0;   ///< and every so many steps; 0: none
    double              wall_time_minutes  = 0.;  ///< wall-clock minutes after which the run stops with a checkpoint; 0: never
  };

  /** What the loop leaves to others. All are called on every rank. */
  struct TimeLoopActions
  {
    std::function<void()>                                                   write_fields;     ///< of the integrator's present time
    std::function<void()>                                                   write_checkpoint; ///< the integrator's state
    std::function<void(const StepReport &, double time, unsigned int step)> write_statistics;
  };

  /** Why a run has ended: "finished", "steady state", "stopped: wall time", "stopped: SIGTERM". */
  struct TimeLoopResult
  {
    std::string  status;
    unsigned int n_steps           = 0; ///< of this start of the program
    long         newton_steps      = 0;
    long         linear_iterations = 0;
    long         rejected          = 0;
  };

  /**
   * Steps until the end time, a steady state, the wall-clock limit or a signal to stop. With a fixed step size fields are written at
   * the step nearest to each output time; error-controlled steps hit the times exactly.
   */
  TimeLoopResult run_time_loop(TimeIntegrator           &integrator,
                               const TimeParameters     &time_parameters,
                               const TimeLoopParameters &parameters,
                               const TimeLoopActions    &actions,
                               Log                      &log,
                               MPI_Comm                  comm);
} // namespace leopard
