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

    template <int dim, int spacedim>
    Coincident<spacedim> coincident_at_boundary(const Triangulation<dim, spacedim> &triangulation, const std::set<unsigned int> &at_boundary)
    {
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

    constexpr double on_edge = 1e-6; ///< distance of what lies on it, against the edge

    /** Whether p lies on the segment from a to b, and at no end of it. */
    template <int spacedim>
    bool is_inside(const Point<spacedim> &p, const Point<spacedim> &a, const Point<spacedim> &b)
    {
      const Tensor<1, spacedim> edge = b - a, to_p = p - a;
      const double              allowed = on_edge * edge.norm(), t = (to_p * edge) / edge.norm_square();
      return t > on_edge && t < 1. - on_edge && (to_p - t * edge).norm() <= allowed;
    }

    /** Whether p lies on a triangle; it may be on its edges. */
    template <int spacedim>
    bool is_on(const Point<spacedim> &p, const Point<spacedim> &a, const Point<spacedim> &b, const Point<spacedim> &c)
    {
      const Tensor<1, spacedim> first = b - a, second = c - a, to_p = p - a;
      const double              ff = first * first, fs = first * second, ss = second * second, determinant = ff * ss - fs * fs;
      if (!(determinant > 0.))
        return false;
      const double s = (ss * (first * to_p) - fs * (second * to_p)) / determinant, t = (ff * (second * to_p) - fs * (first * to_p)) / determinant;
      return s >= -on_edge && t >= -on_edge && s + t <= 1. + on_edge &&
             (to_p - s * first - t * second).norm() <= on_edge * std::sqrt(std::max(ff, ss));
    }

    /** Whether p lies on a face and is none of its vertices. */
    template <typename Face, int spacedim>
    bool is_inside_face(const Face &face, const Point<spacedim> &p)
    {
      if (face->n_vertices() == 2)
        return is_inside(p, face->vertex(0), face->vertex(1));
      const double size = face->vertex(0).distance(face->vertex(face->n_vertices() - 1));
      for (const unsigned int v : face->vertex_indices())
        if (p.distance(face->vertex(v)) <= on_edge * size)
          return false;
      return is_on(p, face->vertex(0), face->vertex(1), face->vertex(2)) ||
             (face->n_vertices() == 4 && is_on(p, face->vertex(3), face->vertex(1), face->vertex(2)));
    }

    /** Vertices at the boundary that lie in the interior of an edge or face at the boundary. */
    template <int dim, int spacedim>
    Coincident<spacedim> t_junctions(const Triangulation<dim, spacedim> &triangulation, const std::set<unsigned int> &at_boundary)
    {
      namespace index = boost::geometry::index;
      std::vector<std::pair<Point<spacedim>, unsigned int>> vertices;
      for (const unsigned int v : at_boundary)
        vertices.emplace_back(triangulation.get_vertices()[v], v);
      const auto             tree = pack_rtree(vertices);
      std::set<unsigned int> found;
      for (const auto &cell : triangulation.cell_iterators_on_level(0))
        for (const auto &face : cell->face_iterators())
          if (face->at_boundary())
            {
              std::vector<Point<spacedim>> corners;
              for (const unsigned int v : face->vertex_indices())
                corners.push_back(face->vertex(v));
              BoundingBox<spacedim> box(corners);
              box.extend(on_edge * corners.front().distance(corners.back()));
              for (const auto &[point, v] : tree | index::adaptors::queried(index::intersects(box)))
                if (is_inside_face(face, point))
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
    const std::set<unsigned int> at_boundary = vertices_at_boundary(triangulation);
    const Coincident<spacedim>   coincident = coincident_at_boundary(triangulation, at_boundary), hanging = t_junctions(triangulation, at_boundary);
    std::vector<std::string>     found;
    if (const std::size_t parts = n_parts(triangulation); parts != 1)
      found.push_back(std::to_string(parts) + " parts that do not touch");
    if (coincident.n > 0)
      found.push_back(text_of(coincident, "at the place of another one"));
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
