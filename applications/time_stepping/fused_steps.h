// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "time_parameters.h"

#include <applications/discretization/growth.h>
#include <applications/discretization/uniform_grid.h>
#include <applications/nonlinear/newton.h>
#include <applications/reaction_diffusion/stepper.h>
#include <solvers/dealii/trilinos_matrix.h>

#include <deal.II/base/mpi_noncontiguous_partitioner.h>

#include <memory>
#include <string>
#include <vector>

namespace leopard
{
  class LevelSource;
  class Problem;
  struct LinearSolverParameters;
  struct SemiDiscreteSystem;

  /**
   * The fused time loop (reaction_diffusion::Stepper) between the vectors of this program: many steps a call, on the
   * GPU without the host. Ranks own unknowns as the mesh is shared out; of a grid they have slabs in the time loop, so
   * that values change places when they are loaded or stored.
   */
  class FusedSteps
  {
  public:
    /** Why these settings need the general time loop; empty if they do not. */
    static std::string
    why_not(const Problem &problem, const TimeParameters &time, const NewtonParameters &newton, const LinearSolverParameters &linear);

    /** Where it steps: on a grid, or (mesh not null) by the rows of a mesh's Laplacian. */
    struct Domain
    {
      reaction_diffusion::NodeGrid                             grid;
      std::shared_ptr<reaction_diffusion::GridSlabs>           slabs;      ///< the ranks' parts of the grid; null for one rank
      std::shared_ptr<const reaction_diffusion::MeshLaplacian> mesh;       ///< the rank's part
      std::shared_ptr<reaction_diffusion::MeshRanks>           mesh_ranks; ///< null for one rank
      std::vector<dealii::types::global_dof_index>             nodes;      ///< of each of `unknowns`
      std::vector<unsigned int>                    unknowns;  ///< which of the scalar degrees of freedom that the rank owns are nodes there
      std::vector<dealii::types::global_dof_index> own_nodes; ///< that the rank has in the time loop, in the order of its arrays
      /** One for each factor of Problem::separated_load(); the load where it does not depend on the time. */
      std::vector<HostVector> loads;
    };

    /**
     * A grid, as find_uniform_grid() has found it, shared out to ranks; or the reason why that cannot be. Collective.
     */
    static Domain
    on_grid(const UniformGrid &grid, const TimeParameters &time, const LinearSolverParameters &linear, MPI_Comm comm, std::string &why_not);

    /**
     * A mesh, likewise; periodic copies and nodes with boundary values are left out. @param system its mass matrix is
     * lumped.
     */
    static Domain on_mesh(const SemiDiscreteSystem     &system,
                          const LevelSource            &discretization,
                          const Problem                &problem,
                          const TimeParameters         &time,
                          const LinearSolverParameters &linear,
                          std::string                  &why_not);

    /**
     * @param comm whose ranks share the domain. @param system, discretization for lumped masses and places. @throws
     * Error.
     */
    FusedSteps(const Domain                 &domain,
               MPI_Comm                      comm,
               const SemiDiscreteSystem     &system,
               const LevelSource            &discretization,
               const Problem                &problem,
               const Growth                 &growth,
               const TimeParameters         &time,
               const NewtonParameters       &newton,
               const LinearSolverParameters &linear,
               double                        step_size);

    /**
     * Stepper::advance(), in which other runs of a sweep have their turn. Ends when the program is asked to stop.
     * @param seconds that it has taken, without waiting for a turn.
     */
    reaction_diffusion::StopReason advance(double stop_time, long max_steps, double slack, double &seconds);

    /** Collective, as store(). */
    void load(const reaction_diffusion::Stepper::State &state, const std::vector<HostVector> &levels);
    /** Leaves periodic copies as they are. */
    void store(int level, HostVector &u);

    reaction_diffusion::Stepper stepper;

  private:
    const MPI_Comm                                   comm;
    const unsigned int                               n_fields;
    const std::vector<unsigned int>                  unknowns; ///< of each field: those of Domain
    dealii::Utilities::MPI::NoncontiguousPartitioner to_unknowns, to_nodes;
    std::vector<double>                              field_by_field, values_of_field; ///< workspace
  };
} // namespace leopard
