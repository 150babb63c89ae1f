// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../multigrid/hierarchy.h"
#include "trilinos_matrix.h"

#include <deal.II/dofs/dof_handler.h>
#include <deal.II/fe/mapping.h>
#include <deal.II/lac/full_matrix.h>
#include <deal.II/multigrid/mg_constrained_dofs.h>

#include <functional>

namespace leopard
{
  /**
   * The weak form on one cell of a level: writes the dofs_per_cell x dofs_per_cell matrix, which is zero when it is
   * called. FEValues::reinit() takes such a cell as it takes an active one.
   */
  template <int dim>
  using CellMatrix = std::function<void(const typename dealii::DoFHandler<dim>::level_cell_iterator &cell, dealii::FullMatrix<double> &matrix)>;

  /**
   * The levels of a deal.II mesh as a hierarchy for Multigrid: level matrices, prolongations
   * (FiniteElement::get_prolongation_matrix()), their transposes, support points, and, on adaptive meshes, interface
   * matrices and copy lists of local smoothing as in deal.II's step-16 and step-50. For scalar continuous elements of
   * any degree. A periodic mesh (add_periodicity()) must be refined globally. On adaptive meshes it is the same
   * preconditioner as deal.II's PreconditionMG with MGTransferPrebuilt.
   *
   * Unknowns keep deal.II's order: a rank's own ones are a contiguous range, then come the ghosts of the level's
   * communication. On a globally refined mesh the finest level has the numbering of the active mesh, and its matrix is
   * the matrix of the problem.
   *
   * Collective.
   * @param dof_handler with distribute_dofs() and distribute_mg_dofs(), of a serial triangulation, or a
   * parallel::distributed one with
   *   construct_multigrid_hierarchy; either with limit_level_difference_at_vertices.
   * @param constrained initialize()d with it; its boundary indices are the Dirichlet boundary.
   * @param A the matrix over the active mesh, hanging nodes and boundary values condensed
   * (AffineConstraints::distribute_local_to_global()).
   * @param constrained_rows the constrained ones among the own rows of A. They become rows of the identity: entries of
   * right-hand sides are zero there, or
   *   boundary values (not for hanging nodes). Of a periodic mesh the copies are among them.
   * @param cell_matrix the problem, called for this rank's cells of all levels but one whose matrix is A.
   * @param n_levels how many levels to use, from the finest down; 0: all.
   * @throws InvalidInput if the mesh has fewer levels, or if active cells would be left below the coarsest one. What
   * cell_matrix throws on one rank is thrown on all, of several as an Error with its text (see together()).
   * Source: Janssen, Kanschat, Adaptive multilevel methods with local smoothing for H1- and Hcurl-conforming high order
   * finite element methods, 2011.
   */
  template <int dim>
  MultigridHierarchy make_multigrid_hierarchy(const dealii::Mapping<dim>      &mapping,
                                              const dealii::DoFHandler<dim>   &dof_handler,
                                              const dealii::MGConstrainedDoFs &constrained,
                                              const LocalMatrix               &A,
                                              const dealii::IndexSet          &constrained_rows,
                                              const CellMatrix<dim>           &cell_matrix,
                                              unsigned int                     n_levels = 0);
} // namespace leopard
