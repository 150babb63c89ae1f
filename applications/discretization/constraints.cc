// SPDX-License-Identifier: Apache-2.0
#include "discretization.h"
#include "expression_function.h"
#include "periodic_boundary.h"

#include <applications/base/collective.h>
#include <applications/base/log.h>

#include <deal.II/base/mpi.h>
#include <deal.II/dofs/dof_tools.h>
#include <deal.II/numerics/vector_tools_boundary.h>

#include <algorithm>
#include <cmath>
#include <map>

// Discretization: what unknowns are that are not free

namespace leopard
{
  using namespace dealii;

  template <int dim, int spacedim>
  std::set<types::boundary_id> Discretization<dim, spacedim>::dirichlet_boundary(unsigned int c) const
  {
    std::set<types::boundary_id> ids;
    if (!problem.boundary(c).values.empty())
      for (const auto id : boundary_ids(triangulation))
        if (problem.boundary(c).value(id) != nullptr)
          ids.insert(id);
    return ids;
  }

  template <int dim, int spacedim>
  typename Discretization<dim, spacedim>::BoundaryValues
  Discretization<dim, spacedim>::values_of(const Expression &g, types::boundary_id id, double t) const
  {
    BoundaryValues values;
    VectorTools::interpolate_boundary_values(*mapping, dof_handler, id, ExpressionFunction<spacedim>(g, t), values);
    return values;
  }

  template <int dim, int spacedim>
  Point<spacedim> Discretization<dim, spacedim>::place_of(types::global_dof_index dof) const
  {
    std::map<types::global_dof_index, Point<spacedim>> places;
    DoFTools::map_dofs_to_support_points(*mapping, dof_handler, places);
    return places.at(dof);
  }

  template <int dim, int spacedim>
  typename Discretization<dim, spacedim>::BoundaryValues Discretization<dim, spacedim>::boundary_values(unsigned int c, double t) const
  {
    BoundaryValues all;
    std::string    error;
    for (const auto id : dirichlet_boundary(c))
      {
        const Expression    *g      = problem.boundary(c).value(id);
        const BoundaryValues values = values_of(*g, id, t);
        for (const auto &[dof, value] : values)
          if (!std::isfinite(value) && error.empty())
            error = not_finite_message(*g, value, place_of(dof), t);
        all.insert(values.begin(), values.end());
      }
    throw_if_any_entry_failed(error, comm);
    share_at_copies(all);
    throw_if_any_entry_failed(contradiction_across(c, all, t), comm);
    return all;
  }

  template <int dim, int spacedim>
  void Discretization<dim, spacedim>::share_at_copies(BoundaryValues &values) const
  {
    if (originals.empty())
      return;
    std::vector<types::global_dof_index> dofs;
    std::vector<double>                  of_dofs;
    for (const auto &[dof, value] : values)
      {
        dofs.push_back(dof);
        of_dofs.push_back(value);
      }
    const auto all_dofs   = Utilities::MPI::all_gather(comm, dofs);
    const auto all_values = Utilities::MPI::all_gather(comm, of_dofs);
    values.clear();
    for (unsigned int rank = 0; rank < all_dofs.size(); ++rank)
      for (unsigned int i = 0; i < all_dofs[rank].size(); ++i)
        values.emplace(all_dofs[rank][i], all_values[rank][i]);
  }

  template <int dim, int spacedim>
  std::string Discretization<dim, spacedim>::contradiction_across(unsigned int c, const BoundaryValues &all, double t) const
  {
    double largest = 0.;
    for (const auto &[dof, value] : all)
      largest = std::max(largest, std::abs(value));
    const auto what_is = [&](types::global_dof_index dof, double value) {
      for (const auto id : dirichlet_boundary(c)) // the first one holds where several meet
        if (const Expression *g = problem.boundary(c).value(id); values_of(*g, id, t).count(dof) == 1)
          return expression_of_entry(g->expression(), g->entry_name()) + is_value(value) + at_point(place_of(dof), t);
      return "the value at the other end" + is_value(value); // which another rank has
    };
    for (const auto &[dof, value] : all) // copies of nodes have their value
      if (relevant.is_element(dof) && original(dof) != dof)
        if (const auto there = all.find(original(dof)); there != all.end() && !(std::abs(value - there->second) <= 1e-10 * largest))
          return what_is(dof, value) + ", and " + what_is(there->first, there->second) +
                 ", and 'Mesh/Periodic' = " + names_of_directions(mesh_parameters.periodic) +
                 " makes one place of the two\n  expected: 'Boundary values' that are the same at both ends of 'Mesh/Periodic', as those with its "
                 "length as period are, or 'Mesh/Periodic' without this direction";
    return "";
  }

  template <int dim, int spacedim>
  void Discretization<dim, spacedim>::check_periodic_boundary_values(const std::vector<double> &times) const
  {
    if (!mesh_parameters.is_periodic())
      return;
    for (unsigned int c = 0; c < components; ++c)
      for (const double t : times)
        {
          BoundaryValues all;
          for (const auto id : dirichlet_boundary(c))
            all.merge(values_of(*problem.boundary(c).value(id), id, t));
          share_at_copies(all);
          const bool finite = std::all_of(all.begin(), all.end(), [](const auto &of_dof) { return std::isfinite(of_dof.second); });
          throw_if_any_entry_failed(finite ? contradiction_across(c, all, t) : "", comm); // what is not finite at a time of the run is said then
        }
  }

  template <int dim, int spacedim>
  void Discretization<dim, spacedim>::find_originals()
  {
    originals.clear();
    if constexpr (dim == spacedim)
      if (simplices && mesh_parameters.is_periodic())
        originals = originals_on_simplices(*mapping, dof_handler, mesh_parameters.periodic, h);
    std::vector<types::global_dof_index> beyond; // of other ranks perhaps, whose cells are no ghosts here
    for (const auto &[copy, original] : originals)
      if (relevant.is_element(copy))
        beyond.push_back(original);
    std::sort(beyond.begin(), beyond.end());
    relevant.add_indices(beyond.begin(), std::unique(beyond.begin(), beyond.end()));
    relevant.compress();
  }

  template <int dim, int spacedim>
  void Discretization<dim, spacedim>::make_constraints()
  {
    conforming.clear();
    conforming.reinit(relevant);
    DoFTools::make_hanging_node_constraints(dof_handler, conforming);
    add_periodicity_constraints(dof_handler, conforming);
    for (const auto &[copy, original] : originals)
      if (relevant.is_element(copy))
        {
          conforming.add_line(copy);
          conforming.add_entry(copy, original, 1.);
        }
    conforming.close();

    constraints.clear();
    constraints.reinit(relevant_unknowns);
    for (unsigned int c = 0; c < components; ++c)
      {
        const BoundaryValues prescribed = boundary_values(c, 0.);
        for (const auto &line : conforming.get_lines())
          {
            const auto row = components * line.index + c;
            constraints.add_line(row);
            for (const auto &[column, weight] : line.entries)
              constraints.add_entry(row, components * column + c, weight);
          }
        for (const auto &[dof, value] : prescribed)
          if (relevant.is_element(dof) && !conforming.is_constrained(dof))
            {
              constraints.add_line(components * dof + c);
              constraints.set_inhomogeneity(components * dof + c, value);
            }
      }
    constraints.close();
  }

  template <int dim, int spacedim>
  void Discretization<dim, spacedim>::take_boundary_values(double t)
  {
    for (unsigned int c = 0; c < components; ++c)
      if (!problem.boundary(c).values.empty())
        {
          const BoundaryValues prescribed = boundary_values(c, t);
          for (const auto &[dof, value] : prescribed)
            if (relevant.is_element(dof) && !conforming.is_constrained(dof))
              constraints.set_inhomogeneity(components * dof + c, value);
          for (const auto &line : conforming.get_lines()) // copies of such nodes, and hanging ones between them
            {
              double value = 0.;
              for (const auto &[master, weight] : line.entries)
                if (const auto found = prescribed.find(master); found != prescribed.end())
                  value += weight * found->second;
              constraints.set_inhomogeneity(components * line.index + c, value);
            }
        }
  }

  template <int dim, int spacedim>
  void Discretization<dim, spacedim>::distribute_constraints(HostVector &u) const
  {
    constraints.distribute(u);
  }

  template <int dim, int spacedim>
  std::string Discretization<dim, spacedim>::against_boundary_values(const HostVector &u) const
  {
    const std::vector<double> &coordinates = nodes();
    std::vector<double>        worst       = {0., 0., 0., 0., 0., 0., 0.}; // difference, field, u, g, the place
    for (unsigned int c = 0; c < components; ++c)
      for (const auto &[dof, value] : boundary_values(c, 0.))
        if (owned.is_element(dof) && original(dof) == dof)
          {
            const auto   i          = owned.index_within_set(dof);
            const double u_there    = u.begin()[components * i + c];
            const double difference = std::abs(u_there - value);
            if (difference <= worst[0] || difference <= 1e-10 * std::abs(value))
              continue;
            worst = {difference, static_cast<double>(c), u_there, value, 0., 0., 0.};
            std::copy_n(&coordinates[i * spacedim], spacedim, &worst[4]);
          }
    for (const std::vector<double> &of_rank : Utilities::MPI::all_gather(comm, worst))
      if (of_rank[0] > worst[0])
        worst = of_rank;
    if (worst[0] == 0.)
      return "";
    return format("of %s they are %.6g at %s, where the boundary value is %.6g",
                  problem.fields()[static_cast<unsigned int>(worst[1])].c_str(),
                  worst[2],
                  place_text(&worst[4], spacedim).c_str(),
                  worst[3]);
  }

  namespace
  {
    /** The indices of a set for which a condition holds. */
    template <typename Condition>
    IndexSet those_of(const IndexSet &all, const Condition &holds)
    {
      std::vector<types::global_dof_index> rows;
      for (const auto i : all)
        if (holds(i))
          rows.push_back(i);
      IndexSet set(all.size());
      set.add_indices(rows.begin(), rows.end());
      set.compress();
      return set;
    }
  } // namespace

  template <int dim, int spacedim>
  IndexSet Discretization<dim, spacedim>::constrained_unknowns(unsigned int field) const
  {
    return those_of(owned, [&](auto i) { return constraints.is_constrained(components * i + field); });
  }

  template <int dim, int spacedim>
  types::global_dof_index Discretization<dim, spacedim>::original(types::global_dof_index dof) const
  {
    const auto *entries = conforming.get_constraint_entries(dof);
    return entries != nullptr && entries->size() == 1 && std::abs((*entries)[0].second - 1.) < 1e-10 ? (*entries)[0].first : dof;
  }

  template <int dim, int spacedim>
  IndexSet Discretization<dim, spacedim>::periodic_copies() const
  {
    return those_of(owned, [&](auto i) { return original(i) != i; });
  }

  template std::set<types::boundary_id> Discretization<2>::dirichlet_boundary(unsigned int) const;
  template void                         Discretization<2>::find_originals();
  template void                         Discretization<2>::make_constraints();
  template void                         Discretization<2>::check_periodic_boundary_values(const std::vector<double> &) const;
  template void                         Discretization<2>::take_boundary_values(double);
  template void                         Discretization<2>::distribute_constraints(HostVector &) const;
  template std::string                  Discretization<2>::against_boundary_values(const HostVector &) const;
  template IndexSet                     Discretization<2>::constrained_unknowns(unsigned int) const;
  template types::global_dof_index      Discretization<2>::original(types::global_dof_index) const;
  template IndexSet                     Discretization<2>::periodic_copies() const;
  template std::set<types::boundary_id> Discretization<3>::dirichlet_boundary(unsigned int) const;
  template void                         Discretization<3>::find_originals();
  template void                         Discretization<3>::make_constraints();
  template void                         Discretization<3>::check_periodic_boundary_values(const std::vector<double> &) const;
  template void                         Discretization<3>::take_boundary_values(double);
  template void                         Discretization<3>::distribute_constraints(HostVector &) const;
  template std::string                  Discretization<3>::against_boundary_values(const HostVector &) const;
  template IndexSet                     Discretization<3>::constrained_unknowns(unsigned int) const;
  template types::global_dof_index      Discretization<3>::original(types::global_dof_index) const;
  template IndexSet                     Discretization<3>::periodic_copies() const;
  template std::set<types::boundary_id> Discretization<2, 3>::dirichlet_boundary(unsigned int) const;
  template void                         Discretization<2, 3>::find_originals();
  template void                         Discretization<2, 3>::make_constraints();
  template void                         Discretization<2, 3>::check_periodic_boundary_values(const std::vector<double> &) const;
  template void                         Discretization<2, 3>::take_boundary_values(double);
  template void                         Discretization<2, 3>::distribute_constraints(HostVector &) const;
  template std::string                  Discretization<2, 3>::against_boundary_values(const HostVector &) const;
  template IndexSet                     Discretization<2, 3>::constrained_unknowns(unsigned int) const;
  template types::global_dof_index      Discretization<2, 3>::original(types::global_dof_index) const;
  template IndexSet                     Discretization<2, 3>::periodic_copies() const;
} // namespace leopard
