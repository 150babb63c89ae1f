// SPDX-License-Identifier: Apache-2.0
#include "error_reporter.h"

#include "mpi_transport.h"

#include <solvers/base/words.h>

#include <exception>
#include <iostream>
#include <new>
#include <utility>

namespace leopard
{
  ErrorReporter::ErrorReporter(MPI_Comm comm_, std::string program_)
    : comm(comm_)
    , program(std::move(program_))
  {
    MPI_Comm_dup(comm, &comm_of_errors);
  }

  void ErrorReporter::end_unless_all_failed(const std::string &message) const
  {
    MPI_Request arrival;
    int         all_are_here = 0;
    MPI_Ibarrier(comm_of_errors, &arrival);
    for (const double start = MPI_Wtime(); all_are_here == 0 && MPI_Wtime() - start < seconds_to_wait;)
      MPI_Test(&arrival, &all_are_here, MPI_STATUS_IGNORE);
    if (all_are_here == 0)
      {
        std::cerr << program + ": on rank " + std::to_string(rank_in(comm)) + ": " + without_long_lines(message) + '\n' << std::flush;
        MPI_Abort(comm, 1);
      }
  }

  int ErrorReporter::report(const std::string &message) const
  {
    end_unless_all_failed(message);
    if (rank_in(comm) == 0)
      std::cerr << program + ": " + without_long_lines(message) + '\n' << std::flush;
    return 1;
  }

  int run_on_ranks(const std::string &program, MPI_Comm comm, const std::function<void()> &run)
  {
    const ErrorReporter reporter(comm, program);
    try
      {
        run();
        return 0;
      }
    catch (const std::bad_alloc &)
      {
        return reporter.report("not enough memory\n  expected: a smaller problem, more ranks, or more memory (a limit may be set: ulimit -v)");
      }
    catch (const std::exception &error)
      {
        return reporter.report(error.what());
      }
  }
} // namespace leopard
