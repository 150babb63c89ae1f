// SPDX-License-Identifier: Apache-2.0
#include "gmsh_mesh.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <unordered_map>

namespace leopard
{
  namespace
  {
    /** Gmsh's types of elements that may be in a mesh of that dimension, with their nodes. */
    std::size_t n_nodes_of(int type, int dim)
    {
      static const std::map<int, std::size_t> in_the_plane = {{15, 1}, {1, 2}, {2, 3}, {3, 4}},
                                              in_space     = {{15, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 4}, {5, 8}};
      const auto &known                                    = dim == 2 ? in_the_plane : in_space;
      const auto  found                                    = known.find(type);
      return found == known.end() ? 0 : found->second;
    }

    /** Why an element of that type cannot be used, and what to do. */
    std::string why_not_type(int type, int dim)
    {
      static const std::map<int, std::string> names = {{4, "tetrahedron"},
                                                       {5, "hexahedron"},
                                                       {6, "prism"},
                                                       {7, "pyramid"},
                                                       {8, "line of order 2"},
                                                       {9, "triangle of order 2"},
                                                       {10, "quadrilateral of order 2"},
                                                       {11, "tetrahedron of order 2"},
                                                       {12, "hexahedron of order 2"}};
      const auto                              name  = names.find(type);
      return std::string("elements of the types 15 (point), 1 (line), 2 (triangle), 3 (quadrilateral)") +
             (dim == 3 ? ", 4 (tetrahedron) and 5 (hexahedron)" : "") + "; this one has type " + std::to_string(type) +
             (name == names.end() ? "" : ", a " + name->second) + (type >= 8 ? " (to do: Mesh.ElementOrder = 1)" : "") +
             (dim == 2 && type >= 4 && type <= 7 ? " (to do: 'Dimension' = 3)" : "");
    }

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
        skip_to("$Nodes");
        is_version_4 ? read_nodes_4() : read_nodes_2();
        expect("$EndNodes");
        skip_to("$Elements");
        is_version_4 ? read_elements_4() : read_elements_2();
        expect("$EndElements");
        find_kind();
        return std::move(mesh);
      }

    private:
      [[noreturn]] void fail(const std::string &expected) const
      {
        throw GmshFailure{"line " + std::to_string(number) + " is '" + line.substr(0, 60) + "'\n  there should be: " + expected};
      }

      void next(const std::string &expected)
      {
        if (!std::getline(stream, line))
          throw GmshFailure{"it ends after line " + std::to_string(number) + "\n  there should be: " + expected};
        ++number;
        line.erase(line.find_last_not_of(" \t\r") + 1);
      }

      void expect(const std::string &expected)
      {
        next(expected);
        if (line != expected)
          fail(expected);
      }

      /** Skips sections, but reads that of entities, up to the one of that name. */
      void skip_to(const std::string &section)
      {
        for (next(section); line != section; next(section))
          {
            if (line.size() < 2 || line[0] != '$' || line.rfind("$End", 0) == 0)
              fail(section + ", or another section of a mesh");
            if (line == "$PartitionedEntities")
              fail("a mesh that is not partitioned");
            if (line == "$Nodes" || line == "$Elements")
              fail(section);
            if (line == "$Entities" && is_version_4)
              {
                read_entities();
                expect("$EndEntities");
                continue;
              }
            const std::string end = "$End" + line.substr(1);
            while (line != end)
              next(end);
          }
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
            while (*end == ' ' || *end == '\t')
              ++end;
          }
        return found;
      }

      /** The numbers of a line that has so many. */
      std::vector<double> numbers(std::size_t n, const std::string &expected)
      {
        const std::vector<double> found = numbers(expected);
        if (found.size() != n)
          fail(expected);
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
        const std::string format = "$MeshFormat, '2.2 0 8' or '4.1 0 8', $EndMeshFormat: a mesh in format MSH 2.2 or 4.1, ASCII";
        next(format);
        if (line != "$MeshFormat")
          fail(format);
        next(format);
        std::istringstream words(line);
        std::string        version, binary;
        words >> version >> binary;
        is_version_4 = version == "4.1";
        if (binary == "1")
          fail(format + "; this one is binary (to do: gmsh FILE.msh -save -bin 0 -format msh41 -o NEW.msh)");
        if (version == "4" || version == "4.0")
          fail(format + " (to do: gmsh FILE.msh -save -format msh41 -o NEW.msh)");
        if ((!is_version_4 && version != "2" && version != "2.0" && version != "2.1" && version != "2.2") || binary != "0")
          fail(format);
        expect("$EndMeshFormat");
      }

      void add_node(int id, double x, double y, double z)
      {
        if (!ids.emplace(id, static_cast<int>(mesh.points.size())).second || std::abs(x) > 1e50 || std::abs(y) > 1e50 || std::abs(z) > 1e50)
          fail("a node with an id of its own and finite coordinates up to 1e50");
        mesh.points.push_back({x, y, z});
      }

      void read_nodes_2()
      {
        const std::string form = "a node, 'ID X Y Z' with an id of its own and finite coordinates up to 1e50", n = "the number of nodes";
        for (int left = whole(numbers(1, n)[0], 1, n); left > 0; --left)
          {
            const std::vector<double> found = numbers(4, form);
            add_node(whole(found[0], 1, form), found[1], found[2], found[3]);
          }
      }

      void read_nodes_4()
      {
        const std::string head = "'NUMBER_OF_BLOCKS NUMBER_OF_NODES SMALLEST_ID LARGEST_ID'";
        const std::string form = "a block of nodes, 'DIMENSION ENTITY PARAMETRIC NUMBER_OF_NODES', with parametric 0 or 1";
        for (int blocks = whole(numbers(4, head)[0], 1, head); blocks > 0; --blocks)
          {
            const std::vector<double> block      = numbers(4, form);
            const int                 entity_dim = whole(block[0], 0, form), parametric = whole(block[2], 0, form);
            if (entity_dim > 3 || parametric > 1)
              fail(form);
            std::vector<int> tags;
            for (int left = whole(block[3], 0, form); left > 0; --left)
              tags.push_back(whole(numbers(1, "the id of a node")[0], 1, "the id of a node"));
            for (const int tag : tags)
              {
                const std::string         coordinates = "coordinates of a node, 'X Y Z'";
                const std::vector<double> found       = numbers(coordinates);
                if (found.size() < 3 || found.size() > 3 + static_cast<std::size_t>(parametric * entity_dim))
                  fail(coordinates);
                add_node(tag, found[0], found[1], found[2]);
              }
          }
      }

      /** The physical groups of points, curves, surfaces and volumes. */
      void read_entities()
      {
        const std::string         head   = "'NUMBER_OF_POINTS NUMBER_OF_CURVES NUMBER_OF_SURFACES NUMBER_OF_VOLUMES'";
        const std::string         form   = "an entity, 'ID ' its point or its box ' NUMBER_OF_PHYSICAL_GROUPS GROUPS...'";
        const std::vector<double> counts = numbers(4, head);
        for (const double count : counts)
          whole(count, 0, head);
        for (int d = 0; d <= 3; ++d)
          for (int left = static_cast<int>(counts[d]); left > 0; --left)
            {
              const std::vector<double> found = numbers(form);
              const std::size_t         place = d == 0 ? 4 : 7;
              if (found.size() <= place)
                fail(form);
              const int           n_groups = whole(found[place], 0, form);
              std::vector<double> groups(found.begin() + static_cast<long>(place) + 1, found.end());
              if (groups.size() < static_cast<std::size_t>(n_groups))
                fail(form);
              groups.resize(n_groups);
              std::set<int> &of_entity = physical_groups[{d, whole(found[0], -2147483647, form)}];
              for (const double group : groups)
                of_entity.insert(whole(std::abs(group), 1, form)); // a negative one says that the entity is turned
            }
      }

      /** @param first where the nodes begin in the numbers of the line. */
      void add_element(int type, int id, const std::vector<double> &found, std::size_t first, const std::string &form)
      {
        GmshMesh::Element element{number, id, {}};
        for (std::size_t i = first; i < found.size(); ++i)
          {
            const auto node = ids.find(whole(found[i], 1, form));
            if (node == ids.end() || std::find(element.nodes.begin(), element.nodes.end(), node->second) != element.nodes.end())
              fail(form);
            element.nodes.push_back(node->second);
          }
        of_type[type].push_back(std::move(element));
      }

      void read_elements_2()
      {
        const std::string form = "an element, 'ID TYPE NUMBER_OF_TAGS TAGS... NODES...' with nodes of the list above, each once";
        const std::string n = "the number of elements", tags = "tags from 0 on; the first is the boundary id";
        for (int left = whole(numbers(1, n)[0], 1, n); left > 0; --left)
          {
            const std::vector<double> found = numbers(form);
            if (found.size() < 4)
              fail(form);
            const int type = whole(found[1], 1, form), n_tags = whole(found[2], 0, form);
            if (n_nodes_of(type, dim) == 0)
              fail(why_not_type(type, dim));
            const std::size_t first = 3 + static_cast<std::size_t>(n_tags);
            if (found.size() != first + n_nodes_of(type, dim))
              fail(form);
            for (std::size_t i = 3; i < first && i < 5; ++i)
              whole(found[i], 0, tags);
            add_element(type, n_tags > 0 ? static_cast<int>(found[3]) : 0, found, first, form);
          }
      }

      void read_elements_4()
      {
        const std::string head = "'NUMBER_OF_BLOCKS NUMBER_OF_ELEMENTS SMALLEST_ID LARGEST_ID'";
        const std::string form = "a block of elements, 'DIMENSION ENTITY TYPE NUMBER_OF_ELEMENTS'";
        const std::string each = "an element, 'ID NODES...' with nodes of the list above, each once";
        for (int blocks = whole(numbers(4, head)[0], 1, head); blocks > 0; --blocks)
          {
            const std::vector<double> block = numbers(4, form);
            const int                 d = whole(block[0], 0, form), type = whole(block[2], 1, form);
            const auto                groups = physical_groups.find({d, whole(block[1], -2147483647, form)});
            if (n_nodes_of(type, dim) == 0)
              fail(why_not_type(type, dim));
            if (d == dim - 1 && groups != physical_groups.end() && groups->second.size() > 1)
              fail("parts of the boundary in one physical group each; these elements are in " + std::to_string(groups->second.size()));
            const int id = groups == physical_groups.end() || groups->second.empty() ? 0 : *groups->second.begin();
            for (int left = whole(block[3], 0, form); left > 0; --left)
              add_element(type, id, numbers(1 + n_nodes_of(type, dim), each), 1, each);
          }
      }

      /** Where there are sides without cells: Gmsh leaves out what is in no group as soon as there is one. */
      std::string why_no_cells()
      {
        const std::size_t n_sides = dim == 2 ? of_type[1].size() : of_type[2].size() + of_type[3].size();
        const std::string what = dim == 2 ? "Curve" : "Surface", cells = dim == 2 ? "Surface" : "Volume";
        return n_sides == 0
                 ? ""
                 : ", but " + std::to_string(n_sides) + (dim == 2 ? " lines" : " faces") + "; with a Physical " + what + " and no Physical " + cells +
                     " Gmsh saves these alone (to do: a Physical " + cells + " of the domain, or Mesh.SaveAll = 1)";
      }

      /** Sorts the elements into cells and sides. */
      void find_kind()
      {
        const std::array<CellKind, 2>   kinds     = dim == 2 ? std::array<CellKind, 2>{CellKind::triangle, CellKind::quadrilateral}
                                                             : std::array<CellKind, 2>{CellKind::tetrahedron, CellKind::hexahedron};
        std::vector<GmshMesh::Element> &simplices = of_type[dim == 2 ? 2 : 4], &cubes = of_type[dim == 2 ? 3 : 5];
        if (!simplices.empty() && !cubes.empty())
          throw GmshFailure{
            "it has " + std::to_string(simplices.size()) + " " + names_of(kinds[0]) + " and " + std::to_string(cubes.size()) + " " +
            names_of(kinds[1]) + "\n  there should be: cells of one kind" +
            (dim == 2 ? " (to do: Mesh.RecombineAll = 1 and Mesh.SubdivisionAlgorithm = 1 for quadrilaterals, or Mesh.RecombineAll = 0)" : "")};
        if (simplices.empty() && cubes.empty())
          throw GmshFailure{"it has no " + names_of(kinds[0]) + " and no " + names_of(kinds[1]) + why_no_cells()};
        mesh.kind  = simplices.empty() ? kinds[1] : kinds[0];
        mesh.cells = std::move(simplices.empty() ? cubes : simplices);
        for (const int type : dim == 2 ? std::vector<int>{1} : std::vector<int>{2, 3})
          mesh.sides.insert(mesh.sides.end(), of_type[type].begin(), of_type[type].end());
      }

      std::istringstream                            stream;
      const int                                     dim;
      std::string                                   line;
      std::size_t                                   number       = 0;
      bool                                          is_version_4 = false;
      std::unordered_map<int, int>                  ids;             ///< the number of a point by its id
      std::map<std::pair<int, int>, std::set<int>>  physical_groups; ///< of an entity, by its dimension and id
      std::map<int, std::vector<GmshMesh::Element>> of_type;
      GmshMesh                                      mesh;
    };
  } // namespace

  std::string name_of(CellKind kind)
  {
    return kind == CellKind::triangle        ? "triangle"
           : kind == CellKind::quadrilateral ? "quadrilateral"
           : kind == CellKind::tetrahedron   ? "tetrahedron"
                                             : "hexahedron";
  }

  std::string names_of(CellKind kind)
  {
    return kind == CellKind::tetrahedron ? "tetrahedra" : kind == CellKind::hexahedron ? "hexahedra" : name_of(kind) + "s";
  }

  GmshMesh parse_gmsh(const std::string &text, int dim)
  {
    return GmshReader(text, dim).read();
  }

  std::map<std::string, std::set<unsigned int>> gmsh_group_names(std::istream &file, int dim)
  {
    std::map<std::string, std::set<unsigned int>> result;
    std::string                                   line, section; // the section that the line is in
    for (std::size_t number = 1; std::getline(file, line); ++number)
      {
        const auto fail = [&](const std::string &expected) {
          throw GmshFailure{"line " + std::to_string(number) + " is '" + line.substr(0, 60) + "'\n  there should be: " + expected};
        };
        line.erase(line.find_last_not_of(" \t\r") + 1);
        if (line == "$Nodes" && section.empty())
          break;
        if (section.empty() || line == "$End" + section)
          {
            section = section.empty() && line.rfind('$', 0) == 0 ? line.substr(1) : "";
            if (section == "PhysicalNames" && std::getline(file, line))
              ++number;
            if (section == "PhysicalNames" &&
                !std::all_of(line.begin(), line.end(), [](unsigned char c) { return std::isdigit(c) || std::isspace(c); }))
              fail("the number of names");
            continue;
          }
        if (section != "PhysicalNames" || line.empty())
          continue;
        const std::size_t  quote = line.find('"'), end = line.rfind('"');
        std::istringstream numbers(line.substr(0, quote));
        long               of = -1, group = -1;
        if (end == quote || !(numbers >> of >> group))
          fail("a physical group, 'DIMENSION NUMBER \"NAME\"', or $EndPhysicalNames");
        if (of == dim && group > 0 && group <= 2147483647)
          result[line.substr(quote + 1, end - quote - 1)].insert(static_cast<unsigned int>(group));
      }
    return result;
  }

  double n_gmsh_nodes(std::istream &file)
  {
    std::string line;
    while (std::getline(file, line))
      if (line.rfind("$Nodes", 0) == 0)
        {
          std::getline(file, line);
          std::istringstream        numbers(line); // 2.2: nodes; 4.1: blocks, nodes, least and greatest id
          const std::vector<double> n{std::istream_iterator<double>(numbers), {}};
          return n.size() == 1 ? n[0] : n.size() == 4 ? n[1] : 0.;
        }
    return 0.;
  }
} // namespace leopard
