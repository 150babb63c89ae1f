// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

namespace leopard
{
  /**
   * Tells an iteration that no longer converges from one that converges slowly while its residuals scatter, as those of
   * chaotic schedules do by 10 or 20 percent. A straight line is fitted to the logarithm of the residuals of the last
   * tests, over windows of several lengths; its slope has a standard error, found from the scatter of the window's
   * parts about the line. The iteration stagnates if in one of the windows
   * - the smallest residual is not new,
   * - the standard error is small enough to see a slope worth waiting for: that of slowest_factor, or the slope that
   *   halves the residual in as many iterations as were done, whichever is smaller; and the residual does not fall
   *   significantly. Without scatter 10 tests show this, with 10 percent about a hundred;
   * - or the residual grows significantly; what has more than doubled is given four times as many tests, since some
   *   residuals grow before they fall.
   */
  class StagnationTest
  {
  public:
    /**
     * @param n_tests_ the shortest window; 0: nothing is ever called stagnation. @param slowest_factor_ see
     * StoppingCriteria::slowest_factor.
     */
    StagnationTest(int n_tests_, double slowest_factor_)
      : n_tests(static_cast<std::size_t>(n_tests_))
      , slowest_factor(slowest_factor_)
    {
    }

    /**
     * Looks at the history of residual norms, each finite, and the iterations at which they were found, ascending; for
     * long ones not in each call.
     */
    bool stagnates(const std::vector<int> &iterations, const std::vector<double> &residuals);

  private:
    std::size_t n_tests;
    double      slowest_factor;
    std::size_t next_look = 0;
  };
} // namespace leopard
