// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../base/backend.h"
#include "../exchange/communication.h"
#include "../matrix/stencil.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace leopard
{
  /**
   * What a relaxation that tests the residual by itself is told. Norms in the units of b; -1 where they are not known
   * yet.
   */
  struct ResidualTest
  {
    double relative_tolerance = 0., absolute_tolerance = 0., divergence_factor = 1e6; ///< as in StoppingCriteria
    int    every            = 10;                                                     ///< global iterations between two tests
    double initial_residual = -1.;
    double norm_b           = -1.;

    /** max(absolute_tolerance, relative_tolerance ||b||), with the initial residual in the place of ||b|| = 0. */
    double goal() const;
    /** What is called divergence. */
    double limit() const;
  };

  /** What iterate_until() has done. */
  struct IterationReport
  {
    int                 minimum = 0, maximum = 0; ///< global iterations of the block that did the fewest, and the most
    double              mean             = 0.;    ///< and over all blocks
    double              initial_residual = 0.;    ///< ||b - A x||_2 before, ||b||_2, ||b - A x||_2 afterwards
    double              norm_b           = 0.;
    double              final_residual   = 0.;
    std::vector<int>    estimate_iterations; ///< where the residual was estimated on the way
    std::vector<double> estimates;           ///< and its norm, of values that were not of one time
    std::vector<double> estimate_seconds;    ///< and the wall time since iterate_until() began; empty: nobody looked at the clock
  };

  /**
   * A stationary iteration x <- x + C (b - A x) for a matrix A with nonzero diagonal: block-asynchronous iteration,
   * Jacobi, Gauss-Seidel, SOR, SSOR; or one with a memory, Chebyshev iteration. Ghost columns of A are read and never
   * written.
   *
   * All arrays live in memory_space(); x has n_columns() values, b has n_rows().
   */
  template <typename Number>
  class Relaxation
  {
  public:
    virtual ~Relaxation() = default;

    /** "async-(5)", "Jacobi", ... */
    virtual std::string name() const = 0;

    /** What a log should say of how it computes, in a line; empty if there is nothing to say. */
    virtual std::string description() const { return ""; }

    virtual int         n_rows() const       = 0;
    virtual int         n_columns() const    = 0;
    virtual MemorySpace memory_space() const = 0;

    /**
     * Whether the result of iterate() from x = 0 after restart() is the same linear function of b in every call. False
     * for chaotic schedules.
     */
    virtual bool is_fixed_linear_map() const = 0;

    /**
     * Whether this map is fixed and symmetric if A is symmetric, whatever the number of iterations: what conjugate
     * gradients ask of a preconditioner. False for all that updates rows or blocks one after the other, in a fixed
     * order (SOR) or not (chaotic schedules).
     */
    virtual bool is_symmetric_map() const { return false; }

    /**
     * Whether restart() and iterate() only queue their work on the device, so that a CUDA graph can hold it.
     */
    virtual bool is_queued() const { return memory_space() == MemorySpace::device; }

    /** Does n global iterations and returns when they are done, or, if is_queued(), when they are queued. */
    virtual void iterate(Number *x, const Number *b, int n_iterations) = 0;

    /**
     * The same from x = 0 (n_columns() zeros), whatever is in x: some methods need not read what they know. The default
     * writes zeros.
     */
    virtual void iterate_from_zero(Number *x, const Number *b, int n_iterations);

    /**
     * r = b - A x (n_rows() entries of r, another vector than x and b), queued on the device, where the method's own
     * copy of the matrix makes that cheaper than a product with the matrix. @return whether it has done that.
     */
    virtual bool residual(Number * /*r*/, const Number * /*x*/, const Number * /*b*/) { return false; }

    /**
     * Whether iterate_until() may be called: the persistent form on a GPU, whose blocks are not to be stopped for a
     * test.
     */
    virtual bool tests_itself() const { return false; }

    /**
     * At most n global iterations, and fewer if the relaxation itself finds that the test's goal is met, its limit
     * passed, or that it is time for the caller to look. What it finds on the way is an estimate, the final residual is
     * not.
     */
    virtual IterationReport iterate_until(Number *x, const Number *b, int n_iterations, const ResidualTest &test);

    /** Forgets what an iteration with momentum or a polynomial remembers of the iterations before. */
    virtual void restart() {}

    /** ||b - A x||_2^2 over the own rows, as a sum of square() of base/norms.h: zero for zeros only. */
    virtual double residual_norm_squared(const Number *x, const Number *b) = 0;

    /** ||b||_2^2 over the own rows, likewise. */
    virtual double norm_squared(const Number *b) = 0;

    /**
     * Takes new values for the sparsity pattern that the object was made with: one value an entry, host memory (of one
     * that was made of a matrix on the device also that), in the order of that matrix. Allocates nothing.
     * @throws InvalidInput if a value is not finite, or a diagonal entry has become zero; then the object is as it was.
     */
    virtual void update_values(const Number *values) = 0;

    /**
     * The same for one that was made of a stencil, or of its matrix, where have_same_pattern(); what is stored is made
     * of the stencil for this.
     */
    virtual void update_stencil(const Stencil<Number> &stencil) { update_values(stencil.to_crs().values.data()); }

    /**
     * Takes another relaxation factor, dimensionless, together with the values that it is given next: the
     * largest that does not amplify depends on the matrix. Allocates nothing.
     * @throws InvalidInput if it is out of range, and where the method has none (the default).
     */
    virtual void set_omega(double omega);
  };

  /**
   * When solve() stops. Without tolerances it does max_iterations global iterations, unless max_seconds or
   * divergence_factor end it, and tests nothing on the way, but for max_seconds or keep_history.
   */
  struct StoppingCriteria
  {
    int    max_iterations     = 10000;  ///< global iterations
    double relative_tolerance = 0.;     ///< stop when ||r||_2 <= relative_tolerance * ||b||_2 (dimensionless, at least 1e-15); 0: no test
    double absolute_tolerance = 0.;     ///< stop when ||r||_2 <= absolute_tolerance (units of b, at least 1e-145); 0: no test
    int    test_every         = 10;     ///< global iterations between two residual tests
    double divergence_factor  = 1e6;    ///< ||r|| above this multiple of the first residual norm is called divergence
    int    stagnation_tests   = 10;     ///< so many tests at least before anything is called stagnation (see StagnationTest); 0: never
    double slowest_factor     = 0.9998; ///< reduction an iteration that is told from stagnation even where residuals scatter
    double max_seconds        = 0.;     ///< wall time at which to stop, looked at with each test; 0: no limit
    bool   keep_history       = false;  ///< test every test_every global iterations without tolerances, too
    /**
     * Asked with each test, or without tests every test_every global iterations, on all ranks alike; once true (and
     * from then on), solve() ends.
     */
    std::function<bool()> asked_to_stop = {};

    /** @throws InvalidInput if a number is out of range. */
    void validate() const;
  };

  enum class SolveStatus
  {
    converged,       ///< a tolerance was met
    iteration_limit, ///< max_iterations were done; with no tolerance given this is what was asked for
    diverged,        ///< the residual grew beyond divergence_factor, grew tenfold without a pause, or is not finite
    stagnated,       ///< the residual no longer falls, or grows slowly (see StagnationTest)
    time_limit,      ///< max_seconds have passed
    stopped          ///< StoppingCriteria::asked_to_stop
  };

  /** "converged", "iteration limit", "diverged", "stagnated", "time limit" or "stopped". */
  std::string to_string(SolveStatus status);

  struct SolveResult
  {
    SolveStatus         status           = SolveStatus::iteration_limit;
    int                 n_iterations     = 0;  ///< global iterations done, by the block that did the most
    int                 min_iterations   = 0;  ///< by the block that did the fewest
    double              mean_iterations  = 0.; ///< over all blocks
    double              seconds          = 0.; ///< wall time, tests included
    double              initial_residual = 0.; ///< ||b - A x_0||_2
    double              final_residual   = 0.; ///< ||b - A x||_2 at the end
    std::vector<int>    history_iterations;    ///< the iterations at which the residual was tested
    std::vector<double> history_residuals;     ///< and its norm there; between the first and the last it may be an estimate of the persistent form
    std::vector<double> history_seconds;       ///< and the wall time since the solve began; not a number where nobody looked at the clock

    /**
     * Factor by which an iteration reduced the residual, in the mean over the second half of the history; 0 without
     * one.
     */
    double convergence_factor() const;
  };

  /**
   * Relaxes A x = b from the x that is given until one of the criteria holds. Between two tests nothing synchronizes
   * but the exchange of ghosts, once a global iteration, where communication has any. Collective.
   * @param x n_columns values, @param b n_rows values, both in relaxation.memory_space().
   * @throws InvalidInput with a relative tolerance if ||b||, or for b = 0 the first residual, is above 1e145, or is
   * below 1e-130 and not zero and there is no absolute tolerance: squares would under- or overflow. In every case for a
   * first residual that is infinite. A relaxation that tests by itself has changed x until then.
   */
  template <typename Number>
  SolveResult solve(Relaxation<Number>          &relaxation,
                    Number                      *x,
                    const Number                *b,
                    const StoppingCriteria      &criteria,
                    const Communication<Number> &communication = Communication<Number>());
} // namespace leopard
