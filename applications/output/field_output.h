// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <applications/discretization/discretization.h>

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace leopard
{
  class Log;
  class RunDirectory;

  /** Of a file: a step, and which of the times within it. */
  using OutputPlace = std::pair<unsigned int, unsigned int>;

  /**
   * Writes fields as VTU pieces with a PVTU over them, and one PVD with the physical times, for ParaView. Each file is
   * written beside and renamed, the PVD last, so that what the PVD names is always whole.
   */
  template <int dim, int spacedim = dim>
  class FieldOutput
  {
  public:
    /**
     * @param fields names of the components, @param log gets a warning if values or places are beyond single precision.
     * Writes nothing yet.
     */
    FieldOutput(RunDirectory &run, const std::vector<std::string> &fields, Log &log, MPI_Comm comm);

    /** Patterns of all that may be written, for RunDirectory::begin(). */
    static std::vector<std::string> file_names();

    /**
     * On resume: keeps the entries of the PVD up to a step and forgets later ones; a warning where files of those are
     * not there. Collective. @throws Error if the PVD is damaged.
     */
    void resume(unsigned int step);

    /**
     * Collective. @param step that reaches the time; several times may be within one. @param scale of the points: L of
     * Growth, or 1. @throws Error if a file cannot be written (for example no room on the disk).
     */
    void write(const Discretization<dim, spacedim> &discretization, const HostVector &u, double time, unsigned int step, double scale = 1.);

  private:
    /** Once: a warning where single precision hardly tells the nodes of a cell apart. Collective. */
    void check_places(const Discretization<dim, spacedim> &discretization);

    RunDirectory                  &run;
    const std::vector<std::string> fields;
    Log                           &log;
    MPI_Comm                       comm;
    bool                           checked_places = false; ///< see check_places()
    std::set<unsigned int>         told_sizes;             ///< fields of which it was said that they are beyond single precision
    std::map<OutputPlace, double>  written;                ///< times that have a PVTU file
  };
} // namespace leopard
