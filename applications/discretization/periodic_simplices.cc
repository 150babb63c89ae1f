// SPDX-License-Identifier: Apache-2.0
#include "periodic_simplices.h"

#include "periodic_boundary.h"

#include <solvers/base/errors.h>

#include <deal.II/base/mpi.h>
#include <deal.II/base/quadrature.h>
#include <deal.II/fe/fe_values.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>

namespace leopard
{
  using namespace dealii;

  template <int dim>
  std::vector<int> match_across(const std::vector<Point<dim>> &lower, const std::vector<Point<dim>> &upper, unsigned int d, double tolerance)
  {
    using Bin        = std::array<long long, dim - 1>; // of the other coordinates
    const auto other = [d](unsigned int k) { return k < d ? k : k + 1; };
    const auto bin   = [&](const Point<dim> &p) {
      Bin result;
      for (unsigned int k = 0; k < dim - 1; ++k)
        result[k] = std::llround((p[other(k)] - lower[0][other(k)]) / (2. * tolerance));
      return result;
    };
    std::vector<int> partners(lower.size(), -1);
    if (lower.empty())
      return partners;
    std::map<Bin, std::vector<int>> uppers;
    for (unsigned int j = 0; j < upper.size(); ++j)
      uppers[bin(upper[j])].push_back(j);
    for (unsigned int i = 0; i < lower.size(); ++i)
      {
        double nearest = tolerance;
        for (int shift = 0; shift < (dim == 2 ? 3 : 9); ++shift)
          {
            Bin near = bin(lower[i]);
            near[0] += shift % 3 - 1;
            near[dim - 2] += dim == 2 ? 0 : shift / 3 - 1;
            if (const auto found = uppers.find(near); found != uppers.end())
              for (const int j : found->second)
                {
                  Tensor<1, dim> gap = upper[j] - lower[i];
                  gap[d]             = 0.;
                  if (gap.norm() <= nearest)
                    {
                      nearest     = gap.norm();
                      partners[i] = j;
                    }
                }
          }
      }
    return partners;
  }

  template <int dim>
  bool simplices_match_across(const Triangulation<dim> &triangulation, const BoxEnds<dim> &ends, unsigned int d)
  {
    std::array<std::map<unsigned int, Point<dim>>, 2>      vertices;
    std::array<std::set<std::array<unsigned int, dim>>, 2> faces;
    double                                                 shortest = std::numeric_limits<double>::max();
    for (const auto &cell : triangulation.cell_iterators_on_level(0))
      for (const auto f : cell->face_indices())
        for (unsigned int end = 0; end < 2; ++end)
          if (const auto face = cell->face(f); face->at_boundary() && ends.contains_face(face, d, end))
            {
              std::array<unsigned int, dim> corners;
              for (unsigned int v = 0; v < dim; ++v)
                {
                  corners[v]                = face->vertex_index(v);
                  vertices[end][corners[v]] = face->vertex(v);
                  for (unsigned int w = 0; w < v; ++w)
                    shortest = std::min(shortest, face->vertex(v).distance(face->vertex(w)));
                }
              std::sort(corners.begin(), corners.end());
              faces[end].insert(corners);
            }
    std::array<std::vector<Point<dim>>, 2>   points;
    std::array<std::vector<unsigned int>, 2> numbers;
    for (unsigned int end = 0; end < 2; ++end)
      for (const auto &[number, point] : vertices[end])
        {
          points[end].push_back(point);
          numbers[end].push_back(number);
        }
    const std::vector<int>               partners = match_across(points[0], points[1], d, 1e-6 * shortest);
    std::map<unsigned int, unsigned int> across;
    for (unsigned int i = 0; i < partners.size(); ++i)
      if (partners[i] >= 0)
        across[numbers[0][i]] = numbers[1][partners[i]];
    const auto is_there = [&](std::array<unsigned int, dim> corners) {
      for (unsigned int &corner : corners)
        {
          const auto found = across.find(corner);
          if (found == across.end())
            return false;
          corner = found->second;
        }
      std::sort(corners.begin(), corners.end());
      return faces[1].count(corners) == 1;
    };
    return faces[0].size() == faces[1].size() && std::all_of(faces[0].begin(), faces[0].end(), is_there);
  }

  namespace
  {
    /** Nodes of all ranks, their numbers and places. */
    template <int dim>
    using Nodes = std::map<types::global_dof_index, Point<dim>>;

    /** Of periodic faces at one end of direction d. Collective. */
    template <int dim>
    Nodes<dim> nodes_at(const Mapping<dim> &mapping, const DoFHandler<dim> &dof_handler, const BoxEnds<dim> &ends, unsigned int d, unsigned int end)
    {
      FEValues<dim> at_nodes(
        mapping, dof_handler.get_fe(), Quadrature<dim>(dof_handler.get_fe().get_unit_support_points()), update_quadrature_points);
      std::vector<types::global_dof_index> dofs(dof_handler.get_fe().dofs_per_cell), numbers;
      std::vector<double>                  coordinates;
      for (const auto &cell : dof_handler.active_cell_iterators())
        if (cell->is_locally_owned())
          for (const auto f : cell->face_indices())
            if (const auto face = cell->face(f); face->at_boundary() && is_periodic(face->boundary_id()) && ends.contains_face(face, d, end))
              {
                at_nodes.reinit(cell);
                cell->get_dof_indices(dofs);
                for (const auto q : at_nodes.quadrature_point_indices()) // the corner of the cell that is not of the face is not at the end
                  if (const Point<dim> &p = at_nodes.quadrature_point(q); ends.contains(p, d, end))
                    {
                      numbers.push_back(dofs[q]);
                      coordinates.insert(coordinates.end(), p.begin_raw(), p.end_raw());
                    }
              }
      const MPI_Comm comm            = dof_handler.get_communicator();
      const auto     all_numbers     = Utilities::MPI::all_gather(comm, numbers);
      const auto     all_coordinates = Utilities::MPI::all_gather(comm, coordinates);
      Nodes<dim>     nodes;
      for (unsigned int rank = 0; rank < all_numbers.size(); ++rank)
        for (unsigned int i = 0; i < all_numbers[rank].size(); ++i)
          for (unsigned int e = 0; e < dim; ++e)
            nodes[all_numbers[rank][i]][e] = all_coordinates[rank][dim * i + e];
      return nodes;
    }
  } // namespace

  template <int dim>
  PeriodicCopies
  originals_on_simplices(const Mapping<dim> &mapping, const DoFHandler<dim> &dof_handler, const std::vector<bool> &directions, double shortest_edge)
  {
    const BoxEnds<dim> ends(dof_handler.get_triangulation());
    Nodes<dim>         places;
    PeriodicCopies     next; // towards the original, a forest of nodes that are one
    const auto         root = [&](types::global_dof_index dof) {
      for (auto found = next.find(dof); found != next.end(); found = next.find(dof))
        dof = found->second;
      return dof;
    };
    const auto height = [&](types::global_dof_index dof) { // along the diagonal of the box, on which upper ends are higher
      double sum = 0.;
      for (unsigned int d = 0; d < dim; ++d)
        sum += places.at(dof)[d];
      return sum;
    };
    for (unsigned int d = 0; d < directions.size(); ++d)
      if (directions[d])
        {
          std::array<std::vector<types::global_dof_index>, 2> numbers;
          std::array<std::vector<Point<dim>>, 2>              points;
          for (unsigned int end = 0; end < 2; ++end)
            for (const auto &[number, point] : nodes_at(mapping, dof_handler, ends, d, end))
              {
                numbers[end].push_back(number);
                points[end].push_back(point);
                places[number] = point;
              }
          const std::vector<int> partners = match_across(points[0], points[1], d, 0.1 * shortest_edge / dof_handler.get_fe().degree);
          for (unsigned int i = 0; i < partners.size(); ++i)
            {
              if (partners[i] < 0)
                throw Error("the nodes at both ends of 'Mesh/Periodic' = " + names_of_directions(directions) + " do not match across: normal to " +
                            "xyz"[d] + ", that at " + place_text(points[0][i]) +
                            " has none at the other end\n  expected: a mesh whose faces at both ends are copies of each other");
              const auto a = root(numbers[0][i]), b = root(numbers[1][partners[i]]);
              if (a != b)
                next[height(a) < height(b) ? a : b] = height(a) < height(b) ? b : a;
            }
        }
    PeriodicCopies originals;
    for (const auto &copy : next)
      originals[copy.first] = root(copy.first);
    return originals;
  }

  template std::vector<int> match_across(const std::vector<Point<2>> &, const std::vector<Point<2>> &, unsigned int, double);
  template std::vector<int> match_across(const std::vector<Point<3>> &, const std::vector<Point<3>> &, unsigned int, double);
  template bool             simplices_match_across(const Triangulation<2> &, const BoxEnds<2> &, unsigned int);
  template bool             simplices_match_across(const Triangulation<3> &, const BoxEnds<3> &, unsigned int);
  template PeriodicCopies   originals_on_simplices(const Mapping<2> &, const DoFHandler<2> &, const std::vector<bool> &, double);
  template PeriodicCopies   originals_on_simplices(const Mapping<3> &, const DoFHandler<3> &, const std::vector<bool> &, double);
} // namespace leopard
