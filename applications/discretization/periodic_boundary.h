// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deal.II/base/types.h>
#include <deal.II/dofs/dof_handler.h>
#include <deal.II/lac/affine_constraints.h>

#include <cmath>
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

  /** The ends of the box around a mesh: periodic faces lie in them. */
  template <int dim>
  class BoxEnds
  {
  public:
    /** @param triangulation whose coarse mesh is whole on the rank. */
    explicit BoxEnds(const dealii::Triangulation<dim> &triangulation);

    /**
     * Whether a point lies at the lower end (end = 0) or the upper one (1) of direction d, up to a billionth of the
     * box.
     */
    bool contains(const dealii::Point<dim> &p, unsigned int d, unsigned int end) const
    {
      return std::abs(p[d] - corners[end][d]) <= 1e-9 * (corners[1][d] - corners[0][d]);
    }

    /** The same of all vertices of a face, of any kind of mesh iterator. */
    template <typename Face>
    bool contains_face(const Face &face, unsigned int d, unsigned int end) const
    {
      for (const auto v : face->vertex_indices())
        if (!contains(face->vertex(v), d, end))
          return false;
      return true;
    }

    /** The way from a periodic face to its copy at the other end. */
    template <typename Face>
    dealii::Tensor<1, dim> to_copy(const Face &face) const
    {
      dealii::Tensor<1, dim> way;
      for (unsigned int d = 0; d < dim; ++d)
        for (unsigned int end = 0; end < 2; ++end)
          if (contains_face(face, d, end))
            way[d] = corners[1 - end][d] - corners[end][d];
      return way;
    }

  private:
    dealii::Point<dim> corners[2]; ///< the lower and the upper one
  };

  /**
   * Makes the coarse mesh periodic: the faces at the two ends of the box around it, normal to a direction, are matched
   * and their boundary ids tell is_periodic() so. Those of quadrilaterals and hexahedra become neighbours, by
   * GridTools::collect_periodic_faces(); of triangles and tetrahedra see originals_on_simplices(). Before any
   * refinement. Collective. @param mesh_name for messages. @throws Error where faces do not match.
   */
  template <int dim>
  void make_periodic(dealii::parallel::TriangulationBase<dim, dim> &triangulation, const std::vector<bool> &directions, const std::string &mesh_name);

  /** The boundary ids of periodic faces, as id_before() has them; the same on every rank. */
  template <int dim, int spacedim>
  std::set<dealii::types::boundary_id> periodic_ids(const dealii::Triangulation<dim, spacedim> &triangulation);

  /**
   * Adds lines to the constraints of a scalar DoFHandler: unknowns at the lower end of a periodic direction are those
   * at the upper end; between cells of different size like hanging nodes. Hanging nodes must be in them already. Of
   * quadrilaterals and hexahedra; others get none here, see originals_on_simplices().
   */
  template <int dim, int spacedim>
  void add_periodicity_constraints(const dealii::DoFHandler<dim, spacedim> &dof_handler, dealii::AffineConstraints<double> &constraints);
} // namespace leopard
