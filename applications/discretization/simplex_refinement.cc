// SPDX-License-Identifier: Apache-2.0
#include "simplex_refinement.h"

#include <deal.II/grid/grid_tools.h>
#include <deal.II/grid/tria.h>

#include <algorithm>
#include <array>
#include <map>

namespace leopard
{
  using namespace dealii;

  namespace
  {
    /** Vertices, and those that have been added in the middle of edges. */
    template <int spacedim>
    struct Vertices
    {
      std::vector<Point<spacedim>>                                  points;
      std::map<std::pair<unsigned int, unsigned int>, unsigned int> middles;

      unsigned int middle(unsigned int a, unsigned int b)
      {
        const auto [place, is_new] = middles.emplace(std::minmax(a, b), static_cast<unsigned int>(points.size()));
        if (is_new)
          points.push_back(0.5 * (points[a] + static_cast<Tensor<1, spacedim>>(points[b])));
        return place->second;
      }
    };

    using Simplex = std::vector<unsigned int>;

    template <int spacedim>
    std::vector<Simplex> split_triangle(const Simplex &v, Vertices<spacedim> &vertices)
    {
      const unsigned int a = vertices.middle(v[1], v[2]), b = vertices.middle(v[2], v[0]), c = vertices.middle(v[0], v[1]);
      return {{v[0], c, b}, {c, v[1], a}, {b, a, v[2]}, {c, a, b}};
    }

    std::vector<Simplex> split_tetrahedron(const Simplex &v, Vertices<3> &vertices)
    {
      const auto           middle = [&](int i, int j) { return vertices.middle(v[i], v[j]); };
      std::vector<Simplex> children;
      for (int i = 0; i < 4; ++i)
        {
          Simplex corner(4);
          for (int j = 0; j < 4; ++j)
            corner[j] = j == i ? v[i] : middle(i, j);
          children.push_back(corner);
        }
      // a diagonal joins the middles of opposite edges; those of the other four edges are around it
      struct Octahedron
      {
        std::array<unsigned int, 2> diagonal;
        std::array<unsigned int, 4> around;
      };
      const unsigned int m01 = middle(0, 1), m02 = middle(0, 2), m03 = middle(0, 3), m12 = middle(1, 2), m13 = middle(1, 3), m23 = middle(2, 3);
      const std::array<Octahedron, 3> ways = {
        {{{m02, m13}, {m01, m03, m23, m12}}, {{m01, m23}, {m02, m03, m13, m12}}, {{m03, m12}, {m01, m02, m23, m13}}}};
      const auto length = [&](const Octahedron &way) { return vertices.points[way.diagonal[0]].distance(vertices.points[way.diagonal[1]]); };
      const auto shortest =
        std::min_element(ways.begin(), ways.end(), [&](const Octahedron &a, const Octahedron &b) { return length(a) < length(b) * (1. - 1e-10); });
      for (int i = 0; i < 4; ++i)
        children.push_back({shortest->diagonal[0], shortest->diagonal[1], shortest->around[i], shortest->around[(i + 1) % 4]});
      return children;
    }

    /** The determinant of the edges at the first vertex is positive afterwards. */
    void orient(Simplex &v, const std::vector<Point<3>> &points)
    {
      const Tensor<1, 3> a = points[v[1]] - points[v[0]], b = points[v[2]] - points[v[0]], c = points[v[3]] - points[v[0]];
      if (cross_product_3d(a, b) * c < 0.)
        std::swap(v[0], v[1]);
    }
  } // namespace

  template <int dim, int spacedim>
  void refine_simplices(Triangulation<dim, spacedim> &triangulation)
  {
    Vertices<spacedim>         vertices{triangulation.get_vertices(), {}};
    std::vector<CellData<dim>> cells;
    SubCellData                sides;
    for (const auto &cell : triangulation.active_cell_iterators())
      {
        Simplex v;
        for (const unsigned int i : cell->vertex_indices())
          v.push_back(cell->vertex_index(i));
        std::vector<Simplex> children;
        if constexpr (dim == 2)
          children = split_triangle(v, vertices);
        else
          children = split_tetrahedron(v, vertices);
        for (Simplex &child : children)
          {
            if constexpr (dim == 3)
              orient(child, vertices.points);
            cells.emplace_back(dim + 1);
            cells.back().vertices    = child;
            cells.back().material_id = cell->material_id();
          }
        for (const auto &face : cell->face_iterators())
          if (face->at_boundary())
            {
              if constexpr (dim == 2)
                for (const unsigned int i : {0, 1})
                  {
                    sides.boundary_lines.emplace_back(2);
                    sides.boundary_lines.back().vertices    = {face->vertex_index(i), vertices.middle(face->vertex_index(0), face->vertex_index(1))};
                    sides.boundary_lines.back().boundary_id = face->boundary_id();
                  }
              else
                for (const Simplex &part : split_triangle({face->vertex_index(0), face->vertex_index(1), face->vertex_index(2)}, vertices))
                  {
                    sides.boundary_quads.emplace_back(3);
                    sides.boundary_quads.back().vertices    = part;
                    sides.boundary_quads.back().boundary_id = face->boundary_id();
                  }
            }
      }
    triangulation.clear();
    triangulation.create_triangulation(vertices.points, cells, sides);
  }

  template void refine_simplices(Triangulation<2, 2> &);
  template void refine_simplices(Triangulation<3, 3> &);
  template void refine_simplices(Triangulation<2, 3> &);
} // namespace leopard
