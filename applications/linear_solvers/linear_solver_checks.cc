// SPDX-License-Identifier: Apache-2.0
// Which entries of the section "Linear solver" contradict one another.
#include "linear_solver.h"

#include <applications/base/log.h>
#include <solvers/base/errors.h>
#include <solvers/base/words.h>

#include <deal.II/base/mpi.h>
#include <deal.II/base/patterns.h>

namespace leopard
{
  using namespace dealii;

  void LinearSolverParameters::check_contradictions() const
  {
    if (!is_krylov() && preconditioner != "none")
      throw Error("'Linear solver/Preconditioner' is " + preconditioner + ", but 'Linear solver/Method' is " + method +
                  "\n  expected: a preconditioner only with cg or gmres");
    const double largest_omega = relaxation() != nullptr && relaxation()->has_blocks && !is_krylov() ? 2. * (1. + block_async.momentum) : 2.;
    if (!(omega > 0. && omega < largest_omega))
      throw Error("'Linear solver/Omega' is " + Patterns::Tools::to_string(omega) + "\n  expected: a number between 0 and " +
                  Patterns::Tools::to_string(largest_omega));
    if (block_async.momentum != 0. && !uses_block_async())
      throw Error("'Linear solver/Momentum' is " + Patterns::Tools::to_string(block_async.momentum) +
                  ", but async is used nowhere\n  expected: no momentum, or async");
    if (!(block_async.block_omega > 0. && block_async.block_omega < 2.))
      throw Error("'Linear solver/Block omega' is " + Patterns::Tools::to_string(block_async.block_omega) + "\n  expected: a number between 0 and 2");
    if (block_async.overlap != Overlap::none && relaxation() != nullptr && relaxation()->corrects)
      throw Error("'Linear solver/Overlap' is given, but 'Linear solver/Method' is " + method + "\n  expected: no overlap, or the method async");
    if (block_async.momentum != 0. && relaxation() != nullptr && relaxation()->corrects)
      throw Error("'Linear solver/Momentum' is " + Patterns::Tools::to_string(block_async.momentum) + ", but 'Linear solver/Method' is " + method +
                  "\n  expected: no momentum, or the method async");
    if (lambda_max != 0. && lambda_min >= lambda_max)
      throw Error("'Linear solver/Smallest eigenvalue' is " + Patterns::Tools::to_string(lambda_min) +
                  ", which is not below 'Linear solver/Largest eigenvalue' = " + Patterns::Tools::to_string(lambda_max) +
                  "\n  expected: the smallest below the largest, or 0 for estimates");
    if (has_smoother() && !multigrid.options.wait_for_ghosts && backend == "reference")
      throw Error(
        "'Multigrid/Wait for ghosts' is false, but 'Linear solver/Backend' is reference, whose results are reproducible\n  expected: true, or the "
        "backend host or cuda");
    if (omega != 1. && relaxation() != nullptr && relaxation()->omega == OmegaRange::one)
      throw Error("'Linear solver/Method' is " + method + ", but 'Linear solver/Omega' is " + short_text(omega) +
                  "\n  expected: omega = 1, or the method sor");
    check_tau();
    check_tuning();
    check_overlap_level();
    check_two_stage();
    check_gpus();
    if (!wait_for_ghosts && can_go_without_waiting() && (block_async.schedule != Schedule::chaotic || backend == "reference"))
      throw Error("'Linear solver/Wait for ghosts' is false, but " +
                  std::string(backend == "reference" ? "'Linear solver/Backend' is reference, whose results are reproducible"
                                                     : "'Linear solver/Schedule' is not chaotic") +
                  "\n  expected: true, or the schedule chaotic and the backend host or cuda");
    if (backend == "cuda")
      {
        const std::string reason = why_not_on_device();
        if (!reason.empty())
          throw Error("'Linear solver/Backend' is cuda, but " + reason);
      }
  }

  void LinearSolverParameters::check_tau() const
  {
    if (!omega_is_tau || relaxation() == nullptr)
      return;
    if (!takes_tau() && relaxation()->omega != OmegaRange::none)
      throw Error("'Linear solver/Omega' is tau, but 'Linear solver/" + std::string(is_krylov() ? "Preconditioner" : "Method") + "' is " +
                  relaxation()->name + "\n  expected: a number, or one of " + joined(methods_with_tau()) + ", which tau is for");
    if (has_tau() && relaxation()->has_blocks && block_async.l1_weights)
      throw Error("'Linear solver/Omega' is tau, but 'Linear solver/l1 weights' is true, to which the eigenvalues of D^-1 A do not apply"
                  "\n  expected: a number, or no l1 weights");
  }

  void LinearSolverParameters::check_tuning() const
  {
    if (tuning_time == 0.)
      return;
    const std::string tuning = "'Linear solver/Tuning time' is " + format("%g", tuning_time) + ", but ";
    if (!tunes())
      throw Error(tuning + "the linear solver is " + (automatic ? choice() : name()) + "\n  expected: 'Linear solver/Method' = async, or 0");
    if (n_gpus > 1)
      throw Error(tuning + "'Linear solver/GPUs' is " + std::to_string(n_gpus) + "\n  expected: one GPU, or 0");
    if (backend == "reference")
      throw Error(tuning +
                  "'Linear solver/Backend' is reference, whose results are reproducible, and times are not\n  expected: another backend, or 0");
    if (precision != "double")
      throw Error(tuning + "'Linear solver/Precision' is " + precision + "\n  expected: double, in which is measured, or 0");
    const LinearSolverParameters usual;
    const BlockAsyncOptions     &found = block_async, &expected = usual.block_async;
    const auto                   refuse = [&](const std::string &entry, const std::string &why) {
      throw Error(tuning + "'Linear solver/" + entry + "' is given, too, " + why + "\n  expected: one of the two");
    };
    const std::string chosen = "which tuning chooses", none = "which tuning does not look at";
    if (omega_is_tau || omega != usual.omega)
      refuse("Omega", chosen);
    if (found.local_iterations != expected.local_iterations)
      refuse("Local iterations", chosen);
    if (!any_block_size)
      refuse("Block size", chosen);
    if (found.momentum != expected.momentum)
      refuse("Momentum", chosen);
    if (found.overlap != expected.overlap)
      refuse("Overlap", none);
    if (found.block_omega != expected.block_omega)
      refuse("Block omega", none);
    if (found.l1_weights != expected.l1_weights)
      refuse("l1 weights", none);
    if (found.schedule != expected.schedule)
      refuse("Schedule", none);
    if (found.two_stage != expected.two_stage)
      refuse("Two stage", none);
  }

  void LinearSolverParameters::check_overlap_level() const
  {
    const bool used = uses_two_stage() || (is_relaxation() && values_change); // gmres with async beyond the asynchronous bound
    if (block_async.overlap_level == 0 || !used)
      return;
    const std::string level = "'Linear solver/Overlap level' is ";
    if (block_async.overlap == Overlap::none)
      throw Error(level + "given with no overlap\n  expected: 'Linear solver/Overlap' = uniform, upward or downward with it");
    if (backend != "reference" && block_async.schedule != Schedule::replay)
      throw Error(level + std::to_string(block_async.overlap_level) + " on the backend " + backend +
                  "\n  expected: the backend reference, or 'Linear solver/Schedule' = replay: the others have rows of a block side by side "
                  "('Linear solver/Overlap percent')");
  }

  void LinearSolverParameters::check_two_stage() const
  {
    if (!uses_two_stage() || block_async.two_stage == TwoStage::automatic)
      return;
    BlockAsyncOptions options = has_async_factors() ? incomplete_options().solves.block_async : block_async;
    options.overlap_level     = 0; // check_overlap_level()
    try
      {
        options.validate();
      }
    catch (const InvalidInput &error)
      {
        throw Error("'Linear solver/Two stage' is " + to_string(block_async.two_stage) + ": " + error.what());
      }
  }

  bool LinearSolverParameters::shares_out_rows() const
  {
    if (is_krylov())
      return preconditioner == "none" || has_factors() || (relaxation() != nullptr && relaxation()->runs_on(Backend::cuda, as_preconditioner));
    return is_relaxation() && relaxation() != nullptr && relaxation()->has_blocks && !relaxation()->corrects;
  }

  void LinearSolverParameters::check_gpus() const
  {
    if (n_gpus == 1)
      return;
    const std::string several = "'Linear solver/GPUs' is " + std::to_string(n_gpus) + ", but ";
    if (!shares_out_rows())
      throw Error(several + "the linear solver is " + (automatic ? choice() : name()) +
                  "\n  expected: 'Linear solver/Method' = async, or cg or gmres with the preconditioner none, " +
                  joined(method_names(as_preconditioner, Backend::cuda)) +
                  ", ilu or ic, which each GPU makes of its own rows; or one GPU; for other methods mpirun with a rank for each GPU");
    if (precision != "double")
      throw Error(several + "'Linear solver/Precision' is " + precision + "\n  expected: double, or one GPU");
    if (backend != "automatic" && backend != "cuda")
      throw Error(several + "'Linear solver/Backend' is " + backend + "\n  expected: automatic or cuda, or one GPU");
    if (const std::string reason = why_not_on_device(); is_krylov() && !reason.empty())
      throw Error(several + reason);
    if (is_krylov())
      return;
    BlockAsyncOptions async = block_async;
    async.backend           = Backend::cuda;
    try
      {
        several_gpus().validate(async);
      }
    catch (const InvalidInput &error)
      {
        throw Error(several + "for " + error.what());
      }
  }

  std::string LinearSolverParameters::how_to_repeat(MPI_Comm comm) const
  {
    const bool  several = Utilities::MPI::n_mpi_processes(comm) > 1;
    std::string changes = "'Linear solver/Schedule = " + std::string(backend == "cuda" && !has_asynchronous_rows() ? "synchronous'" : "replay'");
    if (has_asynchronous_rows())
      changes = "'Linear solver/Backend = host'" + (block_async.schedule == Schedule::synchronous ? "" : " with " + changes);
    if (several && !wait_for_ghosts && can_go_without_waiting())
      changes += " with 'Linear solver/Wait for ghosts = true'";
    if (several && has_smoother() && !multigrid.options.wait_for_ghosts)
      changes += " with 'Multigrid/Wait for ghosts = true'";
    return changes + " makes them equal";
  }

  std::string LinearSolverParameters::why_not_on_device() const
  {
    if (method == "direct")
      return "the direct solver runs on the host\n  expected: another method, or the backend host";
    if (is_relaxation() && relaxation() != nullptr && !relaxation()->runs_on(Backend::cuda, as_solver))
      return "the method " + method + " runs on the host\n  expected: another method, or the backend host";
    if (is_krylov() && (preconditioner == "amg" || (relaxation() != nullptr && !relaxation()->runs_on(Backend::cuda, as_preconditioner))))
      return "the preconditioner " + preconditioner + " runs on the host\n  expected: the preconditioner none, " +
             joined(method_names(as_preconditioner, Backend::cuda)) + ", ilu, ic, aggregation or multigrid, or the backend host";
    if (refines() && is_krylov() && uses_multigrid() && !(automatic && values_change)) // as in choose()
      return "'Linear solver/Precision' is mixed for " + name() +
             ", which runs on the host\n  expected: the precision double and 'Multigrid/Precision' = single, or the backend host";
    if (has_smoother() && !smoother().runs_on(Backend::cuda, as_smoother))
      return std::string("the smoother ") + smoother().name + " runs on the host\n  expected: one of " +
             joined(method_names(as_smoother, Backend::cuda)) + ", or the backend host";
    if (uses_block_async() && block_async.schedule == Schedule::replay)
      return "the schedule replay runs on the host\n  expected: the schedule chaotic or synchronous, or the backend reference or host";
    if (uses_block_async() && block_async.block_size > 1024)
      return "'Linear solver/Block size' is " + std::to_string(block_async.block_size) +
             "\n  expected: at most 1024 rows a block on a GPU, or the backend host";
    return "";
  }
} // namespace leopard
