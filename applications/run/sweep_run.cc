// SPDX-License-Identifier: Apache-2.0
#include "choices.h"
#include "entries.h"
#include "provenance.h"
#include "resume.h"
#include "run.h"
#include "runs_at_a_time.h"
#include "simulation.h"
#include "sweep_check.h"
#include "sweep_table.h"
#include "unused_entries.h"

#include <applications/base/collective.h>
#include <applications/base/files.h>
#include <applications/base/log.h>
#include <applications/base/manifest.h>
#include <applications/base/stop_signal.h>
#include <applications/base/turns.h>
#include <applications/discretization/shared_mesh.h>
#include <solvers/base/errors.h>
#include <solvers/base/thread_pool.h>
#include <solvers/device/device.h>
#include <solvers/distributed/mpi/error_reporter.h>

#include <deal.II/base/mpi.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <stdexcept>

#include <fcntl.h>
#include <unistd.h>

namespace leopard
{
  namespace fs = std::filesystem;
  using dealii::Utilities::MPI::broadcast;

  namespace
  {
    /** What run.json in a run's folder says; an empty object if it cannot be read. Local. */
    nlohmann::json json_in(const std::string &directory)
    {
      const auto json = nlohmann::json::parse(content_of(directory + "/run.json"), nullptr, false);
      return json.is_object() ? json : nlohmann::json::object();
    }

    std::string status_in(const std::string &directory)
    {
      return json_in(directory).value("status", "");
    }

    bool is_unfinished(const std::string &status)
    {
      return status.rfind("stopped", 0) == 0 || status == "running";
    }

    /**
     * Runs that are kept or go on stand in one table with the others: what they compute may not have changed.
     * Collective. @throws Error; Stopped.
     */
    void check_changes(const RunRequest &request, const Parameters &parameters, MPI_Comm comm)
    {
      std::vector<Parameters> all;
      for (const SweepRun &run : parameters.sweep.runs())
        {
          throw_if_stop_requested(comm);
          all.push_back(parameters_for(request_for(request, parameters, run), run, comm));
        }
      on_rank_zero(comm, [&] {
        std::string mistakes;
        for (const Parameters &own : all)
          {
            const std::string status  = status_in(own.directory);
            const auto        differs = [&](const std::string &what) { mistakes += "\n  in '" + own.directory + "': " + what; };
            if (!has_ended(status) && !is_unfinished(status))
              continue;
            for (const ChangedEntry &change : changed_entries(content_of(own.directory + "/parameters_all.prm"), own))
              {
                const OnResume allowed = on_resume(change.entry, own.problem->time_dependent());
                if (allowed == OnResume::takes_effect || allowed == OnResume::fixed)
                  differs(describe(change));
              }
            // a run that was killed early has its mesh file in its checkpoints only, and compares it when it goes on
            const auto mesh = json_in(own.directory).value("mesh_file", nlohmann::json());
            if (mistakes.empty() && (has_ended(status) || !mesh.is_null()))
              if (const std::string change = changed_mesh_file(own, mesh, MPI_COMM_SELF); !change.empty())
                differs(change);
            if (mistakes.empty() && has_ended(status))
              if (const std::string change = changed_pictures(own, json_in(own.directory).value("pictures", nlohmann::json()), MPI_COMM_SELF);
                  !change.empty())
                differs(change);
          }
        if (!mistakes.empty())
          throw std::runtime_error("the sweep in '" + parameters.directory + "' cannot go on, since its runs would not be comparable:" + mistakes +
                                   "\n  expected: the values that they were made with; --overwrite to do all anew, or another 'Run/Directory'");
      });
    }

    /** Ranks that do a run together, or a rank that does some side by side, and their way through the list of runs. */
    class SweepGroup
    {
    public:
      SweepGroup(const RunRequest   &request_,
                 const Parameters   &parameters_,
                 const RunDirectory &directory_,
                 const RunsAtATime  &at_a_time_,
                 MPI_Comm            all,
                 MPI_Comm            group)
        : request(request_)
        , parameters(parameters_)
        , directory(directory_)
        , at_a_time(at_a_time_)
        , place(NodePlace::find(all))
        , runs(parameters.sweep.runs())
        , comm(group)
        , reporter(group, "leopard")
        , log(group)
        , writes_table(dealii::Utilities::MPI::this_mpi_process(all) == 0)
        , table(directory, parameters.sweep.axes, runs)
      {
        log.open(directory.path("log.txt"), true); // all groups append whole lines
      }

      /** Does what no other group does. @return "finished", or why the sweep stops before. */
      std::string work()
      {
        std::vector<std::string> statuses(at_a_time.n());
        in_turns(at_a_time.n(), [&](int i) {
          if (takes_turns())
            {
              use_own_thread_pools();
              if (at_a_time.on_gpu())
                device::allocate_beside_others();
            }
          try
            {
              statuses[i] = work_alone();
            }
          catch (...)
            {
              is_over = true;
              throw;
            }
        });
        for (const std::string &status : statuses)
          if (status.rfind("stopped", 0) == 0)
            return status;
        return "finished";
      }

      /** "NAME: why", on the first rank of the group. */
      const std::vector<std::string> &failures() const { return failed; }

    private:
      std::string work_alone()
      {
        for (std::size_t i = 0; i < runs.size() && !is_over; ++i)
          if (claim(runs[i]))
            {
              const std::string status = stop_requested(comm) ? stop_status() : run(i);
              if (writes_table && seconds() >= time_of_table + 1.)
                {
                  table.write();
                  time_of_table = seconds();
                }
              if (status.rfind("stopped", 0) == 0)
                {
                  is_over = true;
                  return status;
                }
            }
        return "finished";
      }

      /**
       * Whether this group is the first to ask for the run: a file can be made once only, by whatever process, on
       * network file systems, too.
       */
      bool claim(const SweepRun &run)
      {
        int mine = 0;
        on_rank_zero(comm, [&] {
          const std::string path = directory.path("claims/" + run.folder);
          const int         file = ::open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
          if (file < 0 && errno != EEXIST)
            throw std::runtime_error("the file '" + path + "' cannot be made: " + std::strerror(errno));
          mine = file < 0 ? 0 : 1;
          if (file >= 0)
            ::close(file);
        });
        return broadcast(comm, mine) != 0;
      }

      /** What --resume makes of a folder: whether the run there has finished, and how to open it if not. */
      std::pair<bool, OpenMode> what_is_left(const Parameters &single) const
      {
        int finished = 0, mode = static_cast<int>(OpenMode::fresh);
        on_rank_zero(comm, [&] {
          if (fs::is_symlink(fs::symlink_status(single.directory)))
            throw std::runtime_error("'" + single.directory + "' is a symbolic link, and Leopard neither writes nor deletes behind links" +
                                     "\n  expected: the folder itself, or none");
          if (!fs::exists(single.directory) || !holds_run(single.directory))
            return;
          if (request.mode != OpenMode::resume)
            {
              mode = static_cast<int>(OpenMode::overwrite);
              return;
            }
          const std::string status  = status_in(single.directory);
          const auto        changes = changed_entries(content_of(single.directory + "/parameters_all.prm"), single);
          const bool        further = std::any_of(changes.begin(), changes.end(), [&](const ChangedEntry &change) {
            return on_resume(change.entry, single.problem->time_dependent()) == OnResume::further;
          });
          const bool        now_all = single.sweep.writes_files() && std::any_of(changes.begin(), changes.end(), [](const ChangedEntry &change) {
                                 return change.entry == "Run/Sweep keeps"; // it was measures
                               });
          const bool        goes_on = single.sweep.writes_files() && !now_all && (has_ended(status) || is_unfinished(status));
          finished                  = has_ended(status) && !further && !now_all ? 1 : 0;
          mode                      = static_cast<int>(goes_on ? OpenMode::resume : OpenMode::overwrite);
        });
        return {broadcast(comm, finished) != 0, static_cast<OpenMode>(broadcast(comm, mode))};
      }

      std::string run(std::size_t i)
      {
        const std::string label  = format("run %zu of %zu, ", i + 1, runs.size()) + runs[i].name;
        RunRequest        single = request_for(request, parameters, runs[i]);
        Parameters        own    = parameters_for(single, runs[i], comm);
        const auto [done, mode]  = what_is_left(own);
        if (done)
          {
            log.line(label + ": has finished before");
            return "finished";
          }
        single.mode = mode;
        single.mesh = &mesh;
        if (at_a_time.n() > 1)
          own.linear_solver.block_async.n_threads = at_a_time.n_threads();
        own.linear_solver.runs_at_a_time = at_a_time.n();
        if (own.time_loop.wall_time_minutes > 0.) // of the program, not of each run
          own.time_loop.wall_time_minutes = std::max(1e-6, own.time_loop.wall_time_minutes - seconds() / 60.);
        log.line(label + (mode == OpenMode::resume ? ": goes on" : ": starts"));
        std::string  status;
        const double start = seconds();
        try
          {
            Log quiet(comm, false);
            status = run_once(single, own, place, quiet, comm);
            warn_of_unused_entries(label, own.directory);
          }
        catch (const std::exception &exception)
          {
            const std::string message = message_of(exception);
            status                    = "failed: " + message;
            reporter.end_unless_all_failed(label + ": " + status);
            if (dealii::Utilities::MPI::this_mpi_process(comm) == 0)
              failed.push_back(runs[i].name + ": " + message.substr(0, message.find('\n')));
          }
        log.line(label + ": " + status.substr(0, status.find('\n')) + " after " + duration(seconds() - start));
        if (status.rfind("failed", 0) == 0) // the run.json of an older run may still be there
          on_rank_zero(comm, [&] { write_file_atomically(directory.path("claims/" + runs[i].folder), status); });
        return status;
      }

      /** A sweep over an entry that its runs do not use compares equal runs. */
      void warn_of_unused_entries(const std::string &label, const std::string &run_directory)
      {
        on_rank_zero(comm, [&] {
          const auto json = json_in(run_directory);
          for (const auto &unused : json.value("not_used", nlohmann::json::array()))
            for (const SweepAxis &axis : parameters.sweep.axes)
              if (axis.entry == unused.at("entry"))
                log.warning(label + ": 'Run/Sweep' varies '" + axis.entry + "', which is not used (" + unused.at("why").get<std::string>() + ")");
        });
      }

      double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(); }

      const RunRequest                           &request;
      const Parameters                           &parameters;
      const RunDirectory                         &directory;
      const RunsAtATime                          &at_a_time;
      const NodePlace                             place;
      const std::vector<SweepRun>                 runs;
      MPI_Comm                                    comm;
      const ErrorReporter                         reporter;
      Log                                         log;
      const bool                                  writes_table;
      SweepTable                                  table;
      SharedMesh                                  mesh;
      double                                      time_of_table = -1.;   ///< no more than one in a second
      bool                                        is_over       = false; ///< one has stopped or failed: nobody begins another run
      std::vector<std::string>                    failed;
      const std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
    };

    /** The rank's group. It is not freed: matrices in deal.II's memory pools refer to it until the program ends. */
    MPI_Comm make_group(const SweepParameters &sweep, MPI_Comm comm)
    {
      const unsigned int n_ranks = dealii::Utilities::MPI::n_mpi_processes(comm), rank = dealii::Utilities::MPI::this_mpi_process(comm);
      const unsigned int size = sweep.ranks_per_run == 0 ? n_ranks : sweep.ranks_per_run;
      if (n_ranks % size != 0)
        throw Error("'Run/Sweep ranks per run' is " + std::to_string(size) + ", but the program has " + std::to_string(n_ranks) +
                    " rank(s)\n  expected: a divisor of the number of ranks, or 0");
      MPI_Comm group;
      MPI_Comm_split(comm, static_cast<int>(rank / size), static_cast<int>(rank), &group);
      return group;
    }

    struct AllChecked
    {
    };

    /**
     * Does all of a run that comes before its first file. @param directory nothing is changed in it. @throws Error;
     * Stopped.
     */
    void rehearse(const RunRequest &single, Parameters &own, RunDirectory &directory, const NodePlace &place, MPI_Comm comm)
    {
      own.locating([&] { own.choose_backend(comm, place); });
      Log              quiet(comm, false);
      Provenance       not_written("", comm, "");
      const Beginning  from_nothing;
      RunEnergy        energy(false, comm);
      const RunContext context{
        comm, own, directory, single.mode, quiet, not_written, energy, from_nothing, single.study, [](const std::vector<std::string> &) {
          throw AllChecked();
        }};
      try
        {
          run_simulation(context);
        }
      catch (const AllChecked &)
        {
        }
    }

    /** In the folders of the runs only what Leopard has written. Local. @throws std::runtime_error. */
    void require_own_files(const RunDirectory &directory, const std::vector<SweepRun> &runs)
    {
      for (const SweepRun &run : runs)
        if (const std::string folder = directory.path("runs/" + run.folder); fs::exists(folder))
          if (const auto others = Manifest(folder).others(); !others.empty())
            throw std::runtime_error("in '" + folder + "', where a run of the sweep is to be, there is what Leopard has not written: '" + others[0] +
                                     "'\n  expected: an empty folder or one that a run has written; move it, or take another 'Run/Directory'");
    }

    /**
     * Tries runs as far as that goes without writing, each group of ranks some of them. Collective. @throws Error that
     * names the run; Stopped.
     */
    void check_before_deleting(const RunRequest &request, const Parameters &parameters, RunDirectory &directory, MPI_Comm comm, MPI_Comm group)
    {
      const auto          runs     = parameters.sweep.runs();
      const std::size_t   size     = dealii::Utilities::MPI::n_mpi_processes(group);
      const std::size_t   n_groups = dealii::Utilities::MPI::n_mpi_processes(comm) / size;
      const std::size_t   mine     = dealii::Utilities::MPI::this_mpi_process(comm) / size;
      const NodePlace     place    = NodePlace::find(comm);
      const ErrorReporter reporter(group, "leopard");
      std::string         error;
      std::size_t         i = 0;
      on_rank_zero(comm, [&] { require_own_files(directory, runs); });
      for (const SweepRun &run : runs)
        if (is_one_off(runs[0], run) && i++ % n_groups == mine && error.empty())
          try
            {
              const RunRequest single = request_for(request, parameters, run);
              Parameters       own    = parameters_for(single, run, group);
              rehearse(single, own, directory, place, group);
            }
          catch (const Stopped &)
            {
              break;
            }
          catch (const std::exception &exception)
            {
              error = "the run " + run.name + " of the sweep: " + message_of(exception);
              reporter.end_unless_all_failed(error);
            }
      throw_if_any_failed(error, comm);
      throw_if_stop_requested(comm);
    }

    void delete_claims(const RunDirectory &directory, const std::vector<SweepRun> &runs)
    {
      std::error_code ignored;
      for (const SweepRun &run : runs)
        fs::remove(directory.path("claims/" + run.folder), ignored);
      fs::remove(directory.path("claims"), ignored);
    }

    /**
     * The folders and files of the whole sweep. Those of an older one go, so that its results never stand in the table
     * of this one.
     */
    void begin_sweep(
      RunDirectory &directory, const Parameters &parameters, const std::vector<SweepRun> &runs, Provenance &provenance, Log &log, MPI_Comm comm)
    {
      std::vector<std::string> names  = {"run.json", "log.txt", "parameters.prm", "parameters_all.prm", "sweep.txt", "sweep.csv"};
      const std::string        others = directory.begin(names);
      for (const SweepRun &run : runs)
        names.insert(names.end(), {"runs/" + run.folder + "/", "claims/" + run.folder});
      directory.record(names);
      provenance.write();
      on_rank_zero(comm, [&] {
        write_file_atomically(directory.path("parameters.prm"), parameters.text);
        write_file_atomically(directory.path("parameters_all.prm"), parameters.all_entries);
        delete_claims(directory, runs); // of a sweep that was killed
        make_folder(directory.path("claims"));
        make_folder(directory.path("runs"));
      });
      log.open(directory.path("log.txt"), true);
      if (!others.empty())
        log.line(others);
    }

    void say_what_is_kept(const Parameters &parameters, Log &log)
    {
      if (parameters.sweep.writes_files())
        return;
      log.line(std::string("neither fields nor checkpoints are written: ") + keeps_measures);
      for (const UnusedEntries &unused : unused_entries({parameters}))
        if (unused.why == keeps_measures)
          log.line(to_text(unused));
    }

    std::string work_through(const RunRequest  &request,
                             const Parameters  &parameters,
                             RunDirectory      &directory,
                             const RunsAtATime &at_a_time,
                             Log               &log,
                             MPI_Comm           comm,
                             MPI_Comm           group,
                             std::string       &failures)
    {
      say_what_is_kept(parameters, log);
      const auto  runs = parameters.sweep.runs();
      SweepGroup  sweep(request, parameters, directory, at_a_time, comm, group);
      std::string status = sweep.work();
      for (const std::string &other : dealii::Utilities::MPI::all_gather(comm, status))
        if (other != "finished")
          status = other;
      on_rank_zero(comm, [&] {
        SweepTable(directory, parameters.sweep.axes, runs).write();
        delete_claims(directory, runs);
      });
      std::size_t n_failures = 0;
      for (const auto &of_rank : dealii::Utilities::MPI::all_gather(comm, sweep.failures()))
        for (const std::string &failure : of_rank)
          {
            failures += "\n  " + failure;
            ++n_failures;
          }
      // a log that ends with "finished" would look like success
      log.line((status == "finished" && n_failures > 0 ? "ended" : status) + "; " + directory.path("sweep.txt") + " compares the runs" +
               (parameters.sweep.writes_files() ? "; pictures: scripts/contact_sheet " + for_shell(directory.path()) : "") +
               (status == "finished" ? "" : "; go on with --resume"));
      log.check();
      if (n_failures > 0)
        failures =
          format("%zu of %zu runs of the sweep failed:", n_failures, runs.size()) + failures + "\n  --resume repeats these and keeps the others";
      return status;
    }
  } // namespace

  std::string run_sweep(const RunRequest &request, const Parameters &parameters, MPI_Comm comm)
  {
    const NodePlace place = NodePlace::find(comm);
    const MPI_Comm  group = make_group(parameters.sweep, comm);
    RunsAtATime     at_a_time(parameters.sweep.at_a_time, dealii::Utilities::MPI::n_mpi_processes(group));
    Log             log(comm);
    std::string     status;
    const auto      is_stopped = [&](const auto &check) {
      try
        {
          check();
        }
      catch (const Stopped &stopped)
        {
          status = stopped.what();
          log.line(status + " before anything was computed; " + parameters.directory + " is as it was");
        }
      return !status.empty();
    };
    if (is_stopped([&] {
          check_sweep(request, parameters, comm, [&](const SweepRun &run, Parameters &own) { // before anything is deleted
            naming(run, [&] {
              std::string error; // on one group perhaps: not all hosts have as many GPUs
              try
                {
                  own.locating([&] {
                    own.choose_backend(group, place);
                    check_choices(own, group);
                  });
                }
              catch (const std::exception &exception)
                {
                  error = message_of(exception);
                }
              throw_if_any_failed(error, comm);
            });
            at_a_time.look_at(own);
          });
        }))
      return status;
    RunDirectory directory(parameters.directory, request.mode, comm);
    if (is_stopped([&] {
          if (request.mode == OpenMode::resume)
            {
              require_kind_of_run(directory, true, comm);
              check_changes(request, parameters, comm);
            }
          if (request.mode == OpenMode::overwrite && !directory.is_new())
            check_before_deleting(request, parameters, directory, comm, group);
        }))
      return status;
    Provenance provenance(directory.path("run.json"), comm, request.command);
    const auto runs                     = parameters.sweep.runs();
    provenance.json()["parameter_file"] = request.file;
    provenance.json()["overrides"]      = request.overrides;
    provenance.json()["runs"]           = runs.size();
    std::string failures;
    begin_sweep(directory, parameters, runs, provenance, log, comm);
    const unsigned int n_groups = dealii::Utilities::MPI::n_mpi_processes(comm) / dealii::Utilities::MPI::n_mpi_processes(group);
    log.line(format("sweep of %zu runs, %u at a time", runs.size(), n_groups * at_a_time.n()) +
             (at_a_time.n() > 1 && n_groups > 1 ? format(", %d on each of %u ranks", at_a_time.n(), n_groups) : ""));
    if (!at_a_time.warning().empty())
      log.warning(at_a_time.warning());
    try
      {
        status = work_through(request, parameters, directory, at_a_time, log, comm, group, failures);
        if (!failures.empty())
          throw Error(failures);
      }
    catch (const std::exception &exception)
      {
        provenance.write_failure(message_of(exception));
        throw;
      }
    provenance.json()["status"] = status;
    provenance.write();
    return status;
  }
} // namespace leopard
