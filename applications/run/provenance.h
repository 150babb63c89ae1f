// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <applications/base/stop_signal.h>

#include <mpi.h>

#include <nlohmann/json_fwd.hpp>

#include <memory>
#include <string>
#include <vector>

namespace leopard
{
  class NewFile;

  /** Collects what a reader of the results must know of how they came about, and writes it as run.json from rank 0. */
  class Provenance
  {
  public:
    /** Fills in versions, commit, host, processor, ranks, command and starting time. Collective. */
    Provenance(const std::string &path, MPI_Comm comm, const std::string &command);
    ~Provenance();

    nlohmann::json &json();

    /**
     * Adds to "measures", the numbers that a sweep compares: their names are the columns without the remarks in
     * parentheses.
     */
    void add_measures(const std::vector<std::string> &columns, const std::vector<double> &values);

    /** Wall seconds of earlier starts of the run, of which a checkpoint knows. */
    void add_earlier_seconds(double seconds) { earlier_seconds = seconds; }
    /** Wall seconds since the run was begun, those between its starts left out. */
    double seconds_in_all() const;

    /** Writes the file, atomically, with the time of now. Collective. @throws Error. */
    void write();

    /**
     * Writes the file with the status "failed: REASON", on rank 0 and without communication: other ranks may be lost.
     * On a full disk, too: write() keeps room.
     */
    void write_failure(const std::string &reason) noexcept;

    /**
     * For the time that mesh and matrices take to be made: the file says so if a signal ends the program meanwhile.
     * @param may_write whether the folder is this run's, also before the first write(): what an older run has written
     * stays. @return null on ranks but the first, which ends all, and where groups of ranks or threads have runs of
     * their own, which may be writing.
     */
    std::unique_ptr<SetUp> begin_set_up(bool may_write) const;

  private:
    std::string text() const;
    void        write_now();
    void        take_time();

    std::unique_ptr<NewFile>        room; ///< a file that is deleted when its room is needed
    std::size_t                     room_size  = 0;
    bool                            has_failed = false, has_written = false;
    const std::string               path;
    MPI_Comm                        comm;
    std::unique_ptr<nlohmann::json> content;
    double                          start = 0., earlier_seconds = 0.;
  };
} // namespace leopard
