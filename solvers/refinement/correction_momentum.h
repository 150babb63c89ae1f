// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace leopard
{
  /**
   * Second-order Richardson iteration on top of an iteration x <- x + M (b - A x), as of multigrid cycles:
   *
   *   s_k = weight M (b - A x_k) + momentum s_k-1,   x_k+1 = x_k + s_k.
   *
   * If the eigenvalues of E = I - M A, by which an iteration alone reduces the error, are in [0, rate], as those of
   * cycles with mirrored steps nearly are, the error falls by sigma = p / (1 + sqrt(1 - p^2)), p = rate / (2 - rate),
   * an iteration: about rate / 4 for small rates, with
   *
   *   omega = 2 / (1 + sqrt(1 - p^2)),   weight = 2 omega / (2 - rate),   momentum = omega - 1 = sigma^2.
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
    double weight() const;
    double momentum() const;
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
    double scaled_rate() const { return rate / (2. - rate); }
    double omega() const;
    void   set_rate(double new_rate);

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
