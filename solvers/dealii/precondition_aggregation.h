// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../multigrid/aggregation.h"
#include "field_sweep.h"
#include "own_rows_preconditioner.h"
#include "precondition_multigrid.h"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace dealii
{
  template <typename>
  class SparseMatrix;
}

namespace leopard
{
  /**
   * Algebraic multigrid by smoothed aggregation as a preconditioner for deal.II's Krylov solvers: one cycle for A dst =
   * src from dst = 0, on levels made of the matrix alone (aggregation_hierarchy()). For matrices of elliptic problems.
   * SolverCG needs is_symmetric_map(), SolverGMRES is_fixed_linear_map(), which the smoother of the default, chebyshev,
   * provides.
   *
   * Of several interleaved fields each has levels of its own, of its diagonal block, which is kept definite, and one
   * comes after the other, with what couples it to those before it (FieldSweep): three cycles instead of two for two
   * fields of a symmetric A, so that the map is symmetric. A Trilinos matrix may be distributed: its levels are those
   * of all ranks, each of which has its own part of them, and iterations hardly grow with the number of ranks. Then
   * vmult() is collective, and levels are made on the host.
   *
   * Of systems such as elasticity, one field, aggregation.block_unknowns and near_null_space say more: a rank gives the
   * entries of the vectors in its own rows, in their order, of which those of a node follow one another.
   *
   * Vectors as for OwnRowsPreconditioner. Nothing of A is referred to after initialize().
   */
  class PreconditionAggregation : public OwnRowsPreconditioner
  {
  public:
    /** n_threads = 0, also of the smoother, stands for what dealii::MultithreadInfo::n_threads() allows. */
    struct AdditionalData
    {
      AggregationOptions aggregation = {};
      MultigridOptions   multigrid   = one_step_of_chebyshev();      ///< cycle, smoother and its steps, backend
      int                n_fields    = 1;                            ///< interleaved: row i is of field i mod n_fields
      Arithmetic         arithmetic  = Arithmetic::double_precision; ///< of the cycles, see PreconditionMultigrid

      /** V(1,1). */
      static MultigridOptions one_step_of_chebyshev();
    };

    PreconditionAggregation();

    /** Copies what it needs of A. @throws InvalidInput, DeviceError; what was there before is then kept. */
    void initialize(const dealii::SparseMatrix<double> &A, const AdditionalData &data);
    void initialize(const dealii::SparseMatrix<double> &A) { initialize(A, AdditionalData()); }
    /**
     * The same for a compressed matrix whose rows on each rank are contiguous, and follow those of the rank before it.
     * Collective, errors too. Several ranks: all unknowns of a node, and all fields at it, are of one.
     */
    void initialize(const HostMatrix &A, const AdditionalData &data);
    void initialize(const HostMatrix &A) { initialize(A, AdditionalData()); }

    /**
     * Takes other values of the A that it was initialized with: new levels, as aggregates follow the values, with the
     * same data. @throws InvalidInput before initialize(), for another number of rows, and as initialize(); the levels
     * that were there are then kept.
     */
    void update_values(const dealii::SparseMatrix<double> &A);
    /** The same. Collective, errors too. */
    void update_values(const HostMatrix &A);

    bool is_fixed_linear_map() const; ///< false before initialize()
    bool is_symmetric_map() const;    ///< false before initialize(); of a symmetric A
    /** "V(1,1) multigrid by smoothed aggregation, smoother chebyshev, 4 levels, operator complexity 1.3". */
    std::string description() const;

  private:
    void take(const LocalMatrix &A, const AdditionalData &new_data, MPI_Comm comm);
    /** @throws InvalidInput where new values cannot be those of a matrix with n rows here. */
    void require_rows(std::size_t n) const;

    bool        is_initialized() const override;
    std::size_t n_own_rows() const override;
    MemorySpace memory_space() const override;
    void        apply_there(double *x, const double *b) const override;

    AdditionalData                      data; ///< of the levels that are there
    std::vector<PreconditionMultigrid>  fields;
    std::unique_ptr<FieldSweep<double>> sweep; ///< over several fields
    std::size_t                         n_rows       = 0;
    double                              complexity   = 0.;
    bool                                made_on_host = false; ///< AggregationOptions::fits_on_device() does not hold
    bool                                on_ranks     = false; ///< several
  };
} // namespace leopard
