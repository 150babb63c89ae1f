// SPDX-License-Identifier: Apache-2.0
#include "time_loop.h"

#include <applications/base/log.h>
#include <applications/base/stop_signal.h>
#include <applications/base/turns.h>
#include <solvers/base/errors.h>

#include <deal.II/base/mpi.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

namespace leopard
{
  namespace
  {
    using Clock = std::chrono::steady_clock;

    double seconds_since(Clock::time_point start)
    {
      return std::chrono::duration<double>(Clock::now() - start).count();
    }

    /** The next time after t at which fields are wanted; the end time at the latest. */
    class OutputTimes
    {
    public:
      OutputTimes(const TimeLoopParameters &parameters_, double end_time_)
        : parameters(parameters_)
        , end_time(end_time_)
        , times(parameters_.output_times)
      {
        std::sort(times.begin(), times.end());
      }

      /** @param slack times up to t + slack count as reached. */
      double after(double t, double slack) const
      {
        double     next  = end_time;
        const auto found = std::upper_bound(times.begin(), times.end(), t + slack);
        if (found != times.end())
          next = std::min(next, *found);
        if (parameters.output_interval > 0.)
          {
            const double interval = parameters.output_interval;
            double       multiple = std::floor((t + slack) / interval + 1.) * interval;
            if (multiple <= t + slack)
              multiple += interval;
            next = std::min(next, multiple);
          }
        return next;
      }

    private:
      const TimeLoopParameters &parameters;
      const double              end_time;
      std::vector<double>       times;
    };

    /** Where fields at so many times are asked for that nobody can have meant it. */
    void warn_of_many_outputs(const TimeLoopParameters &parameters, double t, double end_time, Log &log)
    {
      constexpr double many = 1e4;
      const double     n    = parameters.output_interval > 0. ? (end_time - t) / parameters.output_interval : 0.;
      if (n > many)
        log.warning(
          format("'Output/Interval' = %g asks for fields at %.3g times until t = %g, some files each", parameters.output_interval, n, end_time) +
          "\n  to try: a longer interval, or 'Output/Times'");
    }

    /**
     * Whether the rate of change is within the tolerance; says so where the first steps are and the fields could still
     * change.
     */
    bool is_steady(const TimeIntegrator &integrator, const StepReport &report, double end_time, Log &log)
    {
      constexpr unsigned int few = 5; // steps
      if (!integrator.is_steady(report))
        return false;
      const double size = integrator.solution().linfty_norm(), change = report.rate_of_change * (end_time - integrator.time());
      if (integrator.step_number() <= few && !(change <= 1e-3 * size))
        log.warning(format("the run ends as steady after %u of its steps, at t = %.6g: du/dt is %.3g, below 'Time stepping/Steady tolerance', which "
                           "is absolute; until the end time that would change fields by %.3g, and the largest |u| is %.3g",
                           integrator.step_number(),
                           integrator.time(),
                           report.rate_of_change,
                           change,
                           size) +
                    "\n  to try: a smaller 'Steady tolerance', in units of the fields over those of the time");
      return true;
    }

    /** The time that the rest of a run takes. */
    class TimeLeft
    {
    public:
      TimeLeft(double t, double end_time_)
        : last_t(t)
        , end_time(end_time_)
      {
      }

      /**
       * To be called at each line of the log, @param wall seconds since the start. @return seconds at the pace since
       * the last line; -1 while the paces of two lines that follow one another differ by more than a factor of two, as
       * they do while steps grow.
       */
      double operator()(double t, double wall)
      {
        const double now = (end_time - t) * (wall - last_wall) / std::max(t - last_t, 1e-300), before = last_estimate - (wall - last_wall);
        const bool   known = last_estimate >= 0. && now < 2. * before && before < 2. * now;
        last_t             = t;
        last_wall          = wall;
        last_estimate      = now;
        return known ? 0.5 * (now + before) : -1.;
      }

    private:
      double       last_t, last_wall = 0., last_estimate = -1.;
      const double end_time;
    };

    /** @param rejected since the last line. @param seconds_left negative: not known. */
    std::string
    step_line(const StepReport &report, const Rejections &rejected, const TimeIntegrator &integrator, const TimeParameters &time, double seconds_left)
    {
      const std::string solved = time.exponential()
                                   ? format("error %.2e of the tolerance", report.error_estimate)
                                   : format("Newton %2d  linear %5d  residual %9.2e", report.newton_steps, report.linear_iterations, report.residual);
      return format("step %7u  t = %-12.6g dt = %-10.3e %s  %5.1f %%%s",
                    integrator.step_number(),
                    integrator.time(),
                    report.step_size,
                    solved.c_str(),
                    100. * std::min(1., integrator.time() / time.end_time),
                    seconds_left < 0. ? "" : ("  left " + duration(seconds_left)).c_str()) +
             (rejected.total() > 0 ? format("  (%ld rejected: ", rejected.total()) + reasons_of(rejected) + ")" : "");
    }
  } // namespace

  std::string reasons_of(const Rejections &rejected)
  {
    std::string text;
    for (const auto &[count, reason] : {std::pair{rejected.error, "error too large"},
                                        {rejected.linear_solver, "linear solver missed its tolerance"},
                                        {rejected.newton, "Newton did not converge"},
                                        {rejected.not_finite, "not finite"}})
      if (count > 0)
        text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + reason;
    return text;
  }

  namespace
  {
    /** A step; if it fails the last good state is written and named. */
    StepReport step_or_save(TimeIntegrator &integrator, const StepBatch &batch, const TimeLoopActions &actions)
    {
      try
        {
          return integrator.is_fused() ? integrator.fused_steps(batch) : integrator.step(batch.stop_time);
        }
      catch (const DeviceError &) // perhaps of one rank alone, which the others, or the GPU, would be waited for in vain
        {
          throw;
        }
      catch (const Error &failure)
        {
          throw ConvergenceFailure(failure.what() + ("\n  last good state: step " + std::to_string(integrator.step_number())) + ", time " +
                                   format("%.8g", integrator.time()) + actions.write_last_good_state());
        }
    }

    void count(const StepReport &report, TimeLoopResult &result)
    {
      result.n_steps += 1 + report.earlier_steps;
      result.newton_steps += report.newton_steps + report.earlier_newton_steps;
      result.linear_iterations += report.linear_iterations + report.earlier_linear_iterations;
      result.corrections += report.corrections;
      result.rejected += report.rejected + report.earlier_rejected;
      result.alternative_steps += report.alternative ? 1 : 0;
      result.multigrid_steps += report.multigrid;
      result.clipped += static_cast<long>(report.clipped);
    }

    /** Fixed steps end at the one nearest to the end time. */
    void warn_of_another_end(double t, double step, double end_time, Log &log)
    {
      const double end = t + std::ceil((end_time - t) / step - 0.5 * (1. - 1e-9)) * step;
      if (std::abs(end - end_time) > 1e-3 * step)
        log.warning(
          format("the run will end at t = %.6g and not at 'Time stepping/End time' = %g, since all steps are %.6g long", end, end_time, step) +
          "\n  to try: a step that divides the time, or 'Step control' = error-controlled");
    }

    /**
     * Fused steps until the next line of log, the next checkpoint by steps, or about a second: the host looks at clocks
     * and signals then. @param wall seconds since the start, @param in_steps those of the steps; the same on all ranks,
     * whose numbers of steps must agree.
     */
    long steps_together(const TimeIntegrator &integrator, const TimeLoopParameters &parameters, unsigned int n_steps, double wall, double in_steps)
    {
      if (n_steps == 0)
        return 1;
      const unsigned int step    = integrator.step_number();
      const double       seconds = parameters.wall_time_minutes > 0. ? std::min(1., 60. * parameters.wall_time_minutes - wall) : 1.;
      // and at most as many as were done before, so that the pace is known after one percent
      long most = std::max(1., std::min<double>(n_steps, n_steps / std::max(in_steps, 1e-3) * seconds));
      if (parameters.log_every > 0)
        most = std::min<long>(most, parameters.log_every - step % parameters.log_every);
      if (parameters.checkpoint_steps > 0)
        most = std::min<long>(most, parameters.checkpoint_steps - step % parameters.checkpoint_steps);
      return most;
    }

    /** Says once, after one percent of the run, if the wall time will not be enough. */
    class SpeedCheck
    {
    public:
      SpeedCheck(const TimeLoopParameters &parameters_, double t_start_, double end_time_)
        : parameters(parameters_)
        , t_start(t_start_)
        , end_time(end_time_)
      {
      }

      /**
       * @return whether the run is too slow. @param wall seconds since the start, @param in_steps those of the steps;
       * the same on all ranks.
       */
      bool operator()(const TimeIntegrator &integrator, unsigned int n_steps, double wall, double in_steps, Log &log)
      {
        const double t = integrator.time();
        if (done || parameters.wall_time_minutes <= 0. || t - t_start < 0.01 * (end_time - t_start))
          return false;
        done                    = true;
        const double steps_left = (end_time - t) / integrator.next_step_size();
        const double pace       = (takes_turns() && integrator.is_fused() ? in_steps : wall) / n_steps; // other runs are waited for most at first
        const double needed     = wall + pace * steps_left;
        if (!(needed > 60. * parameters.wall_time_minutes))
          return false;
        log.warning("at this pace (" + format("%.3g", pace) + " s a step, about " + format("%.3g", std::ceil(steps_left)) +
                    " steps left) the run takes " + duration(needed) +
                    ", longer than 'Run/Wall time' = " + format("%g", parameters.wall_time_minutes) + " minutes" +
                    (parameters.stop_if_too_slow                    ? ""
                     : std::isfinite(parameters.checkpoint_minutes) ? "; it will stop then with a checkpoint"
                                                                    : "; it will stop then, without a checkpoint"));
        return true;
      }

    private:
      const TimeLoopParameters &parameters;
      const double              t_start, end_time;
      bool                      done = false;
    };
  } // namespace

  TimeLoopResult run_time_loop(TimeIntegrator           &integrator,
                               const TimeParameters     &time_parameters,
                               const TimeLoopParameters &parameters,
                               const TimeLoopActions    &actions,
                               Log                      &log,
                               MPI_Comm                  comm)
  {
    const auto        start           = Clock::now();
    auto              last_checkpoint = start;
    const double      end_time = time_parameters.end_time, t_start = integrator.time();
    const bool        variable = time_parameters.variable_steps(), interpolates = time_parameters.interpolates_output();
    SpeedCheck        is_too_slow(parameters, t_start, end_time);
    const OutputTimes output_times(parameters, end_time);
    TimeLoopResult    result;

    // half a fixed step: the nearest step counts; variable steps hit the time up to rounding
    const auto slack       = [&] { return variable ? 1e-12 * end_time : 0.5 * integrator.next_step_size() * (1. - 1e-9); };
    double     next_output = output_times.after(integrator.time(), slack()), wall_at_line = 0., wall = 0., in_steps = 0.;
    TimeLeft   time_left(t_start, end_time);
    Rejections rejected_at_line; ///< before the last line of the log

    if (!variable && t_start < end_time - slack())
      warn_of_another_end(t_start, integrator.next_step_size(), end_time, log);
    warn_of_many_outputs(parameters, t_start, end_time, log);

    while (integrator.time() < end_time - slack())
      {
        const StepBatch batch{next_output, slack(), steps_together(integrator, parameters, result.n_steps, wall, in_steps)};
        StepReport      report;
        try
          {
            report = step_or_save(integrator, batch, actions);
          }
        catch (const Stopped &stopped) // in the middle of a step, which is lost
          {
            actions.write_checkpoint();
            result.status = stopped.what();
            return result;
          }
        count(report, result);
        for (const std::string &note : report.notes)
          log.line(note);

        const double t      = integrator.time();
        const bool   at_end = t >= end_time - slack();
        const bool   steady = is_steady(integrator, report, end_time, log);
        wall                = dealii::Utilities::MPI::max(seconds_since(start), comm);
        in_steps += dealii::Utilities::MPI::max(report.seconds, comm);
        const bool too_slow = is_too_slow(integrator, result.n_steps, wall, in_steps, log) && parameters.stop_if_too_slow;
        const auto is_over  = [&](double seconds) { return parameters.wall_time_minutes > 0. && seconds >= 60. * parameters.wall_time_minutes; };
        bool       stop = stop_requested(comm), wall_time_over = is_over(wall), passed_output = false;
        const auto is_due = [&] { return interpolates && next_output < std::min(t, end_time) - slack(); };
        for (; is_due() && !stop && !wall_time_over; next_output = output_times.after(next_output, slack()))
          {
            actions.write_fields(integrator.solution_at(next_output), next_output);
            passed_output  = true;
            stop           = stop_requested(comm);
            wall_time_over = is_over(dealii::Utilities::MPI::max(seconds_since(start), comm));
          }
        if (is_due())
          log.warning(format("stopped while fields of one step were written: those from t = %.8g on up to %.8g are not", next_output, t));
        const bool last          = at_end || steady || too_slow || wall_time_over || stop;
        const bool writes_fields = t >= next_output - slack() || at_end || steady;
        const bool line_due      = last || result.n_steps == 1 ||
                              (parameters.log_every > 0 ? integrator.step_number() % parameters.log_every == 0 : wall - wall_at_line >= 1.);

        if (line_due)
          {
            wall_at_line = wall;
            log.line(step_line(report, result.rejected - rejected_at_line, integrator, time_parameters, last ? -1. : time_left(t, wall)));
            rejected_at_line = result.rejected;
          }
        if (line_due || ((writes_fields || passed_output) && parameters.log_every == 0))
          actions.write_statistics(report, t, integrator.step_number());
        if (writes_fields)
          {
            actions.write_fields(integrator.solution(), t);
            next_output = output_times.after(t, slack());
          }
        const bool checkpoint_due = dealii::Utilities::MPI::max(seconds_since(last_checkpoint), comm) >= 60. * parameters.checkpoint_minutes ||
                                    (parameters.checkpoint_steps > 0 && integrator.step_number() % parameters.checkpoint_steps == 0);
        if (last || checkpoint_due)
          {
            actions.write_checkpoint();
            last_checkpoint = Clock::now();
          }
        log.check();
        if (last)
          {
            result.status = at_end           ? "finished"
                            : steady         ? "steady state"
                            : too_slow       ? "stopped: too slow"
                            : wall_time_over ? "stopped: wall time"
                                             : stop_status();
            return result;
          }
      }
    result.status = "finished";
    return result;
  }
} // namespace leopard
