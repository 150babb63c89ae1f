// SPDX-License-Identifier: Apache-2.0
// What the study of several GPUs measures: on how many of them, and in which ways.
#pragma once

#include "study.h"

#include <solvers/distributed/gpus/several_gpus.h>

#include <string>
#include <vector>

namespace leopard::studies
{
  /** How GPUs iterate together. */
  struct GpuWay
  {
    GpuExchange         exchange = GpuExchange::halo;
    bool                waits    = false;
    int                 n_gpus   = 1;
    std::vector<double> shares   = {}; ///< of the matrix's entries, percent; empty: equal ones
    double              taken    = 0.; ///< part of the last GPU that is taken away

    /** Without the number of GPUs, such as "halo, waiting, shares 60 : 40". */
    std::string text() const;
  };

  /**
   * The numbers of GPUs to compare, ascending: --gpu-counts, else 1, 2, ... up to --gpus or all there are. @param
   * n_devices there are. @throws InvalidInput for a number that is not there, and for both options.
   */
  std::vector<int> gpu_counts(const Settings &settings, int n_devices);

  /** --exchange in the order of the report, else all. @throws InvalidInput for other words. */
  std::vector<GpuExchange> exchanges_of(const Settings &settings);

  /**
   * For a stored matrix: each exchange on each number of GPUs, halo on several of them waiting, too. On the most of
   * them halo also with half of the last one taken away, and with 60 percent of the entries on the first and the rest
   * on the others, waiting and not.
   * @param also_disturbed whether the last two are wanted.
   */
  std::vector<GpuWay> ways_of(const std::vector<int> &counts, const std::vector<GpuExchange> &exchanges, bool also_disturbed);

  /**
   * What part of the iterations to a residual eps a slow GPU of n with equal shares still has to do if the others,
   * which do not wait, do slow_down times as many as it does. Where the parts hardly know of one another (a large grid
   * with a diagonal that is clearly dominant), the residual of each falls by itself: log(s) / log(eps), with s that of
   * the slow one, s^2 / n + (1 - 1 / n) s^(2 slow_down) = eps^2. 1 for slow_down = 1. @param slow_down at least 1; for
   * what is not, the result is not a number. @param eps relative, below 1.
   */
  double iterations_of_slow_gpu(int n_gpus, double slow_down, double eps);
} // namespace leopard::studies
