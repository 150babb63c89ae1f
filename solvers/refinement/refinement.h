// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../matrix/scaled_matrix.h"
#include "correction_momentum.h"
#include "inner_solver.h"
#include "outer_system.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace leopard
{
  struct RefinementOptions
  {
    double tolerance = 1e-10; ///< converged for ||b - A x||_2 <= tolerance ||b||_2 (dimensionless); for b = 0 the first residual stands for ||b||
    double absolute_tolerance = 0.;  ///< or for ||b - A x||_2 <= absolute_tolerance (units of b)
    int    max_corrections    = 100; ///< outer iterations
    int    inner_iterations =
      0; ///< of each correction, and fewer of the last where they will do; 0: as many as gain `digits`, which the first one measures
    int    first_iterations = 20;    ///< after which the first one is looked at
    double digits           = 6.;    ///< decimal digits that a correction is to gain, 6 to 8 in the paper; fewer where fewer are wanted
    int    max_iterations   = 10000; ///< of the inner solver, all corrections together
    /**
     * CorrectionMomentum where the inner solver bears it and inner_iterations are 1 or 2, of which each is a step: for
     * n_rows() Numbers more, and another pass over two vectors of them an iteration.
     */
    bool                  momentum        = true;
    bool                  goes_on_if_slow = true; ///< where an ill-conditioned matrix makes corrections slow, and they will do
    std::function<bool()> asked_to_stop   = {};   ///< looked at before each correction, and every 100 inner iterations

    /** @throws InvalidInput naming the option, what was found and what is expected. */
    void validate() const;
  };

  /** Why a refinement has ended. */
  enum class RefinementReason
  {
    converged,       ///< the true residual has reached its goal
    maximum,         ///< max_corrections or max_iterations were done
    rounding,        ///< the goal is below what double precision reaches: the backward error is a few roundings
    ill_conditioned, ///< the inner solver solves its own system, and its corrections do not bring the true residual down
    no_progress,     ///< the inner solver does not solve its own system either: it diverges, or needs more iterations
    not_finite,      ///< a number of b, of A or of a correction is not finite, or has become so
    stopped          ///< RefinementOptions::asked_to_stop
  };

  /** A few words, such as "converged" or "too ill-conditioned for this precision". */
  std::string to_string(RefinementReason reason);

  struct RefinementResult
  {
    RefinementReason reason        = RefinementReason::maximum;
    int              n_corrections = 0;
    int              n_iterations  = 0;      ///< of the inner solver, all of them
    std::vector<int> inner_iterations;       ///< of each correction
    double           residual          = 0.; ///< ||b - A x||_2 of the x that is returned, computed from it in double precision; units of b
    double           relative_residual = 0.; ///< the same divided by ||b||_2
    double           inner_residual    = 0.; ///< factor by which the first correction reduced it, of the scaled equations, eps_inner (dimensionless)
    /**
     * Corrections that the first one lets expect: ceil(log(eps) / log(eps_inner)) (thesis, equation 2.10), or with
     * measured inner iterations `digits` each.
     */
    int                 predicted    = 0;
    bool                has_momentum = false; ///< whether a correction had momentum
    std::vector<double> history;              ///< ||b - A x||_2 before each correction, and at the end
    std::vector<double> history_seconds;      ///< the wall time since the solve began, at each of these

    bool converged() const { return reason == RefinementReason::converged; }
  };

  /**
   * Iterative refinement for A x = b. Residual and solution are double; the correction c of A c = b - A x is found by
   * an inner solver in the precision of Number, from zero, for the residual times a power of two of its size. So x
   * becomes as accurate as double precision makes it, as long as a correction is right in its first digits: the
   * condition number of A times the rounding of Number (6e-8 for float) has to be below one.
   *
   * Inner solvers are told a number of iterations, not a tolerance: that which is given; or the first correction goes
   * on until it has gained `digits`, and the others do what these take at the rate of its end; it is given up when four
   * further looks, each after twice the iterations where that many are needed, find no smaller residual. A correction
   * that makes the residual larger is taken back, but for the first three of a given number of iterations, whose
   * residuals may grow before they fall; one with momentum is done again without. Where the matrix is scaled, it is
   * S (b - A x) that corrections make smaller, by as much as the condition number of S A S allows; ||b - A x|| itself
   * may grow at first, where S differs much from row to row. Source: thesis, algorithms 1 and 2; Anzt, Luszczek,
   * Dongarra, Heuveline 2012, section 3.
   */
  template <typename Number>
  class Refinement
  {
  public:
    /** @throws InvalidInput if they do not fit together. */
    Refinement(std::unique_ptr<OuterSystem<Number>> system, std::unique_ptr<InnerSolver<Number>> inner, const RefinementOptions &options);

    /** "refinement with async-(5)". */
    std::string name() const;
    int         n_rows() const { return system->n_rows(); }
    MemorySpace memory_space() const { return system->memory_space(); }

    /** For the solves to come. @throws InvalidInput. */
    void set_options(const RefinementOptions &new_options);
    /**
     * The system, for new values of its matrix; whoever has made the inner solver gives it the same, scaled and rounded
     * (see scaled_to()).
     */
    OuterSystem<Number> &outer_system() { return *system; }

    /**
     * Solves from the x that is given. Allocates nothing but the history. Momentum begins with what was learned in
     * former solves, so that a solve may take fewer corrections than the first one. @param x, b in memory_space().
     * @throws DeviceError.
     */
    RefinementResult solve(double *x, const double *b);

  private:
    struct Progress;
    /** r = fl(factor S (b - A x)), and the norms of b - A x and of S times it. */
    void residual(const double *x, const double *b, Progress &progress);
    /** The same after a first attempt, with another factor where it does not fit. @param norms what that has found. */
    void fitted_residual(const RoundedNorms &norms, const double *x, const double *b, Progress &progress);
    /**
     * One correction: `other` is the corrected x. @return whether it is kept, as its residual, or S times it, is
     * smaller or may still grow; if not, r is that of x again.
     */
    bool correct(const double *x, double *other, const double *b, Progress &progress, RefinementResult &result);
    /** What the inner solver says of its correction. */
    void look(Progress &progress);
    /** Whether corrections take a number of inner iterations that is given, or found by the inner solver itself. */
    bool is_fixed() const { return options.inner_iterations > 0 || !inner->counts(); }
    bool has_momentum() const
    {
      return options.momentum && inner->bears_momentum() && options.inner_iterations >= 1 && options.inner_iterations <= 2;
    }
    /** n inner iterations, from zero or on; fewer where it is asked to stop. @return those done. */
    int iterate(int n, bool from_zero);
    /**
     * A correction until it has gained `digits`, or gains no more. @param done iterations of it that are done. @return
     * the same afterwards.
     */
    int measure(int done, Progress &progress);
    /** A correction of one or two inner iterations with momentum. @return how many were done. */
    int iterate_with_momentum(Progress &progress);
    /** The number of inner iterations of the next correction, after one that took `done`. */
    void plan(double contraction, int done, bool is_first, Progress &progress) const;
    /** How many of inner_iterations the next correction needs, if it is to be the last; else all of them. */
    int  enough_to_end(double contraction, int done, const Progress &progress) const;
    void predict(double first, double contraction, const Progress &progress, RefinementResult &result) const;
    /** Whether ||b - A x|| is some roundings of || |A| |x| + |b| ||. */
    bool is_at_rounding(const double *x, const Progress &progress);

    const std::unique_ptr<OuterSystem<Number>> system;
    const std::unique_ptr<InnerSolver<Number>> inner;
    RefinementOptions                          options;
    const bool                                 takes_own;    ///< of the inner solver's, where it has them
    const std::shared_ptr<Number[]>            own_r, own_c; ///< null where the inner solver has its own
    Number *const                              r;
    Number *const                              c;
    const std::shared_ptr<double[]>            second_x;  ///< where the corrected x is made
    std::shared_ptr<Number[]>                  last_step; ///< of momentum; null without
    CorrectionMomentum                         momentum;  ///< what it has learned, from solve to solve
  };

  /**
   * A refinement of a stored matrix. @param make_inner makes the inner solver of the matrix in the precision of Number,
   * which is scaled: see ScaledMatrix. @throws InvalidInput, DeviceError.
   */
  template <typename Number>
  std::unique_ptr<Refinement<Number>>
  make_refinement(const CrsMatrix<double>                                                              &A,
                  const std::function<std::unique_ptr<InnerSolver<Number>>(const CrsMatrix<Number> &)> &make_inner,
                  const RefinementOptions                                                              &options,
                  Backend                                                                               backend,
                  int                                                                                   n_threads = 0);
} // namespace leopard
