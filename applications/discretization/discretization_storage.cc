// SPDX-License-Identifier: Apache-2.0
#include "discretization.h"

#include "cell_values_file.h"

#include <applications/base/collective.h>
#include <applications/base/files.h>

#include <deal.II/distributed/solution_transfer.h>
#include <deal.II/distributed/tria.h>

#include <algorithm>
#include <filesystem>

namespace leopard
{
  using namespace dealii;

  /** The files of a mesh with data on its cells, as deal.II and p4est write them. */
  struct SavedSizes
  {
    std::uint64_t mesh;  ///< at most
    std::uint64_t least; ///< that is in it for certain
    std::uint64_t data;  ///< exactly
  };

  namespace
  {
    template <int dim, int spacedim>
    SavedSizes saved_sizes(const DoFHandler<dim, spacedim> &dof_handler, std::size_t n_scalars)
    {
      const auto         &triangulation = dof_handler.get_triangulation();
      const std::uint64_t n_cells = triangulation.n_global_active_cells(), n_coarse = triangulation.n_cells(0);
      const std::uint64_t quadrants = n_cells * (dim + 1) * sizeof(std::int32_t); // its corner and its level
      return {4096 + 512 * n_coarse + quadrants,
              quadrants,
              2 * sizeof(int) + n_cells * (sizeof(int) + n_scalars * dof_handler.get_fe().dofs_per_cell * sizeof(double))};
    }
  } // namespace

  template <int dim, int spacedim>
  void Discretization<dim, spacedim>::save(const std::string &folder, const std::vector<const HostVector *> &vectors) const
  {
    std::vector<HostVector>         scalars;
    std::vector<const HostVector *> pointers;
    scalars.reserve(vectors.size() * components);
    for (const HostVector *vector : vectors)
      for (unsigned int c = 0; c < components; ++c)
        {
          scalars.emplace_back();
          extract_component(*vector, c, scalars.back());
          pointers.push_back(&scalars.back());
        }
    if (simplices)
      {
        save_on_simplices(folder, pointers);
        return;
      }
    parallel::distributed::SolutionTransfer<dim, HostVector, spacedim> transfer(dof_handler);
    // p4est ends the program where it cannot write, and deal.II does not look: the room is found before, and the sizes
    // are looked at afterwards
    const SavedSizes sizes = saved_sizes(dof_handler, scalars.size());
    on_rank_zero(comm, [&] { check_room(folder, {sizes.mesh, sizes.data}); });
    transfer.prepare_for_serialization(pointers);
    dynamic_cast<parallel::distributed::Triangulation<dim, spacedim> &>(triangulation).save(folder + "/mesh");
    on_rank_zero(comm, [&] {
      const auto size = [&](const char *name) { return static_cast<std::uint64_t>(std::filesystem::file_size(folder + "/" + name)); };
      if (size("mesh") < sizes.least || size("mesh_fixed.data") != sizes.data || size("mesh.info") == 0)
        throw std::runtime_error("the files of mesh and solutions in '" + folder + "' have " + std::to_string(size("mesh")) + " and " +
                                 std::to_string(size("mesh_fixed.data")) + " bytes\n  expected: at least " + std::to_string(sizes.least) + ", and " +
                                 std::to_string(sizes.data) + "; room on the disk");
    });
  }

  template <int dim, int spacedim>
  void Discretization<dim, spacedim>::save_on_simplices(const std::string &folder, const std::vector<const HostVector *> &scalars) const
  {
    CellValuesFile::write(
      folder, triangulation.n_active_cells(), scalars.size(), [&](std::size_t v) { return values_of_cells(*scalars[v]); }, comm);
  }

  template <int dim, int spacedim>
  std::vector<HostVector> Discretization<dim, spacedim>::load_on_simplices(const std::string &folder, unsigned int n_scalars)
  {
    CellValuesFile file(folder, comm);
    file.refine(triangulation);
    distribute_unknowns();
    const unsigned int n = dof_handler.get_fe().dofs_per_cell;
    file.check(triangulation.n_active_cells(), n_scalars, n, ", and the mesh file that the run has begun with; --overwrite to start anew");

    std::vector<HostVector>              scalars(n_scalars, HostVector(owned, comm));
    std::vector<types::global_dof_index> dofs(n);
    for (unsigned int s = 0; s < n_scalars; ++s)
      {
        for (const auto &cell : dof_handler.active_cell_iterators())
          if (cell->is_locally_owned())
            {
              cell->get_dof_indices(dofs);
              const double *const values = file.values(s, cell->active_cell_index());
              for (unsigned int i = 0; i < n; ++i)
                if (owned.is_element(dofs[i]))
                  scalars[s](dofs[i]) = values[i];
            }
        scalars[s].compress(VectorOperation::insert);
      }
    return scalars;
  }

  template <int dim, int spacedim>
  std::vector<HostVector> Discretization<dim, spacedim>::load(const std::string &folder, unsigned int n_vectors)
  {
    std::vector<HostVector> scalars;
    if (simplices)
      scalars = load_on_simplices(folder, n_vectors * components);
    else
      {
        dynamic_cast<parallel::distributed::Triangulation<dim, spacedim> &>(triangulation).load(folder + "/mesh");
        distribute_unknowns();
        scalars.assign(n_vectors * components, HostVector(owned, comm));
        std::vector<HostVector *> pointers;
        for (HostVector &scalar : scalars)
          pointers.push_back(&scalar);
        parallel::distributed::SolutionTransfer<dim, HostVector, spacedim> transfer(dof_handler);
        transfer.deserialize(pointers);
      }

    std::vector<HostVector> vectors(n_vectors, make_vector());
    for (unsigned int v = 0; v < n_vectors; ++v)
      for (unsigned int c = 0; c < components; ++c)
        insert_component(scalars[v * components + c], c, vectors[v]);
    return vectors;
  }

  template void                    Discretization<2>::save(const std::string &, const std::vector<const HostVector *> &) const;
  template void                    Discretization<3>::save(const std::string &, const std::vector<const HostVector *> &) const;
  template void                    Discretization<2, 3>::save(const std::string &, const std::vector<const HostVector *> &) const;
  template std::vector<HostVector> Discretization<2>::load(const std::string &, unsigned int);
  template std::vector<HostVector> Discretization<3>::load(const std::string &, unsigned int);
  template std::vector<HostVector> Discretization<2, 3>::load(const std::string &, unsigned int);
} // namespace leopard
