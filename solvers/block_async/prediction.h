// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "block_async.h"

namespace leopard
{
  /**
   * What a tenfold reduction of the error is expected to take, dimensionless; infinite where the iteration does not
   * converge.
   */
  struct PredictedConvergence
  {
    double factor             = 1.;   ///< of the error, a global iteration
    double iterations_a_digit = 0.;   ///< global iterations for a tenfold reduction
    double sweeps_a_digit     = 0.;   ///< local sweeps over a row in them, in the mean over the rows
    bool   settled            = true; ///< false: time was up while the iteration still became slower, so that it takes more than this, or diverges
  };

  /**
   * The synchronous schedule tried out on A x = 0 from a random x of a fixed seed, on one host thread: the factor of
   * the error, of symmetric matrices with positive diagonal of sqrt(a_ii) x_i, so that D A D has that of A, once it has
   * settled, found to about 5 percent. Chaotic schedules, which read newer values, take fewer iterations, but what is
   * slower here is as a rule slower there. It costs some times the iterations of a digit.
   * @param options of any backend and schedule; of blocks, weights, momentum and local iterations. @param max_seconds
   * wall time. @throws InvalidInput.
   */
  PredictedConvergence predicted_convergence(const CrsMatrix<double> &A, const BlockAsyncOptions &options, double max_seconds = 10.);

  /**
   * Whether the iteration converges whatever happens: on A x = 0 from a random x the factor of the error, once it
   * has settled, is below 1 in the synchronous schedule (all values old), in sequence (all new), and in a replay (a
   * random mixture, up to two iterations old). In a chaotic schedule the same momentum may converge in one run and
   * diverge in the next, when threads come in another order; momentum that fails here is likely to diverge some day. On
   * one host thread.
   * @param max_seconds wall time; false if it did not do for a decision. @throws InvalidInput.
   */
  bool converges_in_all_schedules(const CrsMatrix<double> &A, const BlockAsyncOptions &options, double max_seconds);
} // namespace leopard
