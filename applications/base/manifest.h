// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "files.h"

#include <set>
#include <string>
#include <vector>

namespace leopard
{
  /**
   * The list of what Leopard has written in a run directory, manifest.txt: a path from there in each line, before the
   * file is made; of checkpoints and runs of a sweep the folder, with a slash at the end. Only what it lists is ever
   * deleted, files by their names, folders when they are empty, and nothing behind a symbolic link. Local, on rank 0.
   */
  class Manifest
  {
  public:
    static constexpr const char *file_name = "manifest.txt";

    /** Reads the list of a folder that exists. */
    explicit Manifest(const std::string &directory);

    /** Begins the list, or goes on with the one that is there. @throws std::runtime_error. */
    void open();
    /**
     * Adds to the list what is not in it. @throws std::runtime_error, also where such a file is there that Leopard has
     * not written.
     */
    void add(const std::vector<std::string> &paths);

    /**
     * Before anything is deleted. @param names that are to be written, the last part of each a pattern as of
     * fnmatch(3).
     * @throws std::runtime_error where such a file is there that Leopard has not written.
     */
    void require_free(const std::vector<std::string> &names) const;

    /** Deletes what is listed; an empty list stays. What cannot be deleted stays. */
    void delete_all();

    /** What else is in the directory, sorted paths from there, a folder of nothing else with a slash. */
    std::vector<std::string> others() const;

  private:
    const std::string     directory;
    std::set<std::string> entries;
    bool                  is_ours = false; ///< the file that is there
    GrowingFile           file;
  };

  /**
   * Whether there is a run of Leopard in a folder that exists: it has the list, and its run.json says so, or is
   * damaged; or it was killed before there was one.
   */
  bool holds_run(const std::string &directory);

  /** Deletes the files of a checkpoint, and its folder if nothing else is in it. Local. */
  void delete_checkpoint(const std::string &folder);
} // namespace leopard
