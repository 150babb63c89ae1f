// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../matrix/analysis.h"

namespace leopard
{
  /**
   * Second-order Richardson iteration on top of an iteration x <- x + M (b - A x), as of multigrid cycles:
   *
   *   s_k = weight M (b - A x_k) + momentum s_k-1,   x_k+1 = x_k + s_k.
   *
   * If the eigenvalues of E = I - M A, by which an iteration alone reduces the error, are in [0, rate], as those of
   * cycles with mirrored steps nearly are, those of M A are in [1 - rate, 1], and momentum_parameters() of that
   * interval are the best. The error falls by sigma = sqrt(momentum) an iteration then, about rate / 4 for small rates.
   *
   * The rate is learned from residuals. The first two corrections (of one or more iterations each) are plain; what an
   * iteration of the second leaves is the first guess, times 1.3, since later ones reduce less. Then the slowest mode
   * that explains what two iterations leave replaces it where that is larger. Where momentum does not help (eigenvalues
   * that are negative or complex) it is given up for this solve, and begins once more in the next one with what plain
   * iterations have left at the end, as slow modes may have come late. All numbers are dimensionless. Sources: Golub,
   * Varga, Numer. Math. 3 (1961) 147; learning: Hageman, Young, Applied Iterative Methods, 1981, chapter 5.
   */
  class CorrectionMomentum
  {
  public:
    double weight() const { return parameters().omega; }
    double momentum() const { return parameters().momentum; }
    /** Whether the next correction is not a plain one. */
    bool is_on() const { return rate > 0.; }
    /**
     * @param contraction what a correction of n iterations has left of the residual's norm. @param ends whether another
     * one like it is enough: then plain ones stay plain.
     */
    void learn(double contraction, int n, bool ends = false);
    /** All further corrections of this solve are plain ones, of all solves after the second time. */
    void give_up();
    /** The next residual is another one's; what was learned stays. */
    void begin_solve();

  private:
    MomentumParameters parameters() const;
    void               set_rate(double new_rate);

    double rate       = 0.;    ///< of plain iterations; 0: plain ones
    double plain      = 0.;    ///< contraction of a plain iteration that the first rate was made of, or at a solve's end
    double last       = 0.;    ///< contraction seen last
    int    n_seen     = 0;     ///< corrections of this solve
    int    since      = 0;     ///< iterations of it since the rate was set
    bool   corrected  = false; ///< whether the first rate was replaced
    bool   is_over    = false; ///< plain corrections from now on
    int    n_given_up = 0;
  };
} // namespace leopard
