// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "parameters.h"
#include "resume.h"
#include "run.h"
#include "run_energy.h"

#include <mpi.h>

#include <functional>
#include <string>
#include <vector>

namespace leopard
{
  class Log;
  class Provenance;
  class SharedMesh;

  /** What a run has around it. */
  struct RunContext
  {
    MPI_Comm           comm;
    const Parameters  &parameters;
    RunDirectory      &directory;
    OpenMode           mode;
    Log               &log;
    Provenance        &provenance;
    RunEnergy         &energy;
    const Beginning   &beginning;
    const StudyRunner &study;
    /**
     * To be called before the first file is written, and after all that can be checked has been, with the names to be
     * written (RunDirectory::begin()): the run that is there is deleted if it is to be. Collective.
     */
    std::function<void(const std::vector<std::string> &)> begin;
    SharedMesh                                           *mesh = nullptr; ///< of the sweep that the run belongs to
  };

  /**
   * Runs what the parameter file asks for: a stationary problem (once, on a sequence of adaptively refined meshes, or
   * as a convergence study), or a time-dependent one. Returns the status for the log and run.json, for example
   * "finished" or "stopped: wall time". Collective. @throws Error; Stopped.
   */
  std::string run_simulation(const RunContext &context);

  /**
   * All that mesh and numbers of nodes depend on, of a run of a sweep that takes the mesh of the file and keeps it;
   * else nothing.
   */
  std::string text_of_shared_mesh(const RunContext &context);
  /**
   * All that the assembled matrices and loads of such a run depend on, if it does not change them; else nothing. @param
   * mesh_text text_of_shared_mesh().
   */
  std::string text_of_shared_system(const RunContext &context, const std::string &mesh_text);

  /** The two kinds of runs, for dim 2 and 3 and for surfaces; use run_simulation(). */
  template <int dim, int spacedim>
  std::string run_stationary(const RunContext &context);
  template <int dim, int spacedim>
  std::string run_time_dependent(const RunContext &context);
} // namespace leopard
