// SPDX-License-Identifier: Apache-2.0
#include "periodic_boundary.h"

#include "periodic_simplices.h"

#include <applications/base/log.h>
#include <solvers/base/errors.h>

#include <deal.II/base/exceptions.h>
#include <deal.II/base/utilities.h>
#include <deal.II/distributed/tria_base.h>
#include <deal.II/dofs/dof_tools.h>
#include <deal.II/grid/grid_tools.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace leopard
{
  using namespace dealii;

  namespace
  {
    constexpr types::boundary_id first_periodic = 1u << 30; ///< parameter files name ids of 8 digits at most
    constexpr types::boundary_id at_lower_end = 1u << 31, at_upper_end = at_lower_end + 1;
  } // namespace

  std::vector<bool> periodic_directions(const std::string &text, int dimension)
  {
    std::vector<bool> result(dimension, false);
    for (const std::string &name : Utilities::split_string_list(text, ','))
      {
        const int d = name == "x" ? 0 : name == "y" ? 1 : name == "z" ? 2 : 3;
        if (d >= dimension || result[d])
          throw Error("'Mesh/Periodic' is '" + text + "'" +
                      (d >= dimension ? ", and '" + name + "' is no direction of this domain" : ", which has " + name + " twice") +
                      "\n  expected: directions of " + (dimension == 2 ? "x, y" : "x, y, z") +
                      " separated by commas, or nothing, as 'Dimension' is " + std::to_string(dimension));
        result[d] = true;
      }
    return result;
  }

  std::string names_of_directions(const std::vector<bool> &directions)
  {
    std::string text;
    for (std::size_t d = 0; d < directions.size(); ++d)
      if (directions[d])
        text += std::string(text.empty() ? "" : ", ") + "xyz"[d];
    return text;
  }

  bool is_periodic(types::boundary_id id)
  {
    return id >= first_periodic && id != numbers::internal_face_boundary_id;
  }

  types::boundary_id id_before(types::boundary_id id)
  {
    return is_periodic(id) ? id - first_periodic : id;
  }

  template <int dim>
  BoxEnds<dim>::BoxEnds(const Triangulation<dim> &triangulation)
  {
    const std::vector<Point<dim>> &vertices = triangulation.get_vertices();
    for (unsigned int d = 0; d < dim && !vertices.empty(); ++d)
      {
        const auto by_coordinate     = [d](const Point<dim> &a, const Point<dim> &b) { return a[d] < b[d]; };
        const auto [lowest, highest] = std::minmax_element(vertices.begin(), vertices.end(), by_coordinate);
        corners[0][d]                = (*lowest)[d];
        corners[1][d]                = (*highest)[d];
      }
  }

  namespace
  {
    template <int dim>
    using FacePair = GridTools::PeriodicFacePair<typename Triangulation<dim>::cell_iterator>;

    /**
     * Gives the faces at both ends of the box, normal to direction d, ids of their own. @return how many at each end.
     */
    template <int dim>
    std::array<unsigned int, 2> mark_ends(Triangulation<dim> &triangulation, const BoxEnds<dim> &ends, unsigned int d)
    {
      std::array<unsigned int, 2> n = {0, 0};
      for (const auto &cell : triangulation.cell_iterators_on_level(0))
        for (const auto f : cell->face_indices())
          for (unsigned int end = 0; end < 2; ++end)
            if (const auto face = cell->face(f); face->at_boundary() && ends.contains_face(face, d, end))
              {
                face->set_boundary_id(end == 0 ? at_lower_end : at_upper_end);
                ++n[end];
              }
      return n;
    }

    /** The pairs of faces, none of triangles and tetrahedra, and why there are none. */
    template <int dim>
    std::string match(const Triangulation<dim>   &triangulation,
                      const BoxEnds<dim>         &ends,
                      unsigned int                d,
                      std::array<unsigned int, 2> n,
                      std::vector<FacePair<dim>> &pairs)
    {
      if (n[0] != n[1] || n[0] == 0)
        return std::to_string(n[0]) + " faces lie at the lower end and " + std::to_string(n[1]) + " at the upper end";
      const std::string not_alike =
        "the " + std::to_string(n[0]) + " faces at the lower end do not have the places and forms of those at the upper end";
      if (triangulation.all_reference_cells_are_simplex())
        return simplices_match_across(triangulation, ends, d) ? "" : not_alike;
      try
        {
          GridTools::collect_periodic_faces(triangulation, at_lower_end, at_upper_end, d, pairs);
        }
      catch (const ExceptionBase &)
        {
          return not_alike;
        }
      for (const FacePair<dim> &pair : pairs)
        {
          const auto     face = pair.cell[0]->face(pair.face_idx[0]);
          Tensor<1, dim> gap  = pair.cell[1]->face(pair.face_idx[1])->center() - face->center();
          gap[d]              = 0.;
          if (!(gap.norm() <= 1e-6 * face->diameter())) // deal.II compares with a length that knows nothing of the mesh
            return not_alike;
        }
      return pairs.size() == n[0] ? "" : not_alike;
    }
  } // namespace

  template <int dim>
  void make_periodic(parallel::TriangulationBase<dim, dim> &triangulation, const std::vector<bool> &directions, const std::string &mesh_name)
  {
    std::vector<FacePair<dim>> all_pairs;
    const BoxEnds<dim>         ends(triangulation);
    for (unsigned int d = 0; d < directions.size(); ++d)
      if (directions[d])
        {
          std::map<std::pair<unsigned int, unsigned int>, types::boundary_id> before; // of the coarse cells' faces
          for (const auto &cell : triangulation.cell_iterators_on_level(0))
            for (const auto f : cell->face_indices())
              if (cell->face(f)->at_boundary())
                before[{cell->index(), f}] = cell->face(f)->boundary_id();
          const auto                 n = mark_ends(triangulation, ends, d);
          std::vector<FacePair<dim>> pairs;
          if (const std::string why_not = match(triangulation, ends, d, n, pairs); !why_not.empty())
            throw Error(std::string("'Mesh/Periodic' names ") + "xyz"[d] + ", but the boundary of " + mesh_name +
                        " does not match across: normal to " + "xyz"[d] + ", " + why_not +
                        "\n  expected: a mesh whose faces at both ends are copies of each other (in Gmsh: Periodic Curve or Surface), or "
                        "other directions");
          for (const auto &cell : triangulation.cell_iterators_on_level(0))
            for (const auto f : cell->face_indices())
              if (const auto id = cell->face(f)->boundary_id(); cell->face(f)->at_boundary() && (id == at_lower_end || id == at_upper_end))
                cell->face(f)->set_boundary_id(first_periodic + before.at({cell->index(), f}));
          all_pairs.insert(all_pairs.end(), pairs.begin(), pairs.end());
        }
    if (!all_pairs.empty())
      triangulation.add_periodicity(all_pairs);
  }

  template <int dim, int spacedim>
  std::set<types::boundary_id> periodic_ids(const Triangulation<dim, spacedim> &triangulation)
  {
    std::set<types::boundary_id> ids;
    for (const auto &cell : triangulation.cell_iterators_on_level(0)) // the coarse mesh is whole on every rank
      for (const auto f : cell->face_indices())
        if (cell->face(f)->at_boundary() && is_periodic(cell->face(f)->boundary_id()))
          ids.insert(id_before(cell->face(f)->boundary_id()));
    return ids;
  }

  template <int dim, int spacedim>
  void add_periodicity_constraints(const DoFHandler<dim, spacedim> &dof_handler, AffineConstraints<double> &constraints)
  {
    using Cell = typename DoFHandler<dim, spacedim>::cell_iterator;
    std::vector<GridTools::PeriodicFacePair<Cell>> pairs;
    for (const auto &[face, neighbor] : dof_handler.get_triangulation().get_periodic_face_map())
      {
        const auto &[cell, f]              = face;
        const auto &[other, orientation]   = neighbor;
        const Tensor<1, spacedim> to_other = other.first->face(other.second)->center() - cell->face(f)->center();
        double                    sum      = 0.; // positive seen from the lower end
        for (unsigned int d = 0; d < spacedim; ++d)
          sum += to_other[d];
        if (cell->level() > 0 || sum < 0.)
          continue;
        const auto of_dofs = [&](const auto &iterator) {
          return Cell(&dof_handler.get_triangulation(), iterator->level(), iterator->index(), &dof_handler);
        };
        GridTools::PeriodicFacePair<Cell> pair;
        pair.cell[0]     = of_dofs(cell);
        pair.cell[1]     = of_dofs(other.first);
        pair.face_idx[0] = f;
        pair.face_idx[1] = other.second;
        pair.orientation = orientation;
        pairs.push_back(pair);
      }
    DoFTools::make_periodicity_constraints<dim, spacedim>(pairs, constraints);
  }

  template class BoxEnds<2>;
  template class BoxEnds<3>;
  template void                         make_periodic(parallel::TriangulationBase<2, 2> &, const std::vector<bool> &, const std::string &);
  template void                         make_periodic(parallel::TriangulationBase<3, 3> &, const std::vector<bool> &, const std::string &);
  template std::set<types::boundary_id> periodic_ids(const Triangulation<2, 2> &);
  template std::set<types::boundary_id> periodic_ids(const Triangulation<3, 3> &);
  template std::set<types::boundary_id> periodic_ids(const Triangulation<2, 3> &);
  template void                         add_periodicity_constraints(const DoFHandler<2, 2> &, AffineConstraints<double> &);
  template void                         add_periodicity_constraints(const DoFHandler<3, 3> &, AffineConstraints<double> &);
  template void                         add_periodicity_constraints(const DoFHandler<2, 3> &, AffineConstraints<double> &);
} // namespace leopard
