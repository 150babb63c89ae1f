// SPDX-License-Identifier: Apache-2.0
#include "run.h"

#include "analyze_problem.h"
#include "choices.h"
#include "provenance.h"
#include "simulation.h"
#include "unused_entries.h"

#include <applications/base/collective.h>
#include <applications/base/files.h>
#include <applications/base/log.h>
#include <applications/base/stop_signal.h>
#include <solvers/base/errors.h>
#include <solvers/device/device.h>

#include <leopard/version.h>
#include <nlohmann/json.hpp>

#include <deal.II/base/mpi.h>

#include <chrono>

namespace leopard
{
  namespace
  {
    /** What to do with the results, by the status of the run. */
    std::string next_step(const Parameters &parameters, const std::string &status)
    {
      const std::string directory = for_shell(parameters.directory);
      if (parameters.study == "none" && parameters.problem->time_dependent() && parameters.verification.refinements > 0)
        return status.rfind("stopped", 0) == 0 ? "" : "; read " + directory + "/convergence.txt";
      if (parameters.study != "none")
        return "; read study.txt, draw figures with scripts/plot_study " + directory;
      if (!parameters.sweep.writes_files())
        return "";
      const std::string look = "scripts/render " + directory + " draws pictures, or open " + directory + "/solution.pvd in ParaView";
      return status.rfind("stopped", 0) == 0 ? "; go on with --resume" : "; " + look;
    }

    /** What was chosen where the file leaves it to the program. */
    void say_choices(const Parameters &parameters, Log &log, nlohmann::json &report)
    {
      const LinearSolverParameters &solver = parameters.linear_solver;
      for (const std::string &line : choices(parameters))
        log.line(line);
      report["discretization"] = {{"method", parameters.discretization.finite_differences ? "finite differences" : "finite elements"},
                                  {"automatic", parameters.discretization.automatic}};
      report["linear_solver"]  = {
         {"method", solver.method}, {"preconditioner", solver.preconditioner}, {"automatic", solver.automatic}, {"why", solver.why}};
      report["linear_solver"]["precision"] = solver.refines() || solver.corrects_blocks() ? solver.precision : "double";
      if (solver.uses_multigrid())
        report["linear_solver"]["multigrid_precision"] = solver.cycle_arithmetic() == Arithmetic::single_precision ? "single" : "double";
    }
  } // namespace

  std::string run_once(const RunRequest &request, Parameters &parameters, const NodePlace &place, Log &log, MPI_Comm comm)
  {
    const auto        start   = std::chrono::steady_clock::now();
    const std::string backend = parameters.locating([&] { return parameters.choose_backend(comm, place); });
    const bool        study   = parameters.study != "none";
    parameters.locating([&] { check_choices(parameters, comm); });
    if (study)
      request.study.check(request.mode, comm);
    RunDirectory directory(parameters.directory, request.mode, comm);
    if (request.mode == OpenMode::resume)
      require_kind_of_run(directory, false, comm);
    const Beginning beginning = request.mode == OpenMode::resume ? find_beginning(directory, parameters, log, comm) : Beginning();
    Provenance      provenance(directory.path("run.json"), comm, request.command);
    const double    earlier_seconds = beginning.checkpoint ? beginning.checkpoint->metadata->value("wall_seconds", 0.) : 0.; // 0: of an older program
    provenance.add_earlier_seconds(earlier_seconds);
    provenance.json()["parameter_file"] = request.file;
    provenance.json()["overrides"]      = request.overrides;
    provenance.json()["backend"]        = backend;
    for (const ComputedNumber &number : parameters.computed)
      provenance.json()["computed"][number.entry] = {{"written", number.written}, {"value", number.value}};
    if (parameters.device() >= 0)
      {
        const auto gpu           = device::info(parameters.device());
        provenance.json()["gpu"] = {{"name", gpu.name}, {"driver", gpu.driver}, {"memory_bytes", gpu.total_memory}};
      }
    RunEnergy  energy(parameters.device() >= 0, comm);
    bool       has_begun = false;
    const auto begin     = [&](const std::vector<std::string> &names) {
      if (has_begun)
        return;
      const std::vector<std::string> own = {"run.json", "log.txt", "parameters.prm", "parameters_all.prm"};
      std::vector<std::string>       all = own;
      all.insert(all.end(), names.begin(), names.end());
      const std::string others = directory.begin(all);
      has_begun                = true;
      directory.record(own);
      provenance.write();
      if (!others.empty())
        log.line(others);
      log.open(directory.path("log.txt"), request.mode == OpenMode::resume);
      on_rank_zero(comm, [&] {
        write_file_atomically(directory.path("parameters.prm"), parameters.text);
        write_file_atomically(directory.path("parameters_all.prm"), parameters.all_entries);
      });
    };

    log.line(std::string("Leopard ") + version() + " (" + git_commit() + "), " + std::to_string(dealii::Utilities::MPI::n_mpi_processes(comm)) +
             " rank(s), " + backend);
    if (const std::string remark = place.remark_on_cores(); !remark.empty())
      log.line(remark);
    for (const std::string &remark : parameters.linear_solver.remarks_on_gpus())
      log.line(remark);
    std::string status;
    try
      {
        if (directory.is_new()) // nothing can be lost, and whoever comes later sees what was tried
          begin({});
        log.line(parameters.description(comm) + analyze_problem(parameters, comm, &provenance.json(), !beginning.checkpoint));
        if (!study)
          say_choices(parameters, log, provenance.json());
        if (parameters.linear_solver.is_poor_cg())
          log.warning("the preconditioner " + parameters.linear_solver.preconditioner +
                      (parameters.linear_solver.has_factors() ? " with asynchronous triangular solves" : "") + " with " +
                      parameters.linear_solver.why_poor_cg() +
                      " is not symmetric, and cg may take several times as many iterations\n  to try: 'Linear solver/Schedule' = synchronous" +
                      (parameters.linear_solver.block_async.has_asynchronous_inner_iteration() ? " with 'Two stage' = synchronous" : "") +
                      ", or 'Linear solver/Method' = gmres");
        throw_if_stop_requested(comm);
        const RunContext context{comm, parameters, directory, request.mode, log, provenance, energy, beginning, request.study, begin, request.mesh};
        if (study)
          report_unused_entries(context, false);
        else
          report_changes(context);
        if (has_begun)
          provenance.write(); // with the files that it is begun with, to which --resume holds it before there is a checkpoint, too
        status = run_simulation(context);
      }
    catch (const Stopped &stopped)
      {
        status = stopped.what();
      }
    catch (const Error &error)
      {
        const std::string message = parameters.located(error.what());
        if (has_begun)
          provenance.write_failure(message);
        throw Error(message);
      }
    catch (const std::exception &exception)
      {
        if (has_begun)
          provenance.write_failure(message_of(exception));
        throw;
      }
    if (!has_begun) // stopped before anything was written: what was there is as it was
      {
        log.line(status + " before anything was computed; " + directory.path() + " is as it was");
        return status;
      }
    log.line(energy.report(provenance.json()["energy"]));
    provenance.json()["status"] = status;
    provenance.write();
    log.line(status + " after " + duration(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count()) +
             (earlier_seconds > 0. ? " (" + duration(provenance.seconds_in_all()) + " with the starts before)" : "") + "; results in " +
             directory.path() + next_step(parameters, status));
    log.check();
    return status;
  }
} // namespace leopard
