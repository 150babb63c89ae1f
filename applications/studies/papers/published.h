// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>
#include <vector>

/**
 * @file
 * What the papers print. T: H. Anzt, Asynchronous and Multiprecision Linear Solvers, thesis, KIT 2012; J: Anzt, Tomov,
 * Dongarra, Heuveline, A block-asynchronous relaxation method for graphics processing units, 2013. Digits as printed,
 * misprints included, which the comments name.
 */
namespace leopard::studies::published
{
  /** A row of Tables 4.1 to 4.4 of T (the same digits in Tables 2 and 3 of J): the relative residual over the runs. */
  struct Variation
  {
    int    iteration;
    double mean, maximum, minimum, absolute_variation, relative_variation, variance, standard_deviation, standard_error;
  };

  /**
   * For "fv1" and "trefethen", else empty. The relative variation of Trefethen_2000 at 5 is misprinted; 9.7614e-02
   * follows from the others.
   */
  const std::vector<Variation> &variation(const std::string &matrix);

  /** T Table 4.5: seconds for k = 1 to 9 (first index) and 100, 200, 300, 400, 500 global iterations of fv3. */
  extern const std::array<std::array<double, 5>, 9> seconds_of_local_iterations;

  /**
   * T Table 4.8: seconds a global iteration and of start-up, A318. The reduction for k = 5 is printed as 82 %; 76.6 %
   * follows from the times.
   */
  struct Storage
  {
    int    local_iterations;
    double crs_seconds, block_crs_seconds, printed_reduction, crs_start, block_crs_start;
  };
  extern const std::array<Storage, 2> storage;

  /**
   * T Table 4.9: local iterations, summed over the blocks, of a global iteration. Async-(5) is 5 (blocks - 1): the last
   * block is not counted.
   */
  struct ThetaUpdates
  {
    int block_size, n_blocks, theta_dependent, uniform;
  };
  extern const std::array<ThetaUpdates, 5> theta_updates;

  /**
   * T Table 4.7, J Table 6: extra computation time in percent when 25 % of the components are taken up again after 10,
   * 20, 30 iterations.
   */
  struct Recovery
  {
    const char           *matrix;
    std::array<double, 3> extra_percent;
  };
  extern const std::array<Recovery, 3> recovery;

  /**
   * T Table C.3: GB/s from (row) to (column) the host and four GPUs; host to host is between the memories of its two
   * processors. Not a number on the diagonal of GPUs.
   */
  extern const std::array<std::array<double, 5>, 5> copies;

  /**
   * T Figures 4.34 and 4.35: where the axes of block-asynchronous refinement end, global iterations and seconds on a
   * GTX580. Zeros for a matrix that is not there.
   */
  struct Refinement
  {
    double axis_iterations = 0., axis_seconds = 0.;
  };
  Refinement refinement(const std::string &matrix);

  /**
   * T Table 4.11: seconds of the smoother until the multigrid method has converged, two smoothing steps before and
   * after the coarse correction, for n = 10^4, 10^5, 10^6, 10^7 unknowns in 1D. The heads are printed 10e+3, 10e+5,
   * 10e+6, 10e+7k; all times of Gauss-Seidel grow by 7 to 11 from column to column, so that the sizes must be ten times
   * as large each.
   */
  struct SmootherSeconds
  {
    int                   levels;
    std::array<double, 4> gauss_seidel, async, transfer;
  };
  extern const std::array<SmootherSeconds, 4> smoother_seconds;

  /**
   * A row of T Tables 5.1, 5.2 (G3_circuit) and 5.3 (A318): CG on threads of the host, 0 for the GPU; Wh of chipset and
   * GPU together. Table 5.3 prints no iterations: 0.
   */
  struct EnergyOfCg
  {
    int    threads, iterations;
    double seconds, watt_hours;
  };
  extern const std::array<EnergyOfCg, 5> energy_of_cg, energy_of_jacobi_cg, energy_of_cg_a318;

  /**
   * A row of T Tables 5.4 and 5.5: Wh of CG (without and with Jacobi) on a GPU, (i) plain, (iii) with the processor at
   * 800 MHz and asleep while the GPU multiplies; not a number where nothing is printed. "n24k" is nd24k; the
   * improvements are printed as (i) / (iii) - 1, so that 21.8 % is a saving of 17.9 %.
   */
  struct EnergyOfWaiting
  {
    const char *matrix;
    double      cg_plain, cg_asleep, jacobi_plain, jacobi_asleep;
  };
  extern const std::array<EnergyOfWaiting, 8> energy_of_waiting;

  /** T Table 5.6, fv3: seconds, W and Wh of processor and GPU together, plain and with idle-wait. */
  struct EnergyOfRelaxation
  {
    const char *method;
    double      seconds, plain_watts, asleep_watts, plain_watt_hours, asleep_watt_hours;
  };
  extern const std::array<EnergyOfRelaxation, 3> energy_of_relaxations;

  /**
   * T section 4.11.2.2, Figure 4.30: smoothing steps that gave the smallest time for n = 10^7, 10 levels; a: smaller,
   * b: larger condition number.
   */
  struct BestSteps
  {
    int gauss_seidel, async;
  };
  extern const std::array<BestSteps, 2> best_smoothing_steps;
} // namespace leopard::studies::published
