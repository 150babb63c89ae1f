// SPDX-License-Identifier: Apache-2.0
#include "fused_steps.h"

#include <applications/linear_solvers/linear_solver.h>
#include <applications/problems/problem.h>
#include <solvers/reaction_diffusion/kinetics.h>

#include <deal.II/base/point.h>

#include <algorithm>

namespace leopard
{
  namespace
  {
    using namespace reaction_diffusion;

    StepperOptions options_for(
      const Problem &problem, const TimeParameters &time, const NewtonParameters &newton, const LinearSolverParameters &linear, double step_size)
    {
      StepperOptions options;
      options.backend   = linear.backend == "cuda" ? Backend::cuda : Backend::host;
      options.n_threads = linear.block_async.n_threads;
      options.kinetics  = *problem.library_kinetics();
      options.diffusion.clear();
      for (unsigned int c = 0; c < problem.fields().size(); ++c)
        options.diffusion.push_back(problem.diffusion(c, dealii::Point<3>()));
      SteppingOptions &s = options.stepping;
      s.scheme           = time.explicit_reaction() ? Scheme::imex_bdf2 : time.order() == 2 ? Scheme::bdf2 : Scheme::implicit_euler;
      s.error_controlled = time.adaptive();
      s.step_size        = step_size;
      s.error_tolerance  = time.error_tolerance;
      s.smallest_step    = time.smallest_step;
      s.largest_step     = time.largest_step;
      s.bound_fraction   = time.follows_bound() ? time.bound_fraction : 0.;
      s.steady_tolerance = time.steady_tolerance;
      // a step of SBDF2 is a linear solve: its tolerance is that of the linear solver, against what is known of the equation
      s.newton_tolerance = time.explicit_reaction() ? 0. : newton.relative_tolerance;
      s.newton_floor     = time.explicit_reaction() ? std::max(linear.relative_tolerance, newton.absolute_tolerance) : newton.absolute_tolerance;
      s.max_newton_steps = newton.max_steps;
      s.omega            = linear.omega;
      s.max_sweeps       = linear.max_iterations;
      s.stop_at_negative_values = time.negative_values == "stop" && problem.fields_are_concentrations();
      return options;
    }
  } // namespace

  std::string
  FusedSteps::why_not(const Problem &problem, const TimeParameters &time, const NewtonParameters &newton, const LinearSolverParameters &linear)
  {
    const auto kinetics = problem.library_kinetics();
    if (!kinetics)
      return "it needs built-in kinetics or expressions";
    if (const std::string reason = kinetics->why_not(); !reason.empty())
      return "of the expressions of 'Turing/Kinetics': " + reason;
    if (linear.backend == "cuda" && kinetics->n_species() != 2)
      return "on a GPU it knows systems of two species, and there are " + std::to_string(kinetics->n_species());
    for (const Expression &source : problem.source)
      if (!source.is_zero())
        return "it knows no sources";
    if (time.negative_values == "clip")
      return "it does not clip negative values";
    if (!linear.uses_block_async())
      return "'Linear solver/Method' asks for another solver than async, and no preconditioner async";
    if (newton.forcing == "fixed iterations" && !time.explicit_reaction())
      return "'Newton/Forcing' asks for a fixed number of linear iterations";
    if (linear.backend == "reference" || linear.block_async.schedule == Schedule::replay)
      return "a reproducible computation is asked for";
    return "";
  }

  FusedSteps::FusedSteps(const NodeGrid               &grid,
                         std::vector<unsigned int>     unknown_,
                         const Problem                &problem,
                         const TimeParameters         &time,
                         const NewtonParameters       &newton,
                         const LinearSolverParameters &linear,
                         double                        step_size)
    : stepper(grid, options_for(problem, time, newton, linear, step_size))
    , unknown(std::move(unknown_))
    , n_fields(problem.fields().size())
    , field_by_field(n_fields * unknown.size())
  {
  }

  void FusedSteps::load(const Stepper::State &state, const std::vector<HostVector> &levels)
  {
    std::vector<std::vector<double>> solutions(state.step_sizes.size() + 1, std::vector<double>(field_by_field.size()));
    for (std::size_t l = 0; l < solutions.size(); ++l)
      for (std::size_t i = 0; i < unknown.size(); ++i)
        for (unsigned int c = 0; c < n_fields; ++c)
          solutions[l][c * unknown.size() + i] = levels[l].begin()[n_fields * unknown[i] + c];
    stepper.resume(state, solutions);
  }

  void FusedSteps::store(int level, HostVector &u)
  {
    stepper.solution(field_by_field.data(), level);
    for (std::size_t i = 0; i < unknown.size(); ++i)
      for (unsigned int c = 0; c < n_fields; ++c)
        u.begin()[n_fields * unknown[i] + c] = field_by_field[c * unknown.size() + i];
  }
} // namespace leopard
