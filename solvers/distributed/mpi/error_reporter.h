// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <functional>
#include <string>

namespace leopard
{
  /**
   * Reports the error that ends a program of several ranks. Most errors strike all ranks alike: then the first rank
   * speaks for all. An error of some ranks only (a full GPU, say) is reported by these, and they end the others, who
   * would wait for them for ever. run_on_ranks() has it for a whole program.
   */
  class ErrorReporter
  {
  public:
    /** How long a rank with an error waits for the same one on all others before it ends them. */
    static constexpr double seconds_to_wait = 10.;

    /**
     * Collective; call it before anything can fail.
     * @param program_ its name, with which messages begin.
     */
    ErrorReporter(MPI_Comm comm, std::string program_);

    /** Says "PROGRAM: MESSAGE" on standard error, once. @return the exit code, 1. */
    int report(const std::string &message) const;

    /**
     * Returns if the error has struck all ranks. Otherwise it says "PROGRAM: on rank R: MESSAGE" and ends the program
     * on all of them, by MPI_Abort(), with exit code 1.
     */
    void end_unless_all_failed(const std::string &message) const;

  private:
    MPI_Comm    comm;
    MPI_Comm    comm_of_errors; ///< so that no message of the computation is in the way; not freed: that is collective
    std::string program;
  };

  /**
   * Calls run() on each rank and says what it throws, by ErrorReporter: where one rank fails while the others wait for
   * it, all have ended some ErrorReporter::seconds_to_wait later, and one message names the rank. What main() of a
   * program on the library does between MPI_Init() and MPI_Finalize(). Collective.
   * @param program its name, with which messages begin.
   * @param comm    of all ranks that take part.
   * @return the exit code: 0, or 1 after an error on all ranks.
   */
  int run_on_ranks(const std::string &program, MPI_Comm comm, const std::function<void()> &run);
} // namespace leopard
