// SPDX-License-Identifier: Apache-2.0
#include "cell_fields.h"

#include <deal.II/base/geometry_info.h>
#include <deal.II/base/mpi.h>
#include <deal.II/base/quadrature_lib.h>
#include <deal.II/fe/fe_q.h>
#include <deal.II/fe/fe_simplex_p.h>
#include <deal.II/numerics/rtree.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace leopard
{
  using namespace dealii;

  namespace
  {
    constexpr double at_node = 1e-10, in_cell = 1e-6, near_by = 0.1; // of a cell's size

    template <int dim>
    std::unique_ptr<FiniteElement<dim, dim>> make_element(const LagrangeCell &kind)
    {
      if (kind.simplex)
        return std::make_unique<FE_SimplexP<dim>>(kind.degree);
      if (kind.even)
        return std::make_unique<FE_Q<dim>>(QIterated<1>(QTrapezoid<1>(), kind.degree));
      return std::make_unique<FE_Q<dim>>(kind.degree);
    }

    template <int dim>
    dealii::Point<dim> into_unit_cell(const dealii::Point<dim> &p, bool simplex)
    {
      if (!simplex)
        return GeometryInfo<dim>::project_to_unit_cell(p);
      dealii::Point<dim> inside;
      double             sum = 0.;
      for (int d = 0; d < dim; ++d)
        sum += inside[d] = std::max(0., p[d]);
      return sum > 1. ? dealii::Point<dim>(inside / sum) : inside;
    }

    template <int spacedim>
    double diameter(const BoundingBox<spacedim> &box)
    {
      return box.get_boundary_points().first.distance(box.get_boundary_points().second);
    }
  } // namespace

  /** The cells by boxes around them, enlarged by how far a point may lie beside a cell. */
  template <int dim, int spacedim>
  struct CellFields<dim, spacedim>::Tree
  {
    Tree(std::vector<BoundingBox<spacedim>> boxes_, std::vector<double> sizes_)
      : sizes(std::move(sizes_))
      , boxes(std::move(boxes_))
      , tree(pack_rtree_of_indices(boxes))
    {
    }

    const std::vector<double>                                             sizes; ///< of the cells
    const std::vector<BoundingBox<spacedim>>                              boxes;
    decltype(pack_rtree_of_indices(std::vector<BoundingBox<spacedim>>())) tree;
  };

  template <int dim, int spacedim>
  CellFields<dim, spacedim>::CellFields(unsigned int n_fields_)
    : n_fields(n_fields_)
  {
  }

  template <int dim, int spacedim>
  CellFields<dim, spacedim>::~CellFields() = default;

  template <int dim, int spacedim>
  typename CellFields<dim, spacedim>::Group &CellFields<dim, spacedim>::group_of(const LagrangeCell &kind)
  {
    Group &group = groups[kind.key()];
    if (group.element == nullptr)
      {
        group.kind    = kind;
        group.element = make_element<dim>(kind);
      }
    return group;
  }

  template <int dim, int spacedim>
  std::size_t CellFields<dim, spacedim>::stride(const Group &group) const
  {
    return group.element->dofs_per_cell * static_cast<std::size_t>(spacedim + n_fields);
  }

  template <int dim, int spacedim>
  unsigned int CellFields<dim, spacedim>::n_nodes(const LagrangeCell &kind)
  {
    return group_of(kind).element->dofs_per_cell;
  }

  template <int dim, int spacedim>
  void CellFields<dim, spacedim>::add(const LagrangeCell &kind, const std::vector<Point> &nodes, const std::vector<double> &values)
  {
    Group &group = group_of(kind);
    for (const Point &node : nodes)
      group.data.insert(group.data.end(), node.begin_raw(), node.end_raw());
    group.data.insert(group.data.end(), values.begin(), values.end());
  }

  template <int dim, int spacedim>
  typename CellFields<dim, spacedim>::Point CellFields<dim, spacedim>::node(const Cell &cell, unsigned int i) const
  {
    Point point;
    std::copy_n(&cell.group->data[cell.start + static_cast<std::size_t>(i) * spacedim], spacedim, point.begin_raw());
    return point;
  }

  template <int dim, int spacedim>
  BoundingBox<spacedim> CellFields<dim, spacedim>::box_of(const Cell &cell) const
  {
    std::vector<Point> nodes;
    for (unsigned int i = 0; i < cell.group->element->dofs_per_cell; ++i)
      nodes.push_back(node(cell, i));
    return BoundingBox<spacedim>(nodes);
  }

  template <int dim, int spacedim>
  std::vector<typename CellFields<dim, spacedim>::Cell> CellFields<dim, spacedim>::all_cells() const
  {
    std::vector<Cell> result;
    for (const auto &[key, group] : groups)
      for (std::size_t start = 0; start < group.data.size(); start += stride(group))
        result.push_back({&group, start});
    return result;
  }

  template <int dim, int spacedim>
  void CellFields<dim, spacedim>::find_corners(MPI_Comm comm)
  {
    std::vector<double> bounds(2 * spacedim, std::numeric_limits<double>::max()); // smallest coordinates, and largest ones with another sign
    for (const Cell &cell : cells)
      for (unsigned int i = 0; i < cell.group->element->dofs_per_cell; ++i)
        for (int d = 0; d < spacedim; ++d)
          {
            bounds[d]            = std::min(bounds[d], node(cell, i)[d]);
            bounds[spacedim + d] = std::min(bounds[spacedim + d], -node(cell, i)[d]);
          }
    Utilities::MPI::min(bounds, comm, bounds);
    double largest = 0.;
    for (int d = 0; d < spacedim; ++d)
      {
        corners[0][d] = bounds[d];
        corners[1][d] = -bounds[spacedim + d];
        largest       = std::max({largest, std::abs(corners[0][d]), std::abs(corners[1][d])});
      }
    slack = largest * Utilities::MPI::max(slack, comm);
    n_all = Utilities::MPI::sum(static_cast<unsigned long long>(cells.size()), comm);
  }

  template <int dim, int spacedim>
  void CellFields<dim, spacedim>::send_cells(const std::vector<Point> &points, MPI_Comm comm)
  {
    using Boxes      = std::vector<BoundingBox<spacedim>>; // none for a rank without points
    const auto boxes = Utilities::MPI::all_gather(comm, points.empty() ? Boxes() : Boxes{BoundingBox<spacedim>(points)});
    std::map<unsigned int, std::vector<std::vector<double>>> messages; // of each kind: its key, then cells
    for (unsigned int rank = 0; rank < boxes.size(); ++rank)
      for (const auto &[key, group] : groups)
        {
          std::vector<double> message(key.begin(), key.end());
          for (std::size_t start = 0; start < group.data.size() && !boxes[rank].empty(); start += stride(group))
            {
              BoundingBox<spacedim> box = box_of({&group, start});
              box.extend(near_by * diameter(box));
              if (box.get_neighbor_type(boxes[rank][0]) != NeighborType::not_neighbors)
                message.insert(message.end(), group.data.begin() + start, group.data.begin() + start + stride(group));
            }
          if (message.size() > key.size())
            messages[rank].push_back(message);
        }
    const auto received = Utilities::MPI::some_to_some(comm, messages);
    for (auto &[key, group] : groups)
      group.data.clear();
    for (const auto &[rank, parts] : received)
      for (const std::vector<double> &part : parts)
        {
          Group &group = group_of({part[0] != 0., static_cast<unsigned int>(part[1]), part[2] != 0.});
          group.data.insert(group.data.end(), part.begin() + 3, part.end());
        }
  }

  template <int dim, int spacedim>
  void CellFields<dim, spacedim>::distribute(const std::vector<Point> &points, MPI_Comm comm)
  {
    cells = all_cells();
    find_corners(comm);
    if (Utilities::MPI::n_mpi_processes(comm) > 1)
      {
        send_cells(points, comm);
        cells = all_cells();
      }
    std::vector<BoundingBox<spacedim>> boxes;
    std::vector<double>                sizes;
    boxes.reserve(cells.size());
    for (const Cell &cell : cells)
      {
        boxes.push_back(box_of(cell));
        sizes.push_back(diameter(boxes.back()));
        boxes.back().extend(near_by * sizes.back());
      }
    tree = std::make_unique<Tree>(std::move(boxes), std::move(sizes));
  }

  template <int dim, int spacedim>
  double CellFields<dim, spacedim>::locate(const Cell &cell, const Point &point, dealii::Point<dim> &xi) const
  {
    const FiniteElement<dim> &element = *cell.group->element;
    const bool                simplex = cell.group->kind.simplex;
    for (int d = 0; d < dim; ++d)
      xi[d] = simplex ? 1. / (dim + 1) : 0.5;
    const auto missing = [&](Tensor<2, dim> &gram, Tensor<1, dim> &projection) {
      Tensor<1, spacedim>                  difference = point;
      std::array<Tensor<1, spacedim>, dim> tangent;
      for (unsigned int i = 0; i < element.dofs_per_cell; ++i)
        {
          const Tensor<1, spacedim> x        = node(cell, i);
          const Tensor<1, dim>      gradient = element.shape_grad(i, xi);
          difference -= element.shape_value(i, xi) * x;
          for (int d = 0; d < dim; ++d)
            tangent[d] += gradient[d] * x;
        }
      for (int d = 0; d < dim; ++d)
        {
          projection[d] = tangent[d] * difference;
          for (int e = 0; e < dim; ++e)
            gram[d][e] = tangent[d] * tangent[e];
        }
      return difference.norm();
    };
    Tensor<2, dim> gram;
    Tensor<1, dim> projection;
    double         distance = missing(gram, projection);
    for (unsigned int iteration = 0; iteration < 30; ++iteration)
      {
        if (!(determinant(gram) > 0.))
          break; // a cell without area
        const dealii::Point<dim> next = into_unit_cell<dim>(dealii::Point<dim>(xi + invert(gram) * projection), simplex);
        const double             step = next.distance(xi);
        xi                            = next;
        distance                      = missing(gram, projection);
        if (!(step > 1e-13))
          break;
      }
    return distance;
  }

  template <int dim, int spacedim>
  typename CellFields<dim, spacedim>::Place CellFields<dim, spacedim>::find(const Point &point, double *values, double &distance) const
  {
    std::vector<std::size_t> candidates;
    tree->tree.query(boost::geometry::index::intersects(point), std::back_inserter(candidates));
    for (const std::size_t candidate : candidates) // first, so that values of nodes remain as they are
      {
        const Cell  &cell = cells[candidate];
        const double near = at_node * tree->sizes[candidate] + slack;
        for (unsigned int i = 0, n = cell.group->element->dofs_per_cell; i < n; ++i)
          if (node(cell, i).distance(point) <= near)
            {
              std::copy_n(&cell.group->data[cell.start + n * spacedim + i * n_fields], n_fields, values);
              distance = 0.;
              return Place::node;
            }
      }
    const Cell        *nearest   = nullptr;
    bool               is_inside = false;
    dealii::Point<dim> where;
    distance = std::numeric_limits<double>::infinity();
    for (const std::size_t candidate : candidates)
      {
        dealii::Point<dim> xi;
        const double       relative = locate(cells[candidate], point, xi) / tree->sizes[candidate];
        if (relative < distance)
          {
            distance = relative;
            nearest  = &cells[candidate];
            where    = xi;
          }
        if (relative <= in_cell + slack / tree->sizes[candidate])
          {
            is_inside = true;
            break;
          }
      }
    if (nearest == nullptr || !(distance <= near_by))
      return Place::far_away;
    const FiniteElement<dim> &element = *nearest->group->element;
    std::fill_n(values, n_fields, 0.);
    for (unsigned int i = 0; i < element.dofs_per_cell; ++i)
      for (unsigned int c = 0; c < n_fields; ++c)
        values[c] += element.shape_value(i, where) * nearest->group->data[nearest->start + element.dofs_per_cell * spacedim + i * n_fields + c];
    return is_inside ? Place::inside : Place::beside;
  }

  template <int dim, int spacedim>
  std::vector<unsigned int> CellFields<dim, spacedim>::order_of_nodes(const LagrangeCell &kind, const std::vector<Point> &nodes)
  {
    // in the coordinates of the cell that the corners alone make, the nodes are close to where those of the element are
    CellFields         corners_only(0);
    const LagrangeCell linear{kind.simplex, 1, false};
    const auto         n_corners = corners_only.n_nodes(linear);
    if (nodes.size() != n_nodes(kind) || nodes.size() < n_corners)
      return {};
    corners_only.add(linear, {nodes.begin(), nodes.begin() + n_corners}, {});
    const auto               &unit_nodes = group_of(kind).element->get_unit_support_points();
    std::vector<unsigned int> order(nodes.size(), numbers::invalid_unsigned_int);
    const Cell                cell = corners_only.all_cells()[0];
    for (unsigned int j = 0; j < nodes.size(); ++j)
      {
        dealii::Point<dim> xi;
        corners_only.locate(cell, nodes[j], xi);
        const auto nearest = std::min_element(
          unit_nodes.begin(), unit_nodes.end(), [&](const auto &a, const auto &b) { return xi.distance_square(a) < xi.distance_square(b); });
        unsigned int &place = order[nearest - unit_nodes.begin()];
        if (place != numbers::invalid_unsigned_int)
          return {};
        place = j;
      }
    return order;
  }

  template class CellFields<2, 2>;
  template class CellFields<3, 3>;
  template class CellFields<2, 3>;
} // namespace leopard
