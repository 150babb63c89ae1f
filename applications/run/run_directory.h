// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <string>

namespace leopard
{
  enum class OpenMode
  {
    fresh,     ///< the folder must be missing or empty
    overwrite, ///< what Leopard wrote there is deleted, nothing else
    resume     ///< a run is there and goes on
  };

  /** The folder of a run, locked against a second program while this object lives. */
  class RunDirectory
  {
  public:
    /** Collective. Changes nothing before all checks have passed. @throws Error. */
    RunDirectory(const std::string &path, OpenMode mode, MPI_Comm comm);
    RunDirectory(const RunDirectory &)            = delete;
    RunDirectory &operator=(const RunDirectory &) = delete;
    ~RunDirectory();

    /** The folder, or something in it. */
    std::string path(const std::string &relative = "") const;

  private:
    const std::string directory;
    int               lock_file = -1; ///< rank 0
  };
} // namespace leopard
