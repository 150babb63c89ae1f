// SPDX-License-Identifier: Apache-2.0
// What studies say of their numbers, apart from measuring them. Each decides nothing by what is not a number.
#pragma once

#include "study.h"

#include <solvers/distributed/gpus/several_gpus.h>

#include <array>
#include <map>
#include <string>
#include <vector>

namespace leopard::studies
{
  // --- faults ---

  /** What it costs that a quarter of the components stops and is taken up again: means over runs. */
  struct OfRecovery
  {
    std::string           matrix, set_up;
    int                   shown;      ///< iterations of the runs without recovery
    double                half, end;  ///< residuals of these, after half of the iterations and after all
    double                free, late; ///< of the residual an iteration, at last: without failure, and with recovery after 30
    std::array<double, 3> extra;      ///< iterations to the tolerance in percent, with recovery after 10, 20, 30
    double                tolerance;
    bool                  was_over; ///< one run had met the tolerance before the failure
  };

  /** Thesis, section 4.5, Figure 4.7, Table 4.7. */
  void judge_recovery(const OfRecovery &found, Report &report);

  /** Silent errors, and as many runs without one. */
  struct OfDetection
  {
    std::string matrix;
    int         runs, false_alarms; ///< without an error
    int         delayed, found;     ///< runs that an error delayed by more than half an iteration, and of these the detected ones
    double      spread;             ///< largest standard deviation of the delay without an error, iterations
  };

  /** Thesis, section 4.5. */
  void judge_detection(const OfDetection &found, Report &report);

  // --- gpus ---

  /** What several GPUs have done of one exchange, none of them slowed down. */
  struct ExchangeRow
  {
    GpuExchange         exchange;
    int                 n_gpus;
    double              iteration, to_tolerance; ///< seconds, the latter to the residual of one GPU
    std::vector<double> residuals;               ///< relative, after as many iterations, of each run
  };

  /** What the papers say of 1 and 2 GPUs, and of more. What needs rows that are not there is not decided. */
  void judge_exchanges(const std::string &matrix, int n_gpus, const std::vector<ExchangeRow> &rows, Report &report);

  /** Half of a GPU taken away. */
  struct SlowedRow
  {
    double slow_down;     ///< of an iteration that waits
    double waiting, free; ///< seconds to the tolerance, waiting and not
  };

  void judge_slowed(const std::string &matrix, const SlowedRow &row, Report &report);

  // --- local-iterations ---

  /** Local iterations of async-(k), each against async-(1). */
  struct LocalIterations
  {
    double second, ninth;             ///< time of 500 global iterations with k = 2 and 9
    double factor_one, factor_five;   ///< of the residual in a global iteration
    double seconds_one, seconds_five; ///< of a global iteration
  };

  /** Thesis, Table 4.5 and section 4.4.2. */
  void judge_local_iterations(const LocalIterations &found, Report &report);

  // --- divergence ---

  /** A ring with coupling c: spectral radii of B and |B|, and factors of the error in a round of updates. */
  struct Ring
  {
    double c, radius, radius_abs, built, jacobi;
  };

  /** Thesis, Theorem 3.2.6. */
  void judge_ring(const Ring &ring, Report &report);

  /** Orders of single components with a relaxation factor: factors of the error of the built one and of random ones. */
  struct OfOmega
  {
    double              omega, built;
    std::vector<double> random;
  };

  /** One matrix: omega = 1, and a little below and beyond the bound 2 / (1 + rho(|B|)). */
  struct OfOrders
  {
    std::string matrix;
    double      radius_abs; ///< rho(|B|)
    OfOmega     one, below, beyond;
  };

  /** Thesis, Theorems 3.2.2, 3.2.3 and 3.2.5, and whether the bound of the last one is the largest there is. */
  void judge_omegas(const OfOrders &found, Report &report);

  // --- overlap ---

  /** Digits that an iteration gains, of each direction of overlap; so work, in rows relaxed. */
  struct OfOverlaps
  {
    double none, uniform, downward, upward;

    /** "digits an iteration: none 0.1, ...". */
    std::string text() const;
  };

  /** Table 1. @param side nodes of the grid a side. */
  void judge_lap(int side, long long n_rows, long long n_entries, Report &report);
  /** Overlap paper, Figures 2 and 3. @param unlike why other numbers than the printed ones are due. */
  void judge_work(const OfOverlaps &work, const std::string &unlike, Report &report);
  /** Figures 2 to 4. @param ordered blocks top-down. */
  void judge_orders(const OfOverlaps &ordered, const OfOverlaps &random, Report &report);
  /** Figure 5, of L or U. */
  void judge_triangular(bool lower, const OfOverlaps &random, Report &report);
  /**
   * Figures 8 and 9, section 5.2. @param factor "LAP", "q2-40: L". @param measured iterations and seconds, infinite
   * where it has not converged, by percent of overlap, one of them 0.
   */
  void judge_percent(const std::string                              &factor,
                     const std::string                              &figure,
                     const std::string                              &section,
                     const std::map<int, std::pair<double, double>> &measured,
                     bool                                            on_gpu,
                     Report                                         &report);

  /** Iterations of a triangular factor without overlap, and with overlap of one width. */
  struct IterationsOfOverlaps
  {
    double none, uniform, towards, away; ///< towards the dependencies, and the other way
  };

  /** What Figure 5 says of the directions; of factors and blocks as in Figures 8 and 9 no paper says it. */
  void judge_directions(const std::string &factor, const IterationsOfOverlaps &found, Report &report);

  // --- taxonomy ---

  /** Iterations that the classes of two-stage iterations need; infinitely many where they do not converge. */
  struct OfClasses
  {
    std::string           matrix;
    double                radius_abs; ///< rho(|B|)
    bool                  has_no_negative_coupling;
    std::vector<TwoStage> kinds;      ///< of the next
    std::vector<double>   iterations; ///< as often as there are numbers of local iterations
  };

  void judge_classes(const OfClasses &found, Report &report);
  /** Iterates of rows that are blocks of their own, with one local iteration. */
  void judge_single_rows(const std::string &matrix, const std::map<TwoStage, std::vector<double>> &x, Report &report);

  // --- weights ---

  /** One matrix: a method's results for the omegas, from 1.0 by 0.1. */
  struct OfWeights
  {
    std::vector<Reached> async, l1, sor;
  };

  /** Thesis, Figures 4.18 and 4.20. */
  void judge_weights(const std::string &matrix, const OfWeights &found, Report &report);
  /** Section 4.10.3, of the async methods of all matrices. */
  void judge_large_omegas(const std::map<std::string, std::vector<Reached>> &async, Report &report);
  /** Figure 4.19: without and with l1 weights, by block size. */
  void judge_block_sizes(const std::map<int, std::array<Reached, 2>> &of_sizes, Report &report);

  // --- theta ---

  /** Trefethen_2000 with blocks of one size. */
  struct OfTheta
  {
    int     block_size;
    double  saving;           ///< percent of the rows' updates
    int     difference;       ///< from the printed number of updates, counted as printed; -1: there is none
    Reached adapted, uniform; ///< theta-dependent, k everywhere
    Reached lower, l1;        ///< k - 1 everywhere, l1 weights
    Reached reversed;         ///< k - 1 where the rule says k, and k where it says k - 1
  };

  /** Thesis, Table 4.9, Figures 4.21 and 4.22, of growing block sizes. */
  void judge_theta(const std::vector<OfTheta> &rows, Report &report);

  // --- mesh-blocks ---

  /**
   * Figure 4.24: residuals after 200 iterations by rows of a block, on lines of n nodes; at rounding nothing is
   * decided.
   */
  void judge_lines(int n, const std::map<int, double> &after, Report &report);
  /** Section 4.10.8: iterations with blocks of so many rows, infinite without convergence. @param other said beside. */
  struct OfShapes
  {
    double two_lines, one_and_a_half, a_row_more;
  };
  void judge_shapes(const std::string &which, const OfShapes &iterations, const std::string &other, Report &report);

  /** log10 of the residual after 1000 iterations, how far below the line between its neighbours it is. */
  struct Dips
  {
    double of_block, deepest_other; ///< N = block size, and of the other N the farthest
    double scatter;                 ///< the most that runs of one N differ by
  };

  /**
   * Thesis, Figure 4.25. What is less than runs differ by, or less than 5 percent of the residual, decides nothing.
   * @param more said of what was measured. @param why_not nothing can be decided; empty: it can.
   */
  void judge_dips(const Dips &dips, const std::string &more, const std::string &why_not, Report &report);
  /** Figure 4.26. @param step of N, 1 for blocks of 112 rows. @param seconds to 1e-6, by N. */
  void judge_mesh_times(int block, int step, const std::map<int, double> &seconds, Report &report);
} // namespace leopard::studies
