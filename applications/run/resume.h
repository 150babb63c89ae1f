// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "checkpoint.h"

#include <mpi.h>

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string>
#include <vector>

namespace leopard
{
  class Log;
  class RunDirectory;
  struct Parameters;
  struct RunContext;

  /** An entry "Section/Entry" that has another value than before. */
  struct ChangedEntry
  {
    std::string entry, before, now;
  };

  /** "'Mesh/Domain' is ball, and was hypercube". */
  std::string describe(const ChangedEntry &change);

  /**
   * Whether two values of an entry mean the same: numbers are compared as numbers wherever they stand, blanks between
   * words do not count, and a list of equal numbers is one of them ("1e-3" is "0.001", "0, 0" is "0", "a: 0.10" is
   * "a:0.1").
   */
  bool same_value(const std::string &a, const std::string &b);

  /**
   * The entries that a run uses and whose values differ; but the path of a mesh file, whose content counts. @param
   * all_entries_before those of the run there, with all defaults; an entry that they do not have has come with a newer
   * program, and is left out.
   */
  std::vector<ChangedEntry> changed_entries(const std::string &all_entries_before, const Parameters &now);

  /**
   * Compares the mesh file by its content, wherever it is. @param before entry "mesh_file" of the run.json or
   * checkpoint there.
   * @return what a message says of another content; empty if there is none. Collective. @throws Error if the file
   * cannot be read.
   */
  std::string changed_mesh_file(const Parameters &now, const nlohmann::json &before, MPI_Comm comm);

  /** Whether a file of 'Turing/Images' has another content than the run knew, as a message, or nothing. Collective. */
  std::string changed_pictures(const Parameters &now, const nlohmann::json &before, MPI_Comm comm);

  /** Where a run begins: at a checkpoint with entries that may have changed since, or anew. */
  struct Beginning
  {
    std::optional<Checkpoints::Found> checkpoint;
    std::vector<ChangedEntry>         changes;

    /** Whether any of the entries has changed. */
    bool has_changed(const std::vector<std::string> &entries) const;
  };

  /** All that a file holds; empty if it cannot be read. */
  std::string content_of(const std::string &path);

  /**
   * The newest checkpoint, compared with the parameters by the table of entry_rows.h, before anything else of it is
   * read; without one, what the run's folder says of its parameters is compared. Collective.
   * @throws Error that names each entry that may not change, with its old and its new value.
   */
  Beginning find_beginning(RunDirectory &directory, const Parameters &parameters, Log &log, MPI_Comm comm);

  /** Collective. @throws Error if a sweep is to go on and a single run is there, or the other way round. */
  void require_kind_of_run(const RunDirectory &directory, bool sweep, MPI_Comm comm);

  /** Names the changes in the log and, with those of earlier starts and the mesh file, in run.json. Collective. */
  void report_changes(const RunContext &context);

  /** What the next start compares with, for a checkpoint's metadata: parameters, the mesh file, changes so far. */
  nlohmann::json resume_metadata(const RunContext &context);
} // namespace leopard
