// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../device/device_vector.h"
#include "../multigrid/find_stencil.h"
#include "../multigrid/multigrid.h"
#include "trilinos_matrix.h"

#include <functional>
#include <memory>
#include <vector>

namespace leopard
{
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
   * nothing.
   */
  class PreconditionMultigrid
  {
  public:
    /** Stored matrices, for example of make_multigrid_hierarchy(). @throws InvalidInput, DeviceError, as Multigrid. */
    PreconditionMultigrid(const MultigridHierarchy             &hierarchy,
                          const MultigridOptions               &options,
                          std::unique_ptr<CoarseSolver<double>> coarse = nullptr,
                          const Field                          &field  = {});

    /**
     * The stencil form, for a matrix of one rank that is a stencil.
     * @param diagonal of the matrix, one a row: rows that are not of the stencil are solved with it alone.
     * @param n_levels 0: as many as are of use. @throws InvalidInput, DeviceError, as Multigrid.
     */
    PreconditionMultigrid(const FoundStencil                   &found,
                          const std::vector<double>            &diagonal,
                          int                                   n_levels,
                          const MultigridOptions               &options,
                          std::unique_ptr<CoarseSolver<double>> coarse = nullptr,
                          const Field                          &field  = {});
    ~PreconditionMultigrid();
    PreconditionMultigrid(PreconditionMultigrid &&) noexcept;

    /** One cycle from zero. Entries of dst that are of other fields stay as they are. */
    void vmult(HostVector &dst, const HostVector &src) const;
    void vmult(DeviceVector<double> &dst, const DeviceVector<double> &src) const;

    /** Cycles from x until a criterion holds; x and b are a rank's own entries in memory_space(). */
    SolveResult solve(double *x, const double *b, const StoppingCriteria &criteria);

    MemorySpace        memory_space() const;
    Multigrid<double> &multigrid() const;

  private:
    /** Between the user's own entries and the order that the multigrid has, x with ghosts. */
    void apply(double *x, const double *b, bool read_x, const std::function<void(double *, const double *)> &method) const;

    struct Data;
    std::unique_ptr<Data> data;
  };
} // namespace leopard
