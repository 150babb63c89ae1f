// SPDX-License-Identifier: Apache-2.0
#include "describe_mesh.h"

#include "parameters.h"

#include <applications/base/collective.h>
#include <applications/base/log.h>
#include <applications/discretization/gmsh_file.h>
#include <applications/discretization/mesh.h>
#include <applications/discretization/mesh_gaps.h>
#include <applications/discretization/periodic_boundary.h>
#include <solvers/base/errors.h>

#include <deal.II/distributed/tria_base.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>

namespace leopard
{
  using namespace dealii;

  namespace
  {
    template <int spacedim>
    double triangle_area(const Point<spacedim> &a, const Point<spacedim> &b, const Point<spacedim> &c)
    {
      const Tensor<1, spacedim> p = b - a, q = c - a;
      return 0.5 * std::sqrt(std::max(0., (p * p) * (q * q) - (p * q) * (p * q)));
    }

    /** What is counted of the cells of a coarse mesh, which every rank knows all of. */
    template <int spacedim>
    struct Census
    {
      struct Side
      {
        unsigned int n       = 0;
        double       measure = 0.;
      };
      std::array<double, spacedim> low, high, smallest_cell, largest_cell; ///< extents of the mesh and of its cells
      double                       shortest = std::numeric_limits<double>::max(), longest = 0., measure = 0.;
      bool                         axis_parallel = true; ///< all cells are rectangles or boxes
      std::map<unsigned int, Side> sides;                ///< by boundary id
      std::map<unsigned int, int>  materials;            ///< number of cells by id
    };

    template <int dim, int spacedim>
    Census<spacedim> count(const parallel::TriangulationBase<dim, spacedim> &triangulation)
    {
      Census<spacedim> result;
      result.low.fill(std::numeric_limits<double>::max());
      result.smallest_cell = result.low;
      result.high.fill(-std::numeric_limits<double>::max());
      result.largest_cell.fill(0.);
      result.measure = measure_of(triangulation);
      for (const auto &cell : triangulation.cell_iterators_on_level(0))
        {
          std::array<double, spacedim> low = {}, high = {};
          low.fill(std::numeric_limits<double>::max());
          high.fill(-std::numeric_limits<double>::max());
          for (const unsigned int v : cell->vertex_indices())
            for (unsigned int d = 0; d < spacedim; ++d)
              {
                low[d]  = std::min(low[d], cell->vertex(v)[d]);
                high[d] = std::max(high[d], cell->vertex(v)[d]);
              }
          for (unsigned int d = 0; d < spacedim; ++d)
            {
              result.low[d]           = std::min(result.low[d], low[d]);
              result.high[d]          = std::max(result.high[d], high[d]);
              result.smallest_cell[d] = std::min(result.smallest_cell[d], high[d] - low[d]);
              result.largest_cell[d]  = std::max(result.largest_cell[d], high[d] - low[d]);
            }
          for (const unsigned int l : cell->line_indices())
            {
              const Tensor<1, spacedim> edge = cell->line(l)->vertex(1) - cell->line(l)->vertex(0);
              result.shortest                = std::min(result.shortest, edge.norm());
              result.longest                 = std::max(result.longest, edge.norm());
              double largest                 = 0.;
              for (unsigned int d = 0; d < spacedim; ++d)
                largest = std::max(largest, std::abs(edge[d]));
              result.axis_parallel = result.axis_parallel && edge.norm() <= largest * (1. + 1e-10);
            }
          ++result.materials[cell->material_id()];
          for (const auto &face : cell->face_iterators())
            if (face->at_boundary())
              {
                auto &side = result.sides[face->boundary_id()];
                ++side.n;
                if constexpr (dim == 2)
                  side.measure += face->vertex(0).distance(face->vertex(1));
                else if (face->n_vertices() == 3)
                  side.measure += triangle_area(face->vertex(0), face->vertex(1), face->vertex(2));
                else
                  side.measure += triangle_area(face->vertex(0), face->vertex(1), face->vertex(3)) +
                                  triangle_area(face->vertex(0), face->vertex(3), face->vertex(2));
              }
        }
      return result;
    }

    /** Equal boxes that fill a box. */
    template <int spacedim>
    bool is_box(const Census<spacedim> &census)
    {
      double box   = 1.;
      bool   equal = census.axis_parallel;
      for (int d = 0; d < spacedim; ++d)
        {
          box *= census.high[d] - census.low[d];
          equal = equal && census.smallest_cell[d] >= census.largest_cell[d] * (1. - 1e-6);
        }
      return equal && std::abs(census.measure - box) <= 1e-6 * box;
    }

    std::string possible(bool simplices, bool surface, bool grid)
    {
      std::string text = simplices ? "  possible: finite elements of degree 1 and 2 (of degree 2 in time with the consistent mass matrix)"
                                   : "  possible: finite elements of degrees 1 to 8";
      text += grid ? ", finite differences" : "";
      text += simplices ? "" : ", adaptive refinement in stationary problems";
      text += simplices || surface ? "" : ", multigrid on its refinements, the study of smoothers";
      text += "; time loops: general, and fused with a lumped mass matrix";
      if (!grid || simplices || surface)
        text += "\n  not possible: " + std::string(grid ? "" : "finite differences (they want 'Mesh/Domain' = hypercube, box or L-shape)") +
                (simplices ? ", adaptive refinement" : "") +
                (simplices || surface ? ", multigrid (take the preconditioner amg), the study of smoothers" : "");
      return text;
    }

    template <int dim, int spacedim>
    std::string describe(const MeshParameters &parameters, const BoundaryNames &names, MPI_Comm comm)
    {
      const auto  triangulation = make_coarse_mesh<dim, spacedim>(parameters, false, comm);
      const auto  census        = count(*triangulation);
      const bool  simplices     = has_simplices(*triangulation);
      const auto  kind          = simplices  ? (dim == 2 ? CellKind::triangle : CellKind::tetrahedron)
                                  : dim == 2 ? CellKind::quadrilateral
                                             : CellKind::hexahedron;
      std::string text          = "  'Dimension' = " + std::to_string(dim) + ", 'Mesh/Domain' = " + parameters.domain +
                         (dim != spacedim  ? std::string(": a surface in space, ") + (census.sides.empty() ? "closed" : "with a boundary")
                          : is_box(census) ? std::string(": a box of equal cells")
                                           : std::string()) +
                         "\n  " + std::to_string(triangulation->n_global_active_cells()) + " " + names_of(kind) + ", " +
                         std::to_string(triangulation->n_used_vertices()) + " vertices\n  extents:";
      for (int d = 0; d < spacedim; ++d)
        text += format("%s %c from %g to %g", d > 0 ? "," : "", "xyz"[d], census.low[d], census.high[d]);
      text +=
        format("; %s %g\n  edges: from %g to %g\n  boundary ids:", dim == 2 ? "area" : "volume", census.measure, census.shortest, census.longest);
      for (const auto &[id, side] : census.sides)
        text += format("\n    %s: %u %s, %s %g%s",
                       names.described(id_before(id)).c_str(),
                       side.n,
                       dim == 2 ? "lines" : "faces",
                       dim == 2 ? "length" : "area",
                       side.measure,
                       is_periodic(id) ? ", periodic" : "");
      text += census.sides.empty() ? " none, as there is no boundary\n" : "\n";
      text += "  material ids:";
      for (const auto &[id, n] : census.materials)
        text += format(" %u (%d cells)", id, n);
      if (parameters.global_refinements > 0)
        text +=
          format("\n  'Mesh/Global refinements' = %u makes %.0f cells of it",
                 parameters.global_refinements,
                 std::ldexp(static_cast<double>(triangulation->n_global_active_cells()), static_cast<int>(dim * parameters.global_refinements)));
      if (const std::string gaps = gaps_of(*triangulation); !gaps.empty())
        text += "\n  warning: " + gaps;
      return text + "\n" + possible(simplices, dim != spacedim, parameters.is_uniform()) + "\n";
    }

    /** Dimension and domain of a Gmsh file, from what is in it. */
    void find_dimension(const std::string &file, const std::string &text, MeshParameters &mesh, int &dimension)
    {
      mesh.file   = file;
      mesh.domain = "file";
      dimension   = 3;
      std::string why_no_body;
      try
        {
          parse_gmsh(text, 3);
          return;
        }
      catch (const GmshFailure &failure)
        {
          why_no_body = failure.reason;
        }
      dimension         = 2;
      const auto points = [&] {
        try
          {
            return parse_gmsh(text, 2).points;
          }
        catch (const GmshFailure &failure)
          {
            // "it has no tetrahedra ..." says nothing of what is wrong with a plane mesh
            const bool is_body = why_no_body.rfind("it has no tetrahedra", 0) != 0 && failure.reason.find("'Dimension' = 3") != std::string::npos;
            throw GmshFailure{is_body ? why_no_body : failure.reason};
          }
      }();
      for (const auto &p : points)
        if (std::abs(p[2]) > 1e-10 * std::max(std::abs(p[0]), std::abs(p[1])))
          mesh.domain = "surface file";
    }
  } // namespace

  std::string describe_mesh(const std::string &file, const std::vector<std::string> &overrides, MPI_Comm comm)
  {
    MeshParameters mesh;
    int            dimension = 2;
    if (std::filesystem::path(file).extension() == ".prm")
      {
        const Parameters parameters(file, overrides, comm);
        mesh      = parameters.mesh;
        dimension = parameters.dimension;
      }
    else
      try
        {
          find_dimension(file, read_file(file, comm), mesh, dimension);
        }
      catch (const GmshFailure &failure)
        {
          throw Error("the mesh file '" + file + "' cannot be used: " + failure.reason +
                      "\n  expected: a Gmsh mesh in format 2.2 or 4.1, ASCII, not partitioned, with cells of order 1 and of one kind: triangles or "
                      "quadrilaterals, or tetrahedra or hexahedra");
        }
    mesh.adaptive = false; // whether it is possible is said
    const BoundaryNames names(mesh.file, dimension, comm);
    return file + ":\n" +
           (mesh.is_surface() ? describe<2, 3>(mesh, names, comm)
            : dimension == 2  ? describe<2, 2>(mesh, names, comm)
                              : describe<3, 3>(mesh, names, comm));
  }
} // namespace leopard
