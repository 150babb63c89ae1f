// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "multigrid.h"

namespace leopard
{
  /**
   * What a multigrid cycle is made of, on the vectors x_l and b_l that each level has. Implemented for stored matrices (host and cuda in one) and for
   * stencils (host; cuda). On cuda nothing here waits for the device unless it returns a number.
   */
  class Multigrid::Operations
  {
  public:
    virtual ~Operations() = default;

    virtual MemorySpace memory_space() const        = 0;
    virtual int         n_levels() const            = 0;
    virtual int         n_unknowns(int level) const = 0; ///< own ones
    virtual std::size_t memory() const              = 0; ///< bytes of operators and vectors
    virtual Relaxation &smoother(int level)         = 0; ///< of a level above 0

    virtual double *x(int level) = 0; ///< with ghosts
    virtual double *b(int level) = 0;

    /** x_l = 0. */
    virtual void set_zero(int level) = 0;
    /** x_l <- n smoothing steps for A_l x_l = b_l from x_l. */
    virtual void smooth(int level, int n_steps) = 0;
    /** b_{l-1} <- R_l (b_l - A_l x_l); with interface matrices added to b_{l-1}, as deal.II's Multigrid::level_v_step does. */
    virtual void restrict_residual(int level) = 0;
    /** x_l <- x_l + P_l x_{l-1}; with interface matrices then b_l <- b_l - E_l^T x_l. */
    virtual void correct(int level) = 0;
    /** For full multigrid: b_{l-1} <- R_l b_l, and x_l <- P_l x_{l-1}. */
    virtual void restrict_right_hand_side(int level) = 0;
    virtual void interpolate(int level)              = 0;

    /** Hierarchies with copy lists: all b_l from a global vector; and all x_l added to one. */
    virtual void set_right_hand_sides(const double *global) = 0;
    virtual void add_solutions(double *global)              = 0;

    /** r = b - A x of the whole problem; r has n_rows values. */
    virtual void residual(double *r, const double *x, const double *b) = 0;
    /** The same, and only ||r||_2^2 over all ranks. */
    virtual double residual_norm_squared(const double *x, const double *b) = 0;
    /** ||b_L - A_L x_L||_2^2 as the last restrict_residual() of the finest level L found it: the residual after pre-smoothing, for free. */
    virtual double restricted_residual_norm_squared() = 0;
    virtual double norm_squared(const double *b)      = 0;
    /** Takes the mean out of the own values of v on a level (singular problems); queued. */
    virtual void remove_mean(double *v, int level) = 0;
  };

  /** Stored matrices; on the host with threads, on the device with cuSPARSE. @throws InvalidInput, DeviceError. */
  std::unique_ptr<Multigrid::Operations> make_stored_operations(const MultigridHierarchy &hierarchy, const MultigridOptions &options);

  /** Stencils, finest last. */
  std::unique_ptr<Multigrid::Operations> make_stencil_host_operations(const std::vector<StencilGrid> &levels, const MultigridOptions &options);
  std::unique_ptr<Multigrid::Operations> make_stencil_cuda_operations(const std::vector<StencilGrid> &levels, const MultigridOptions &options);
} // namespace leopard
