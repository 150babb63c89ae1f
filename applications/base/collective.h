// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <exception>
#include <string>

namespace leopard
{
  /**
   * Collective: if local_error is not empty on any rank, throws Error with the text of the lowest such rank, on every
   * rank.
   */
  void throw_if_any_failed(const std::string &local_error, MPI_Comm comm);

  /** The same with an EntryError: the text names the entry whose value cannot be used. */
  void throw_if_any_entry_failed(const std::string &local_error, MPI_Comm comm);

  /** Collective: calls f() on rank 0 only; if it throws, every rank throws an Error with its text. */
  template <typename Function>
  void on_rank_zero(MPI_Comm comm, const Function &f)
  {
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    std::string error;
    if (rank == 0)
      try
        {
          f();
        }
      catch (const std::exception &exception)
        {
          error = exception.what();
        }
    throw_if_any_failed(error, comm);
  }

  /**
   * Collective: rank 0 reads the file and every rank gets the content. @throws Error with path and reason if it cannot
   * be read.
   */
  std::string read_file(const std::string &path, MPI_Comm comm);

  /** What is said of an exception: of std::bad_alloc what to do about it, of others what they say themselves. */
  std::string message_of(const std::exception &exception);

  /**
   * Reports the error that ends the program. Most errors strike all ranks alike: then rank 0 speaks for all. An error
   * of some ranks only (a full GPU, say) is reported by these, and they end the others, who would wait for them
   * forever.
   */
  class ErrorReporter
  {
  public:
    /** Collective; call it before anything can fail. */
    explicit ErrorReporter(MPI_Comm comm);

    /** Says "leopard: MESSAGE" on standard error, once. @return the exit code, 1. */
    int report(const std::string &message) const;

    /** Returns if the error has struck all ranks; otherwise says the message and ends the program on all of them. */
    void end_unless_all_failed(const std::string &message) const;

  private:
    MPI_Comm comm;
    MPI_Comm comm_of_errors; ///< so that no message of the computation is in the way
  };
} // namespace leopard
