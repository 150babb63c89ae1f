// SPDX-License-Identifier: Apache-2.0
#include "mesh_gaps.h"

#include <applications/base/log.h>
#include <solvers/base/words.h>

#include <deal.II/base/bounding_box.h>
#include <deal.II/boost_adaptors/bounding_box.h>
#include <deal.II/boost_adaptors/point.h>
#include <deal.II/grid/tria.h>
#include <deal.II/numerics/rtree.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <vector>

namespace leopard
{
  using namespace dealii;

  namespace
  {
    /** Vertices at the place of another one, or where they should not be. */
    template <int spacedim>
    struct Coincident
    {
      std::size_t     n = 0; ///< of those at one place the first one does not count
      Point<spacedim> example;
    };

    template <int dim, int spacedim>
    std::set<unsigned int> vertices_at_boundary(const Triangulation<dim, spacedim> &triangulation)
    {
      std::set<unsigned int> at_boundary;
      for (const auto &cell : triangulation.cell_iterators_on_level(0))
        for (const auto &face : cell->face_iterators())
          if (face->at_boundary())
            for (const unsigned int v : face->vertex_indices())
              at_boundary.insert(face->vertex_index(v));
      return at_boundary;
    }

    /** Vertices at the boundary, each with its number, to be found by their places. */
    template <int spacedim>
    using BoundaryVertices = std::vector<std::pair<Point<spacedim>, unsigned int>>;

    /** The length of the shortest edge that ends in a vertex; infinite in unused vertices. */
    template <int dim, int spacedim>
    std::vector<double> shortest_edges(const Triangulation<dim, spacedim> &triangulation)
    {
      std::vector<double> shortest(triangulation.n_vertices(), std::numeric_limits<double>::infinity());
      for (const auto &cell : triangulation.cell_iterators_on_level(0))
        for (const unsigned int l : cell->line_indices())
          {
            const auto   line   = cell->line(l);
            const double length = line->vertex(0).distance(line->vertex(1));
            for (const unsigned int v : {line->vertex_index(0), line->vertex_index(1)})
              shortest[v] = std::min(shortest[v], length);
          }
      return shortest;
    }

    constexpr double same_place = 1e-6; ///< distance of what stands at one place, against edges there

    /** How far coordinates may be apart beside `allowed` because they are rounded. */
    double rounding(double x)
    {
      return 64. * std::numeric_limits<double>::epsilon() * std::abs(x);
    }

    /** Whether no coordinates of two places differ by more than `allowed` and rounding. */
    template <int spacedim>
    bool is_near(const Point<spacedim> &p, const Point<spacedim> &q, double allowed)
    {
      for (unsigned int d = 0; d < spacedim; ++d)
        if (!(std::abs(p[d] - q[d]) <= allowed + rounding(p[d])))
          return false;
      return true;
    }

    template <int spacedim, typename Tree>
    Coincident<spacedim> coincident(const BoundaryVertices<spacedim> &vertices, const Tree &tree, const std::vector<double> &shortest)
    {
      namespace index = boost::geometry::index;
      Coincident<spacedim> found;
      for (const auto &[place, v] : vertices)
        {
          Point<spacedim> low = place, high = place;
          for (unsigned int d = 0; d < spacedim; ++d)
            {
              low[d] -= same_place * shortest[v] + rounding(place[d]);
              high[d] += same_place * shortest[v] + rounding(place[d]);
            }
          bool has_earlier = false;
          for (const auto &[other, w] : tree | index::adaptors::queried(index::intersects(BoundingBox<spacedim>({low, high}))))
            has_earlier = has_earlier || (w < v && is_near(place, other, same_place * std::min(shortest[v], shortest[w])));
          if (has_earlier && found.n++ == 0)
            found.example = place;
        }
      return found;
    }

    /** Whether p lies on the segment from a to b, and at no end of it. @param allowed distance from it. */
    template <int spacedim>
    bool is_inside(const Point<spacedim> &p, const Point<spacedim> &a, const Point<spacedim> &b, double allowed)
    {
      const Tensor<1, spacedim> edge = b - a;
      const double              t    = ((p - a) * edge) / edge.norm_square();
      return t > same_place && t < 1. - same_place && is_near(p, a + t * edge, allowed);
    }

    /** Whether p lies on a triangle; it may be on its edges. @param allowed distance from it. */
    template <int spacedim>
    bool is_on(const Point<spacedim> &p, const Point<spacedim> &a, const Point<spacedim> &b, const Point<spacedim> &c, double allowed)
    {
      const Tensor<1, spacedim> first = b - a, second = c - a, to_p = p - a;
      const double              ff = first * first, fs = first * second, ss = second * second, determinant = ff * ss - fs * fs;
      if (!(determinant > 0.))
        return false;
      const double s = (ss * (first * to_p) - fs * (second * to_p)) / determinant, t = (ff * (second * to_p) - fs * (first * to_p)) / determinant;
      return s >= -same_place && t >= -same_place && s + t <= 1. + same_place && is_near(p, a + s * first + t * second, allowed);
    }

    /** Whether p lies on a face and is none of its vertices. @param allowed distance from it. */
    template <typename Face, int spacedim>
    bool is_inside_face(const Face &face, const Point<spacedim> &p, double allowed)
    {
      if (face->n_vertices() == 2)
        return is_inside(p, face->vertex(0), face->vertex(1), allowed);
      for (const unsigned int v : face->vertex_indices())
        if (is_near(p, face->vertex(v), allowed))
          return false;
      return is_on(p, face->vertex(0), face->vertex(1), face->vertex(2), allowed) ||
             (face->n_vertices() == 4 && is_on(p, face->vertex(3), face->vertex(1), face->vertex(2), allowed));
    }

    /** Vertices at the boundary that lie in the interior of an edge or face at the boundary. */
    template <int dim, int spacedim, typename Tree>
    Coincident<spacedim> t_junctions(const Triangulation<dim, spacedim> &triangulation, const Tree &tree, const std::vector<double> &shortest)
    {
      namespace index = boost::geometry::index;
      std::set<unsigned int> found;
      for (const auto &cell : triangulation.cell_iterators_on_level(0))
        for (const auto &face : cell->face_iterators())
          if (face->at_boundary())
            {
              std::vector<Point<spacedim>> corners;
              double                       of_face = std::numeric_limits<double>::infinity();
              for (const unsigned int v : face->vertex_indices())
                {
                  corners.push_back(face->vertex(v));
                  of_face = std::min(of_face, shortest[face->vertex_index(v)]);
                }
              BoundingBox<spacedim> box(corners);
              box.extend(same_place * corners.front().distance(corners.back()));
              for (const auto &[point, v] : tree | index::adaptors::queried(index::intersects(box)))
                if (is_inside_face(face, point, same_place * std::min(of_face, shortest[v])))
                  found.insert(v);
            }
      Coincident<spacedim> result;
      result.n = found.size();
      if (!found.empty())
        result.example = triangulation.get_vertices()[*found.begin()];
      return result;
    }

    /** "2 nodes at its boundary that stand inside ..., for example at (1, 0.5)". */
    template <int spacedim>
    std::string text_of(const Coincident<spacedim> &found, const std::string &where)
    {
      std::string text = std::to_string(found.n) + (found.n > 1 ? " nodes at its boundary that stand " : " node at its boundary that stands ") +
                         where + ", for example at (";
      for (unsigned int d = 0; d < spacedim; ++d)
        text += format(d > 0 ? ", %g" : "%g", found.example[d]);
      return text + ")";
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
    BoundaryVertices<spacedim> vertices;
    for (const unsigned int v : vertices_at_boundary(triangulation))
      vertices.emplace_back(triangulation.get_vertices()[v], v);
    const auto                 tree     = pack_rtree(vertices);
    const std::vector<double>  shortest = shortest_edges(triangulation);
    const Coincident<spacedim> doubled = coincident(vertices, tree, shortest), hanging = t_junctions(triangulation, tree, shortest);
    std::vector<std::string>   found;
    if (const std::size_t parts = n_parts(triangulation); parts != 1)
      found.push_back(std::to_string(parts) + " parts that do not touch");
    if (doubled.n > 0)
      found.push_back(text_of(doubled, "at the place of another one"));
    if (hanging.n > 0)
      found.push_back(text_of(hanging, std::string("inside ") + (dim == 2 ? "an edge" : "an edge or a face") + " of another cell (T-junctions)"));
    if (found.empty())
      return "";
    return "the mesh has " + joined(found, ", and ") +
           ": nothing flows across the gaps between them, and there they need boundary conditions of their own\n  to try, unless it is meant so: in "
           "Gmsh 'Coherence;' in the .geo file before Physical groups (curves and surfaces that lie upon one another become one), or 'Coherence "
           "Mesh;' once the mesh is made (nodes do)" +
           (hanging.n > 0 ? "; cells on both sides of a line need the same nodes on it" : "");
  }

  template std::string gaps_of(const Triangulation<2, 2> &);
  template std::string gaps_of(const Triangulation<3, 3> &);
  template std::string gaps_of(const Triangulation<2, 3> &);
} // namespace leopard
