// SPDX-License-Identifier: Apache-2.0
#include "vtu_fields.h"

#include "vtu_file.h"

#include <applications/problems/found_value.h>

#include <deal.II/base/tensor.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <stdexcept>
#include <utility>

namespace leopard
{
  namespace
  {
    /** Of a cell type of VTK. */
    struct CellType
    {
      int  dimension = -1; ///< -1: not known
      bool simplex   = false;
      bool is_box    = false; ///< pixel or voxel, whose points are in deal.II's order
    };

    CellType type_of(unsigned int number)
    {
      switch (number)
        {
          case 1: // vertices and lines
          case 2:
            return {0};
          case 3:
          case 4:
          case 21:
          case 68:
            return {1};
          case 8:
            return {2, false, true};
          case 9:
          case 28: // biquadratic
          case 70: // Lagrange
            return {2};
          case 5:
          case 22:
          case 69:
            return {2, true};
          case 11:
            return {3, false, true};
          case 12:
          case 29:
          case 72:
            return {3};
          case 10:
          case 24:
          case 71:
            return {3, true};
          default:
            return {};
        }
    }

    /** "23 (quadratic quadrilateral)", in VTK's words. */
    std::string name_of_type(unsigned int number)
    {
      static const std::map<unsigned int, const char *> names = {{0, "empty cell"},
                                                                 {6, "triangle strip"},
                                                                 {7, "polygon"},
                                                                 {10, "tetrahedron"},
                                                                 {11, "voxel"},
                                                                 {12, "hexahedron"},
                                                                 {13, "wedge"},
                                                                 {14, "pyramid"},
                                                                 {15, "pentagonal prism"},
                                                                 {16, "hexagonal prism"},
                                                                 {5, "triangle"},
                                                                 {8, "pixel"},
                                                                 {9, "quadrilateral"},
                                                                 {22, "quadratic triangle"},
                                                                 {23, "quadratic quadrilateral"},
                                                                 {24, "quadratic tetrahedron"},
                                                                 {25, "quadratic hexahedron"},
                                                                 {26, "quadratic wedge"},
                                                                 {27, "quadratic pyramid"},
                                                                 {28, "biquadratic quadrilateral"},
                                                                 {29, "triquadratic hexahedron"},
                                                                 {30, "quadratic-linear quadrilateral"},
                                                                 {31, "quadratic-linear wedge"},
                                                                 {32, "biquadratic wedge"},
                                                                 {33, "biquadratic hexahedron"},
                                                                 {34, "biquadratic triangle"},
                                                                 {35, "cubic line"},
                                                                 {36, "quadratic polygon"},
                                                                 {37, "triquadratic pyramid"},
                                                                 {41, "convex point set"},
                                                                 {42, "polyhedron"},
                                                                 {69, "Lagrange triangle"},
                                                                 {70, "Lagrange quadrilateral"},
                                                                 {71, "Lagrange tetrahedron"},
                                                                 {72, "Lagrange hexahedron"},
                                                                 {73, "Lagrange wedge"},
                                                                 {74, "Lagrange pyramid"},
                                                                 {75, "Bezier curve"},
                                                                 {76, "Bezier triangle"},
                                                                 {77, "Bezier quadrilateral"},
                                                                 {78, "Bezier tetrahedron"},
                                                                 {79, "Bezier hexahedron"},
                                                                 {80, "Bezier wedge"},
                                                                 {81, "Bezier pyramid"}};
      const auto                                        name  = names.find(number);
      return std::to_string(number) + (name == names.end() ? "" : std::string(" (") + name->second + ")");
    }

    /** The degree of a Lagrange cell with n nodes; 0: there is none that can be read. */
    unsigned int degree_of(int dim, bool simplex, std::size_t n)
    {
      for (unsigned int p = 1; p <= (simplex ? 2U : 8U); ++p)
        if (n == (!simplex   ? static_cast<std::size_t>(std::lround(std::pow(p + 1, dim)))
                  : dim == 2 ? (p + 1) * (p + 2) / 2
                             : (p + 1) * (p + 2) * (p + 3) / 6))
          return p;
      return 0;
    }

    /**
     * Six times the volume of the cell that the corners make, or twice its area, over its size cubed or squared. Not a
     * number where all corners are in one place. @param nodes corners first, in deal.II's order.
     */
    template <int dim, int spacedim>
    double relative_measure(const std::vector<dealii::Point<spacedim>> &nodes, bool simplex)
    {
      using Vector         = dealii::Tensor<1, 3>;
      const auto n_corners = static_cast<std::size_t>(simplex ? dim + 1 : 1 << dim);
      double     size      = 0.;
      for (std::size_t i = 0; i < n_corners; ++i)
        for (std::size_t j = 0; j < i; ++j)
          size = std::max(size, nodes[i].distance(nodes[j]));
      const auto edge = [&](std::size_t from, std::size_t to) {
        Vector result;
        for (int d = 0; d < spacedim; ++d)
          result[d] = (nodes[to][d] - nodes[from][d]) / size;
        return result;
      };
      const auto volume = [&](std::size_t i, std::size_t j, std::size_t k) { // of the tetrahedron with the first corner
        return edge(0, i) * dealii::cross_product_3d(edge(0, j), edge(0, k));
      };
      if (dim == 2) // by the edges of a triangle, by the diagonals of a quadrilateral
        return (simplex ? dealii::cross_product_3d(edge(0, 1), edge(0, 2)) : dealii::cross_product_3d(edge(0, 3), edge(1, 2))).norm();
      if (simplex)
        return std::abs(volume(1, 2, 3));
      double sum = 0.; // tetrahedra around a diagonal
      for (const auto &[i, j] : {std::pair(1, 3), {3, 2}, {2, 6}, {6, 4}, {4, 5}, {5, 1}})
        sum += volume(i, j, 7);
      return std::abs(sum);
    }

    template <int dim, int spacedim>
    class Piece
    {
    public:
      /** @param name_ where in the file it is, if it is not all of it: "piece 2, ". */
      Piece(const std::string              &path_,
            const std::string              &name_,
            const VtuPiece                 &piece_,
            const std::vector<std::string> &names,
            CellFields<dim, spacedim>      &cells_)
        : path(path_)
        , name_of_piece(name_)
        , piece(piece_)
        , cells(cells_)
      {
        for (const std::string &field : names)
          fields.push_back(&piece.fields.at(field));
      }

      void add_cells()
      {
        if constexpr (spacedim == 2)
          check_plane();
        for (std::size_t c = 0; c < piece.types.size(); ++c)
          {
            const CellType type = type_of(piece.types[c]);
            if (type.dimension < 0 || type.dimension > dim)
              fail("has a cell of VTK's type " + name_of_type(piece.types[c]) + (type.dimension > dim ? ", of dimension 3" : ""));
            if (type.dimension == dim)
              add_cell(c, type);
          }
      }

    private:
      [[noreturn]] void fail(const std::string &what) const
      {
        throw std::runtime_error("the file '" + path + "' " + what +
                                 "\n  expected: " + (dim == 2 ? "triangles and quadrilaterals" : "tetrahedra and hexahedra") +
                                 (spacedim == 2 ? " in the plane z = 0" : "") + ", linear, of Lagrange's kind, or quadratic with " +
                                 (dim == 2 ? "6 and 9" : "10 and 27") + " points; ParaView's filter 'Tessellate' makes linear ones of others");
      }

      void check_plane() const
      {
        double size = 0., height = 0.;
        for (std::size_t i = 0; i < piece.points.size(); i += 3)
          {
            size   = std::max({size, std::abs(piece.points[i]), std::abs(piece.points[i + 1])});
            height = std::max(height, std::abs(piece.points[i + 2]));
          }
        if (!(height <= 1e-6 * size))
          fail("has points outside of the plane z = 0");
      }

      void add_cell(std::size_t c, const CellType &type)
      {
        const std::size_t  begin = c == 0 ? 0 : piece.offsets[c - 1], n = piece.offsets[c] - begin;
        const LagrangeCell kind{type.simplex, degree_of(dim, type.simplex, n), true};
        if (kind.degree == 0 || (type.is_box && kind.degree > 1))
          fail("has a cell of VTK's type " + name_of_type(piece.types[c]) + " with " + std::to_string(n) + " points");
        std::vector<std::size_t> corners(n);
        for (std::size_t i = 0; i < n; ++i)
          corners[i] = piece.connectivity[begin + i];
        if (!type.simplex && !type.is_box) // VTK goes around a face
          for (std::size_t first = 0; first < (dim == 2 ? 4 : 8); first += 4)
            std::swap(corners[first + 2], corners[first + 3]);
        nodes.resize(n);
        for (std::size_t i = 0; i < n; ++i)
          for (int d = 0; d < spacedim; ++d)
            {
              nodes[i][d] = piece.points[3 * corners[i] + d];
              if (!std::isfinite(nodes[i][d]))
                fail("has a coordinate that is not finite, of the point " + std::to_string(corners[i]) + " of the cell " + std::to_string(c) + " (" +
                     name_of_piece + "counted from 0)");
            }
        check_measure(c, type.simplex);
        if (kind.degree > 1)
          sort_nodes(kind, piece.types[c], corners);
        values.resize(n * fields.size());
        for (std::size_t i = 0; i < n; ++i)
          for (std::size_t f = 0; f < fields.size(); ++f)
            values[i * fields.size() + f] = (*fields[f])[corners[i]];
        cells.add(kind, nodes, values);
      }

      /** In a cell without area no place can be found. @param c number of the cell whose nodes are there. */
      void check_measure(std::size_t c, bool simplex) const
      {
        constexpr double rounding = 1e-12;
        if (relative_measure<dim>(nodes, simplex) > rounding)
          return;
        std::string corners;
        for (std::size_t i = 0; i < static_cast<std::size_t>(simplex ? dim + 1 : 1 << dim); ++i)
          corners += (i == 0 ? "" : ", ") + place_text(nodes[i]);
        const std::string measure = dim == 2 ? "area" : "volume";
        throw std::runtime_error("the file '" + path + "' has a cell without " + measure + ": " + std::to_string(c) + " (" + name_of_piece +
                                 "counted from 0, as VTK does), with corners at " + corners + "\n  expected: cells with " + measure +
                                 "; take it out, or make the mesh anew (ParaView's filter 'Mesh Quality' shows such cells)");
      }

      /** The order of Lagrange cells has changed between versions of VTK; that of a file is found once. */
      void sort_nodes(const LagrangeCell &kind, unsigned int type, std::vector<std::size_t> &points)
      {
        std::vector<unsigned int> &order = orders[{type, kind.degree}];
        if (order.empty())
          order = cells.order_of_nodes(kind, nodes);
        if (order.empty())
          fail("has a cell of VTK's type " + name_of_type(type) + " whose points are not where those of such a cell are");
        const auto old_nodes  = nodes;
        const auto old_points = points;
        for (std::size_t i = 0; i < order.size(); ++i)
          {
            nodes[i]  = old_nodes[order[i]];
            points[i] = old_points[order[i]];
          }
      }

      const std::string                                                          path, name_of_piece;
      const VtuPiece                                                            &piece;
      CellFields<dim, spacedim>                                                 &cells;
      std::vector<const std::vector<double> *>                                   fields;
      std::vector<dealii::Point<spacedim>>                                       nodes; // of one cell
      std::vector<double>                                                        values;
      std::map<std::pair<unsigned int, unsigned int>, std::vector<unsigned int>> orders;
    };
  } // namespace

  template <int dim, int spacedim>
  bool add_vtu(const std::string &path, const std::vector<std::string> &fields, CellFields<dim, spacedim> &cells)
  {
    bool       single_precision = false;
    const auto pieces           = read_vtu(path, fields);
    for (const VtuPiece &piece : pieces)
      {
        const std::string name = pieces.size() > 1 ? "in piece " + std::to_string(&piece - pieces.data()) + ", " : "";
        Piece<dim, spacedim>(path, name, piece, fields, cells).add_cells();
        single_precision = single_precision || piece.single_precision;
        if (piece.single_points)
          cells.have_single_precision();
      }
    return single_precision;
  }

  template bool add_vtu(const std::string &, const std::vector<std::string> &, CellFields<2, 2> &);
  template bool add_vtu(const std::string &, const std::vector<std::string> &, CellFields<3, 3> &);
  template bool add_vtu(const std::string &, const std::vector<std::string> &, CellFields<2, 3> &);
} // namespace leopard
