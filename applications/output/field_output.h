// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <applications/discretization/discretization.h>

#include <string>
#include <utility>
#include <vector>

namespace leopard
{
  /**
   * Writes fields as VTU pieces with a PVTU over them, and one PVD with the physical times, for ParaView. Each file is written
   * beside and renamed, the PVD last, so that what the PVD names is always whole.
   */
  template <int dim, int spacedim = dim>
  class FieldOutput
  {
  public:
    /** @param directory the run directory; @param fields names of the components. */
    FieldOutput(const std::string &directory, const std::vector<std::string> &fields, MPI_Comm comm);

    /** On resume: keeps the entries of the PVD up to a time and forgets later ones. */
    void resume(double time);

    /** Collective. @param scale of the points: L of Growth, or 1. @throws Error if a file cannot be written (for example no room on the disk). */
    void write(const Discretization<dim, spacedim> &discretization, const HostVector &u, double time, unsigned int step, double scale = 1.);

  private:
    const std::string                           directory;
    const std::vector<std::string>              fields;
    MPI_Comm                                    comm;
    std::vector<std::pair<double, std::string>> written; ///< time and PVTU file
  };
} // namespace leopard
