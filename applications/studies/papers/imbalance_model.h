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
    Way    free, waiting;  ///< the schedules chaotic, where nobody waits, and synchronous
  };

  /**
   * How much longer a solve takes on threads that run a part of the time only, against those that run always: f times,
   * where a thread that does nothing else takes f times as long, with waiting and without. Parts of a thread that has
   * been stopped are done by the others, so that one waits for another only where it was stopped within a part.
   */
  class ImbalanceModel
  {
  public:
    /** @param rows the first one without busy processes: its times are what the others' are predicted from. */
    explicit ImbalanceModel(const std::vector<Imbalance> &rows)
      : first(rows.front())
    {
    }

    /** What a fair system leaves: (threads + busy) / cores if that is more than 1, else 1. */
    static double fair_slow_down(int n_threads, int n_busy, int n_cores);

    /** Seconds to the solution, from the first row's. */
    double predicted_free(double slow_down) const { return first.free.seconds * slow_down / first.slow_down; }
    double predicted_waiting(double slow_down) const { return first.waiting.seconds * slow_down / first.slow_down; }

    /** Of a global iteration where the threads run always. */
    double seconds_an_iteration() const { return first.free.seconds_an_iteration() / first.slow_down; }

  private:
    Imbalance first;
  };

  /**
   * What the rows say of waiting, each finding open where it could not have failed.
   * @param name of the matrix.
   */
  void judge_imbalance(const std::string &name, int n_threads, const std::vector<Imbalance> &rows, Report &report);
} // namespace leopard::studies
