// SPDX-License-Identifier: Apache-2.0
#include "uniform_grid.h"

#include "discretization.h"

#include <deal.II/base/mpi.h>
#include <deal.II/dofs/dof_tools.h>

#include <cmath>
#include <limits>

namespace leopard
{
  using namespace dealii;

  template <int dim>
  UniformGrid find_uniform_grid(const Discretization<dim, dim> &discretization, bool finite_differences)
  {
    UniformGrid result;
    if (!finite_differences)
      result.why_not = "it needs finite differences";
    else if (Utilities::MPI::n_mpi_processes(discretization.comm) > 1)
      result.why_not = "it runs on one rank";
    if (!result.why_not.empty())
      return result;

    std::map<types::global_dof_index, Point<dim>> nodes;
    DoFTools::map_dofs_to_support_points(*discretization.mapping, discretization.dof_handler, nodes);
    Point<dim> lower = nodes.begin()->second, upper = lower;
    for (const auto &[dof, point] : nodes)
      for (unsigned int d = 0; d < dim; ++d)
        {
          lower[d] = std::min(lower[d], point[d]);
          upper[d] = std::max(upper[d], point[d]);
        }
    const auto cell = discretization.triangulation.begin_active();
    for (unsigned int d = 0; d < dim; ++d)
      {
        const double h         = cell->extent_in_direction(d);
        result.grid.n[d]       = static_cast<int>(std::lround((upper[d] - lower[d]) / h)) + 1;
        result.grid.spacing[d] = (upper[d] - lower[d]) / (result.grid.n[d] - 1);
      }
    constexpr unsigned int none = std::numeric_limits<unsigned int>::max();
    result.unknown.assign(result.grid.n_nodes(), none);
    std::size_t found = 0;
    for (const auto &[dof, point] : nodes)
      {
        long node = 0;
        for (int d = dim - 1; d >= 0; --d)
          node = node * result.grid.n[d] + std::lround((point[d] - lower[d]) / result.grid.spacing[d]);
        if (node < static_cast<long>(result.unknown.size()) && result.unknown[node] == none)
          {
            result.unknown[node] = static_cast<unsigned int>(dof);
            ++found;
          }
      }
    if (found != result.unknown.size() || found != nodes.size())
      result.why_not = "it needs a rectangle or a box with equal cells";
    return result;
  }

  template UniformGrid find_uniform_grid<2>(const Discretization<2> &, bool);
  template UniformGrid find_uniform_grid<3>(const Discretization<3> &, bool);
} // namespace leopard
