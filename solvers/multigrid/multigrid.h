// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../krylov/preconditioner.h"
#include "../matrix/device_crs.h"
#include "cycle.h"
#include "hierarchy.h"
#include "smoother.h"

#include <functional>
#include <memory>
#include <string>

namespace leopard
{
  /** What solves on level 0. Made by somebody who has the level's matrix. */
  template <typename Number>
  class CoarseSolver
  {
  public:
    virtual ~CoarseSolver() = default;
    /** "dense inverse", "CG", ... for a log. */
    virtual std::string name() const = 0;
    /** x = A_0^-1 b: x with ghosts, b without, both in the memory space of the multigrid's backend; collective. */
    virtual void solve(Number *x, const Number *b) = 0;
    /**
     * Takes a matrix with the pattern of the first and other values. Coarse solvers that do not implement it refuse.
     * @throws InvalidInput.
     */
    virtual void update(const CrsMatrix<double> &A, bool singular);
    /** Whether all that solve() does is queued on the device, so that a CUDA graph can hold it. */
    virtual bool is_queued() const { return false; }
    /** Whether x is the same linear function of b in every call; not so for CG that stops at a tolerance. */
    virtual bool is_fixed_linear_map() const { return true; }
    /** Seconds spent so far in copies between host and device, for MultigridProfile. */
    virtual double copy_seconds() const { return 0.; }
  };

  struct MultigridOptions
  {
    Backend   backend   = Backend::host;
    int       n_threads = 0; ///< host backend; 0: as many as this process may use
    CycleType cycle     = CycleType::v;
    /**
     * nu1, nu2: smoothing steps before and after the coarse correction; nu1 + nu2 >= 1. -1: 1 where they are async
     * whose blocks move, on stencils (smoother_moves()) or on stored matrices (SmootherOptions::moving_blocks), all
     * relaxed at once, on a GPU or in the synchronous schedule, and the other one is not 0; else 2.
     */
    int             pre_smoothing = -1, post_smoothing = -1;
    bool            full_start = false; ///< solve() begins with full multigrid: one cycle on each level from the coarsest up (x is not read)
    SmootherOptions smoother   = {};

    /**
     * Several ranks. false: between the iterations of a smoothing, ghost values are what has arrived from the
     * neighbours, and nobody waits for them (asynchronous methods converge for it). Before the first iteration, for
     * residuals, restriction and correction they are waited for all the same. Needs the smoother async with the chaotic
     * schedule, and the backend host or cuda.
     */
    bool wait_for_ghosts = true;

    /**
     * dense: inverse of A_0, one product a cycle; direct: sparse factors, on the host (Eigen). Others are handed to the
     * constructor.
     */
    std::string coarse_solver = "dense";
    int         max_dense     = 4096;   ///< unknowns that coarse_solver = dense accepts
    int         max_direct    = 100000; ///< and direct

    /**
     * Stored levels in single precision on a GPU: the entries of the level matrices beside the diagonal have 16 bits,
     * unless few distinct ones are numbered in 8 (device::round_to_bfloat16()); vectors, transfers and arithmetic stay
     * in single precision. The cycle is one for the rounded matrix: it corrects or preconditions for the given one, and
     * does so well where most entries beside the diagonal are negative.
     */
    bool sixteen_bits = false;

    bool use_graph = true; ///< backend cuda: the cycle is one CUDA graph where everything in it is queued on the device

    void validate() const;
    /**
     * The same with nu1 and nu2 that are numbers of steps. @param moves whether blocks or tiles do: smoother_moves(),
     * blocks_move().
     */
    MultigridOptions with_steps(bool moves) const;
  };

  /** The number of levels that Multigrid takes for a stencil if it is told 0. @throws InvalidInput. */
  int default_n_levels(const Stencil<double> &finest, Backend backend);

  /** Where the time of a cycle goes, in seconds a cycle, measured with a wait after each part. */
  struct MultigridProfile
  {
    struct Level
    {
      int    n_unknowns = 0;
      double smoother = 0., residual_and_transfers = 0.;
    };
    std::vector<Level> levels;                          ///< coarsest first
    double             coarse_solver = 0., copies = 0.; ///< copies between host and device inside the cycle (coarse solvers on the host)
    double             sum() const;
  };

  struct AggregationOptions; ///< aggregation.h
  template <typename Number>
  class MultigridOperations; ///< what a form (stored, stencil) and a backend implement (operations.h)
  template <typename Number>
  struct MultigridData; ///< the cycle on them (multigrid_data.h)

  /**
   * Geometric multigrid for A x = b over a given hierarchy: on each level nu1 smoothing steps, the residual
   * restricted, the coarser level's cycle from zero (W: two, F: an F- and a V-cycle), the correction prolongated, nu2
   * smoothing steps. With interface matrices it is the local smoothing of adaptive meshes. Hierarchies and operators
   * go to the device once; a cycle moves nothing between host and device and allocates nothing. A hierarchy is made in
   * double precision; what the cycle needs of it is rounded to Number.
   *
   * All arrays live in memory_space(). x has n_columns() values (own ones, then ghosts of finest_matrix()), b has
   * n_rows().
   *
   * A singular problem whose null space is the constants (pure Neumann, symmetric; recognized by A 1 = 0 for the whole
   * problem and on level 0, where rows with nothing beside the diagonal do not count) is solved among the vectors of
   * mean zero: solve(), cycle() and vmult() take the mean out of b and x, is_singular() and description() say so.
   * Coarse solvers that are handed in get right-hand sides of mean zero.
   *
   * W- and F-cycles and the full multigrid start are for hierarchies of global refinement; with local smoothing it is
   * the V-cycle. Ghosts of x need not be up to date, and are not brought up to date.
   * Source: Trottenberg, Oosterlee, Schueller, Multigrid, 2001, section 2.4; local smoothing: Janssen, Kanschat 2011;
   * thesis, Algorithm 10.
   */
  template <typename Number>
  class Multigrid
  {
  public:
    /**
     * Stored matrices, which are copied. @param coarse null: what the options name; it keeps the numbering of level 0.
     * @throws InvalidInput, DeviceError (before anything is allocated if the device is too small, with what is needed).
     */
    Multigrid(const MultigridHierarchy &hierarchy, const MultigridOptions &options, std::unique_ptr<CoarseSolver<Number>> coarse = nullptr);

    /**
     * Levels of smoothed aggregation for any square matrix, A alone: aggregation_hierarchy(), on the backend cuda made
     * on the device (device_aggregation.h) for the smoothers chebyshev and async, the latter's blocks made of
     * aggregates unless their shape is asked for. Those of nodes with more than 16 unknowns, or of as many vectors, are
     * made on the host (AggregationOptions::fits_on_device()), which description() says. For other values it is made
     * anew. @throws InvalidInput, DeviceError.
     */
    Multigrid(const CrsMatrix<double> &A, const AggregationOptions &aggregation, const MultigridOptions &options);

    /**
     * Stencils on all levels, nothing stored. @param n_levels 0: coarsened until a level has at most 256 unknowns
     * (host) or 1024 (cuda).
     * @throws InvalidInput, DeviceError.
     */
    Multigrid(const Stencil<double> &finest, int n_levels, const MultigridOptions &options, std::unique_ptr<CoarseSolver<Number>> coarse = nullptr);

    /** Operations of one's own. @param coarse what solves on level 0, on vectors x(0) and b(0) of the operations. */
    Multigrid(std::unique_ptr<MultigridOperations<Number>> operations, const MultigridOptions &options, std::unique_ptr<CoarseSolver<Number>> coarse);
    ~Multigrid();
    Multigrid(Multigrid &&) noexcept;

    int n_rows() const;
    int n_columns() const;
    int n_levels() const;
    int n_unknowns(int level) const; ///< own ones
    /** Entries of all levels' matrices over those of the finest one. 0: they are not stored. */
    double operator_complexity() const;
    /** As they were given, with smoothing steps that were chosen. */
    const MultigridOptions &options() const;
    MemorySpace             memory_space() const;
    bool                    is_singular() const;
    /**
     * Whether vmult() is the same linear map in every call. Not with chaotic smoothers, nor if ghosts are not waited
     * for: flexible Krylov methods then.
     */
    bool is_fixed_linear_map() const;
    /**
     * Whether vmult() is fixed and symmetric for symmetric problems, as conjugate gradients want it: symmetric
     * smoothers, nu1 = nu2, R = P^T.
     */
    bool is_symmetric_map() const;
    /**
     * Whether the steps before and after the coarse correction are as many, and of blocks that stay: then the cycle is
     * nearly symmetric, be the schedule chaotic or not, and the eigenvalues of what it leaves of an error are nearly in
     * [0, 1) where A is symmetric positive definite.
     */
    bool has_mirrored_steps() const;
    /**
     * Whether vmult() is all queued on the device, so that a CUDA graph can hold it: with exchanges of ghosts and a
     * coarse solver that are queued, and of a regular problem (the mean of a singular one is taken out with the host's
     * help).
     */
    bool is_queued() const;
    /** Levels, unknowns, smoother, cycle, coarse solver, memory, in some lines for a log. */
    std::string description() const;
    /** Bytes of all operators and vectors. */
    std::size_t memory() const;

    /**
     * Takes new values for the patterns of the hierarchy that the object was made with: level matrices, interfaces, the
     * matrix of the active mesh. Transfers stay. Smoothers update theirs (with several ranks Chebyshev's interval
     * stays), the coarse solver factorizes anew.
     * @throws InvalidInput for a hierarchy of other sizes, for stencils, a zero diagonal, and where smoother or coarse
     * solver cannot; the object is of no use then.
     */
    void update_values(const MultigridHierarchy &hierarchy);

    /**
     * Takes another stencil on the same grid, on all levels; smoothers and the coarse solver as above. Smoothers that
     * store their matrix (all but async and Jacobi's) make it anew for this.
     * @return false where that has another pattern (coefficients that are zero, or a diagonal that varies, in one of
     * both only): then nothing has changed, and a new Multigrid is needed.
     * @throws InvalidInput for stored matrices, for a stencil that is not valid or singular, and where the coarse
     * solver cannot; the object is of no use then.
     */
    bool update_values(const Stencil<double> &finest);

    /**
     * The finest level's matrix in double precision where it is on the device in the user's order: for a Krylov method,
     * which shares it. Without rows where it is not.
     */
    device::DeviceCrs<double> matrix_on_device() const;

    /** y = A x of the whole problem. @param y n_rows(), x n_columns() values; its ghosts are brought up to date. */
    void multiply(Number *y, Number *x);

    /**
     * Vectors of its own in which vmult(), cycle() and multiply() take b and x and leave the result without copies, b
     * as it was; null where there are none. Entry i of these is the row own_order()[i], in memory_space(); null: i
     * itself.
     */
    Number    *own_solution();
    Number    *own_right_hand_side();
    const int *own_order() const;

    /** x = C b: one cycle from x = 0. */
    void vmult(Number *x, const Number *b);

    /** One cycle from the given x. */
    void cycle(Number *x, const Number *b);

    /**
     * Cycles until a criterion holds; max_iterations counts cycles, of which the full multigrid start is one, and
     * test_every means nothing: the host reads one number a cycle. That is the residual after pre-smoothing, which
     * costs nothing, times what lay between it and the residual at the cycle's end when both were known; where that
     * comes near the goal, and now and then, the residual itself. What the history ends with is always the residual
     * itself. After divergence or stagnation ask diagnosis().
     */
    SolveResult solve(Number *x, const Number *b, const StoppingCriteria &criteria);

    /**
     * Smooths A_l x = 0 from a fixed random x on each level and says on which the residual grows, with the growth
     * factor a step (an estimate of the spectral radius of the smoother's iteration matrix); empty if on none. Takes
     * some dozens of smoothing steps a level.
     */
    std::string diagnosis();

    /** Times of the parts of a cycle, each part waited for; slower than the cycle itself where launches count. */
    MultigridProfile profile(int n_cycles);

  private:
    void take(const MultigridHierarchy &hierarchy, const MultigridOptions &options, std::unique_ptr<CoarseSolver<Number>> coarse);

    std::unique_ptr<MultigridData<Number>> data;
  };

  /** One cycle from z = 0. @throws InvalidInput if it has ghosts. */
  template <typename Number>
  std::shared_ptr<Preconditioner<Number>> make_preconditioner(std::shared_ptr<Multigrid<Number>> multigrid);
} // namespace leopard
