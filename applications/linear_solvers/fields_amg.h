// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "implementation.h"

#include <solvers/dealii/field_sweep.h>

#include <deal.II/lac/trilinos_precondition.h>

#include <vector>

namespace leopard
{
  /**
   * Algebraic multigrid (Trilinos ML) for the Jacobian of several fields, field after field: a FieldSweep. P_c is A_cc
   * with another row sum s_i, which is what mass and reaction make of a row: max(|s_i|, 0.2 sum over d != c of |A_cd|).
   * So it is definite also where a field grows by itself in a step so long that A is not, and the difference is left to
   * the Krylov method: the few modes that grow. (|s|: Laird and Giles 2002, Preconditioned iterative solution of the 2D
   * Helmholtz equation.)
   */
  class FieldsAmg
  {
  public:
    /** Keeps a reference. Collective. */
    FieldsAmg(const HostMatrix &A, unsigned int n_components);

    /** Takes the values that A has now. Collective. */
    void update_values();

    void vmult(HostVector &dst, const HostVector &src) const;

  private:
    struct OfField
    {
      HostMatrix                                P;
      dealii::TrilinosWrappers::PreconditionAMG amg;
      mutable HostVector                        b, x;
    };

    const HostMatrix    &A;
    const int            n_fields;
    std::vector<OfField> fields;
    FieldSweep<double>   sweep;
  };
} // namespace leopard
