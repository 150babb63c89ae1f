// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../triangular/incomplete_preconditioner.h"
#include "own_rows_preconditioner.h"
#include "trilinos_matrix.h"

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
   * Incomplete factors ILU(p) or IC(p), p the level of fill (AdditionalData::factors.fill_level), as a preconditioner
   * for deal.II's Krylov solvers: vmult() is dst = U^-1 L^-1 src, with exact triangular solves or with some iterations
   * of block-asynchronous iteration (make_incomplete_preconditioner()).
   *
   * SolverCG needs is_symmetric_map() (IC, exact), SolverGMRES is_fixed_linear_map(), SolverFGMRES nothing: chaotic
   * asynchronous solves differ from call to call.
   *
   * Vectors as for OwnRowsPreconditioner. A Trilinos matrix may be distributed: each rank has the factors of its own
   * rows and columns (block Jacobi over the ranks), and so has fill no entries of others.
   *
   * Nothing of A is referred to after initialize().
   */
  class PreconditionIncomplete : public OwnRowsPreconditioner
  {
  public:
    /** n_threads = 0 stands for what dealii::MultithreadInfo::n_threads() allows. */
    using AdditionalData = IncompleteOptions;

    PreconditionIncomplete();
    ~PreconditionIncomplete();

    /** Copies what it needs of A. @throws InvalidInput, DeviceError; what was there before is then kept. */
    void initialize(const dealii::SparseMatrix<double> &A, const AdditionalData &data = AdditionalData());
    /**
     * The same for a compressed matrix whose rows on each rank are contiguous. Collective, errors too; vmult() is not.
     */
    void initialize(const HostMatrix &A, const AdditionalData &data = AdditionalData());

    /**
     * Takes other values of the A that it was initialized with, keeping what depends on its pattern alone: for Newton's
     * method and time steps. @throws InvalidInput before initialize(), for another number of entries, and as
     * initialize().
     */
    void update_values(const dealii::SparseMatrix<double> &A);
    /** The same. Collective, errors too, after which ranks that had none have the new values. */
    void update_values(const HostMatrix &A);

    bool is_fixed_linear_map() const; ///< false before initialize()
    bool is_symmetric_map() const;    ///< false before initialize(); of a symmetric A
    /** "IC(0), 12345 entries; solved with: exact, in sequence". */
    std::string description() const;

  private:
    void take(const CrsMatrix<double> &A, AdditionalData data);
    void take_values(const CrsMatrix<double> &A);

    bool        is_initialized() const override;
    std::size_t n_own_rows() const override;
    MemorySpace memory_space() const override;
    void        apply_there(double *x, const double *b) const override;

    std::shared_ptr<IncompletePreconditioner<double>> factors;
    int                                               n_entries = 0;
  };
} // namespace leopard
