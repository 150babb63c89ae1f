// SPDX-License-Identifier: Apache-2.0
#include "gmsh_file.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <vector>

namespace leopard
{
  namespace
  {
    using Vector = std::array<double, 3>;

    Vector difference(const Vector &a, const Vector &b)
    {
      return {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
    }

    Vector cross(const Vector &a, const Vector &b)
    {
      return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
    }

    double dot(const Vector &a, const Vector &b)
    {
      return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    }

    /** A vector of length one; zero of what has no length. */
    Vector unit(const Vector &a)
    {
      const double length = std::sqrt(dot(a, a));
      return length > 0. ? Vector{a[0] / length, a[1] / length, a[2] / length} : Vector{0., 0., 0.};
    }

    using Element = GmshMesh::Element;

    /** The sides of a cell and its edges, as places in its list of nodes (Gmsh's order). */
    struct Shape
    {
      std::vector<std::vector<int>> sides, edges;
    };

    const Shape &shape_of(CellKind kind)
    {
      using List                       = std::vector<std::vector<int>>;
      static const List  around_three  = {{0, 1}, {1, 2}, {2, 0}};
      static const List  around_four   = {{0, 1}, {1, 2}, {2, 3}, {3, 0}};
      static const Shape triangle      = {around_three, around_three};
      static const Shape quadrilateral = {around_four, around_four};
      static const Shape tetrahedron   = {{{0, 1, 2}, {0, 1, 3}, {0, 2, 3}, {1, 2, 3}}, {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}}};
      static const Shape hexahedron    = {{{0, 1, 2, 3}, {4, 5, 6, 7}, {0, 1, 5, 4}, {1, 2, 6, 5}, {2, 3, 7, 6}, {3, 0, 4, 7}},
                                          {{0, 1}, {1, 2}, {2, 3}, {3, 0}, {4, 5}, {5, 6}, {6, 7}, {7, 4}, {0, 4}, {1, 5}, {2, 6}, {3, 7}}};
      return kind == CellKind::triangle        ? triangle
             : kind == CellKind::quadrilateral ? quadrilateral
             : kind == CellKind::tetrahedron   ? tetrahedron
                                               : hexahedron;
    }

    [[noreturn]] void fail_at(const Element &element, const std::string &reason)
    {
      throw GmshFailure{"the element in line " + std::to_string(element.line) + " " + reason};
    }

    /** Sines of angles, and volumes of unit edges, below this are taken for zero. */
    constexpr double smallest_measure = 1e-6;

    /** The corners of a quadrilateral turn the same way: seen from its mean normal, none is flat or turns back. */
    void check_quadrilateral(const GmshMesh &mesh, const Element &cell)
    {
      std::array<Vector, 4> normals;
      Vector                mean = {0., 0., 0.};
      for (int i = 0; i < 4; ++i)
        {
          const Vector &here = mesh.points[cell.nodes[i]];
          normals[i] =
            cross(unit(difference(mesh.points[cell.nodes[(i + 1) % 4]], here)), unit(difference(mesh.points[cell.nodes[(i + 3) % 4]], here)));
          for (int d = 0; d < 3; ++d)
            mean[d] += normals[i][d];
        }
      mean = unit(mean);
      for (const Vector &normal : normals)
        if (!(dot(normal, mean) > smallest_measure))
          fail_at(cell, "is flat, folded or not convex\n  there should be quadrilaterals with four convex corners, their nodes in order around them");
    }

    void check_hexahedron(const GmshMesh &mesh, const Element &cell)
    {
      // in Gmsh's order a corner's neighbours before and behind it in its quadrilateral, and the one above or below it
      double sign = 0.;
      for (int i = 0; i < 8; ++i)
        {
          const int     base = i / 4 * 4;
          const Vector &here = mesh.points[cell.nodes[i]];
          const Vector  a    = unit(difference(mesh.points[cell.nodes[base + (i + 1) % 4]], here));
          const Vector  b    = unit(difference(mesh.points[cell.nodes[base + (i + 3) % 4]], here));
          const Vector  c    = unit(difference(mesh.points[cell.nodes[(i + 4) % 8]], here));
          const double  j    = (i < 4 ? 1. : -1.) * dot(cross(a, b), c);
          if (i == 0)
            sign = j > 0. ? 1. : -1.;
          if (!(sign * j > smallest_measure))
            fail_at(
              cell,
              "is flat, folded or not convex\n  there should be hexahedra whose corners all have a positive volume, their nodes in Gmsh's order");
        }
    }

    /** The angles of a triangle are neither 0 nor pi, nor the solid ones of a tetrahedron. */
    void check_simplex(const GmshMesh &mesh, const Element &cell)
    {
      const std::size_t n = cell.nodes.size();
      for (std::size_t i = 0; i < n; ++i)
        {
          const auto   edge   = [&](std::size_t k) { return unit(difference(mesh.points[cell.nodes[(i + k) % n]], mesh.points[cell.nodes[i]])); };
          const Vector normal = cross(edge(1), edge(2));
          if (!((n == 3 ? std::sqrt(dot(normal, normal)) : std::abs(dot(normal, edge(3)))) > smallest_measure))
            fail_at(cell, "is flat\n  there should be " + names_of(mesh.kind) + " with " + (n == 3 ? "an area" : "a volume"));
        }
    }

    void check_cell(const GmshMesh &mesh, const Element &cell)
    {
      if (is_simplex(mesh.kind))
        check_simplex(mesh, cell);
      else if (mesh.kind == CellKind::quadrilateral)
        check_quadrilateral(mesh, cell);
      else
        check_hexahedron(mesh, cell);
    }

    /** Which cells meet in a side. */
    struct Neighbours
    {
      int  cells[2]   = {-1, -1};
      bool forward[2] = {false, false}; ///< 2D: whether the cell goes along the edge from its smaller to its larger node
    };

    using Sides = std::map<std::vector<int>, Neighbours>;

    Sides find_sides(const GmshMesh &mesh, int dim)
    {
      Sides sides;
      for (std::size_t c = 0; c < mesh.cells.size(); ++c)
        for (const std::vector<int> &places : shape_of(mesh.kind).sides)
          {
            std::vector<int> side;
            for (const int place : places)
              side.push_back(mesh.cells[c].nodes[place]);
            const bool forward = side[0] < side[1];
            std::sort(side.begin(), side.end());
            Neighbours &found = sides[side];
            const int   place = found.cells[0] < 0 ? 0 : 1;
            if (found.cells[place] >= 0)
              fail_at(mesh.cells[c],
                      "is the third at one of its " + std::string(dim == 2 ? "edges" : "faces") + ", after those in lines " +
                        std::to_string(mesh.cells[found.cells[0]].line) + " and " + std::to_string(mesh.cells[found.cells[1]].line) +
                        "\n  there should be at most two");
            found.cells[place]   = static_cast<int>(c);
            found.forward[place] = forward;
          }
      return sides;
    }

    /** Cells can be turned so that neighbours go along their edge in opposite directions. */
    void check_two_sides(const GmshMesh &mesh, const Sides &sides)
    {
      std::vector<std::vector<std::pair<int, bool>>> neighbours(mesh.cells.size()); // and whether one of the two is to be turned
      for (const auto &[unused, side] : sides)
        if (side.cells[1] >= 0)
          for (const int i : {0, 1})
            neighbours[side.cells[i]].emplace_back(side.cells[1 - i], side.forward[0] == side.forward[1]);
      std::vector<int> turned(mesh.cells.size(), -1);
      for (std::size_t start = 0; start < mesh.cells.size(); ++start)
        {
          std::vector<int> waiting;
          if (turned[start] < 0)
            {
              turned[start] = 0;
              waiting.push_back(static_cast<int>(start));
            }
          while (!waiting.empty())
            {
              const int cell = waiting.back();
              waiting.pop_back();
              for (const auto &[other, turn] : neighbours[cell])
                if (turned[other] < 0)
                  {
                    turned[other] = turned[cell] ^ static_cast<int>(turn);
                    waiting.push_back(other);
                  }
                else if (turned[other] != (turned[cell] ^ static_cast<int>(turn)))
                  fail_at(mesh.cells[other], "closes a strip with one side only (a Moebius strip)\n  there should be two sides");
            }
        }
    }

    /** In the plane, neighbours lie on the two sides of their edge. */
    void check_no_overlap(const GmshMesh &mesh, const Sides &sides)
    {
      const auto turns_left = [&](int cell) {
        const std::vector<int> &nodes = mesh.cells[cell].nodes;
        const Vector           &here  = mesh.points[nodes[0]];
        return cross(difference(mesh.points[nodes[1]], here), difference(mesh.points[nodes.back()], here))[2] > 0.;
      };
      for (const auto &[unused, side] : sides)
        if (side.cells[1] >= 0 && (side.forward[0] == side.forward[1]) == (turns_left(side.cells[0]) == turns_left(side.cells[1])))
          fail_at(mesh.cells[side.cells[1]], "lies on the same side of an edge as the one in line " + std::to_string(mesh.cells[side.cells[0]].line));
    }

    /** @param nodes two of the element's, sorted. */
    bool has_edge(CellKind kind, const Element &element, const std::vector<int> &nodes)
    {
      const auto &edges = shape_of(kind).edges;
      return std::any_of(edges.begin(), edges.end(), [&](const std::vector<int> &edge) {
        const int a = element.nodes[edge[0]], b = element.nodes[edge[1]];
        return std::min(a, b) == nodes[0] && std::max(a, b) == nodes[1];
      });
    }

    /** What two cells have in common is a node, an edge or a face of both: p4est ends the program on others. */
    void check_common_nodes(const GmshMesh &mesh, const Sides &sides, int dim)
    {
      std::vector<std::vector<int>> cells_at(mesh.points.size());
      for (std::size_t c = 0; c < mesh.cells.size(); ++c)
        for (const int node : mesh.cells[c].nodes)
          cells_at[node].push_back(static_cast<int>(c));
      for (std::size_t c = 0; c < mesh.cells.size(); ++c)
        {
          std::map<int, std::vector<int>> common; // nodes by the earlier cell that has them, too
          for (const int node : mesh.cells[c].nodes)
            for (const int other : cells_at[node])
              if (other < static_cast<int>(c))
                common[other].push_back(node);
          for (auto &[other, nodes] : common)
            {
              std::sort(nodes.begin(), nodes.end());
              const bool is_edge = nodes.size() == 2 && has_edge(mesh.kind, mesh.cells[c], nodes) && has_edge(mesh.kind, mesh.cells[other], nodes);
              if (nodes.size() > 1 && !is_edge && !(dim == 3 && sides.count(nodes) == 1))
                fail_at(mesh.cells[c],
                        "has " + std::to_string(nodes.size()) + " nodes in common with that in line " + std::to_string(mesh.cells[other].line) +
                          ", which are no " + (dim == 2 ? "edge" : "edge or face") + " of both");
            }
        }
    }

    /**
     * On a surface the cells at a node are one fan, neighbours by edges that have the node: p4est ends the program on
     * some that touch in a node alone.
     */
    void check_fans(const GmshMesh &mesh, const Sides &sides)
    {
      const int        n = static_cast<int>(mesh.cells.front().nodes.size());
      std::vector<int> fan(n * mesh.cells.size()); // of the corners of all cells: a tree with the first corner as root
      std::iota(fan.begin(), fan.end(), 0);
      const auto root = [&](int corner) {
        while (fan[corner] != corner)
          corner = fan[corner] = fan[fan[corner]];
        return corner;
      };
      const auto corner = [&](int cell, int node) {
        const std::vector<int> &nodes = mesh.cells[cell].nodes;
        return n * cell + static_cast<int>(std::find(nodes.begin(), nodes.end(), node) - nodes.begin());
      };
      for (const auto &[nodes, side] : sides)
        if (side.cells[1] >= 0)
          for (const int node : nodes)
            fan[root(corner(side.cells[1], node))] = root(corner(side.cells[0], node));
      std::vector<int> first(mesh.points.size(), -1);
      for (std::size_t c = 0; c < mesh.cells.size(); ++c)
        for (const int node : mesh.cells[c].nodes)
          {
            const int own = root(corner(static_cast<int>(c), node));
            if (first[node] >= 0 && first[node] != own)
              fail_at(mesh.cells[c], "touches another part of the surface in a node alone\n  there should be a common edge");
            first[node] = own;
          }
    }

    /**
     * Elements of the boundary are sides of the mesh and in one physical group. Those without one between two cells,
     * which Gmsh writes if there are no groups at all, are left out.
     */
    void check_boundary(GmshMesh &mesh, const Sides &sides)
    {
      std::map<std::vector<int>, const Element *> given;
      std::vector<Element>                        boundary;
      for (const Element &element : mesh.sides)
        {
          std::vector<int> nodes = element.nodes;
          std::sort(nodes.begin(), nodes.end());
          const auto side = sides.find(nodes);
          if (side == sides.end())
            fail_at(element, "is no side of a " + name_of(mesh.kind));
          if (side->second.cells[1] >= 0)
            {
              if (element.id == 0)
                continue;
              fail_at(element,
                      "lies between those in lines " + std::to_string(mesh.cells[side->second.cells[0]].line) + " and " +
                        std::to_string(mesh.cells[side->second.cells[1]].line) +
                        "\n  there should be physical groups of lines (2D) or faces (3D) at the boundary only");
            }
          const auto [place, is_new] = given.emplace(nodes, &element);
          if (!is_new && place->second->id != element.id)
            fail_at(element,
                    "has the boundary id " + std::to_string(element.id) + ", and the same side in line " + std::to_string(place->second->line) +
                      " has " + std::to_string(place->second->id) + "\n  there should be parts of the boundary in one physical group each");
          if (is_new)
            boundary.push_back(element);
        }
      mesh.sides = std::move(boundary);
    }

    void check_plane(const GmshMesh &mesh)
    {
      double largest = 0., largest_z = 0.;
      for (const Vector &p : mesh.points)
        {
          largest   = std::max({largest, std::abs(p[0]), std::abs(p[1])});
          largest_z = std::max(largest_z, std::abs(p[2]));
        }
      if (largest_z > 1e-10 * largest)
        throw GmshFailure{
          "it has nodes off the plane z = 0, but 'Mesh/Domain' is file and 'Dimension' is 2\n  expected: Domain = surface file for a surface "
          "in space, or Dimension = 3 for a body, or a mesh in the plane"};
    }
  } // namespace

  std::string why_no_mesh(const std::string &text, int dim, int spacedim, GmshMesh &mesh)
  {
    try
      {
        mesh = parse_gmsh(text, dim);
        if (spacedim == 2)
          check_plane(mesh);
        for (const Element &cell : mesh.cells)
          check_cell(mesh, cell);
        const Sides sides = find_sides(mesh, dim);
        check_common_nodes(mesh, sides, dim);
        if (dim == 2 && spacedim == 3)
          check_fans(mesh, sides);
        check_boundary(mesh, sides);
        if (dim == 2)
          check_two_sides(mesh, sides);
        if (spacedim == 2)
          check_no_overlap(mesh, sides);
        return "";
      }
    catch (const GmshFailure &failure)
      {
        return failure.reason;
      }
  }
} // namespace leopard
