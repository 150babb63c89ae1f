// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deal.II/base/types.h>
#include <deal.II/dofs/dof_handler.h>
#include <deal.II/lac/affine_constraints.h>

#include <set>
#include <string>
#include <vector>

namespace dealii::parallel
{
  template <int dim, int spacedim>
  class TriangulationBase;
}

namespace leopard
{
  /**
   * Which directions the text of 'Mesh/Periodic' names: one a direction of space, "x, z" -> {true, false, true}.
   * @throws Error for a direction that the domain does not have, or twice.
   */
  std::vector<bool> periodic_directions(const std::string &text, int dimension);

  /** "x, z"; empty if there is none. */
  std::string names_of_directions(const std::vector<bool> &directions);

  /** Whether a face's boundary id, on the mesh of make_periodic(), says that it has another one beyond it. */
  bool is_periodic(dealii::types::boundary_id id);

  /** The boundary id that a face had before make_periodic(). */
  dealii::types::boundary_id id_before(dealii::types::boundary_id id);

  /**
   * Makes the coarse mesh periodic: the faces at the two ends of the box around it, normal to a direction, are matched
   * by GridTools::collect_periodic_faces() and become neighbours; their boundary ids tell is_periodic() so. Before any
   * refinement. Collective. @param mesh_name for messages. @throws Error where faces do not match.
   */
  template <int dim>
  void make_periodic(dealii::parallel::TriangulationBase<dim, dim> &triangulation, const std::vector<bool> &directions, const std::string &mesh_name);

  /** The boundary ids of periodic faces, as id_before() has them; the same on every rank. */
  template <int dim, int spacedim>
  std::set<dealii::types::boundary_id> periodic_ids(const dealii::Triangulation<dim, spacedim> &triangulation);

  /**
   * Adds lines to the constraints of a scalar DoFHandler: unknowns at the lower end of a periodic direction are those
   * at the upper end; between cells of different size like hanging nodes. Hanging nodes must be in them already.
   */
  template <int dim, int spacedim>
  void add_periodicity_constraints(const dealii::DoFHandler<dim, spacedim> &dof_handler, dealii::AffineConstraints<double> &constraints);
} // namespace leopard
