// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <stdexcept>
#include <string>
#include <vector>

namespace leopard
{
  /** What ends a computation that was asked to stop; no Error, since nothing is wrong. Thrown on all ranks. */
  class Stopped : public std::runtime_error
  {
  public:
    using std::runtime_error::runtime_error;
  };

  /**
   * From now on SIGTERM, SIGINT, SIGUSR1, which a batch system may send before the time is over, and SIGHUP, which
   * comes when the terminal is closed, ask the run to stop with a checkpoint; the same one once more ends the program
   * at once, but for SIGHUP, of which a terminal brings several. SIGHUP stays ignored where it is, as under nohup.
   */
  void install_stop_signal_handlers();

  /** Whether any rank was asked to stop; once true it stays so. Collective. */
  bool stop_requested(MPI_Comm comm);
  /** Whether this one was. */
  bool stop_requested_here();

  /**
   * Collective. @throws Stopped with the status, "stopped: SIGTERM" for example, if any rank was asked to stop.
   */
  void throw_if_stop_requested(MPI_Comm comm);

  /**
   * For loops over the cells of a mesh, of which ranks have different numbers: looks some times, on all ranks as often.
   */
  class StopPoints
  {
  public:
    /** @param n_all work items of all ranks, a cell each; @param n_own of this one. */
    StopPoints(unsigned long long n_all, unsigned long long n_own, MPI_Comm comm);

    /** To be called once for each of the rank's own. @throws Stopped. */
    void one_more();
    /**
     * To be called after the loop, for ranks that have fewer than there are points. Collective with these. @throws
     * Stopped.
     */
    void finish();

  private:
    const unsigned long long n_points, n_own;
    MPI_Comm                 comm;
    unsigned long long       n_items = 0, n_looks = 0;
  };

  /**
   * While a mesh, its matrices and their levels are made, which on large meshes takes minutes in which nothing looks
   * for signals: a signal ends the program a second later, with its exit_code(), unless the work has come to an orderly
   * end before. Nothing is lost, since nothing is written or computed meanwhile. Local; not within one another.
   */
  class SetUp
  {
  public:
    /** @param path of a file that is to become one of the texts then; empty: none. @param texts one for each status. */
    SetUp(const std::string &path, std::vector<std::string> texts);
    ~SetUp();
    SetUp(const SetUp &)            = delete;
    SetUp &operator=(const SetUp &) = delete;
  };

  /** "stopped: SIGTERM", "stopped: SIGINT", "stopped: SIGUSR1" or "stopped: SIGHUP". */
  std::string stop_status();
  /** All that there are. */
  std::vector<std::string> stop_statuses();

  /**
   * 129, 130, 138 or 143 (128 and the number of the signal) for the status of a run that a signal has stopped, as a
   * shell says it; 0 for others.
   */
  int exit_code(const std::string &status);
} // namespace leopard
