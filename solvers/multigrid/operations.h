// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../matrix/device_crs.h"
#include "multigrid.h"
#include "slab_smoother.h"

namespace leopard
{
  /**
   * What a multigrid cycle is made of, on the vectors x_l and b_l that each level has. Implemented for stored matrices
   * (host and cuda in one) and for stencils (host; cuda). On cuda nothing here waits for the device unless it returns a
   * number, remove_coarse_mean() apart.
   *
   * Norms and sums are those of the own rows; whoever wants them over all ranks asks communication(). A level may
   * number its unknowns as it likes: only set_right_hand_sides(), set_solution() and get_solution() know the user's
   * order. Level 0 keeps the user's order, for the coarse solver.
   */
  template <typename Number>
  class MultigridOperations
  {
  public:
    virtual ~MultigridOperations() = default;

    virtual MemorySpace         memory_space() const        = 0;
    virtual int                 n_levels() const            = 0;
    virtual int                 n_unknowns(int level) const = 0;                      ///< own ones
    virtual int                 n_rows() const { return n_unknowns(n_levels() - 1); } ///< of the whole problem
    virtual int                 n_columns() const { return n_rows(); }                ///< with ghosts
    virtual std::size_t         memory() const      = 0; ///< bytes of operators and vectors, smoothers included as far as they say
    virtual Relaxation<Number> &smoother(int level) = 0; ///< of a level above 0
    virtual double              n_entries(int /*level*/) const { return 0.; } ///< of a stored matrix
    /** What a log should say beside the smoother's own description, in a line; empty: nothing. */
    virtual std::string description(int /*level*/) const { return ""; }

    virtual Number *x(int level) = 0; ///< with ghosts
    virtual Number *b(int level) = 0;

    /** x_l = 0. */
    virtual void set_zero(int level) = 0;
    /** x_l <- n smoothing steps for A_l x_l = b_l from x_l. */
    virtual void smooth(int level, int n_steps) = 0;
    /** The same from zero, whatever is in x_l; n >= 1. */
    virtual void smooth_from_zero(int level, int n_steps)
    {
      set_zero(level);
      smooth(level, n_steps);
    }
    /**
     * b_{l-1} <- R_l (b_l - A_l x_l); on adaptive hierarchies b_{l-1} += R_l (b_l - A_l x_l - E_l x_l), as deal.II's
     * Multigrid::level_v_step does.
     */
    virtual void restrict_residual(int level) = 0;
    /** x_l <- x_l + P_l x_{l-1}; with interface matrices then b_l <- b_l - E_l^T x_l. */
    virtual void correct(int level) = 0;
    /** For full multigrid: b_{l-1} <- R_l b_l, and x_l <- P_l x_{l-1}. */
    virtual void restrict_right_hand_side(int level) = 0;
    virtual void interpolate(int level)              = 0;

    // Vectors in the user's order. On singular problems the mean is taken out on the way.

    /**
     * b_L <- b for the finest level L; on adaptive hierarchies all b_l from the copy lists, zero where nothing is
     * copied to.
     */
    virtual void set_right_hand_sides(const Number *b) = 0;
    /** x_L <- x. Not on adaptive hierarchies. */
    virtual void set_solution(const Number *x) = 0;
    /** x <- x_L, own values; on adaptive hierarchies x <- all x_l at the entries of the copy lists, zero elsewhere. */
    virtual void get_solution(Number *x) = 0;

    /**
     * Stencils: level 0, whose smoother nobody asks for, has its vectors there from now on, with the ghosts of slabs
     * around x: a part of a vector of all ranks.
     */
    virtual void place_coarsest(Number * /*x*/, Number * /*b*/);

    /**
     * Whether the three copy nothing where they are given b_L and x_L themselves, which then are in their own order:
     * entry i is the user's row own_order()[i], in memory_space(); null: i itself. multiply(y, x_L) leaves y in it,
     * too.
     */
    virtual bool       takes_own_vectors() const { return false; }
    virtual const int *own_order() const { return nullptr; }

    /** y = A x of the whole problem, whose ghosts are brought up to date; x_L is not what it was afterwards. */
    virtual void multiply(Number *y, Number *x) = 0;

    // Vectors of the whole problem: those of the finest level in its own order, or, on adaptive hierarchies, of the
    // active mesh in the user's order.

    /** ||b - A x||_2^2, on singular problems without the mean. */
    virtual double residual_norm_squared(Number *x, const Number *b) = 0;
    virtual double norm_squared(const Number *b)                     = 0;
    /**
     * ||b_L - A_L x_L||_2^2 as the last restrict_residual() of the finest level L found it: the residual after
     * pre-smoothing, at no cost. To be asked for before residual_norm_squared() and multiply(). Not on adaptive
     * hierarchies.
     */
    virtual double restricted_residual_norm_squared() = 0;

    // What some forms have.

    /**
     * Whether a cycle's operations are all queued on the device, so that a CUDA graph can hold them: not if exchanges
     * of ghosts wait. The same on all ranks, which then replay it equally often.
     */
    virtual bool is_queued() const { return memory_space() == MemorySpace::device; }
    virtual bool is_adaptive() const { return false; }
    /** On adaptive hierarchies: set_right_hand_sides() with b - A x; and x += what get_solution() gives. */
    virtual void set_residual(Number * /*x*/, const Number * /*b*/) {}
    virtual void add_solutions(Number * /*x*/) {}
    /** Whether the constants are the null space of the operators. */
    virtual bool is_singular() const { return false; }
    /** See Multigrid. */
    virtual device::DeviceCrs<double> matrix_on_device() const { return {}; }
    /** New values for the same patterns, of stored matrices or of stencils. @throws InvalidInput by default. */
    virtual void update_values(const MultigridHierarchy &hierarchy);
    virtual void update_stencils(const std::vector<StencilGrid> &levels);
    /** Takes the mean out of the own values of v on level 0. Singular problems only. */
    virtual void remove_coarse_mean(Number * /*v*/) {}
    /** Of a level, or, with level = n_levels(), of the whole problem. */
    virtual const Communication<Number> &communication(int /*level*/) const
    {
      static const Communication<Number> one_rank;
      return one_rank;
    }
  };

  /** Whether the entries of stored levels go to the device as they are, and are checked, permuted and split there. */
  bool is_set_up_on_device(const MultigridOptions &options);

  /**
   * Stored matrices; on the host with threads, on the device with cuSPARSE. @param options where blocks move with
   * SmootherOptions::moving_blocks = yes only, as blocks_move() has decided. @throws InvalidInput, DeviceError.
   */
  template <typename Number>
  std::unique_ptr<MultigridOperations<Number>> make_stored_operations(const MultigridHierarchy &hierarchy, const MultigridOptions &options);

  /** Whether levels of aggregation are made on the device: where their smoother and its blocks are. */
  bool is_aggregated_on_device(const MultigridOptions &options);

  /** Levels made there of A. @param coarsest receives the matrix of level 0. @throws InvalidInput, DeviceError. */
  template <typename Number>
  std::unique_ptr<MultigridOperations<Number>> make_aggregation_operations(const CrsMatrix<double>  &A,
                                                                           const AggregationOptions &aggregation,
                                                                           const MultigridOptions   &options,
                                                                           CrsMatrix<double>        &coarsest);

  /**
   * Stencils, finest last. @param overlap of slabs. With one, smooth_from_zero() leaves ghosts of x as they are, takes
   * one iteration, the first of two, and is for the backend cuda.
   */
  template <typename Number>
  std::unique_ptr<MultigridOperations<Number>>
  make_stencil_host_operations(const std::vector<StencilGrid> &levels, const MultigridOptions &options, const SlabOverlap &overlap = {});
  template <typename Number>
  std::unique_ptr<MultigridOperations<Number>>
  make_stencil_cuda_operations(const std::vector<StencilGrid> &levels, const MultigridOptions &options, const SlabOverlap &overlap = {});
} // namespace leopard
