// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <solvers/multigrid/hierarchy.h>

namespace leopard
{
  /**
   * Levels of -laplace u = f with zero boundary values by conforming elements Q_p on a uniform mesh of the unit square
   * or cube, without deal.II: with 1D stiffness K and mass M the matrix is K x M + M x K (three terms in 3D), the
   * prolongation the tensor product of the 1D embedding. Values are those for h = 1 on the finest level times h^(dim-2)
   * on the coarser ones, so that the levels are Galerkin products of each other.
   * @param degree 1 or 2. @param n_cells of the finest level in each direction, halved from level to level while even.
   * @param coarsest_cells stop there.
   */
  MultigridHierarchy tensor_element_hierarchy(int dim, int degree, int n_cells, int coarsest_cells);
} // namespace leopard
