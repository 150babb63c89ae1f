// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "linear_solver.h"

#include <applications/discretization/level_source.h>
#include <solvers/base/errors.h>
#include <solvers/dealii/field_sweep.h>
#include <solvers/dealii/precondition_multigrid.h>
#include <solvers/distributed/mpi/ghost_exchange.h>
#include <solvers/distributed/stencil/distributed_stencil_multigrid.h>
#include <solvers/multigrid/find_stencil.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace leopard
{
  /**
   * Thrown on all ranks where the stencil form can be had, but not in single precision, which the program has chosen.
   */
  class NeedsDouble : public Error
  {
  public:
    using Error::Error;
  };

  /**
   * Why a stencil, if there is one, cannot be shared out among several ranks with these parameters; empty: it can, as
   * far as they tell.
   */
  std::string why_no_slabs(const LinearSolverParameters &parameters);
  /** Whether levels are stored matrices whatever the matrix is. After LinearSolverParameters::choose_backend(). */
  bool has_stored_levels(const LinearSolverParameters &parameters, unsigned int n_ranks);

  /**
   * Multigrid for one field of a matrix A, which is what the discretization made of diffusion and absorption, K, when
   * this is made. When A's values change later, what A has beyond K acts at the nodes (reaction, lumped mass; of a
   * consistent mass its row sums) and is handed down to the levels as a quantity that is integrated is: d_(l-1) = R_l
   * d_l, A_l = K_l + diag(d_l), so that sums over the domain stay what they are.
   *
   * Patterns, transfers and orders are made once; new values are copied into them.
   *
   * The form is stored or stencil, as section "Multigrid" says. On the finest level it is A's field itself in either
   * form, but for keep_definite(). On several ranks a stencil is shared out in slabs (DistributedStencilMultigrid), and
   * new values make it anew.
   */
  class FieldMultigrid
  {
  public:
    /**
     * Keeps references. Collective. @throws Error for what cannot be had: levels, form, coarse solver; NeedsDouble.
     */
    FieldMultigrid(const LinearSolverParameters &parameters, const HostMatrix &A, const Field &field, LevelSource &levels, MPI_Comm comm);

    /**
     * Takes the values that A has now, in place where their pattern is that of the values before. @return whether
     * preconditioner() is still the same object. Collective.
     */
    bool update_values();

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
    void keep_definite(int n_levels);
    /** From A to the field's matrix. */
    void copy_values();
    /** The multigrid for the field's matrix as it is now. */
    bool update_form();
    /** Whether the stencil, if there is one, stays one with the new values, which it takes. */
    bool update_found();
    void set_form_of_stencil();
    /** Whether the form is to be that of a stencil, and there is one. @throws Error, NeedsDouble. */
    bool find_stencil_form();
    /** What slabs are made with, of what was found. */
    DistributedStencilOptions options_of_slabs() const;
    /** @return whether the stencil that was found can be made multigrid of: on one rank it can. @throws Error. */
    bool make_stencil_form();
    /**
     * The form is stored, as there is no stencil. @param what said before `why` in the error. @return false. @throws
     * Error if one is asked for.
     */
    bool refuse_stencil(const std::string &what, const std::string &why, const std::string &expected);
    /** The same, as it cannot be shared out among the ranks. */
    bool refuse_slabs(const std::string &why);
    bool update_stored_form();
    void make_hierarchy();
    /** @return whether the finest level has the pattern that it had. */
    bool take_values();
    bool take_finest_values();
    /** What the matrix has beyond K in the row of a node. */
    double beyond_stiffness(int row) const;
    /** The same from a level to the diagonal of the next coarser one. */
    void restrict_beyond(std::size_t level);

    std::unique_ptr<CoarseSolver<double>> coarse_solver(const MultigridLevel &level) const;

    const LinearSolverParameters &parameters;
    const HostMatrix             &A;
    const Field                   field;
    LevelSource                  &levels;
    const MPI_Comm                comm;
    LocalMatrix                   matrix;    ///< of the field, with the values of now
    const std::vector<int>        entries;   ///< of each entry of it its number among A's
    std::vector<double>           stiffness; ///< values of K, entry by entry
    const std::vector<int>        diagonal;  ///< of each row the number of its diagonal entry
    const std::vector<double>     nodes;

    std::unique_ptr<const GhostExchange<double>> ghosts;   ///< of matrix, where several ranks look for a stencil
    RowsOfRanks                                  of_ranks; ///< likewise

    std::optional<FoundStencil> found; ///< stencil form

    // stored form
    std::optional<MultigridHierarchy> hierarchy;
    CrsMatrix<double>                 finest;         ///< its finest matrix, with the zeros
    std::vector<int>                  finest_entries; ///< of that those which the hierarchy has
    std::vector<bool>                 is_constrained; ///< rows of it

    struct LevelDiagonal
    {
      std::vector<int>    entries;   ///< their numbers in the level's matrix
      std::vector<double> stiffness; ///< of K_l
      std::vector<double> beyond;    ///< d_l, with ghosts
    };
    std::vector<LevelDiagonal> level_diagonals;

    bool                                   is_changed   = false; ///< whether A has ever been other than K
    bool                                   takes_values = false; ///< whether multigrid can be given new values of the stored form
    std::string                            form;                 ///< which and why, for a log
    std::unique_ptr<PreconditionMultigrid> multigrid;
  };

  /** Multigrid for each field, one after the other (FieldSweep), as a preconditioner for all. */
  class FieldsMultigrid
  {
  public:
    /** As FieldMultigrid. @param vectors those of vmult(). */
    FieldsMultigrid(const LinearSolverParameters &parameters,
                    const HostMatrix             &A,
                    unsigned int                  n_components,
                    LevelSource                  &levels,
                    MPI_Comm                      comm,
                    Arithmetic                    vectors = Arithmetic::double_precision);

    void update_values(); ///< collective

    /** One cycle for each field, or two; as PreconditionMultigrid::vmult(). */
    void vmult(HostVector &dst, const HostVector &src) const { sweep(in_double, dst.begin(), src.begin()); }
    void vmult(DeviceVector<double> &dst, const DeviceVector<double> &src) const { sweep(in_double, dst.data(), src.data()); }
    void vmult(float *dst, const float *src) const { sweep(in_single, dst, src); }

    /** PreconditionMultigrid::weight() of each field. */
    std::vector<double> weights() const;

    bool        is_symmetric_map() const;
    bool        is_fixed_linear_map() const;
    std::string description() const;
    std::string details() const { return fields[0]->details(); }
    std::string diagnosis() const { return fields[0]->preconditioner().diagnosis(); }

  private:
    /** @param order null: there is one field. */
    template <typename Number>
    void sweep(const std::unique_ptr<FieldSweep<Number>> &order, Number *x, const Number *b) const
    {
      const auto cycle = [this](int field, Number *of_x, const Number *of_b) { fields[field]->preconditioner().vmult(of_x, of_b); };
      if (order == nullptr)
        cycle(0, x, b);
      else
        order->vmult(x, b, cycle);
    }
    /** Of the matrix in single precision, whose fields are scaled with the roots of weights(). */
    std::vector<double> scale() const;

    const HostMatrix                            &A;
    std::vector<std::unique_ptr<FieldMultigrid>> fields;
    std::unique_ptr<FieldSweep<double>>          in_double; ///< of several fields one of the two, as vectors are
    std::unique_ptr<FieldSweep<float>>           in_single;
  };
} // namespace leopard
