// SPDX-License-Identifier: Apache-2.0
#include "implicit_system.h"

#include <applications/discretization/semi_discrete_system.h>
#include <applications/problems/problem.h>

namespace leopard
{
  ImplicitSystem::ImplicitSystem(const SemiDiscreteSystem &system_, const Problem &problem_)
    : system(system_)
    , problem(problem_)
    , n(problem_.fields().size())
  {
    linear_part.reinit(system.stiffness);
    matrix.reinit(system.stiffness);
    set_mass_factor(0.);

    const CrsMatrix local = local_matrix(system.stiffness).matrix;
    node_entries.reserve(static_cast<std::size_t>(local.n_rows) * n);
    for (int row = 0; row < local.n_rows; ++row)
      for (unsigned int d = 0; d < n; ++d)
        for (int p = local.row_offsets[row]; p < local.row_offsets[row + 1]; ++p)
          if (local.columns[p] == static_cast<int>(row / n * n + d))
            node_entries.push_back(p);
    AssertDimension(node_entries.size(), static_cast<std::size_t>(local.n_rows) * n);
  }

  void ImplicitSystem::set_mass_factor(double a)
  {
    if (a == mass_factor)
      return;
    mass_factor           = a;
    const int     n_local = system.stiffness.trilinos_matrix().NumMyNonzeros();
    double       *l       = local_values(linear_part);
    double       *j       = local_values(matrix);
    const double *k       = local_values(system.stiffness);
    const double *m       = a == 0. ? nullptr : local_values(system.mass);
    for (int p = 0; p < n_local; ++p)
      l[p] = j[p] = m == nullptr ? k[p] : k[p] + a * m[p];
  }

  void ImplicitSystem::residual(const HostVector &u, const HostVector *history, HostVector &r) const
  {
    linear_part.vmult(r, u);
    r.sadd(-1., 1., system.load);
    if (history != nullptr)
      r.add(1., *history);
    if (!problem.has_reaction())
      return;
    std::vector<double> rates(n);
    const double       *m       = system.lumped_mass.begin();
    const double       *u_node  = u.begin();
    double             *r_node  = r.begin();
    const unsigned int  n_nodes = u.locally_owned_size() / n;
    for (unsigned int i = 0; i < n_nodes; ++i, m += n, u_node += n, r_node += n)
      {
        problem.reaction(u_node, rates.data(), nullptr);
        for (unsigned int c = 0; c < n; ++c)
          r_node[c] += m[c] * rates[c];
      }
  }

  void ImplicitSystem::linearize(const HostVector &u)
  {
    if (!problem.has_reaction())
      return;
    std::vector<double> rates(n), derivatives(n * n);
    const double       *l       = local_values(linear_part);
    double             *j       = local_values(matrix);
    const double       *m       = system.lumped_mass.begin();
    const double       *u_node  = u.begin();
    const int          *entry   = node_entries.data();
    const unsigned int  n_nodes = u.locally_owned_size() / n;
    for (unsigned int i = 0; i < n_nodes; ++i, m += n, u_node += n)
      {
        problem.reaction(u_node, rates.data(), derivatives.data());
        for (unsigned int c = 0; c < n; ++c)
          for (unsigned int d = 0; d < n; ++d, ++entry)
            j[*entry] = l[*entry] - m[c] * derivatives[c * n + d];
      }
  }

  double ImplicitSystem::scale(const HostVector *history, HostVector &workspace) const
  {
    workspace = system.load;
    if (history != nullptr)
      workspace.add(1., *history);
    return workspace.l2_norm();
  }
} // namespace leopard
