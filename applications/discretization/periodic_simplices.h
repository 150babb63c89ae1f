// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deal.II/dofs/dof_handler.h>
#include <deal.II/fe/mapping.h>

#include <map>
#include <vector>

// Periodic meshes of triangles and tetrahedra. deal.II 9.4 neither matches the faces of tetrahedra nor makes
// constraints for either, and its refinement is not used (refine_simplices()): vertices and nodes are matched by their
// coordinates, and the boundary ids alone, which refinement hands on, tell of periodic faces.

namespace leopard
{
  template <int dim>
  class BoxEnds;

  /**
   * For each lower point the number of the upper one that is nearest but for direction d, or -1 where none is within
   * the tolerance. @param tolerance a positive length, dimensionless, well below the distance of points.
   */
  template <int dim>
  std::vector<int>
  match_across(const std::vector<dealii::Point<dim>> &lower, const std::vector<dealii::Point<dim>> &upper, unsigned int d, double tolerance);

  /**
   * Whether the coarse mesh's faces at the lower end of direction d have vertices, up to a millionth of their edges,
   * and faces across, as many as there are. The mesh must be whole on the rank.
   */
  template <int dim>
  bool simplices_match_across(const dealii::Triangulation<dim> &triangulation, const BoxEnds<dim> &ends, unsigned int d);

  /** Scalar degrees of freedom that are copies of another one, and that one. */
  using PeriodicCopies = std::map<dealii::types::global_dof_index, dealii::types::global_dof_index>;

  /**
   * Of the nodes that periodic faces make one place of, the original is at the upper ends. The same on all ranks.
   * Collective. @param directions those that are periodic. @param shortest_edge of all cells of all ranks,
   * dimensionless. @throws Error for nodes without a partner.
   */
  template <int dim>
  PeriodicCopies originals_on_simplices(const dealii::Mapping<dim>    &mapping,
                                        const dealii::DoFHandler<dim> &dof_handler,
                                        const std::vector<bool>       &directions,
                                        double                         shortest_edge);
} // namespace leopard
