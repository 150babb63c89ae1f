// SPDX-License-Identifier: Apache-2.0
#include <applications/base/collective.h>
#include <applications/base/log.h>
#include <applications/base/stop_signal.h>
#include <applications/run/describe_mesh.h>
#include <applications/run/reference.h>
#include <applications/run/run.h>
#include <applications/run/validate.h>
#include <applications/studies/smoother_study.h>
#include <solvers/base/errors.h>
#include <solvers/device/device.h>
#include <solvers/distributed/mpi/error_reporter.h>

#include <deal.II/base/mpi.h>

#include <CLI/CLI.hpp>
#include <leopard/version.h>
#include <sc.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <future>
#include <iostream>
#include <new>
#include <sstream>
#include <system_error>
#include <utility>

namespace
{
  using namespace leopard;

  struct Arguments
  {
    std::vector<std::string> files;
    std::string              mesh; ///< to be described
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

  /** Writes to standard output at once. @return whether that took it; if not, a line on standard error says why. */
  bool say(const std::string &text)
  {
    std::cout << text << std::flush;
    if (!std::cout)
      std::cerr << "leopard: standard output cannot be written (" << std::strerror(errno)
                << "); expected: standard output that is open, and room on its device" << std::endl;
    return static_cast<bool>(std::cout);
  }

  /** What the command line asks for, or what is to be said and the exit code. Starts nothing: no MPI is needed. */
  struct CommandLine
  {
    CommandLine(int argc, char **argv)
    {
      CLI::App app("Leopard solves Laplace, Helmholtz, reaction-diffusion and Turing pattern problems with block-asynchronous iteration.");
      app.add_option("FILE", arguments.files, "parameter file (.prm); several with --validate");
      app.add_option("--set", arguments.overrides, "override an entry: --set \"Section/Entry=value\"; may be repeated")
        ->allow_extra_args(false); // what follows the one assignment is the file
      app.add_flag(
        "--validate",
        arguments.validate,
        "read and check the parameter files and run nothing; if one is not valid the others are checked all the same, and the exit code is 1");
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
      app.set_version_flag("--version",
                           std::string("leopard ") + version() + " (" + git_commit() + ")" +
                             (device::built_with_cuda() ? ", with CUDA" : ", without CUDA"));
      try
        {
          app.parse(argc, argv);
          if (arguments.files.empty() && arguments.print_parameters.empty() && arguments.mesh.empty())
            throw CLI::RequiredError("FILE");
          if (arguments.files.size() > 1 && !arguments.validate)
            throw CLI::ValidationError(std::to_string(arguments.files.size()) + " parameter files are given",
                                       "expected: one for each start of the program; --validate takes several");
        }
      catch (const CLI::ParseError &error)
        {
          exit_code = app.exit(error, said, complaint) == 0 ? 0 : 1;
        }
      std::error_code missing;
      static_cast<void>(std::filesystem::current_path(missing));
      if (exit_code < 0 && missing)
        {
          complaint << "leopard: the working directory cannot be found (" << missing.message()
                    << ")\n  expected: one that is there; change to it, and start again\n";
          exit_code = 1;
        }
    }

    /** @return the exit code. */
    int speak() const
    {
      std::cerr << complaint.str() << std::flush;
      return say(said.str()) ? exit_code : 1;
    }

    Arguments          arguments;
    int                exit_code = -1; ///< -1: the program goes on
    std::ostringstream said, complaint;
  };

  /** Whether mpirun or the like has started this process, perhaps beside others. */
  bool started_by_mpi()
  {
    for (const char *variable : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMI_RANK", "PMIX_RANK"}) // Open MPI, MPICH and its kin, Slurm
      if (std::getenv(variable) != nullptr)
        return true;
    return false;
  }

  /**
   * Of a process that is alone: Open MPI then starts no daemon beside it, loads no drivers of networks (that of one
   * waits for 0.1 s), and shares nothing with others in files. What the user has set stays.
   */
  void ask_for_no_network()
  {
    for (const auto &[name, value] : {std::pair{"OMPI_MCA_ess_singleton_isolated", "1"},
                                      {"OMPI_MCA_orte_create_session_dirs", "0"}, // of all such processes it would be one
                                      {"OMPI_MCA_pml", "ob1"},
                                      {"OMPI_MCA_btl", "self"},
                                      {"OMPI_MCA_sharedfp", "individual"}})
      ::setenv(name, value, 0);
  }

  /** Begins to look for GPUs, for which the driver takes 0.1 s, while parameters are read. */
  std::future<int> look_for_gpus()
  {
    try
      {
        return std::async(std::launch::async, device::n_devices);
      }
    catch (const std::system_error &) // no thread for it
      {
        return {};
      }
  }

  /** Checks all files. @return the exit code. Collective. */
  int validate_all(const std::vector<std::string> &files, RunRequest request, bool speaks, const ErrorReporter &reporter, MPI_Comm comm)
  {
    int code = 0;
    for (const std::string &file : files)
      try
        {
          request.file           = file;
          const std::string text = validate(request, comm);
          if (speaks && std::cout && !say(text + "\n")) // one line of complaint for all files
            code = 1;
        }
      catch (const std::exception &error)
        {
          code = reporter.report((files.size() > 1 ? file + " is not valid: " : "") + message_of(error));
        }
    return code;
  }
} // namespace

int main(int argc, char **argv)
{
  const CommandLine command_line(argc, argv);
  if (!started_by_mpi())
    {
      if (command_line.exit_code >= 0)
        return command_line.speak();
      ask_for_no_network();
    }
  const Arguments &arguments = command_line.arguments;
  const bool       runs      = !arguments.files.empty() && !arguments.validate && arguments.print_parameters.empty() && arguments.mesh.empty();

  dealii::Utilities::MPI::MPI_InitFinalize mpi(argc, argv, 1);
  // not while MPI starts, which changes the environment that the driver reads in another thread: nothing makes that
  // safe
  const std::future<int> n_gpus = runs ? look_for_gpus() : std::future<int>();
  const MPI_Comm         comm   = MPI_COMM_WORLD;
  const bool             speaks = dealii::Utilities::MPI::this_mpi_process(comm) == 0;
  if (command_line.exit_code >= 0)
    {
      return speaks ? command_line.speak() : command_line.exit_code;
    }
  std::signal(SIGXFSZ, SIG_IGN); // a write beyond the limit on files (ulimit -f) fails and says why
  sc_set_abort_handler(end_after_abort);
  const ErrorReporter reporter(comm, "leopard");
  try
    {
      if (!arguments.mesh.empty())
        {
          const std::string description = describe_mesh(arguments.mesh, arguments.overrides, comm);
          return !speaks || say(description) ? 0 : 1;
        }
      if (!arguments.print_parameters.empty())
        {
          std::string text;
          if (arguments.print_parameters == "markdown")
            text = reference_of_entries(comm);
          else if (arguments.files.empty())
            text = Parameters::documentation();
          else
            for (const std::string &file : arguments.files)
              text += Parameters(file, arguments.overrides, comm).all_entries;
          return !speaks || say(text) ? 0 : 1;
        }
      const OpenMode mode = arguments.overwrite ? OpenMode::overwrite : arguments.resume ? OpenMode::resume : OpenMode::fresh;
      RunRequest     request{arguments.files.front(), arguments.overrides, mode, "", {check_smoother_study, run_smoother_study}};
      if (arguments.validate)
        return validate_all(arguments.files, request, speaks, reporter, comm);
      for (int i = 0; i < argc; ++i)
        request.command += (i > 0 ? " " : "") + std::string(argv[i]);
      Parameters parameters(request.file, request.overrides, comm);
      install_stop_signal_handlers(); // until here a signal ends the program at once: nothing would be lost
      std::string status;
      if (!parameters.sweep.axes.empty())
        status = run_sweep(request, parameters, comm);
      else
        {
          Log log(comm);
          status = run_once(request, parameters, NodePlace::find(comm), log, comm);
        }
      return exit_code(status);
    }
  catch (const Error &error)
    {
      return reporter.report(error.what());
    }
  catch (const std::bad_alloc &exception)
    {
      return reporter.report(message_of(exception));
    }
  catch (const std::exception &exception)
    {
      return reporter.report(std::string("unexpected error: ") + exception.what());
    }
}
