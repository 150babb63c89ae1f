// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "parameters.h"

#include <applications/base/run_directory.h>

#include <mpi.h>

#include <functional>
#include <string>
#include <vector>

namespace leopard
{
  class Log;
  class SharedMesh;
  struct RunContext;

  /** What studies smoothers. It stands above the runs, and is handed in by the program. */
  struct StudyRunner
  {
    /** What is to be known before the run directory is touched. Collective. @throws Error. */
    void (*check)(OpenMode mode, MPI_Comm comm);
    /** Runs the study. @return the status for the log and run.json. Collective. @throws Error. */
    std::string (*run)(const RunContext &context);
  };

  /** What the command line asks for. */
  struct RunRequest
  {
    std::string              file;      ///< parameter file
    std::vector<std::string> overrides; ///< "Section/Entry=value"
    OpenMode                 mode = OpenMode::fresh;
    std::string              command; ///< the whole command line
    StudyRunner              study;
    SharedMesh              *mesh = nullptr; ///< of the sweep that the run belongs to
  };

  /**
   * Runs what the parameters ask for in their run directory, with log and run.json. @param place of this rank on its
   * machine; @param log gets the lines for the user. @return the status, "finished" or why it ended before. Collective.
   * @throws Error; then run.json says so, too, unless that of an older run is still there, which is deleted only when
   * all that can be checked has been.
   */
  std::string run_once(const RunRequest &request, Parameters &parameters, const NodePlace &place, Log &log, MPI_Comm comm);

  /**
   * Runs all combinations of Parameters::sweep, each in its folder, spread over groups of ranks, and writes sweep.txt
   * and sweep.csv. A run that fails is noted and the others go on. With OpenMode::resume, runs that have finished with
   * the same parameters are not repeated. @return the status. Collective.
   * @throws Error if anything is wrong with any combination, before the first run; and at the end if runs have failed.
   * With OpenMode::overwrite the first run and those that differ from it in one entry are tried, as far as that goes
   * without writing, before what is there is deleted.
   */
  std::string run_sweep(const RunRequest &request, const Parameters &parameters, MPI_Comm comm);

  /**
   * Reads and checks the parameters of all runs of a sweep; and of its first run, of those that differ from it in one
   * entry, and of those with a file that none before has, the mesh (check_mesh()) and the other files that it names:
   * where initial values come from, but not for --resume, pictures, tables and fields. Collective. @param then what
   * else is to be done with each run's parameters.
   * @throws Error that names the run.
   */
  void check_sweep(const RunRequest                                          &request,
                   const Parameters                                          &parameters,
                   MPI_Comm                                                   comm,
                   const std::function<void(const SweepRun &, Parameters &)> &then = {});
} // namespace leopard
