// SPDX-License-Identifier: Apache-2.0
#include "uniform_grid.h"

#include "discretization.h"

#include <deal.II/base/mpi.h>
#include <deal.II/dofs/dof_tools.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace leopard
{
  using namespace dealii;

  template <int dim>
  UniformGrid find_uniform_grid(const Discretization<dim, dim> &discretization, const std::vector<bool> &periodic)
  {
    UniformGrid result;
    if (discretization.on_simplices()) // even where its nodes are on a grid
      return result;
    const IndexSet            &owned       = discretization.dof_handler.locally_owned_dofs();
    const std::vector<double> &coordinates = discretization.nodes();
    const std::size_t          n_owned     = owned.n_elements();

    // corners and distances of nodes, as maxima over the ranks
    std::vector<double> largest(3 * dim, -std::numeric_limits<double>::max());
    for (std::size_t i = 0; i < n_owned; ++i)
      for (unsigned int d = 0; d < dim; ++d)
        {
          largest[d]       = std::max(largest[d], coordinates[i * dim + d]);
          largest[dim + d] = std::max(largest[dim + d], -coordinates[i * dim + d]);
        }
    for (const auto &cell : discretization.dof_handler.active_cell_iterators())
      if (cell->is_locally_owned())
        for (unsigned int d = 0; d < dim; ++d)
          largest[2 * dim + d] = std::max(largest[2 * dim + d], cell->extent_in_direction(d) / discretization.dof_handler.get_fe().degree);
    Utilities::MPI::max(
      ArrayView<const double>(largest.data(), largest.size()), discretization.comm, ArrayView<double>(largest.data(), largest.size()));
    for (unsigned int d = 0; d < dim; ++d)
      {
        const double length    = largest[d] + largest[dim + d];
        result.grid.n[d]       = static_cast<int>(std::lround(length / largest[2 * dim + d])) + 1;
        result.grid.spacing[d] = length / (result.grid.n[d] - 1);
      }

    const long n_all = result.grid.n_nodes();
    for (unsigned int d = 0; d < dim && d < periodic.size(); ++d)
      if (periodic[d])
        {
          result.grid.periodic[d] = true;
          --result.grid.n[d];
        }
    const IndexSet copies      = discretization.periodic_copies();
    bool           all_on_grid = true;
    unsigned int   unknown     = 0;
    for (const types::global_dof_index dof : owned)
      {
        types::global_dof_index node = 0;
        for (int d = dim - 1; d >= 0; --d)
          {
            const double place = (coordinates[unknown * dim + d] + largest[dim + d]) / result.grid.spacing[d];
            all_on_grid        = all_on_grid && std::abs(place - std::round(place)) < 1e-3;
            const long i       = std::lround(place);
            node               = node * result.grid.n[d] + (result.grid.periodic[d] ? i % result.grid.n[d] : i);
          }
        if (!result.grid.is_periodic() || !copies.is_element(dof))
          {
            result.unknowns.push_back(unknown);
            result.nodes.push_back(node);
          }
        ++unknown;
      }
    // nodes at different places on the grid's, as many as it has
    const bool as_many = static_cast<long>(discretization.dof_handler.n_dofs()) == n_all;
    bool       closes  = true; // with two nodes a periodic direction has one neighbour twice
    for (unsigned int d = 0; d < dim; ++d)
      closes = closes && (!result.grid.periodic[d] || result.grid.n[d] >= 3);
    result.found = Utilities::MPI::min(static_cast<int>(all_on_grid && as_many && closes), discretization.comm) != 0;
    return result;
  }

  template UniformGrid find_uniform_grid<2>(const Discretization<2> &, const std::vector<bool> &);
  template UniformGrid find_uniform_grid<3>(const Discretization<3> &, const std::vector<bool> &);
} // namespace leopard
