// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <solvers/dealii/trilinos_matrix.h>
#include <solvers/multigrid/hierarchy.h>

#include <vector>

namespace leopard
{
  /**
   * Where a multigrid method gets its levels from. Scalar unknowns: those of one field, which all have the same nodes.
   */
  class LevelSource
  {
  public:
    virtual ~LevelSource() = default;

    /** Dimension of space. */
    virtual int dimension() const = 0;

    /** Nodes of the own scalar unknowns, dimension() numbers each; found once, and valid until the mesh changes. */
    virtual const std::vector<double> &nodes() const = 0;

    /**
     * Which of the own scalar unknowns of a field are constrained (boundary values, hanging nodes, periodic copies).
     */
    virtual dealii::IndexSet constrained_unknowns(unsigned int field) const = 0;

    /** Which of the own scalar unknowns are others of the same field, beyond a periodic boundary. */
    virtual dealii::IndexSet periodic_copies() const = 0;

    /**
     * Diffusion and absorption of a field on the levels of the mesh; on the finest mesh they are A. Matrices keep the
     * entries that are zero. Collective.
     * @param A the field's matrix over the active mesh. @param n_levels 0: all. @throws Error if the mesh does not have
     * them.
     */
    virtual MultigridHierarchy hierarchy(unsigned int field, const LocalMatrix &A, unsigned int n_levels) = 0;
  };
} // namespace leopard
