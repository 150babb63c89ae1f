// SPDX-License-Identifier: Apache-2.0
#include "gmsh_triangulation.h"

#include <deal.II/base/geometry_info.h>
#include <deal.II/grid/grid_tools.h>
#include <deal.II/grid/tria.h>

#include <utility>

namespace leopard
{
  using namespace dealii;

  namespace
  {
    /** Gmsh's order of nodes is deal.II's of simplices and that of the UCD format of others. */
    template <int structdim>
    CellData<structdim> cell_data(const GmshMesh::Element &element)
    {
      const std::size_t   n = element.nodes.size();
      CellData<structdim> data(n);
      for (std::size_t i = 0; i < n; ++i)
        data.vertices[n == GeometryInfo<structdim>::vertices_per_cell ? GeometryInfo<structdim>::ucd_to_deal[i] : i] = element.nodes[i];
      return data;
    }

    /** The determinant of the edges at the first vertex is positive afterwards. */
    template <int dim>
    void orient_simplex(const std::vector<Point<dim>> &vertices, CellData<dim> &cell)
    {
      Tensor<2, dim> edges;
      for (int d = 0; d < dim; ++d)
        edges[d] = vertices[cell.vertices[d + 1]] - vertices[cell.vertices[0]];
      if (determinant(edges) < 0.)
        std::swap(cell.vertices[0], cell.vertices[1]);
    }
  } // namespace

  template <int dim, int spacedim>
  void create_triangulation(Triangulation<dim, spacedim> &triangulation, const GmshMesh &mesh)
  {
    std::vector<Point<spacedim>> vertices;
    for (const auto &p : mesh.points)
      {
        vertices.emplace_back();
        for (int d = 0; d < spacedim; ++d)
          vertices.back()[d] = p[d];
      }
    std::vector<CellData<dim>> cells;
    for (const GmshMesh::Element &element : mesh.cells)
      {
        cells.push_back(cell_data<dim>(element));
        cells.back().material_id = element.id;
      }
    SubCellData sides;
    for (const GmshMesh::Element &element : mesh.sides)
      {
        if constexpr (dim == 2)
          {
            sides.boundary_lines.push_back(cell_data<1>(element));
            sides.boundary_lines.back().boundary_id = element.id;
          }
        else
          {
            sides.boundary_quads.push_back(cell_data<2>(element));
            sides.boundary_quads.back().boundary_id = element.id;
          }
      }
    GridTools::delete_unused_vertices(vertices, cells, sides);
    if (!is_simplex(mesh.kind))
      {
        if constexpr (dim == spacedim)
          GridTools::invert_cells_with_negative_measure(vertices, cells);
        GridTools::consistently_order_cells(cells);
      }
    else if constexpr (dim == spacedim)
      for (CellData<dim> &cell : cells)
        orient_simplex(vertices, cell);
    triangulation.create_triangulation(vertices, cells, sides);
  }

  template void create_triangulation(Triangulation<2, 2> &, const GmshMesh &);
  template void create_triangulation(Triangulation<3, 3> &, const GmshMesh &);
  template void create_triangulation(Triangulation<2, 3> &, const GmshMesh &);
} // namespace leopard
