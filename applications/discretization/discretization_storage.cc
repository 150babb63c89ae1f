// SPDX-License-Identifier: Apache-2.0
#include "discretization.h"

#include <deal.II/distributed/solution_transfer.h>

namespace leopard
{
  using namespace dealii;

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
    parallel::distributed::SolutionTransfer<dim, HostVector, spacedim> transfer(dof_handler);
    transfer.prepare_for_serialization(pointers);
    triangulation.save(folder + "/mesh");
  }

  template <int dim, int spacedim>
  std::vector<HostVector> Discretization<dim, spacedim>::load(const std::string &folder, unsigned int n_vectors)
  {
    triangulation.load(folder + "/mesh");
    distribute_unknowns();
    std::vector<HostVector>   scalars(n_vectors * components, HostVector(owned, comm));
    std::vector<HostVector *> pointers;
    for (HostVector &scalar : scalars)
      pointers.push_back(&scalar);
    parallel::distributed::SolutionTransfer<dim, HostVector, spacedim> transfer(dof_handler);
    transfer.deserialize(pointers);

    std::vector<HostVector> vectors(n_vectors, make_vector());
    for (unsigned int v = 0; v < n_vectors; ++v)
      {
        for (unsigned int c = 0; c < components; ++c)
          insert_component(scalars[v * components + c], c, vectors[v]);
        constraints.set_zero(vectors[v]);
      }
    return vectors;
  }

  template void                    Discretization<2>::save(const std::string &, const std::vector<const HostVector *> &) const;
  template void                    Discretization<3>::save(const std::string &, const std::vector<const HostVector *> &) const;
  template void                    Discretization<2, 3>::save(const std::string &, const std::vector<const HostVector *> &) const;
  template std::vector<HostVector> Discretization<2>::load(const std::string &, unsigned int);
  template std::vector<HostVector> Discretization<3>::load(const std::string &, unsigned int);
  template std::vector<HostVector> Discretization<2, 3>::load(const std::string &, unsigned int);
} // namespace leopard
