// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <solvers/matrix/crs_matrix.h>

#include <cstdint>
#include <vector>

namespace leopard::studies
{
  /**
   * round(fraction n_rows) different rows, sorted, the same for the same seed. @throws InvalidInput for a fraction
   * outside [0, 1].
   */
  std::vector<int> choose_rows(int n_rows, double fraction, std::uint64_t seed);

  /**
   * A where some components are no longer updated: their rows are replaced by the diagonal entry alone. With
   * stopped_right_hand_side() every block-asynchronous iteration leaves these components as they are (up to rounding),
   * while the others read them as before.
   */
  CrsMatrix<double> stop_rows(const CrsMatrix<double> &A, const std::vector<int> &rows);

  /** b with b_i = a_ii x_i in these rows. @param x host, n_rows values. */
  std::vector<double>
  stopped_right_hand_side(const CrsMatrix<double> &A, const std::vector<double> &b, const std::vector<int> &rows, const std::vector<double> &x);

  /** x_i (1 + relative_change) in these rows: a silent error. */
  std::vector<double> corrupt(std::vector<double> x, const std::vector<int> &rows, double relative_change);

  /**
   * What convergence is expected: of fault-free runs the mean logarithm of the residual's reduction over a window of
   * global iterations that ends at iteration t. Histories hold the residual after each global iteration, the initial
   * one first.
   */
  struct Calibration
  {
    int                 window = 5;
    std::vector<double> log_reduction; ///< [t]; nan where the window does not fit, or the residuals have reached the floor of rounding
    std::vector<double> deviation;     ///< standard deviation of it over the runs

    int n_iterations() const { return static_cast<int>(log_reduction.size()); }
  };

  /**
   * @param floor no use is made of mean residuals below. @throws InvalidInput without histories, or of different
   * lengths.
   */
  Calibration calibrate(const std::vector<std::vector<double>> &histories, int window, double floor);

  /**
   * Iterations that were lost in the window that ends at t: window (1 - ln(r_t / r_{t - window}) / expected); 0 as
   * expected, window for a residual that stands still, more for one that grows. nan where nothing was calibrated.
   */
  double delay(const Calibration &calibration, const std::vector<double> &history, int t);

  /**
   * The first iteration t >= from at which the delay exceeds the threshold (global iterations), where a silent error is
   * suspected; -1: none.
   */
  int suspected_at(const Calibration &calibration, const std::vector<double> &history, double threshold, int from = 0);
} // namespace leopard::studies
