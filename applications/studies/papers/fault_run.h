// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "study.h"

namespace leopard::studies
{
  /**
   * Components stop for a while: an iteration for A and one for A with these rows stopped (see stop_rows()), which take
   * turns with the same x.
   */
  class FaultRun
  {
  public:
    /** @param healthy for problem.A; may serve many runs. @param rows that stop; empty: none do. */
    FaultRun(const Problem &problem, Experiment &healthy, const BlockAsyncOptions &options, const Settings &settings, std::vector<int> rows);

    /** From x = 0. */
    void start();
    /** The rows stop with the values they have. */
    void stop();
    /** They are taken up again. */
    void recover();
    /** Seconds that the global iterations took. */
    double iterate(int n_iterations);
    /** Of all of A, whoever iterates. */
    double relative_residual();
    /** A silent error: x_i (1 + relative_change) in these rows. */
    void change(const std::vector<int> &changed_rows, double relative_change);

  private:
    const Problem                      &problem;
    Experiment                         &healthy;
    const std::vector<int>              rows;
    std::unique_ptr<BlockAsync<double>> stopped_method;
    std::unique_ptr<Experiment>         stopped_experiment;
    bool                                is_stopped = false;
  };
} // namespace leopard::studies
