// SPDX-License-Identifier: Apache-2.0
#include "saved_fields.h"

#include "cell_values_file.h"
#include "semi_discrete_system.h"

#include <deal.II/distributed/solution_transfer.h>
#include <deal.II/distributed/tria.h>
#include <deal.II/dofs/dof_handler.h>
#include <deal.II/dofs/dof_tools.h>
#include <deal.II/fe/fe_q.h>
#include <deal.II/fe/fe_simplex_p.h>
#include <deal.II/fe/fe_values.h>

#include <algorithm>
#include <memory>

namespace leopard
{
  using namespace dealii;

  namespace
  {
    template <int dim, int spacedim>
    std::vector<HostVector> load_on_quadrilaterals(const SavedFields &saved, const DoFHandler<dim, spacedim> &dof_handler, MPI_Comm comm)
    {
      const IndexSet            owned = dof_handler.locally_owned_dofs(), relevant = DoFTools::extract_locally_relevant_dofs(dof_handler);
      std::vector<HostVector>   scalars(saved.n_fields * saved.n_vectors, HostVector(owned, comm));
      std::vector<HostVector *> pointers;
      for (HostVector &scalar : scalars)
        pointers.push_back(&scalar);
      parallel::distributed::SolutionTransfer<dim, HostVector, spacedim> transfer(dof_handler);
      transfer.deserialize(pointers);
      std::vector<HostVector> wanted;
      for (const unsigned int field : saved.wanted)
        {
          wanted.emplace_back(owned, relevant, comm);
          wanted.back() = scalars[field];
        }
      return wanted;
    }
  } // namespace

  template <int dim, int spacedim>
  void add_saved_fields(const SavedFields &saved, CellFields<dim, spacedim> &cells, MPI_Comm comm)
  {
    const auto                      triangulation = make_coarse_mesh<dim, spacedim>(saved.mesh, false, comm);
    const bool                      simplices     = has_simplices(*triangulation);
    DoFHandler<dim, spacedim>       dof_handler(*triangulation);
    std::unique_ptr<CellValuesFile> file; // on simplices
    std::vector<HostVector>         wanted;
    if (simplices)
      {
        file = std::make_unique<CellValuesFile>(saved.folder, comm);
        file->refine(*triangulation);
        file->check(triangulation->n_active_cells(),
                    static_cast<std::size_t>(saved.n_fields) * saved.n_vectors,
                    FE_SimplexP<dim, spacedim>(saved.degree).dofs_per_cell,
                    ", those of a whole checkpoint of the run there");
        dof_handler.distribute_dofs(FE_SimplexP<dim, spacedim>(saved.degree));
      }
    else
      {
        dynamic_cast<parallel::distributed::Triangulation<dim, spacedim> &>(*triangulation).load(saved.folder + "/mesh");
        dof_handler.distribute_dofs(FE_Q<dim, spacedim>(saved.degree));
        wanted = load_on_quadrilaterals(saved, dof_handler, comm);
      }

    const auto             &element = dof_handler.get_fe();
    const auto              mapping = make_mapping(*triangulation, saved.mesh.is_uniform() ? 1 : saved.degree);
    const Quadrature<dim>   nodes(element.get_unit_support_points());
    FEValues<dim, spacedim> places(*mapping, element, nodes, update_quadrature_points);
    const unsigned int      n = nodes.size(), n_wanted = saved.wanted.size();
    dealii::Vector<double>  local(n);
    std::vector<double>     values(static_cast<std::size_t>(n) * n_wanted);
    const LagrangeCell      kind{simplices, saved.degree, false};
    for (const auto &cell : dof_handler.active_cell_iterators())
      if (cell->is_locally_owned())
        {
          places.reinit(cell);
          for (unsigned int c = 0; c < n_wanted; ++c)
            {
              if (simplices)
                std::copy_n(file->values(saved.wanted[c], cell->active_cell_index()), n, local.begin());
              else
                cell->get_dof_values(wanted[c], local);
              for (unsigned int i = 0; i < n; ++i)
                values[i * n_wanted + c] = local[i];
            }
          cells.add(kind, places.get_quadrature_points(), values);
        }
  }

  template void add_saved_fields(const SavedFields &, CellFields<2, 2> &, MPI_Comm);
  template void add_saved_fields(const SavedFields &, CellFields<3, 3> &, MPI_Comm);
  template void add_saved_fields(const SavedFields &, CellFields<2, 3> &, MPI_Comm);
} // namespace leopard
