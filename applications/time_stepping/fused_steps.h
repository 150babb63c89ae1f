// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "time_parameters.h"

#include <applications/discretization/uniform_grid.h>
#include <applications/nonlinear/newton.h>
#include <solvers/dealii/trilinos_matrix.h>
#include <solvers/reaction_diffusion/stepper.h>

#include <deal.II/base/mpi_noncontiguous_partitioner.h>

#include <memory>
#include <string>
#include <vector>

namespace leopard
{
  class Problem;
  struct LinearSolverParameters;

  /**
   * The time loop of the solver library (reaction_diffusion::Stepper) between the vectors of this program: many steps a call, on the GPU without the
   * host. Ranks own unknowns as the mesh is shared out, and slabs of the grid in the time loop: values change places when they are loaded or stored.
   */
  class FusedSteps
  {
  public:
    /** Why these settings need the general time loop; empty if they do not. */
    static std::string
    why_not(const Problem &problem, const TimeParameters &time, const NewtonParameters &newton, const LinearSolverParameters &linear);

    /** The ranks' slabs of a grid; null for one rank, or where that cannot be, with the reason. Collective. */
    static std::shared_ptr<reaction_diffusion::GridSlabs> share_out(const UniformGrid            &grid,
                                                                    const Problem                &problem,
                                                                    const TimeParameters         &time,
                                                                    const LinearSolverParameters &linear,
                                                                    MPI_Comm                      comm,
                                                                    std::string                  &why_not);

    /**
     * @param grid what find_uniform_grid() has found, @param slabs what share_out() has made of it, @param comm whose ranks share it.
     * @throws Error.
     */
    FusedSteps(const UniformGrid                                    &grid,
               const std::shared_ptr<reaction_diffusion::GridSlabs> &slabs,
               MPI_Comm                                              comm,
               const Problem                                        &problem,
               const TimeParameters                                 &time,
               const NewtonParameters                               &newton,
               const LinearSolverParameters                         &linear,
               double                                                step_size);

    /** Collective, as store(). */
    void load(const reaction_diffusion::Stepper::State &state, const std::vector<HostVector> &levels);
    void store(int level, HostVector &u);

    reaction_diffusion::Stepper stepper;

  private:
    const unsigned int                               n_fields, n_unknowns; ///< of each field: scalar unknowns that the rank owns
    dealii::Utilities::MPI::NoncontiguousPartitioner to_unknowns, to_slab;
    std::vector<double>                              field_by_field, values_of_field; ///< workspace
  };
} // namespace leopard
