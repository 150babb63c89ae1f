// SPDX-License-Identifier: Apache-2.0
#include "implicit_system.h"

#include <applications/base/collective.h>
#include <applications/base/log.h>
#include <applications/discretization/semi_discrete_system.h>
#include <applications/discretization/transport_terms.h>
#include <applications/problems/found_value.h>
#include <applications/problems/problem.h>
#include <solvers/dealii/vector_norm.h>

#include <deal.II/base/mpi.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace leopard
{
  namespace
  {
    constexpr unsigned int nodes_at_once = 256; ///< whose reaction is evaluated in one call; the results stay in the cache

    double sum_of_sizes(const double *values, int begin, int end)
    {
      double sum = 0.;
      for (int p = begin; p < end; ++p)
        sum += std::abs(values[p]);
      return sum;
    }
  } // namespace

  ImplicitSystem::ImplicitSystem(const SemiDiscreteSystem &system_, const Problem &problem_, ReactionTreatment treatment)
    : system(system_)
    , problem(problem_)
    , n(problem_.fields().size())
    , is_implicit(treatment == ReactionTreatment::implicit)
    , implicit_reaction(problem_.has_reaction() && is_implicit)
    , node_rates(nodes_at_once * n)
    , node_derivatives(nodes_at_once * n * n)
  {
    if (const auto &still = problem.quasi_stationary(); !still.empty())
      {
        is_still.assign(n, false);
        for (const unsigned int c : still)
          is_still[c] = true;
      }
    linear_part.reinit(system.stiffness);
    matrix.reinit(system.stiffness);
    find_node_entries();
    set_mass_factor(0.);
    // until linearize() makes it J the matrix has a diagonal, as solvers need it that are made for it before
    double *const j = local_values(matrix);
    for (std::size_t row = 0; row + 1 < row_offsets.size(); ++row)
      if (double &diagonal = j[node_entries[row * n + row % n]]; diagonal == 0.)
        diagonal = system.lumped_mass.begin()[row];
  }

  void ImplicitSystem::find_node_entries()
  {
    const CrsMatrix<double> local = local_matrix(system.stiffness).matrix;
    const double           *mass  = problem.time_dependent() ? local_values(system.mass) : nullptr;
    node_entries.reserve(static_cast<std::size_t>(local.n_rows) * n);
    for (int row = 0; row < local.n_rows; ++row)
      {
        double k = 0., diagonal = 0., mu = 0.;
        for (int p = local.row_offsets[row]; p < local.row_offsets[row + 1]; ++p)
          {
            const bool on_diagonal = local.columns[p] == row;
            (on_diagonal ? diagonal : k) += on_diagonal ? local.values[p] : std::abs(local.values[p]);
            if (mass != nullptr)
              mu += on_diagonal ? mass[p] : -std::abs(mass[p]);
          }
        excess.push_back(std::abs(k - diagonal) < 1e-12 * diagonal ? 0. : k - diagonal); // no rounding errors
        if (mass != nullptr)
          dominance.push_back(mu);
        for (unsigned int d = 0; d < n; ++d)
          for (int p = local.row_offsets[row]; p < local.row_offsets[row + 1]; ++p)
            if (local.columns[p] == static_cast<int>(row / n * n + d))
              node_entries.push_back(p);
      }
    AssertDimension(node_entries.size(), static_cast<std::size_t>(local.n_rows) * n);
    row_offsets = local.row_offsets;
    linear_sums.resize(local.n_rows);
  }

  void ImplicitSystem::set_transport(TransportTerms &terms)
  {
    transport = &terms;
    transport_rates.reinit(system.load);
    transport_derivative.reinit(system.stiffness);
  }

  void ImplicitSystem::set_places(const std::vector<double> &nodes)
  {
    const unsigned int n_nodes = system.lumped_mass.locally_owned_size() / n;
    coordinates                = nodes;
    dimension                  = n_nodes > 0 ? nodes.size() / n_nodes : 0;
  }

  Places ImplicitSystem::places(unsigned int first_node, double t) const
  {
    return {coordinates.empty() ? nullptr : coordinates.data() + static_cast<std::size_t>(first_node) * dimension, dimension, t};
  }

  void ImplicitSystem::check_coefficients() const
  {
    const unsigned int n_nodes = system.lumped_mass.locally_owned_size() / n;
    throw_if_any_entry_failed(problem.complaint_at(n_nodes, places(0, time)), system.lumped_mass.get_mpi_communicator());
  }

  void ImplicitSystem::set_mass_factor(double a, const GrowthFactors &growth)
  {
    node_factor = 1. / growth.diffusion;
    length      = std::sqrt(node_factor);
    if (a = (a + growth.dilution) * node_factor; a == mass_factor)
      return; // node_factor and length change nothing in L; linearize() follows where it counts
    mass_factor = a;
    ++version;
    const int     n_local = system.stiffness.trilinos_matrix().NumMyNonzeros();
    double       *l       = local_values(linear_part);
    double       *j       = local_values(matrix);
    const double *k       = local_values(system.stiffness);
    const double *m       = a == 0. ? nullptr : local_values(system.mass);
    for (int p = 0; p < n_local; ++p)
      l[p] = j[p] = m == nullptr ? k[p] : k[p] + a * m[p];
    for (std::size_t row = 0; row < linear_sums.size(); ++row)
      linear_sums[row] = sum_of_sizes(l, row_offsets[row], row_offsets[row + 1]);
  }

  void ImplicitSystem::residual(const HostVector &u, const HostVector *history, HostVector &r) const
  {
    linear_part.vmult(r, u);
    r.sadd(-1., node_factor, system.load);
    if (history != nullptr)
      r.add(node_factor, *history);
    if (transport != nullptr && is_implicit)
      {
        transport->rates(u, time, length, transport_rates);
        r.add(1., transport_rates);
      }
    const double      *m       = system.lumped_mass.begin();
    const unsigned int n_nodes = u.locally_owned_size() / n;
    for (unsigned int i = 0; i < n_nodes * n; ++i)
      if (m[i] == 0.)
        r.begin()[i] = 0.;
    for (unsigned int begin = 0; begin < (implicit_reaction ? n_nodes : 0); begin += nodes_at_once)
      {
        const unsigned int count = std::min(nodes_at_once, n_nodes - begin), first = begin * n;
        problem.reaction(count, u.begin() + first, node_rates.data(), nullptr, places(begin, time));
        for (unsigned int i = 0; i < count * n; ++i)
          if (m[first + i] != 0.)
            r.begin()[first + i] += node_factor * m[first + i] * node_rates[i];
      }
    finish_residual(r);
  }

  double ImplicitSystem::weight(unsigned int row) const
  {
    const double k = local_values(system.stiffness)[node_entries[static_cast<std::size_t>(row) * n + row % n]], m = system.lumped_mass.begin()[row];
    return m == 0. ? 1. : std::max(1., mass_factor * m / (k + m));
  }

  void ImplicitSystem::finish_residual(HostVector &r) const
  {
    if (is_still.empty())
      return;
    for (unsigned int i = 0; i < r.locally_owned_size(); ++i)
      r.begin()[i] *= is_still[i % n] ? weight(i) : holds ? 0. : 1.;
  }

  void ImplicitSystem::finish_jacobian()
  {
    if (is_still.empty())
      return;
    double       *j = local_values(matrix);
    const double *m = system.lumped_mass.begin();
    for (unsigned int row = 0; row + 1 < row_offsets.size(); ++row)
      {
        if (m[row] == 0.) // constrained
          continue;
        if (is_still[row % n] || holds)
          for (int p = row_offsets[row]; p < row_offsets[row + 1]; ++p)
            j[p] *= is_still[row % n] ? weight(row) : 0.;
        if (holds && !is_still[row % n])
          j[node_entries[static_cast<std::size_t>(row) * n + row % n]] = m[row];
      }
  }

  bool ImplicitSystem::linearize(const HostVector &u)
  {
    bool          finite   = true;
    const double *l        = local_values(linear_part);
    double       *j        = local_values(matrix);
    const double *of_rates = nullptr; // of transport
    if (!is_still.empty())
      std::copy_n(l, row_offsets.back(), j); // finish_jacobian() has changed whole rows
    if (transport != nullptr && is_implicit)
      {
        finite   = transport->derivative(u, time, length, transport_derivative);
        of_rates = local_values(transport_derivative);
        for (int p = 0; p < row_offsets.back(); ++p)
          j[p] = l[p] - of_rates[p];
      }
    const double      *m       = system.lumped_mass.begin();
    const unsigned int n_nodes = implicit_reaction ? u.locally_owned_size() / n : 0;
    for (unsigned int begin = 0; begin < n_nodes; begin += nodes_at_once)
      {
        const unsigned int count = std::min(nodes_at_once, n_nodes - begin), first = begin * n;
        problem.reaction(count, u.begin() + first, nullptr, node_derivatives.data(), places(begin, time));
        const int *entry = node_entries.data() + static_cast<std::size_t>(first) * n;
        for (unsigned int row = 0; row < count * n; ++row)
          for (unsigned int d = 0; d < n; ++d, ++entry)
            {
              if (m[first + row] == 0. || m[first + row / n * n + d] == 0.)
                continue;
              finite    = finite && std::isfinite(node_derivatives[row * n + d]);
              j[*entry] = l[*entry] - node_factor * m[first + row] * node_derivatives[row * n + d];
              if (of_rates != nullptr)
                j[*entry] -= of_rates[*entry];
            }
      }
    finish_jacobian();
    return dealii::Utilities::MPI::min(finite ? 1 : 0, u.get_mpi_communicator()) == 1;
  }

  void ImplicitSystem::row_sums(HostVector &sums) const
  {
    const double *j = local_values(matrix);
    for (std::size_t row = 0; row + 1 < row_offsets.size(); ++row)
      sums.begin()[row] = sum_of_sizes(j, row_offsets[row], row_offsets[row + 1]);
  }

  ValueComplaint ImplicitSystem::where_not_finite(const HostVector &u, const HostVector &r, const std::vector<double> &nodes) const
  {
    const MPI_Comm     comm    = u.get_mpi_communicator();
    const unsigned int n_ranks = dealii::Utilities::MPI::n_mpi_processes(comm), n_own = u.locally_owned_size();
    unsigned int       i = 0;
    while (i < n_own && std::isfinite(r.begin()[i]))
      ++i;
    std::string text;
    bool        of_entry = false;
    if (i < n_own)
      {
        const unsigned int node = i / n, coordinates_of_node = nodes.size() / std::max(1u, n_own / n);
        text = "of " + problem.fields()[i % n] + at_place({nodes.empty() ? nullptr : nodes.data(), coordinates_of_node, time}, node) +
               where_fields_are(problem.fields(), u.begin() + node * n);
        if (const std::string cause = problem.not_finite_in_reaction(u.begin() + node * n, places(node, time), false); !cause.empty())
          {
            text += ": " + cause;
            of_entry = true;
          }
      }
    const std::string  complaint = transport == nullptr ? "" : transport->complaint(u, time);
    const unsigned int first     = dealii::Utilities::MPI::min(i < n_own ? dealii::Utilities::MPI::this_mpi_process(comm) : n_ranks, comm);
    if (first == n_ranks)
      return {"as a whole, since its norm leaves the range of numbers"};
    return {dealii::Utilities::MPI::broadcast(comm, text, first) + (complaint.empty() ? "" : "; " + complaint.substr(0, complaint.find('\n'))),
            dealii::Utilities::MPI::broadcast(comm, of_entry, first) || !complaint.empty()};
  }

  std::string ImplicitSystem::complaint_of_reaction(const HostVector &u, double t, const std::vector<double> &nodes, bool derivatives) const
  {
    const MPI_Comm     comm    = u.get_mpi_communicator();
    const double      *m       = system.lumped_mass.begin();
    const unsigned int n_nodes = u.locally_owned_size() / n, coordinates_of_node = nodes.size() / std::max(1u, n_nodes);
    std::string        text = problem.coefficients_depend_on_time() ? problem.complaint_at(n_nodes, places(0, t)) : "";
    for (unsigned int begin = 0; begin < (problem.has_reaction() ? n_nodes : 0) && text.empty(); begin += nodes_at_once)
      {
        const unsigned int count = std::min(nodes_at_once, n_nodes - begin);
        problem.reaction(count, u.begin() + begin * n, node_rates.data(), derivatives ? node_derivatives.data() : nullptr, places(begin, t));
        for (unsigned int i = 0; i < count * n && text.empty(); ++i)
          {
            bool finite = std::isfinite(node_rates[i]);
            for (unsigned int d = 0; derivatives && d < n; ++d)
              finite = finite && std::isfinite(node_derivatives[i * n + d]);
            const unsigned int node = begin + i / n;
            if (finite || m[begin * n + i] == 0.)
              continue;
            const double *const here = u.begin() + node * n;
            text                     = problem.complaint_at(1, places(node, t)); // a coefficient of the reaction
            if (text.empty())
              text = problem.not_finite_in_reaction(here, places(node, t), derivatives) +
                     at_place({nodes.empty() ? nullptr : nodes.data(), coordinates_of_node, t}, node) + where_fields_are(problem.fields(), here);
          }
      }
    for (const std::string &of_rank : dealii::Utilities::MPI::all_gather(comm, text))
      if (!of_rank.empty())
        return of_rank;
    return "";
  }

  double ImplicitSystem::scale(const HostVector *history, HostVector &workspace) const
  {
    workspace = system.load;
    if (history != nullptr)
      workspace.add(1., *history);
    return node_factor * l2_norm(workspace);
  }

  double ImplicitSystem::rounding(const HostVector &u) const
  {
    double sum = 0.;
    for (std::size_t row = 0; row < linear_sums.size(); ++row)
      if (system.lumped_mass.begin()[row] != 0.)
        sum += std::pow(linear_sums[row] * u.begin()[row], 2.);
    return std::numeric_limits<double>::epsilon() * std::sqrt(dealii::Utilities::MPI::sum(sum, u.get_mpi_communicator()));
  }

  void ImplicitSystem::reaction(const HostVector &u, HostVector &rates, double t) const
  {
    problem.reaction(u.locally_owned_size() / n, u.begin(), rates.begin(), nullptr, places(0, t));
    for (unsigned int i = 0; i < u.locally_owned_size(); ++i)
      if (system.lumped_mass.begin()[i] == 0.)
        rates.begin()[i] = 0.;
  }

  void ImplicitSystem::explicit_rates(const HostVector &u, HostVector &rates, double t, const GrowthFactors &growth) const
  {
    reaction(u, rates, t);
    if (transport == nullptr)
      return;
    transport->rates(u, t, std::sqrt(1. / growth.diffusion), transport_rates);
    for (unsigned int i = 0; i < u.locally_owned_size(); ++i)
      if (const double m = system.lumped_mass.begin()[i]; m != 0.)
        rates.begin()[i] += growth.diffusion * transport_rates.begin()[i] / m;
  }

  double ImplicitSystem::excess_with_transport(unsigned int row, const double *derivatives, double diffusion) const
  {
    const double *m = system.lumped_mass.begin(), *K = local_values(system.stiffness), *R = local_values(transport_derivative);
    const auto    beside = [&](int p) { return diffusion * (K[p] - R[p]); };
    double        sum    = 0.;
    for (int p = row_offsets[row]; p < row_offsets[row + 1]; ++p)
      sum += std::abs(beside(p));
    for (unsigned int d = 0; d < n; ++d) // the node's own, where the reaction acts, too
      {
        const int    p    = node_entries[static_cast<std::size_t>(row) * n + d];
        const double here = beside(p) - (m[row / n * n + d] == 0. ? 0. : m[row] * derivatives[d]);
        sum += (d == row % n ? -here : std::abs(here)) - std::abs(beside(p));
      }
    return sum;
  }

  double ImplicitSystem::dominant_mass_factor(const HostVector &u, const GrowthFactors &growth, double t) const
  {
    double             a       = std::numeric_limits<double>::lowest();
    const double      *m       = system.lumped_mass.begin();
    const unsigned int n_nodes = u.locally_owned_size() / n;
    const bool         carries = transport != nullptr && is_implicit;
    if (carries && !transport->derivative(u, t, std::sqrt(1. / growth.diffusion), transport_derivative))
      return std::numeric_limits<double>::infinity();
    std::fill(node_derivatives.begin(), node_derivatives.end(), 0.);
    for (unsigned int begin = 0; begin < n_nodes; begin += nodes_at_once)
      {
        const unsigned int count = std::min(nodes_at_once, n_nodes - begin), first = begin * n;
        if (implicit_reaction)
          problem.reaction(count, u.begin() + first, nullptr, node_derivatives.data(), places(begin, t));
        for (unsigned int row = 0; row < count * n; ++row)
          {
            const unsigned int i = first + row;
            if (m[i] == 0.) // constrained
              continue;
            const double *r   = &node_derivatives[row * n];
            double        sum = r[row % n];
            for (unsigned int d = 0; d < n; ++d)
              sum += d == row % n || m[first + row / n * n + d] == 0. ? 0. : std::abs(r[d]);
            const double beyond = carries ? excess_with_transport(i, r, growth.diffusion) : growth.diffusion * excess[i] + m[i] * sum;
            if (dominance[i] == 0. && beyond < 0.) // quasi-stationary
              continue;
            const double least = beyond / dominance[i];
            a                  = std::max(a, dominance[i] > 0. && std::isfinite(least) ? least : std::numeric_limits<double>::infinity());
          }
      }
    return dealii::Utilities::MPI::max(a, u.get_mpi_communicator()) - growth.dilution;
  }
} // namespace leopard
