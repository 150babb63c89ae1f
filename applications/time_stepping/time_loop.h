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
    std::vector<double> output_times;            ///< times at which fields are written, beside the first and the last
    double              output_interval    = 0.; ///< and every so much time; 0: none
    unsigned int        log_every          = 0; ///< steps between two lines of log and statistics; 0: about a second; statistics with the fields, too
    double              checkpoint_minutes = 10.;   ///< wall-clock minutes between two checkpoints
    unsigned int        checkpoint_steps   = 0;     ///< and every so many steps; 0: none
    double              wall_time_minutes  = 0.;    ///< wall-clock minutes after which the run stops with a checkpoint; 0: never
    bool                stop_if_too_slow   = false; ///< stop as soon as the estimate says that these minutes are not enough
  };

  /** What the loop leaves to others. All are called on every rank. */
  struct TimeLoopActions
  {
    std::function<void(const HostVector &solution, double time)>            write_fields;
    std::function<void()>                                                   write_checkpoint; ///< the integrator's state
    std::function<void(const StepReport &, double time, unsigned int step)> write_statistics;
    /** Writes what is there of the integrator's present state when a step has failed; returns where it is. */
    std::function<std::string()> write_last_good_state;
  };

  /** Why a run has ended: "finished", "steady state", "stopped: wall time", "stopped: too slow", "stopped: SIGTERM". */
  struct TimeLoopResult
  {
    std::string  status;
    unsigned int n_steps           = 0; ///< of this start of the program
    long         newton_steps      = 0;
    long         linear_iterations = 0;
    long         corrections       = 0; ///< of refinements, whose inner iterations the linear ones are
    Rejections   rejected;
    long         alternative_steps = 0; ///< solved by gmres since they exceeded the asynchronous bound
    long         multigrid_steps   = 0; ///< fused steps: solved by multigrid since they were too long for sweeps alone
    long         clipped           = 0; ///< negative values set to zero
  };

  /** The reasons, for a log: "3 error too large, 1 linear solver missed its tolerance"; empty if there is none. */
  std::string reasons_of(const Rejections &rejected);

  /**
   * Steps until the end time, a steady state, the wall-clock limit or a signal to stop. With a fixed step size fields
   * are written at the step nearest to each output time; variable steps pass these times as if they were not there, and
   * fields are interpolated. After one percent of the run it says how long the rest will take, if that is longer than
   * the wall time allows. @throws ConvergenceFailure when a step fails, after the last good state has been written; the
   * message says where it is.
   */
  TimeLoopResult run_time_loop(TimeIntegrator           &integrator,
                               const TimeParameters     &time_parameters,
                               const TimeLoopParameters &parameters,
                               const TimeLoopActions    &actions,
                               Log                      &log,
                               MPI_Comm                  comm);
} // namespace leopard
