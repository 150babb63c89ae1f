// SPDX-License-Identifier: Apache-2.0
#include <applications/base/collective.h>
#include <applications/base/log.h>
#include <applications/base/stop_signal.h>
#include <applications/run/analyze_problem.h>
#include <applications/run/choices.h>
#include <applications/run/describe_mesh.h>
#include <applications/run/reference.h>
#include <applications/run/run.h>
#include <applications/run/unused_entries.h>
#include <applications/studies/smoother_study.h>
#include <solvers/base/errors.h>
#include <solvers/device/device.h>

#include <deal.II/base/mpi.h>

#include <CLI/CLI.hpp>
#include <leopard/version.h>
#include <sc.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <iostream>

namespace
{
  using namespace leopard;

  struct Arguments
  {
    std::string              file, mesh; ///< mesh: to be described
    std::vector<std::string> overrides;
    bool                     validate = false, overwrite = false, resume = false;
    std::string              print_parameters; ///< empty, "entries" or "markdown"
  };

  /**
   * p4est ends the program where its files cannot be written or memory lacks, after a line on why: with this instead of
   * a core dump, on all ranks.
   */
  void end_after_abort()
  {
    std::cerr << "leopard: p4est, which keeps the mesh, has ended the program (" << std::strerror(errno)
              << ")\n  expected: room on the disk and memory; a run with a checkpoint goes on with --resume" << std::endl;
    MPI_Abort(MPI_COMM_WORLD, 1);
    std::_Exit(1);
  }

  /** @return an exit code, or -1 to go on. */
  int parse_command_line(int argc, char **argv, bool speaks, Arguments &arguments)
  {
    CLI::App app("Leopard solves Laplace, Helmholtz, reaction-diffusion and Turing pattern problems with block-asynchronous iteration.");
    app.add_option("FILE", arguments.file, "parameter file (.prm)");
    app.add_option("--set", arguments.overrides, "override an entry: --set \"Section/Entry=value\"; may be repeated")
      ->allow_extra_args(false); // what follows the one assignment is the file
    app.add_flag("--validate", arguments.validate, "read and check the parameter file and run nothing");
    app
      .add_flag(
        "--print-parameters{entries}",
        arguments.print_parameters,
        "print all entries with their values (the file's, if one is given), documentation and what is allowed; --print-parameters=markdown: as "
        "doc/parameters.md")
      ->check(CLI::IsMember({"entries", "markdown"}));
    app.add_option("--describe-mesh", arguments.mesh, "say what a mesh is: a Gmsh file (.msh), or that of a parameter file (.prm)")
      ->type_name("FILE");
    auto *overwrite = app.add_flag("--overwrite", arguments.overwrite, "delete the run in the run directory first");
    app.add_flag("--resume", arguments.resume, "go on with the run in the run directory from its newest checkpoint")->excludes(overwrite);
    app.set_version_flag(
      "--version", std::string("leopard ") + version() + " (" + git_commit() + ")" + (device::built_with_cuda() ? ", with CUDA" : ", without CUDA"));
    try
      {
        app.parse(argc, argv);
        if (arguments.file.empty() && arguments.print_parameters.empty() && arguments.mesh.empty())
          throw CLI::RequiredError("FILE");
      }
    catch (const CLI::ParseError &error)
      {
        std::ostringstream ignored;
        return (speaks ? app.exit(error) : app.exit(error, ignored, ignored)) == 0 ? 0 : 1;
      }
    return -1;
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
  std::signal(SIGXFSZ, SIG_IGN); // a write beyond the limit on files (ulimit -f) fails and says why
  sc_set_abort_handler(end_after_abort);
  const ErrorReporter reporter(comm);
  try
    {
      if (!arguments.mesh.empty())
        {
          const std::string description = describe_mesh(arguments.mesh, arguments.overrides, comm);
          if (speaks)
            std::cout << description;
          return 0;
        }
      if (!arguments.print_parameters.empty() && (arguments.file.empty() || arguments.print_parameters == "markdown"))
        {
          if (speaks)
            std::cout << (arguments.print_parameters == "markdown" ? reference_of_entries(comm) : Parameters::documentation());
          return 0;
        }
      Parameters  parameters(arguments.file, arguments.overrides, comm);
      std::string analysis = arguments.validate ? analyze_problem(parameters, comm) : "";
      if (arguments.validate)
        for (const std::string &line : choices(parameters))
          analysis += "\n" + line;
      if (const std::string line = arguments.validate ? expected_time_loop(parameters) : ""; !line.empty())
        analysis += "\n" + line;
      if (speaks && !arguments.print_parameters.empty())
        std::cout << parameters.all_entries;
      if (!arguments.print_parameters.empty())
        return 0;
      install_stop_signal_handlers(); // until here a signal ends the program at once: nothing would be lost
      const OpenMode mode = arguments.overwrite ? OpenMode::overwrite : arguments.resume ? OpenMode::resume : OpenMode::fresh;
      RunRequest     request{arguments.file, arguments.overrides, mode, "", {check_smoother_study, run_smoother_study}};
      for (int i = 0; i < argc; ++i)
        request.command += (i > 0 ? " " : "") + std::string(argv[i]);
      std::string status;
      if (arguments.validate)
        check_sweep(request, parameters, comm);
      else if (!parameters.sweep.axes.empty())
        status = run_sweep(request, parameters, comm);
      else
        {
          Log log(comm);
          status = run_once(request, parameters, NodePlace::find(comm), log, comm);
        }
      if (speaks && arguments.validate)
        std::cout << arguments.file << " is valid: " << parameters.description() << analysis << unused_entries_before_the_run(parameters)
                  << (parameters.sweep.axes.empty() ? "" : "\na sweep of " + std::to_string(parameters.sweep.runs().size()) + " runs") << std::endl;
      return exit_code(status);
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
