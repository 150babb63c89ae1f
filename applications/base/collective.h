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
} // namespace leopard
