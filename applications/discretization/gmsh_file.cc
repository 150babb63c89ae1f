// SPDX-License-Identifier: Apache-2.0
#include "gmsh_file.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <map>
#include <sstream>
#include <unordered_map>
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

    struct Failure
    {
      std::string reason;
    };

    struct Element
    {
      std::size_t      line;
      std::vector<int> nodes; ///< numbers of points, from 0, in Gmsh's order
    };

    /** Nodes, and elements of the types that matter here. */
    struct GmshMesh
    {
      std::vector<Vector>  points;
      std::vector<Element> cells, lines, quadrilaterals;
    };

    /** Goes through the lines of a file. */
    class GmshReader
    {
    public:
      GmshReader(const std::string &text, int dim_)
        : stream(text)
        , dim(dim_)
      {
      }

      GmshMesh read()
      {
        read_format();
        next("$Nodes or $PhysicalNames");
        if (line == "$PhysicalNames")
          {
            while (line != "$EndPhysicalNames")
              next("$EndPhysicalNames");
            next("$Nodes");
          }
        read_nodes();
        next("$Elements");
        read_elements();
        return std::move(mesh);
      }

    private:
      [[noreturn]] void fail(const std::string &expected) const
      {
        throw Failure{"line " + std::to_string(number) + " is '" + line.substr(0, 60) + "'\n  there should be: " + expected};
      }

      void next(const std::string &expected)
      {
        if (!std::getline(stream, line))
          throw Failure{"it ends after line " + std::to_string(number) + "\n  there should be: " + expected};
        ++number;
        line.erase(line.find_last_not_of(" \t\r") + 1);
      }

      /** The numbers of a line, all of it. */
      std::vector<double> numbers(const std::string &expected)
      {
        next(expected);
        std::vector<double> found;
        const char         *position = line.c_str();
        for (char *end = nullptr; *position != '\0'; position = end)
          {
            found.push_back(std::strtod(position, &end));
            if (end == position || !std::isfinite(found.back()))
              fail(expected);
            end += *end == ' ' || *end == '\t' ? 1 : 0;
          }
        return found;
      }

      int whole(double value, int smallest, const std::string &expected) const
      {
        if (!(value >= smallest && value <= 2147483647. && value == std::floor(value)))
          fail(expected);
        return static_cast<int>(value);
      }

      void read_format()
      {
        const std::string format = "$MeshFormat, '2.2 0 8', $EndMeshFormat: a mesh in format MSH 2.2, ASCII (gmsh -format msh22)";
        next(format);
        if (line != "$MeshFormat")
          fail(format);
        next(format);
        std::istringstream words(line);
        std::string        version, binary;
        words >> version >> binary;
        if ((version != "2" && version != "2.0" && version != "2.1" && version != "2.2") || binary != "0")
          fail(format);
        next(format);
        if (line != "$EndMeshFormat")
          fail(format);
      }

      int count(const std::string &what)
      {
        const std::string         expected = "the number of " + what;
        const std::vector<double> found    = numbers(expected);
        if (found.size() != 1)
          fail(expected);
        return whole(found[0], 1, expected);
      }

      void read_nodes()
      {
        const std::string form = "a node, 'ID X Y Z' with an id of its own and finite coordinates up to 1e100";
        if (line != "$Nodes")
          fail("$Nodes");
        for (int left = count("nodes"); left > 0; --left)
          {
            const std::vector<double> found = numbers(form);
            if (found.size() != 4 || !ids.emplace(whole(found[0], 1, form), static_cast<int>(mesh.points.size())).second)
              fail(form);
            for (int d = 0; d < 3; ++d)
              if (std::abs(found[1 + d]) > 1e100)
                fail(form);
            mesh.points.push_back({found[1], found[2], found[3]});
          }
        next("$EndNodes");
        if (line != "$EndNodes")
          fail("$EndNodes");
      }

      void read_elements()
      {
        const std::string form = "an element, 'ID TYPE NUMBER_OF_TAGS TAGS... NODES...' with nodes of the list above, each once";
        if (line != "$Elements")
          fail("$Elements");
        for (int left = count("elements"); left > 0; --left)
          {
            const std::vector<double> found = numbers(form);
            if (found.size() < 4)
              fail(form);
            const int         type = whole(found[1], 1, form), n_tags = whole(found[2], 0, form);
            const std::size_t n_nodes = n_nodes_of(type), first = 3 + static_cast<std::size_t>(n_tags);
            if (found.size() != first + n_nodes)
              fail(form);
            for (std::size_t i = 3; i < first; ++i)
              whole(found[i], 0, "tags from 0 on; the first is the boundary id");
            Element element{number, {}};
            for (std::size_t i = first; i < found.size(); ++i)
              {
                const auto node = ids.find(whole(found[i], 1, form));
                if (node == ids.end() || std::find(element.nodes.begin(), element.nodes.end(), node->second) != element.nodes.end())
                  fail(form);
                element.nodes.push_back(node->second);
              }
            if (type == (dim == 2 ? 3 : 5))
              mesh.cells.push_back(element);
            else if (type == 1)
              mesh.lines.push_back(element);
            else if (type == 3)
              mesh.quadrilaterals.push_back(element);
          }
        next("$EndElements");
        if (line != "$EndElements")
          fail("$EndElements");
        if (mesh.cells.empty())
          throw Failure{std::string("it has no ") + (dim == 2 ? "quadrilaterals" : "hexahedra")};
      }

      std::size_t n_nodes_of(int type) const
      {
        switch (type)
          {
            case 15:
              return 1;
            case 1:
              return 2;
            case 3:
              return 4;
            case 5:
              if (dim == 3)
                return 8;
          }
        const std::map<int, std::string> names = {{2, "triangle"},
                                                  {4, "tetrahedron"},
                                                  {5, "hexahedron"},
                                                  {6, "prism"},
                                                  {7, "pyramid"},
                                                  {8, "line of order 2"},
                                                  {10, "quadrilateral of order 2"}};
        const auto                       name  = names.find(type);
        fail("elements of the types 15 (point), 1 (line), 3 (quadrilateral)" + std::string(dim == 3 ? " and 5 (hexahedron)" : "") +
             "; this one has type " + std::to_string(type) + (name == names.end() ? "" : ", a " + name->second));
      }

      std::istringstream           stream;
      const int                    dim;
      std::string                  line;
      std::size_t                  number = 0;
      std::unordered_map<int, int> ids; ///< the number of a point by its id
      GmshMesh                     mesh;
    };

    [[noreturn]] void fail_at(const Element &element, const std::string &reason)
    {
      throw Failure{"the element in line " + std::to_string(element.line) + " " + reason};
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

    /** Which cells meet in a side. */
    struct Neighbours
    {
      int  cells[2]   = {-1, -1};
      bool forward[2] = {false, false}; ///< 2D: whether the cell goes along the edge from its smaller to its larger node
    };

    using Sides = std::map<std::vector<int>, Neighbours>;

    Sides find_sides(const GmshMesh &mesh, int dim)
    {
      static const int faces[6][4] = {{0, 1, 2, 3}, {4, 5, 6, 7}, {0, 1, 5, 4}, {1, 2, 6, 5}, {2, 3, 7, 6}, {3, 0, 4, 7}};
      Sides            sides;
      for (std::size_t c = 0; c < mesh.cells.size(); ++c)
        for (int s = 0; s < (dim == 2 ? 4 : 6); ++s)
          {
            const std::vector<int> &nodes = mesh.cells[c].nodes;
            std::vector<int>        side;
            if (dim == 2)
              side = {nodes[s], nodes[(s + 1) % 4]};
            else
              side = {nodes[faces[s][0]], nodes[faces[s][1]], nodes[faces[s][2]], nodes[faces[s][3]]};
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
        return cross(difference(mesh.points[nodes[1]], here), difference(mesh.points[nodes[3]], here))[2] > 0.;
      };
      for (const auto &[unused, side] : sides)
        if (side.cells[1] >= 0 && (side.forward[0] == side.forward[1]) == (turns_left(side.cells[0]) == turns_left(side.cells[1])))
          fail_at(mesh.cells[side.cells[1]], "lies on the same side of an edge as the one in line " + std::to_string(mesh.cells[side.cells[0]].line));
    }

    /** @param nodes two of the element's, sorted. */
    bool has_edge(const Element &element, const std::vector<int> &nodes, int dim)
    {
      static const int edges[12][2] = {{0, 1}, {1, 2}, {2, 3}, {3, 0}, {4, 5}, {5, 6}, {6, 7}, {7, 4}, {0, 4}, {1, 5}, {2, 6}, {3, 7}};
      return std::any_of(edges, edges + (dim == 2 ? 4 : 12), [&](const int(&edge)[2]) {
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
              const bool is_edge = nodes.size() == 2 && has_edge(mesh.cells[c], nodes, dim) && has_edge(mesh.cells[other], nodes, dim);
              if (nodes.size() > 1 && !is_edge && !(dim == 3 && sides.count(nodes) == 1))
                fail_at(mesh.cells[c],
                        "has " + std::to_string(nodes.size()) + " nodes in common with that in line " + std::to_string(mesh.cells[other].line) +
                          ", which are no " + (dim == 2 ? "edge" : "edge or face") + " of both");
            }
        }
    }

    /** Lines and boundary quadrilaterals are sides of the mesh: deal.II ignores others without a word. */
    void check_boundary(const GmshMesh &mesh, const Sides &sides, int dim)
    {
      for (const Element &element : dim == 2 ? mesh.lines : mesh.quadrilaterals)
        {
          std::vector<int> nodes = element.nodes;
          std::sort(nodes.begin(), nodes.end());
          const auto side = sides.find(nodes);
          if (side == sides.end())
            fail_at(element, std::string("is no side of a ") + (dim == 2 ? "quadrilateral" : "hexahedron"));
          if (side->second.cells[1] >= 0)
            fail_at(element,
                    "lies between those in lines " + std::to_string(mesh.cells[side->second.cells[0]].line) + " and " +
                      std::to_string(mesh.cells[side->second.cells[1]].line) +
                      "\n  lines and boundary quadrilaterals should be at the boundary only");
        }
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
        throw Failure{
          "it has nodes off the plane z = 0, but 'Mesh/Domain' is file and 'Dimension' is 2\n  expected: Domain = surface file for a surface "
          "in space, or Dimension = 3 for hexahedra, or a mesh in the plane"};
    }
  } // namespace

  std::string why_no_mesh(const std::string &text, int dim, int spacedim)
  {
    try
      {
        const GmshMesh mesh = GmshReader(text, dim).read();
        if (spacedim == 2)
          check_plane(mesh);
        for (const Element &cell : mesh.cells)
          if (dim == 2)
            check_quadrilateral(mesh, cell);
          else
            check_hexahedron(mesh, cell);
        const Sides sides = find_sides(mesh, dim);
        check_common_nodes(mesh, sides, dim);
        check_boundary(mesh, sides, dim);
        if (dim == 2)
          check_two_sides(mesh, sides);
        if (spacedim == 2)
          check_no_overlap(mesh, sides);
        return "";
      }
    catch (const Failure &failure)
      {
        return failure.reason;
      }
  }
} // namespace leopard
