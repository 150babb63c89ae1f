// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <memory>
#include <string>
#include <vector>

namespace leopard
{
  class Manifest;

  enum class OpenMode
  {
    fresh,     ///< the folder must be missing or empty
    overwrite, ///< what Leopard wrote there is deleted, nothing else
    resume     ///< a run is there and goes on
  };

  /** The folder of a run, locked against a second program while this object lives, where the file system has locks. */
  class RunDirectory
  {
  public:
    /** Makes the folder and its lock, and changes nothing else. Collective. @throws Error. */
    RunDirectory(const std::string &path, OpenMode mode, MPI_Comm comm);
    RunDirectory(const RunDirectory &)            = delete;
    RunDirectory &operator=(const RunDirectory &) = delete;
    ~RunDirectory();

    /**
     * Before anything is written, and after all that can be checked has been: with OpenMode::overwrite deletes the run
     * that is there. Collective.
     * @param names that the new run will write, as of Manifest::require_free(). @return lines for the log, or
     * nothing: what is in the folder that Leopard has not written and that stays, and that the file system has no
     * locks. @throws Error.
     */
    std::string begin(const std::vector<std::string> &names);

    /** Whether the folder was missing or empty. */
    bool is_new() const { return new_folder; }

    /**
     * Notes that the run is about to write these files (folders: with a slash at the end), so that they may be deleted
     * some day. Collective. @throws Error.
     */
    void record(const std::vector<std::string> &relative_paths);

    /** The folder, or something in it. */
    std::string path(const std::string &relative = "") const;

  private:
    const std::string         directory;
    const OpenMode            mode;
    MPI_Comm                  comm;
    bool                      new_folder = false;
    std::unique_ptr<Manifest> manifest;       ///< rank 0, from begin() on
    int                       lock_file = -1; ///< rank 0
    std::string               no_lock;        ///< rank 0: a line for the log where the file system has no locks
  };
} // namespace leopard
