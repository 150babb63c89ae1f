// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deal.II/distributed/tria_base.h>
#include <deal.II/dofs/dof_handler.h>

#include <any>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace leopard
{
  struct SemiDiscreteSystem;

  /** A mesh and the numbers of its nodes. */
  template <int dim, int spacedim>
  struct NumberedMesh
  {
    explicit NumberedMesh(std::unique_ptr<dealii::parallel::TriangulationBase<dim, spacedim>> coarse)
      : triangulation(std::move(coarse))
      , dof_handler(*triangulation)
    {
    }
    std::unique_ptr<dealii::parallel::TriangulationBase<dim, spacedim>> triangulation;
    dealii::DoFHandler<dim, spacedim>                                   dof_handler; ///< scalar
    std::vector<double>                                                 nodes;       ///< see Discretization::nodes(); empty: not asked for
  };

  template <int dim, int spacedim>
  using NumberedMeshPointer = std::shared_ptr<NumberedMesh<dim, spacedim>>;

  /**
   * The refined and numbered mesh that runs of a sweep have in common, and the matrices assembled on it. The first of
   * them keeps them here; whoever takes the mesh may not refine, load or number it, whoever takes matrices may not
   * change them. One of each is kept, the newest. For threads that take turns (applications/base/turns.h).
   */
  class SharedMesh
  {
  public:
    /**
     * The mesh that is kept, if it was made of the same, as a text says it; else nullptr, and it is let go: the memory
     * is for the next one.
     */
    template <int dim, int spacedim>
    NumberedMeshPointer<dim, spacedim> find(const std::string &made_of_)
    {
      const auto *found = std::any_cast<NumberedMeshPointer<dim, spacedim>>(&mesh);
      if (found != nullptr && made_of == made_of_)
        return *found;
      mesh.reset();
      system.reset();
      return nullptr;
    }

    template <int dim, int spacedim>
    void keep(const std::string &made_of_, const NumberedMeshPointer<dim, spacedim> &mesh_)
    {
      made_of = made_of_;
      mesh    = mesh_;
    }

    /** As find(), of the matrices. */
    std::shared_ptr<SemiDiscreteSystem> find_system(const std::string &made_of_)
    {
      if (made_of_ != system_made_of)
        system.reset();
      return system;
    }

    void keep_system(const std::string &made_of_, const std::shared_ptr<SemiDiscreteSystem> &system_)
    {
      system_made_of = made_of_;
      system         = system_;
    }

  private:
    std::string                         made_of, system_made_of;
    std::any                            mesh; ///< a NumberedMeshPointer
    std::shared_ptr<SemiDiscreteSystem> system;
  };
} // namespace leopard
