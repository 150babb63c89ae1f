// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "time_parameters.h"

#include <applications/nonlinear/newton.h>
#include <solvers/dealii/trilinos_matrix.h>
#include <solvers/reaction_diffusion/stepper.h>

#include <string>
#include <vector>

namespace leopard
{
  class Problem;
  struct LinearSolverParameters;

  /**
   * The time loop of the solver library (reaction_diffusion::Stepper) between the vectors of this program: many steps a call, on the GPU without the
   * host. Unknown n_fields * unknown[i] + c of a vector is field c of the grid's node i.
   */
  class FusedSteps
  {
  public:
    /** Why these settings need the general time loop; empty if they do not. */
    static std::string
    why_not(const Problem &problem, const TimeParameters &time, const NewtonParameters &newton, const LinearSolverParameters &linear);

    /** @throws Error. */
    FusedSteps(const reaction_diffusion::NodeGrid &grid,
               std::vector<unsigned int>           unknown,
               const Problem                      &problem,
               const TimeParameters               &time,
               const NewtonParameters             &newton,
               const LinearSolverParameters       &linear,
               double                              step_size);

    void load(const reaction_diffusion::Stepper::State &state, const std::vector<HostVector> &levels);
    void store(int level, HostVector &u);

    reaction_diffusion::Stepper stepper;

  private:
    const std::vector<unsigned int> unknown;
    const unsigned int              n_fields;
    std::vector<double>             field_by_field; ///< workspace
  };
} // namespace leopard
