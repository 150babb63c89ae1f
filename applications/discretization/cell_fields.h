// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deal.II/base/bounding_box.h>
#include <deal.II/base/point.h>

#include <mpi.h>

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <vector>

namespace dealii
{
  template <int dim, int spacedim>
  class FiniteElement;
}

namespace leopard
{
  /** The Lagrange element of a cell, whose nodes make its form and its fields. */
  struct LagrangeCell
  {
    bool         simplex = false; ///< triangle or tetrahedron
    unsigned int degree  = 1;
    bool         even    = false; ///< nodes at even distances, as in VTU files; otherwise those of FE_Q (up to degree 2 the same)

    std::array<unsigned int, 3> key() const { return {simplex ? 1U : 0U, degree, even ? 1U : 0U}; }
  };

  /**
   * Fields on cells that need not know each other, whatever mesh they come from: cells with a node in common have it
   * twice, and nodes may hang. At a node the fields are its values as they are, in cells they are interpolated, x(xi) =
   * sum_i x_i phi_i(xi) and u(xi) = sum_i u_i phi_i(xi), and close beside all cells they are those of the nearest
   * place. Lengths are dimensionless. With dim = 2 and spacedim = 3 the cells are parts of a surface.
   */
  template <int dim, int spacedim>
  class CellFields
  {
  public:
    using Point = dealii::Point<spacedim>;

    explicit CellFields(unsigned int n_fields);
    ~CellFields();

    /**
     * @param nodes and @param values, field c of node i at [i * n_fields + c], in the order of the element's degrees of
     * freedom in deal.II.
     */
    void add(const LagrangeCell &kind, const std::vector<Point> &nodes, const std::vector<double> &values);

    /** Says that nodes of cells of this rank are in single precision, so that a point this close to one is at it. */
    void have_single_precision() { slack = 1.2e-7; }

    /** The number of a cell's nodes. */
    unsigned int n_nodes(const LagrangeCell &kind);

    /**
     * Entry i is the place in `nodes` of the element's node i: the corners are in deal.II's order already, the others
     * are recognized by where they lie. Empty if they are not the nodes of such a cell.
     */
    std::vector<unsigned int> order_of_nodes(const LagrangeCell &kind, const std::vector<Point> &nodes);

    /** Gives each rank the cells that its points may lie in, for find(). Collective. */
    void distribute(const std::vector<Point> &points, MPI_Comm comm);

    enum class Place
    {
      node,     ///< one of the cells' nodes
      inside,   ///< in a cell, up to a millionth of its size
      beside,   ///< outside of all cells, by not more than a tenth of a cell's size
      far_away, ///< without values
    };

    /**
     * The fields at a point, n_fields values. @param distance from the cells over the size of the nearest one, if there
     * is one.
     */
    Place find(const Point &point, double *values, double &distance) const;

    /** Corners of a box around the cells of all ranks; valid after distribute(). */
    const Point &lower() const { return corners[0]; }
    const Point &upper() const { return corners[1]; }
    /** Of all ranks, before each got those that it needs. */
    unsigned long long n_cells() const { return n_all; }

  private:
    struct Group
    {
      LagrangeCell                                     kind;
      std::unique_ptr<dealii::FiniteElement<dim, dim>> element;
      std::vector<double>                              data; ///< nodes and values of each cell
    };
    struct Cell
    {
      const Group *group = nullptr;
      std::size_t  start = 0; ///< in its data
    };
    struct Tree;

    Group                        &group_of(const LagrangeCell &kind);
    std::size_t                   stride(const Group &group) const;
    Point                         node(const Cell &cell, unsigned int i) const;
    dealii::BoundingBox<spacedim> box_of(const Cell &cell) const;
    std::vector<Cell>             all_cells() const;
    void                          find_corners(MPI_Comm comm);
    void                          send_cells(const std::vector<Point> &points, MPI_Comm comm);
    /** The nearest point of a cell in its own coordinates, by Gauss and Newton's method; its distance. */
    double locate(const Cell &cell, const Point &point, dealii::Point<dim> &xi) const;

    const unsigned int                           n_fields;
    std::map<std::array<unsigned int, 3>, Group> groups;
    std::vector<Cell>                            cells;
    std::unique_ptr<Tree>                        tree;
    std::array<Point, 2>                         corners;
    unsigned long long                           n_all = 0;
    double                                       slack = 0.; ///< error of the nodes; until distribute() over the largest coordinate
  };
} // namespace leopard
