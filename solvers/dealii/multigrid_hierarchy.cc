// SPDX-License-Identifier: Apache-2.0
#include "multigrid_hierarchy.h"

#include "../base/errors.h"
#include "../base/together.h"
#include "../distributed/mpi/distributed_levels.h"
#include "../distributed/mpi/ghost_exchange.h"
#include "../distributed/mpi/mpi_transport.h"
#include "index_sets.h"
#include "support_points.h"

#include <deal.II/dofs/dof_tools.h>
#include <deal.II/fe/fe.h>
#include <deal.II/lac/affine_constraints.h>
#include <deal.II/lac/dynamic_sparsity_pattern.h>
#include <deal.II/multigrid/mg_tools.h>
#include <deal.II/multigrid/mg_transfer_internal.h>

#include <array>
#include <cmath>
#include <map>
#include <set>

namespace leopard
{
  using namespace dealii;

  namespace
  {
    using Index     = types::global_dof_index;
    using CopyPairs = std::vector<std::pair<int, int>>; ///< unknowns of the active mesh and of a level

    template <int dim>
    class Builder
    {
    public:
      Builder(const Mapping<dim> &mapping, const DoFHandler<dim> &dof_handler, const MGConstrainedDoFs &constrained, unsigned int n_levels);

      MultigridHierarchy build(const LocalMatrix &A, const IndexSet &constrained_rows, const CellMatrix<dim> &cell_matrix) const;

    private:
      using LevelCell = typename DoFHandler<dim>::level_cell_iterator;

      /** On a globally refined mesh the finest level has the numbering of the active mesh. */
      bool is_active(unsigned int level) const { return global && level == finest; }

      const IndexSet &owned(unsigned int level) const
      {
        return is_active(level) ? dof_handler.locally_owned_dofs() : dof_handler.locally_owned_mg_dofs(level);
      }

      /** Calls what a rank does by itself: an exception on one is thrown on all. Collective. */
      void on_each(const std::function<void()> &function) const
      {
        if (!distributed)
          return function();
        together(function, [this](const std::string &own) { return first_error_in(comm, own); });
      }

      void get_dof_indices(const LevelCell &cell, std::vector<Index> &indices) const;

      /**
       * Unknowns of a level that are others beyond a periodic boundary, with these: of all that are one the first in
       * number. MGConstrainedDoFs would take several where directions meet.
       */
      std::map<Index, Index> periodic_copies(unsigned int level) const;

      void                          assemble(unsigned int level, const CellMatrix<dim> &cell_matrix, DistributedLevel &result) const;
      std::vector<DistributedEntry> prolongation(unsigned int fine) const;
      std::vector<double>           coordinates(unsigned int level) const;
      std::vector<CopyPairs>        find_copies() const;
      MultigridHierarchy            number(std::vector<DistributedLevel> &levels, const LocalMatrix &A, const IndexSet &constrained_rows) const;

      const Mapping<dim>      &mapping;
      const DoFHandler<dim>   &dof_handler;
      const MGConstrainedDoFs &constrained;
      const MPI_Comm           comm;
      const bool               distributed; ///< several ranks
      unsigned int             coarsest, finest;
      bool                     global;
    };

    template <int dim>
    Builder<dim>::Builder(const Mapping<dim>      &mapping_,
                          const DoFHandler<dim>   &dof_handler_,
                          const MGConstrainedDoFs &constrained_,
                          unsigned int             n_levels)
      : mapping(mapping_)
      , dof_handler(dof_handler_)
      , constrained(constrained_)
      , comm(dof_handler_.get_communicator())
      , distributed(Utilities::MPI::n_mpi_processes(comm) > 1)
    {
      const unsigned int available = dof_handler.get_triangulation().n_global_levels();
      const unsigned int covering  = MGTools::max_level_for_coarse_mesh(dof_handler.get_triangulation());
      if (n_levels > available)
        throw InvalidInput("multigrid: " + std::to_string(n_levels) + " levels are asked for, but the mesh has " + std::to_string(available) +
                           "\n  expected: at most " + std::to_string(available) + " (0: all), or a mesh with more refinements of a coarser one");
      finest   = available - 1;
      coarsest = n_levels == 0 ? 0 : available - n_levels;
      global   = covering == finest;
      if (coarsest > covering)
        throw InvalidInput("multigrid: " + std::to_string(n_levels) +
                           " levels are asked for, but on this adaptive mesh the coarsest of them does not cover the domain" +
                           "\n  expected: at least " + std::to_string(available - covering) + " levels of the " + std::to_string(available) +
                           " that the mesh has (0: all)");
      if (!global && !dof_handler.get_triangulation().get_periodic_face_map().empty())
        throw InvalidInput(
          "multigrid: the mesh is periodic and not refined globally\n  expected: a globally refined mesh, or no periodic boundaries");
    }

    template <int dim>
    std::map<Index, Index> Builder<dim>::periodic_copies(unsigned int level) const
    {
      std::map<Index, Index> copies; // towards smaller numbers; find() goes to the end
      if (dof_handler.get_triangulation().get_periodic_face_map().empty())
        return copies;
      const auto find = [&copies](Index i) {
        for (auto next = copies.find(i); next != copies.end(); next = copies.find(i))
          i = next->second;
        return i;
      };
      const unsigned int             n = dof_handler.get_fe().n_dofs_per_cell();
      std::vector<Index>             indices(n), beyond(n);
      const std::vector<Point<dim>> &nodes = dof_handler.get_fe().get_unit_support_points();
      for (const auto &cell : dof_handler.mg_cell_iterators_on_level(level))
        for (const unsigned int f : cell->face_indices())
          {
            if (cell->level_subdomain_id() == numbers::artificial_subdomain_id || !cell->has_periodic_neighbor(f))
              continue;
            const auto neighbor = cell->periodic_neighbor(f);
            if (neighbor->level() != cell->level() || neighbor->level_subdomain_id() == numbers::artificial_subdomain_id)
              continue;
            const unsigned int   of_neighbor = cell->periodic_neighbor_face_no(f);
            const Tensor<1, dim> shift       = neighbor->face(of_neighbor)->center() - cell->face(f)->center();
            cell->get_mg_dof_indices(indices);
            neighbor->get_mg_dof_indices(beyond);
            const double near = 1e-6 * cell->diameter();
            for (unsigned int i = 0; i < n; ++i)
              if (dof_handler.get_fe().has_support_on_face(i, f))
                {
                  const Point<dim> here = mapping.transform_unit_to_real_cell(cell, nodes[i]) + shift;
                  for (unsigned int j = 0; j < n; ++j)
                    if (dof_handler.get_fe().has_support_on_face(j, of_neighbor) &&
                        here.distance(mapping.transform_unit_to_real_cell(neighbor, nodes[j])) <= near)
                      if (const Index a = find(indices[i]), b = find(beyond[j]); a != b)
                        copies[std::max(a, b)] = std::min(a, b);
                }
          }
      for (auto &[copy, original] : copies)
        original = find(original);
      return copies;
    }

    template <int dim>
    void Builder<dim>::get_dof_indices(const LevelCell &cell, std::vector<Index> &indices) const
    {
      if (is_active(cell->level()))
        typename DoFHandler<dim>::active_cell_iterator(&dof_handler.get_triangulation(), cell->level(), cell->index(), &dof_handler)
          ->get_dof_indices(indices);
      else
        cell->get_mg_dof_indices(indices);
    }

    template <int dim>
    void Builder<dim>::assemble(unsigned int level, const CellMatrix<dim> &cell_matrix, DistributedLevel &result) const
    {
      const IndexSet            relevant = DoFTools::extract_locally_relevant_level_dofs(dof_handler, level);
      AffineConstraints<double> constraints(relevant);
      constraints.add_lines(constrained.get_refinement_edge_indices(level));
      if (constrained.have_boundary_indices())
        constraints.add_lines(constrained.get_boundary_indices(level));
      for (const auto &[copy, original] : periodic_copies(level))
        if (constraints.can_store_line(copy) && !constraints.is_constrained(copy))
          {
            constraints.add_line(copy);
            constraints.add_entry(copy, original, 1.);
          }
      constraints.close();

      DynamicSparsityPattern pattern(relevant), interface_pattern(relevant);
      MGTools::make_sparsity_pattern(dof_handler, pattern, level, constraints);
      HostMatrix matrix, interface;
      matrix.reinit(owned(level), owned(level), pattern, comm, true);
      if (!global)
        {
          MGTools::make_interface_sparsity_pattern(dof_handler, constrained, interface_pattern, level);
          interface.reinit(owned(level), owned(level), interface_pattern, comm, true);
        }

      const unsigned int n = dof_handler.get_fe().n_dofs_per_cell();
      FullMatrix<double> local(n, n);
      std::vector<Index> indices(n);
      on_each([&] { // the cells are the user's
        for (const auto &cell : dof_handler.mg_cell_iterators_on_level(level))
          if (cell->is_locally_owned_on_level())
            {
              local = 0.;
              cell_matrix(cell, local);
              cell->get_mg_dof_indices(indices);
              constraints.distribute_local_to_global(local, indices, matrix);
              if (!global)
                for (unsigned int i = 0; i < n; ++i)
                  for (unsigned int j = 0; j < n; ++j)
                    if (constrained.is_interface_matrix_entry(level, indices[i], indices[j]))
                      interface.add(indices[i], indices[j], local(i, j));
            }
      });
      matrix.compress(VectorOperation::add);
      IndexSet identity(owned(level).size());
      for (const Index i : owned(level))
        if (constraints.is_constrained(i))
          identity.add_index(i);
      result.matrix = rows_of(matrix, identity);
      if (!global)
        {
          interface.compress(VectorOperation::add);
          result.interface           = rows_of(interface);
          result.interface_transpose = result.interface->transpose(result.own, result.own, comm);
        }
    }

    /** Adds to the entry of the same column among those from `begin` on, which are of one row; or appends it. */
    void add_to_row(std::vector<DistributedEntry> &entries, std::size_t begin, const DistributedEntry &entry)
    {
      for (std::size_t p = begin; p < entries.size(); ++p)
        if (entries[p].column == entry.column)
          {
            entries[p].value += entry.value;
            return;
          }
      entries.push_back(entry);
    }

    template <int dim>
    std::vector<DistributedEntry> Builder<dim>::prolongation(unsigned int fine) const
    {
      const std::map<Index, Index> coarse_copies = periodic_copies(fine - 1),
                                   fine_copies   = is_active(fine) ? std::map<Index, Index>() : periodic_copies(fine);
      const FiniteElement<dim>     &fe           = dof_handler.get_fe();
      const unsigned int            n            = fe.n_dofs_per_cell();
      const IndexSet               &own          = owned(fine);
      const Index                   first        = own.n_elements() > 0 ? own.nth_index_in_set(0) : 0;
      std::vector<bool>             is_done(own.n_elements(), false);
      std::vector<Index>            parent(n), child(n);
      std::vector<DistributedEntry> entries;
      const auto                    original = [&coarse_copies](Index i) {
        const auto found = coarse_copies.find(i);
        return found != coarse_copies.end() ? found->second : i;
      };
      for (const auto &cell : dof_handler.mg_cell_iterators_on_level(fine - 1))
        if (cell->is_locally_owned_on_level() && cell->has_children())
          {
            cell->get_mg_dof_indices(parent);
            for (unsigned int c = 0; c < cell->n_children(); ++c)
              {
                get_dof_indices(cell->child(c), child);
                const FullMatrix<double> &matrix = fe.get_prolongation_matrix(c, cell->refinement_case());
                for (unsigned int i = 0; i < n; ++i)
                  {
                    if (fine_copies.count(child[i]) == 1)
                      continue;
                    const bool is_own = own.is_element(child[i]);
                    if (is_own && is_done[child[i] - first])
                      continue; // neighbouring cells interpolate to it alike
                    if (is_own)
                      is_done[child[i] - first] = true;
                    const std::size_t begin = entries.size(); // two parents may be one
                    for (unsigned int j = 0; j < n; ++j)
                      if (std::abs(matrix(i, j)) > 1e-14 && !constrained.is_boundary_index(fine - 1, parent[j]))
                        add_to_row(entries, begin, {static_cast<int>(child[i]), static_cast<int>(original(parent[j])), matrix(i, j)});
                  }
              }
          }
      return entries;
    }

    template <int dim>
    std::vector<double> Builder<dim>::coordinates(unsigned int level) const
    {
      return support_points(mapping, dof_handler, owned(level), dof_handler.mg_cell_iterators_on_level(level), [&](const auto &cell, auto &indices) {
        if (cell->is_locally_owned_on_level())
          get_dof_indices(cell, indices);
        return cell->is_locally_owned_on_level();
      });
    }

    template <int dim>
    std::vector<CopyPairs> Builder<dim>::find_copies() const
    {
      // the second of these lists: the active mesh's unknown is this rank's and the level's another's; the third: the
      // other way round
      std::array<std::vector<std::vector<std::pair<Index, Index>>>, 3> lists;
      internal::MGTransfer::fill_copy_indices(dof_handler, &constrained, lists[0], lists[1], lists[2], true);
      std::vector<CopyPairs> copies(finest - coarsest + 1);
      for (unsigned int l = 0; l < copies.size(); ++l)
        for (const auto &list : lists)
          copies[l].insert(copies[l].end(), list[coarsest + l].begin(), list[coarsest + l].end());
      return copies;
    }

    template <int dim>
    MultigridHierarchy Builder<dim>::build(const LocalMatrix &A, const IndexSet &constrained_rows, const CellMatrix<dim> &cell_matrix) const
    {
      std::vector<DistributedLevel> levels(finest - coarsest + 1);
      for (unsigned int l = 0; l < levels.size(); ++l)
        {
          levels[l].own = own_range(owned(coarsest + l), comm);
          if (is_active(coarsest + l))
            on_each([&] { levels[l].matrix = rows_of(A, constrained_rows); });
          else
            assemble(coarsest + l, cell_matrix, levels[l]);
          if (l > 0)
            {
              const OwnRange               &coarse = levels[l - 1].own, &fine = levels[l].own;
              std::vector<DistributedEntry> entries;
              on_each([&] { entries = prolongation(coarsest + l); });
              levels[l].prolongation = DistributedRows(entries, fine, comm);
              if (is_active(coarsest + l))
                levels[l].prolongation->clear_rows(fine, numbers_of(constrained_rows));
              if (distributed)
                levels[l].restriction = levels[l].prolongation->transpose(fine, coarse, comm);
            }
        }
      return number(levels, A, constrained_rows);
    }

    template <int dim>
    MultigridHierarchy Builder<dim>::number(std::vector<DistributedLevel> &levels, const LocalMatrix &A, const IndexSet &constrained_rows) const
    {
      const std::vector<CopyPairs> copies = global ? std::vector<CopyPairs>(levels.size()) : find_copies();
      add_ghosts(levels);
      const OwnRange   active_own    = own_range(A.owned, comm);
      std::vector<int> active_ghosts = numbers_of(A.ghosts);
      for (unsigned int l = 0; l < levels.size(); ++l)
        {
          std::set<int> of_level, of_active; // that copying reads of other ranks
          for (const auto &[active, number] : copies[l])
            if (!levels[l].own.contains(number))
              of_level.insert(number);
            else if (!active_own.contains(active))
              of_active.insert(active);
          add_numbers(levels[l].ghosts, {of_level.begin(), of_level.end()});
          add_numbers(active_ghosts, {of_active.begin(), of_active.end()});
        }

      MultigridHierarchy hierarchy;
      for (unsigned int l = 0; l < levels.size(); ++l)
        {
          MultigridLevel level = numbered_level(levels, l, distributed, comm);
          for (const auto &[active, number] : copies[l])
            {
              level.global_rows.push_back(local_index(active, active_own, active_ghosts));
              level.level_rows.push_back(local_index(number, levels[l].own, levels[l].ghosts));
            }
          on_each([&] { level.coordinates = coordinates(coarsest + l); });
          level.dim = dim;
          hierarchy.levels.push_back(std::move(level));
        }
      if (!global)
        {
          hierarchy.matrix = rows_of(A, constrained_rows).number(active_own, active_ghosts);
          if (distributed)
            hierarchy.communication = std::make_shared<GhostExchange<double>>(active_own, active_ghosts, comm);
        }
      return hierarchy;
    }
  } // namespace

  template <int dim>
  MultigridHierarchy make_multigrid_hierarchy(const Mapping<dim>      &mapping,
                                              const DoFHandler<dim>   &dof_handler,
                                              const MGConstrainedDoFs &constrained,
                                              const LocalMatrix       &A,
                                              const IndexSet          &constrained_rows,
                                              const CellMatrix<dim>   &cell_matrix,
                                              unsigned int             n_levels)
  {
    return Builder<dim>(mapping, dof_handler, constrained, n_levels).build(A, constrained_rows, cell_matrix);
  }

  template MultigridHierarchy make_multigrid_hierarchy(
    const Mapping<1> &, const DoFHandler<1> &, const MGConstrainedDoFs &, const LocalMatrix &, const IndexSet &, const CellMatrix<1> &, unsigned int);
  template MultigridHierarchy make_multigrid_hierarchy(
    const Mapping<2> &, const DoFHandler<2> &, const MGConstrainedDoFs &, const LocalMatrix &, const IndexSet &, const CellMatrix<2> &, unsigned int);
  template MultigridHierarchy make_multigrid_hierarchy(
    const Mapping<3> &, const DoFHandler<3> &, const MGConstrainedDoFs &, const LocalMatrix &, const IndexSet &, const CellMatrix<3> &, unsigned int);
} // namespace leopard
