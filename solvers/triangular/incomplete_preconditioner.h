// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../krylov/preconditioner.h"
#include "factor_sweeps.h"
#include "triangular_solver.h"

#include <memory>
#include <string>

namespace leopard
{
  struct IncompleteOptions
  {
    FactorOptions factors = {}; ///< ILU or IC, their level of fill, and what is done about pivots
    int n_sweeps = 0; ///< fixed-point sweeps that find the factors, on the backend of the solves (factor_sweeps()); 0: elimination, on the host
    /**
     * Of both factors: exact or not, backend, threads (also of the elimination), blocks, overlap, schedule. Sweeps are
     * synchronous where this schedule is.
     */
    TriangularOptions solves = {};

    /** @throws InvalidInput naming the option, what was found and what is expected. */
    void validate() const;
  };

  /** z = U^-1 L^-1 r, or L^-T L^-1 r, with incomplete factors of A. Made by make_incomplete_preconditioner(). */
  template <typename Number>
  class IncompletePreconditioner : public Preconditioner<Number>
  {
  public:
    /**
     * What was made, for a log, in one line: factors, the shift of the diagonal if there is one, how they are solved
     * with.
     */
    virtual std::string description() const = 0;
    /**
     * Factors of other values of A: pattern, blocks and what was analyzed stay. @param values one an entry, in the
     * order of A, host memory. @throws InvalidInput as make_incomplete_preconditioner() and
     * TriangularSolver::update_values(); after one for a pivot the old factors are still there.
     */
    virtual void update_values(const Number *values) = 0;
    /** alpha, where the factors are those of A + alpha diag(A) (dimensionless); mostly 0. */
    virtual double shift() const = 0;
  };

  /**
   * Incomplete factors as a preconditioner.
   *
   * A symmetric map, as conjugate gradients want it, is IC with exact solves, or with asynchronous ones in the
   * synchronous schedule without overlap: then what is done with L^T is the transposed of what is done with L. So is
   * ILU of a symmetric matrix, to rounding, since U = D L^T, but not by sweeps. Chaotic schedules are another map in
   * each
   * call: they are for FGMRES, or CG in its flexible form, which make_cg() takes for them.
   * @param A square, host memory; copied. @throws InvalidInput, DeviceError; see IncompleteFactors, TriangularSolver.
   */
  template <typename Number>
  std::shared_ptr<IncompletePreconditioner<Number>> make_incomplete_preconditioner(const CrsMatrix<Number> &A, const IncompleteOptions &options);
} // namespace leopard
