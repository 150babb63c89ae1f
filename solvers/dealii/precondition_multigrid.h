// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../device/device_vector.h"
#include "../multigrid/aggregation.h"
#include "../multigrid/find_stencil.h"
#include "../multigrid/multigrid.h"
#include "../refinement/inner_solver.h"
#include "../refinement/mixed_vectors.h"
#include "trilinos_matrix.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace leopard
{
  struct DistributedStencilOptions;

  /**
   * A choice of entries of a rank's own part of a vector: all of them, or those of one of several interleaved fields.
   */
  struct Field
  {
    int component    = 0;
    int n_components = 1;
  };

  /**
   * Multigrid for deal.II's Krylov solvers, and as a solver, on a rank's own entries of a vector or on those of one
   * field of several: one cycle for A dst = src from dst = 0. Takes Trilinos vectors with the backends reference and
   * host, and DeviceVectors with cuda. SolverCG needs is_symmetric_map(), SolverFGMRES and mostly SolverFlexibleCG
   * nothing. n_threads = 0 in options stands for what dealii::MultithreadInfo::n_threads() allows.
   *
   * With Arithmetic::single_precision the cycle moves half the bytes: vectors stay double, src is multiplied with a
   * power of two of its size before it is rounded, so that it keeps its digits whatever its units are. To the solver
   * this is a preconditioner whose results are changed by some roundings of float. On several ranks ghosts travel as
   * floats.
   */
  class PreconditionMultigrid
  {
  public:
    /**
     * Stored matrices, for example of make_multigrid_hierarchy(). @param coarse in double whatever the arithmetic.
     * @throws InvalidInput, DeviceError, as Multigrid: what is wrong with one rank's part of a hierarchy on all ranks,
     * what befalls one while the levels are set up (no memory left) on that one only.
     */
    PreconditionMultigrid(const MultigridHierarchy             &hierarchy,
                          const MultigridOptions               &options,
                          std::unique_ptr<CoarseSolver<double>> coarse     = nullptr,
                          const Field                          &field      = {},
                          Arithmetic                            arithmetic = Arithmetic::double_precision);

    /** By smoothed aggregation, of the whole matrix on one rank. @throws InvalidInput, DeviceError, as Multigrid. */
    PreconditionMultigrid(const CrsMatrix<double>  &A,
                          const AggregationOptions &aggregation,
                          const MultigridOptions   &options,
                          const Field              &field      = {},
                          Arithmetic                arithmetic = Arithmetic::double_precision);

    /**
     * The stencil form, for a matrix of one rank that is a stencil; isolated rows are solved with their diagonal alone.
     * @param n_levels 0: as many as are of use. @throws InvalidInput, DeviceError, as Multigrid.
     */
    PreconditionMultigrid(const FoundStencil                   &found,
                          int                                   n_levels,
                          const MultigridOptions               &options,
                          std::unique_ptr<CoarseSolver<double>> coarse     = nullptr,
                          const Field                          &field      = {},
                          Arithmetic                            arithmetic = Arithmetic::double_precision);

    /**
     * The stencil form on several ranks, as DistributedStencilMultigrid: values travel from the rows of the matrix to
     * slabs of the grid, and back, once a vmult() or solve(). Double precision. Collective. @param found of all ranks.
     * @param n_levels as for DistributedStencilMultigrid. @throws InvalidInput, DeviceError, as that and RowsOnSlabs.
     */
    PreconditionMultigrid(const FoundStencil &found, MPI_Comm comm, int n_levels, const DistributedStencilOptions &options, const Field &field = {});
    ~PreconditionMultigrid();
    PreconditionMultigrid(PreconditionMultigrid &&) noexcept;

    /** One cycle from zero. Entries of dst that are of other fields stay as they are. */
    void vmult(HostVector &dst, const HostVector &src) const;
    void vmult(DeviceVector<double> &dst, const DeviceVector<double> &src) const;
    /** The same for a rank's own entries in memory_space(). */
    void vmult(double *dst, const double *src) const;
    /**
     * One cycle from zero for weight() A, of which nothing is in double. @throws InvalidInput for cycles in double
     * precision.
     */
    void vmult(float *dst, const float *src) const;

    /**
     * Cycles from x until a criterion holds; x and b are a rank's own entries in memory_space(). @throws InvalidInput
     * in single precision, where a Refinement with inner_solver() is what solves.
     */
    SolveResult solve(double *x, const double *b, const StoppingCriteria &criteria);

    /**
     * Cycles in single precision as the corrections of a refinement, whose system is made with weight(). Of all
     * entries, not of a field; this object must outlive it. @throws InvalidInput in double precision and for a field of
     * several.
     */
    std::unique_ptr<InnerSolver<float>> inner_solver() const;
    /** What the matrix is multiplied with for the cycles, see scale_of_weight(). */
    double weight() const;

    MemorySpace memory_space() const;

    /**
     * As Multigrid has them; but in single precision the map is fixed and linear only up to roundings of float, which
     * GMRES takes for its residual's (it needs two iterations more for 1e-10), and FGMRES does not. CG bears them.
     */
    int              n_levels() const;
    double           operator_complexity() const;
    MultigridOptions options() const; ///< as Multigrid::options()
    bool             is_fixed_linear_map() const;
    bool             is_symmetric_map() const;
    std::string      description() const;
    std::string      diagnosis();
    void             update_values(const MultigridHierarchy &hierarchy);
    /**
     * @param found on the rows of the first. @return false where a new object is needed, see Multigrid; on several
     * ranks always.
     */
    bool update_values(const FoundStencil &found);

  private:
    struct Data;
    class InnerCycles;

    /** Between the user's own entries and the order that the multigrid has, x with ghosts. */
    void apply(double *x, const double *b, bool read_x, const std::function<void(double *, const double *)> &method) const;

    std::unique_ptr<Data> data;
  };
} // namespace leopard
