// SPDX-License-Identifier: Apache-2.0
#include "choices.h"

#include "parameters.h"

#include <applications/time_stepping/fused_steps.h>
#include <solvers/base/errors.h>

namespace leopard
{
  namespace
  {
    /** Of steps that the fused time loop would do with one GPU. */
    std::string cost_of_gpus(const Parameters &parameters)
    {
      const int              n_gpus = parameters.linear_solver.n_gpus;
      LinearSolverParameters of_one = parameters.linear_solver;
      of_one.n_gpus                 = 1;
      if (n_gpus == 1 || !parameters.problem->time_dependent() || !why_general_time_loop(parameters, of_one).empty())
        return "";
      return "'Linear solver/GPUs' is " + std::to_string(n_gpus) +
             ", for which the general time loop does the steps, several times slower than the fused one; expected to be faster: 'Linear solver/GPUs' "
             "= 1, or " +
             std::to_string(n_gpus) + " ranks with a GPU each (mpirun -n " + std::to_string(n_gpus) + ")";
    }
  } // namespace

  std::vector<std::string> choices(const Parameters &parameters)
  {
    std::vector<std::string> lines;
    const bool               in_time = parameters.problem->time_dependent();
    if (parameters.study != "none")
      return lines;
    if (const std::string remark = parameters.discretization.remark(parameters.mesh, in_time); !remark.empty())
      lines.push_back(remark);
    if (parameters.linear_solver.automatic && !in_time) // the time loop says which solver it has
      lines.push_back("linear solver: " + parameters.linear_solver.choice());
    if (const std::string cost = cost_of_gpus(parameters); !cost.empty())
      lines.push_back(cost);
    return lines;
  }

  std::string why_general_time_loop(const Parameters &parameters, const LinearSolverParameters &linear)
  {
    if (parameters.time.engine == "general")
      return "it is asked for";
    const std::string why_not = FusedSteps::why_not(*parameters.problem, parameters.time, parameters.newton, linear);
    if (why_not.empty() && parameters.time.exponential())
      return parameters.mesh.domain == "L-shape"                ? "'Mesh/Domain' is L-shape"
             : !parameters.discretization.finite_differences    ? "'Discretization/Method' is finite elements"
             : parameters.growth.grows()                        ? "'Mesh/Growth' is " + parameters.growth.law
             : !parameters.problem->has_constant_coefficients() ? "a coefficient depends on the place or the direction"
                                                                : "";
    return why_not.empty() && !parameters.discretization.finite_differences && !parameters.discretization.lumped_mass
             ? "it needs a lumped mass matrix"
             : why_not;
  }

  void refuse_fused_time_loop(const TimeParameters &time, const std::string &why_not)
  {
    if (time.exponential())
      throw Error("'Time stepping/Scheme' is " + time.scheme + ", which needs a grid and the fused time loop: " + why_not +
                  "\n  expected: finite differences on a rectangle or a box with given fluxes or periodic boundaries, constant diffusion and no "
                  "growth, on one rank; or the "
                  "scheme BDF2 or BDF3");
    throw Error("'Time stepping/Engine' is fused, but this time loop cannot be used here: " + why_not +
                "\n  expected: settings that it can do, or 'Engine' = automatic or general");
  }

  std::string expected_time_loop(const Parameters &parameters)
  {
    if (parameters.study != "none" || !parameters.problem->time_dependent())
      return "";
    const LinearSolverParameters &linear  = parameters.linear_solver;
    const std::string             why_not = why_general_time_loop(parameters, linear);
    if ((parameters.time.engine == "fused" || parameters.time.exponential()) && !why_not.empty())
      refuse_fused_time_loop(parameters.time, why_not);
    if (parameters.time.exponential())
      return "time loop: fused, exponential steps, if the mesh is a rectangle or a box";
    if (!why_not.empty())
      linear.check_precision();
    const std::string general = (linear.automatic ? linear.choice() : linear.name());
    if (why_not.empty())
      return "time loop: fused, with sweeps and multigrid of its own; if mesh or machine do not allow it the general one with " + general;
    return "time loop: general, since " + std::string(parameters.time.engine == "general" ? "" : "the fused one cannot be used: ") + why_not +
           (parameters.time.explicit_reaction() ? "; " : "; Newton with ") + general;
  }

  void check_choices(const Parameters &parameters, MPI_Comm comm)
  {
    expected_time_loop(parameters);
    const LinearSolverParameters &linear = parameters.linear_solver;
    if (!parameters.has_linear_solver() || (parameters.problem->time_dependent() && why_general_time_loop(parameters, linear).empty()))
      return;
    linear.check_precision(); // once more, with the backend that was chosen
    linear.check_precision_on(comm);
    parameters.check_levels_on(comm);
  }
} // namespace leopard
