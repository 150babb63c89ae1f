// SPDX-License-Identifier: Apache-2.0
#include <applications/run/analysis.h>
#include <applications/run/collective.h>
#include <applications/run/files.h>
#include <applications/run/log.h>
#include <applications/run/provenance.h>
#include <applications/run/simulation.h>
#include <applications/run/stop_signal.h>
#include <applications/studies/smoother_study.h>
#include <solvers/base/errors.h>
#include <solvers/device/device.h>

#include <deal.II/base/mpi.h>

#include <CLI/CLI.hpp>
#include <leopard/version.h>
#include <nlohmann/json.hpp>

#include <chrono>
#include <iostream>

namespace
{
  using namespace leopard;

  struct Arguments
  {
    std::string              file;
    std::vector<std::string> overrides;
    bool                     validate = false, print_parameters = false, overwrite = false, resume = false;
  };

  /** @return an exit code, or -1 to go on. */
  int parse_command_line(int argc, char **argv, bool speaks, Arguments &arguments)
  {
    CLI::App app("Leopard solves Laplace, Helmholtz, reaction-diffusion and Turing pattern problems with block-asynchronous iteration.");
    app.add_option("FILE", arguments.file, "parameter file (.prm)");
    app.add_option("--set", arguments.overrides, "override an entry: --set \"Section/Entry=value\"; may be repeated")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->take_all();
    app.add_flag("--validate", arguments.validate, "read and check the parameter file and run nothing");
    app.add_flag(
      "--print-parameters", arguments.print_parameters, "print all entries with their values (the file's, if one is given) and documentation");
    auto *overwrite = app.add_flag("--overwrite", arguments.overwrite, "delete the run in the run directory first");
    app.add_flag("--resume", arguments.resume, "go on with the run in the run directory from its newest checkpoint")->excludes(overwrite);
    app.set_version_flag(
      "--version", std::string("leopard ") + version() + " (" + git_commit() + ")" + (device::built_with_cuda() ? ", with CUDA" : ", without CUDA"));
    try
      {
        app.parse(argc, argv);
        if (arguments.file.empty() && !arguments.print_parameters)
          throw CLI::RequiredError("FILE");
      }
    catch (const CLI::ParseError &error)
      {
        std::ostringstream ignored;
        return speaks ? app.exit(error) : app.exit(error, ignored, ignored);
      }
    return -1;
  }

  void run(const Arguments &arguments, Parameters &parameters, int argc, char **argv, MPI_Comm comm)
  {
    const auto        start = std::chrono::steady_clock::now();
    Log               log(comm);
    const std::string backend = parameters.choose_backend(comm);
    const OpenMode    mode    = arguments.overwrite ? OpenMode::overwrite : arguments.resume ? OpenMode::resume : OpenMode::fresh;
    const bool        study   = parameters.study != "none";
    if (study)
      check_smoother_study(mode, comm);
    RunDirectory directory(parameters.directory, mode, comm);
    log.open(directory.path("log.txt"), mode == OpenMode::resume);
    on_rank_zero(comm, [&] {
      write_file_atomically(directory.path("parameters.prm"), parameters.text);
      write_file_atomically(directory.path("parameters_all.prm"), parameters.all_entries);
    });
    Provenance provenance(directory.path("run.json"), comm, argc, argv);
    provenance.json()["parameter_file"] = arguments.file;
    provenance.json()["overrides"]      = arguments.overrides;
    provenance.json()["backend"]        = backend;
    if (parameters.device() >= 0)
      {
        const auto gpu           = device::info(parameters.device());
        provenance.json()["gpu"] = {{"name", gpu.name}, {"driver", gpu.driver}, {"memory_bytes", gpu.total_memory}};
      }
    provenance.write();

    log.line(std::string("Leopard ") + version() + " (" + git_commit() + "), " + std::to_string(dealii::Utilities::MPI::n_mpi_processes(comm)) +
             " rank(s), " + backend);
    log.line(parameters.description() + analyze_problem(parameters, comm, &provenance.json()));
    if (parameters.linear_solver.is_poor_cg())
      log.warning("the preconditioner async with the schedule " + parameters.linear_solver.schedule_name() +
                  " is not symmetric, and cg may take several times as many iterations\n  to try: 'Linear solver/Schedule' = synchronous, "
                  "or 'Linear solver/Method' = gmres");
    std::string status;
    try
      {
        status = run_simulation({comm, parameters, directory, mode, log, provenance});
      }
    catch (const Error &error)
      {
        provenance.json()["status"] = std::string("failed: ") + error.what();
        provenance.write();
        throw;
      }
    provenance.json()["status"] = status;
    provenance.write();
    log.line(status + " after " + duration(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count()) + "; results in " +
             directory.path() +
             (study                             ? "; read study.txt, draw figures with scripts/plot_study " + directory.path()
              : status.rfind("stopped", 0) == 0 ? "; go on with --resume"
                                                : "; open " + directory.path("solution.pvd") + " in ParaView"));
  }
} // namespace

int main(int argc, char **argv)
{
  dealii::Utilities::MPI::MPI_InitFinalize mpi(argc, argv, 1);
  const MPI_Comm                           comm   = MPI_COMM_WORLD;
  const bool                               speaks = dealii::Utilities::MPI::this_mpi_process(comm) == 0;
  Arguments                                arguments;
  if (const int code = parse_command_line(argc, argv, speaks, arguments); code >= 0)
    return code;
  install_stop_signal_handlers();
  const ErrorReporter reporter(comm);
  try
    {
      if (arguments.print_parameters && arguments.file.empty())
        {
          if (speaks)
            std::cout << Parameters::documentation();
          return 0;
        }
      Parameters        parameters(arguments.file, arguments.overrides, comm);
      const std::string analysis = arguments.validate ? analyze_problem(parameters, comm) : "";
      if (speaks && arguments.print_parameters)
        std::cout << parameters.all_entries;
      else if (speaks && arguments.validate)
        std::cout << arguments.file << " is valid: " << parameters.description() << analysis << std::endl;
      if (!arguments.print_parameters && !arguments.validate)
        run(arguments, parameters, argc, argv, comm);
      return 0;
    }
  catch (const Error &error)
    {
      return reporter.report(error.what());
    }
  catch (const std::exception &exception)
    {
      return reporter.report(std::string("unexpected error: ") + exception.what());
    }
}
