// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <applications/studies/papers/sample_statistics.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

namespace leopard
{
  /** Residuals of one solution. */
  struct ResidualHistory
  {
    std::vector<double> relative_residuals; ///< ||b - A x|| / ||b|| before the first cycle, after it, ... dimensionless
    double              seconds_per_cycle = 0.;
    double              begin             = 0.; ///< of the solution, in seconds of a steady clock
  };

  /** A combination of a smoother study, and what was found. Times in seconds, all else dimensionless. */
  struct SmootherRow
  {
    std::string case_name, problem;                                   ///< the case, and the operator in words
    std::string published = "none";                                   ///< what of the thesis the case repeats
    double      epsilon   = std::numeric_limits<double>::quiet_NaN(); ///< of a stencil
    long long   unknowns  = 0;                                        ///< of the finest grid
    int         levels = 0, smoothing_steps = 0;
    std::string cycle;                     ///< "V", "W", "F"
    std::string smoother, method, backend; ///< as in the parameter file; its name alone; where it ran
    std::string solver;                    ///< "multigrid", "cg"

    std::string status;         ///< "converged", "diverged", "stagnated", "cycle limit", "failed"
    std::string note;           ///< why it has not converged, and whatever else a reader must know
    bool        varies = false; ///< whether the smoother is asynchronous, so that cycles and residuals can differ from run to run

    std::vector<double> cycles, seconds;                                             ///< one a repetition
    double              factor           = std::numeric_limits<double>::quiet_NaN(); ///< of the residual a cycle, in the mean over the repetitions
    double              attainable       = std::numeric_limits<double>::quiet_NaN(); ///< smallest relative residual with the cycles beyond
    double              smoother_seconds = 0., transfer_seconds = 0., coarse_seconds = 0., copy_seconds = 0.; ///< a cycle, each part waited for
    double              setup_seconds     = 0.; ///< of smoothers, operators and coarse solver on the levels
    double              hierarchy_seconds = 0.; ///< of the matrices of all levels, shared by the rows of a problem
    std::size_t         memory            = 0;  ///< bytes of the multigrid's operators and vectors
    std::vector<ResidualHistory> histories;     ///< one a repetition
    std::string                  winner_reason; ///< why it is the fastest of those that it competes with; empty if it is not

    bool                converged() const { return status == "converged"; }
    studies::Statistics cycle_statistics() const { return studies::statistics(cycles); }
    studies::Statistics time_statistics() const { return studies::statistics(seconds); }
    double              cycles_quantile(double p) const { return studies::quantile(cycles, p); }
    double seconds_quantile(double p) const { return studies::quantile(seconds, p); } ///< 0.5: the median, which one disturbed run does not change
    double seconds_per_cycle() const { return seconds_quantile(0.5) / std::max(1., cycles_quantile(0.5)); }
    /** Smoother with steps, cycle and solver: "async, V(2,2)", "async, V(2,2), cg". */
    std::string label() const;
    /** Whether rows compete: same case, problem, size and levels. */
    bool competes_with(const SmootherRow &other) const;
  };

  /** Which row of several that compete reaches the tolerance first, and why. */
  struct Winner
  {
    int         row = -1; ///< index; -1: none has converged
    std::string reason;
  };

  /**
   * The row with the smallest median time to solution among those that converged. The reason is "fewest cycles",
   * "fastest cycle", both, or the best product of the two; and where the quartiles of the two fastest overlap, that the
   * differences are within the spread.
   */
  Winner choose_winner(const std::vector<SmootherRow> &rows);

  /**
   * One sentence of all rows, with winner_reason where a row has won: which smoother is the fastest in how many of the
   * comparisons (same case, problem, size and levels), by how much against the fastest other smoother, and in how many
   * the difference is within the spread.
   */
  std::string conclusion(const std::vector<SmootherRow> &rows);
} // namespace leopard
