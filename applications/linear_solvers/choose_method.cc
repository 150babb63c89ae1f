// SPDX-License-Identifier: Apache-2.0
#include "choose_method.h"

#include <applications/base/log.h>

namespace leopard
{
  std::string SolverChoice::name() const
  {
    return method + (preconditioner == "none" ? "" : " with the preconditioner " + preconditioner);
  }

  namespace
  {
    /** amg on the host, or aggregation in its place where a GPU is there and pays. @param reason for either. */
    SolverChoice algebraic(const SolverTask &task, const std::string &krylov, const std::string &reason)
    {
      const std::string least = format("%.0f", least_unknowns_on_gpu);
      if (!task.has_gpu || task.backend != "automatic")
        return {krylov, "amg", reason};
      if (task.may_be_indefinite)
        return {krylov, "amg", reason + "; on the host, as aggregation on the GPU was not measured with such matrices"};
      if (!(task.n_unknowns > 0.))
        return {krylov, "amg", reason + "; on the host, as it is not known whether there will be " + least + " unknowns, from which a GPU pays"};
      if (!(task.n_unknowns >= least_unknowns_on_gpu))
        return {krylov, "amg", reason + "; on the host, which is faster than aggregation on the GPU below " + least + " unknowns"};
      return {krylov, "aggregation", reason + "; on the GPU, where from " + least + " unknowns on it takes less time than amg on the host"};
    }
  } // namespace

  bool asks_for_gpu(SolverTask task)
  {
    task.has_gpu                = true;
    const SolverChoice with_gpu = choose_method(task);
    task.has_gpu                = false;
    return with_gpu.reason != choose_method(task).reason;
  }

  SolverChoice choose_method(const SolverTask &task)
  {
    const std::string krylov           = task.has_newton ? "gmres" : "cg";
    const std::string matrix           = task.has_newton ? "the matrix is a Jacobian" : "the matrix is symmetric and positive definite";
    const double      most_direct      = task.dimension == 2 ? 150e3 : 5e3;   // unknowns whose sparse factors take a second or two
    const double      most_direct_step = task.dimension == 2 ? 2500. : 1000.; // where a step costs as much as by amg field after field
    const double      most_coupled     = task.dimension == 2 ? 30e3 : 15e3;   // where that does not converge
    const bool        is_small         = task.n_unknowns > 0. && task.n_unknowns <= most_direct;
    const bool        on_device        = task.backend == "cuda" || task.n_gpus > 1;
    const std::string of_gpus =
      ", and 'Linear solver/GPUs' is " + std::to_string(task.n_gpus) + ", with which there is no multigrid, aggregation or amg";
    if (task.preconditioner != "none")
      return {krylov, task.preconditioner, matrix + ", and the preconditioner is given"};
    if (task.in_time && task.quasi_stationary > 1 && !on_device && task.n_unknowns > 0. && task.n_unknowns <= most_coupled)
      return {"direct", "none", "several quasi-stationary species hold the fields of a node together, and the mesh is small"};
    if (task.in_time && task.quasi_stationary > 0)
      return {"gmres", "ilu", "the equations of quasi-stationary species have no mass on the diagonal and hold the fields of a node together"};
    if (task.fixed_iterations)
      return {"async", "none", "'Newton/Forcing' asks for a fixed number of iterations"};
    if (task.in_time && task.follows_bound)
      return {"async", "none", "the steps are so short that every asynchronous iteration converges"};
    if (task.in_time && task.has_newton && task.long_steps && !on_device)
      return task.n_unknowns > 0. && task.n_unknowns <= most_direct_step
               ? SolverChoice{"direct",
                              "none",
                              std::string(task.reaction_is_zero ? "advection or cross-diffusion makes the systems of long steps unsymmetric"
                                                                : "steps become so long that their systems are indefinite") +
                                ", and the mesh is small"}
               : algebraic(task, krylov, "steps become so long that relaxations stagnate");
    if (task.in_time && task.has_newton && task.long_steps && task.n_gpus > 1)
      return {krylov, "ilu", "steps become so long that relaxations stagnate" + of_gpus};
    if (task.in_time && task.has_newton && task.long_steps)
      return {krylov, "aggregation", "steps become so long that relaxations stagnate, and the backend is cuda, where amg does not run"};
    if (task.in_time && task.has_newton && task.consistent_mass)
      return {krylov, on_device ? "chebyshev" : "ssor", "the matrix of a step is not symmetric, and with a consistent mass relaxations diverge"};
    if (task.in_time)
      return task.has_newton ? SolverChoice{krylov, "async", "the matrix of a step is not symmetric, with the mass on its diagonal"}
                             : SolverChoice{krylov, "chebyshev", "the matrix of a step is symmetric, with the mass on its diagonal"};
    if (task.is_singular && task.has_levels && !task.is_of_file)
      return {krylov, "multigrid", "the solution is determined up to a constant, which multigrid keeps out"};
    if (task.is_singular)
      return {krylov, "aggregation", "the solution is determined up to a constant, which aggregation keeps out, and the mesh may have no levels"};
    if (task.n_gpus > 1)
      return {krylov,
              task.may_be_indefinite ? "ilu" : "chebyshev",
              matrix + (task.may_be_indefinite ? ", which the reaction may make indefinite" : "") + of_gpus};
    if (task.may_be_indefinite && is_small && !on_device)
      return {"direct", "none", "the reaction may make the matrix indefinite, and the mesh is small"};
    if (task.has_even_levels && !task.may_be_indefinite)
      return {krylov, "multigrid", matrix + ", and the mesh has levels of similar cells"};
    if (on_device && task.has_levels)
      return {krylov, "multigrid", matrix + ", and the backend is cuda, where amg does not run"};
    if (on_device)
      return {krylov, "aggregation", matrix + ", the mesh has no levels, and the backend is cuda, where amg does not run"};
    return algebraic(task,
                     krylov,
                     matrix + (task.may_be_indefinite ? ", which the reaction may make indefinite"
                               : task.has_levels ? ", and the levels of the mesh do not suit coefficients that vary, a higher degree or long cells"
                                                 : ", and the mesh has too few levels"));
  }
} // namespace leopard
