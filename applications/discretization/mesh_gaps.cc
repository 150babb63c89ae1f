// SPDX-License-Identifier: Apache-2.0
#include "mesh_gaps.h"

#include <applications/base/log.h>

#include <deal.II/grid/tria.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <vector>

namespace leopard
{
  using namespace dealii;

  namespace
  {
    /** Vertices at the place of another one. */
    template <int spacedim>
    struct Coincident
    {
      std::size_t     n = 0; ///< the first one at each place does not count
      Point<spacedim> example;
    };

    /**
     * Counts those among points begin to end, which have the coordinates before d in common: sorted by coordinate d,
     * they fall into groups whose neighbours are not farther apart than the distance.
     */
    template <int spacedim>
    void count_coincident(
      std::vector<Point<spacedim>> &points, std::size_t begin, std::size_t end, unsigned int d, double distance, Coincident<spacedim> &found)
    {
      std::sort(points.begin() + begin, points.begin() + end, [d](const auto &a, const auto &b) { return a[d] < b[d]; });
      for (std::size_t first = begin, last = begin; first < end; first = last)
        {
          for (++last; last < end && points[last][d] - points[last - 1][d] <= distance;)
            ++last;
          if (last - first > 1 && d + 1 < spacedim)
            count_coincident(points, first, last, d + 1, distance, found);
          else if (last - first > 1)
            {
              if (found.n == 0)
                found.example = points[first];
              found.n += last - first - 1;
            }
        }
    }

    template <int dim, int spacedim>
    Coincident<spacedim> coincident_at_boundary(const Triangulation<dim, spacedim> &triangulation)
    {
      std::set<unsigned int> at_boundary;
      for (const auto &cell : triangulation.cell_iterators_on_level(0))
        for (const auto &face : cell->face_iterators())
          if (face->at_boundary())
            for (const unsigned int v : face->vertex_indices())
              at_boundary.insert(face->vertex_index(v));
      std::vector<Point<spacedim>> points;
      for (const unsigned int v : at_boundary)
        points.push_back(triangulation.get_vertices()[v]);
      double extent = 0.;
      for (unsigned int d = 0; d < spacedim && !points.empty(); ++d)
        {
          const auto [low, high] = std::minmax_element(points.begin(), points.end(), [d](const auto &a, const auto &b) { return a[d] < b[d]; });
          extent                 = std::max(extent, (*high)[d] - (*low)[d]);
        }
      Coincident<spacedim> found;
      count_coincident(points, 0, points.size(), 0, 1e-10 * extent, found);
      return found;
    }

    /** Parts of the coarse mesh that have no vertex in common. */
    template <int dim, int spacedim>
    std::size_t n_parts(const Triangulation<dim, spacedim> &triangulation)
    {
      std::vector<unsigned int> tree(triangulation.n_vertices()); // each vertex points to one of its part, the root to itself
      std::iota(tree.begin(), tree.end(), 0u);
      const auto root = [&](unsigned int v) {
        while (tree[v] != v)
          v = tree[v] = tree[tree[v]];
        return v;
      };
      for (const auto &cell : triangulation.cell_iterators_on_level(0))
        for (const unsigned int v : cell->vertex_indices())
          tree[root(cell->vertex_index(v))] = root(cell->vertex_index(0));
      std::set<unsigned int> roots;
      for (const auto &cell : triangulation.cell_iterators_on_level(0))
        roots.insert(root(cell->vertex_index(0)));
      return roots.size();
    }
  } // namespace

  template <int dim, int spacedim>
  std::string gaps_of(const Triangulation<dim, spacedim> &triangulation)
  {
    const Coincident<spacedim> coincident = coincident_at_boundary(triangulation);
    const std::size_t          parts      = n_parts(triangulation);
    if (coincident.n == 0 && parts == 1)
      return "";
    std::string text = "the mesh has ";
    if (parts > 1)
      text += std::to_string(parts) + " parts that do not touch" + (coincident.n > 0 ? ", and " : "");
    if (coincident.n > 0)
      {
        text += std::to_string(coincident.n) + (coincident.n > 1 ? " nodes at its boundary that stand" : " node at its boundary that stands") +
                " at the place of another one, for example at (";
        for (unsigned int d = 0; d < spacedim; ++d)
          text += format(d > 0 ? ", %g" : "%g", coincident.example[d]);
        text += ")";
      }
    return text +
           ": nothing flows across the gaps between them, and there they need boundary conditions of their own\n  to try, unless it is meant so: in "
           "Gmsh 'Coherence;' in the .geo file before Physical groups (curves and surfaces that lie upon one another become one), or 'Coherence "
           "Mesh;' once the mesh is made (nodes do)";
  }

  template std::string gaps_of(const Triangulation<2, 2> &);
  template std::string gaps_of(const Triangulation<3, 3> &);
  template std::string gaps_of(const Triangulation<2, 3> &);
} // namespace leopard
