// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "linear_solver.h"

#include <applications/discretization/level_source.h>
#include <solvers/dealii/precondition_multigrid.h>
#include <solvers/multigrid/find_stencil.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace leopard
{
  /**
   * Multigrid for one field of a matrix A, which is what the discretization made of diffusion and absorption, K, when
   * this is made. When A's values change later, what A has beyond K acts at the nodes (reaction, lumped mass; of a
   * consistent mass its row sums) and is handed down to the levels as a quantity that is integrated is: d_(l-1) = R_l
   * d_l, A_l = K_l + diag(d_l), so that sums over the domain stay what they are.
   *
   * The form is stored or stencil, as section "Multigrid" says. On the finest level it is A's field itself in either
   * form, but for keep_definite().
   */
  class FieldMultigrid
  {
  public:
    /** Keeps references. Collective. @throws Error for what cannot be had: levels, form, coarse solver. */
    FieldMultigrid(const LinearSolverParameters &parameters, const HostMatrix &A, const Field &field, LevelSource &levels, MPI_Comm comm);

    /** Takes the values that A has now, in place where the stored form has been made for it. Collective. */
    void update_values();

    PreconditionMultigrid &preconditioner() { return *multigrid; }

    /** "V(2,2) with async-(5), 7 levels": in a line. */
    std::string description() const;
    /** Levels, unknowns, smoother, memory, and which form and why: in lines. */
    std::string details() const;

  private:
    /**
     * Of a preconditioner: where what A has beyond K is so negative that the smoothers of coarse levels would diverge,
     * its absolute value is taken, which keeps the levels definite. Source: Laird and Giles 2002, Preconditioned
     * iterative solution of the 2D Helmholtz equation.
     */
    void keep_definite(CrsMatrix<double> &now, int n_levels) const;
    bool make_stencil_form(const LocalMatrix &values);
    void make_stored_form(const LocalMatrix &values);
    void make_hierarchy();
    /** @return whether the finest level has the pattern that it had. */
    bool take_values(const LocalMatrix &values);

    std::unique_ptr<CoarseSolver<double>> coarse_solver(const MultigridLevel &level) const;

    const LinearSolverParameters &parameters;
    const HostMatrix             &A;
    const Field                   field;
    LevelSource                  &levels;
    const MPI_Comm                comm;
    const LocalMatrix             stiffness; ///< K of the field
    const std::vector<double>     nodes;

    // stored form
    std::optional<MultigridHierarchy> hierarchy;
    CrsMatrix<double>                 finest;          ///< its finest matrix, with the zeros
    std::vector<bool>                 is_constrained;  ///< rows of it
    std::vector<std::vector<double>>  level_diagonals; ///< of K_l below the finest level

    bool                                   is_changed   = false; ///< whether A has ever been other than K
    bool                                   takes_values = false; ///< whether multigrid can be given new values of the stored form
    std::string                            form;                 ///< which and why, for a log
    std::unique_ptr<PreconditionMultigrid> multigrid;
  };
} // namespace leopard
