// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "implementation.h"

#include <solvers/dealii/precondition_aggregation.h>
#include <solvers/dealii/precondition_incomplete.h>

#include <string>

namespace leopard
{
  /**
   * The library's preconditioners that are made of the matrix alone: ilu, ic, aggregation. On several ranks factors are
   * of each rank's own rows and columns, and levels of all ranks, whose vmult() is collective. New values mean new
   * factors, of which the pattern and what follows from it stay, and new levels.
   */
  class AlgebraicPreconditioner
  {
  public:
    /** Keeps references; update_values() makes it. */
    AlgebraicPreconditioner(const LinearSolverParameters &parameters, const HostMatrix &A, unsigned int n_components, MPI_Comm comm);

    /** Takes the values that A has now. Collective. @throws Error, DeviceError. */
    void update_values();

    /** Vectors are in the backend's memory space. */
    template <typename Vector>
    void vmult(Vector &dst, const Vector &src) const
    {
      if (parameters.has_factors())
        factors.vmult(dst, src);
      else
        levels.vmult(dst, src);
    }

    // on all ranks
    bool is_symmetric_map() const { return symmetric; }
    bool is_fixed_linear_map() const { return fixed; }
    /**
     * "ILU(0), 12345 entries; solved with: exact, in sequence"; on several ranks also that factors are each rank's own.
     */
    std::string description() const;
    /** "preconditioner set up in 0.03 s", which it takes anew whenever values change. */
    std::string details() const;

  private:
    const LinearSolverParameters &parameters;
    const HostMatrix             &A;
    const int                     n_fields;
    const MPI_Comm                comm;
    PreconditionIncomplete        factors; ///< one of the two is initialized
    PreconditionAggregation       levels;
    bool                          is_made = false, symmetric = false, fixed = false;
    double                        seconds = 0.;
  };
} // namespace leopard
