// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <nlohmann/json_fwd.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace leopard
{
  class Log;
  class RunDirectory;

  /** FNV-1a, 64 bits, in hexadecimal digits: enough to recognize damage and change. */
  std::string checksum_of_text(const std::string &text);

  /**
   * Checkpoints are folders step_0000123, written as step_0000123.tmp and renamed when complete; the last two are kept.
   * Each holds metadata.json, which lists the other files with size and checksum, so that a damaged one is recognized.
   */
  class Checkpoints
  {
  public:
    /** The folders go to checkpoints/ of the run directory. Writes nothing yet. */
    Checkpoints(RunDirectory &run, MPI_Comm comm);

    /**
     * Collective. @param write_content writes files into the folder it is given; called on every rank. @throws Error;
     * older checkpoints are as they were then.
     */
    void write(unsigned int step, const nlohmann::json &metadata, const std::function<void(const std::string &)> &write_content) const;

    struct Found
    {
      std::string                           directory;
      unsigned int                          step = 0;
      std::shared_ptr<const nlohmann::json> metadata;
    };

    /**
     * The newest that is complete; damaged ones are passed over with a warning. Collective. @throws Error if all are
     * damaged.
     */
    std::optional<Found> newest(Log &log) const;
    /**
     * That of a run that need not be this one. @param warn gets a text for each that is damaged, on rank 0. Collective.
     * @throws Error with what is expected if all are damaged.
     */
    static std::optional<Found>
    newest_of(const std::string &run_directory, const std::function<void(const std::string &)> &warn, const std::string &expected, MPI_Comm comm);

  private:
    RunDirectory     &run;
    const std::string directory;
    MPI_Comm          comm;
  };
} // namespace leopard
