// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "study_report.h"

#include <string>
#include <vector>

namespace leopard::studies
{
  /** What was measured beside a number of busy processes. Medians. */
  struct Imbalance
  {
    /** Of one way to iterate. */
    struct Way
    {
      double seconds    = 0.; ///< to the solution
      double iterations = 0.; ///< global ones, to the solution

      double seconds_an_iteration() const { return seconds / iterations; }
    };

    int    n_busy    = 0;
    double slow_down = 1.; ///< seen by threads that compute and do nothing else: wall-clock time over time that they ran
    double slice     = 0.; ///< seconds that the system lets another process run at a time; 0: it never did
    Way    free, waiting;  ///< the schedules chaotic, where nobody waits, and synchronous
  };

  /**
   * How much longer iterations take on threads that run a part of the time only, against those that run always. A
   * thread that takes f times as long as alone runs a part 1 / f of the time, and stands still for q (f - 1) between.
   */
  class ImbalanceModel
  {
  public:
    /** @param rows the first one without busy processes: its times are what the others' are predicted from. */
    ImbalanceModel(int n_threads, const std::vector<Imbalance> &rows);

    /** What a fair system leaves: (threads + busy) / cores if that is more than 1, else 1. */
    static double fair_slow_down(int n_threads, int n_busy, int n_cores);

    /** f: nobody waits, so that each thread does as much as it runs. */
    double without_waiting(double slow_down) const;
    /**
     * f + min(q (f - 1) / g, f^t - f): a global iteration, g seconds without others, waits for a thread that stands
     * still; but in the mean no longer than where all t threads must run at once, which they do a part f^-t of the
     * time.
     */
    double with_waiting(double slow_down) const;

    /** Seconds to the solution, from the first row's. */
    double predicted_free(double slow_down) const;
    double predicted_waiting(double slow_down) const;

    /**
     * The smallest f >= 1 where predicted_free() is less than predicted_waiting(); infinite if there is none to 100.
     */
    double wins_from() const;

    double iteration() const { return seconds_an_iteration; }
    double time_slice() const { return slice; }

  private:
    int       n_threads;
    double    seconds_an_iteration, slice = 0.; ///< g and q
    Imbalance first;
  };

  /**
   * What the rows say of waiting, each finding open where it could not have failed.
   * @param name of the matrix.
   */
  void judge_imbalance(const std::string &name, int n_threads, const std::vector<Imbalance> &rows, Report &report);
} // namespace leopard::studies
