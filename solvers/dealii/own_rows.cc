// SPDX-License-Identifier: Apache-2.0
#include "own_rows.h"

#include "../base/errors.h"
#include "../matrix/own_columns.h"

#include <deal.II/base/mpi.h>

#include <exception>
#include <limits>
#include <utility>

namespace leopard
{
  CrsMatrix<double> crs_matrix(const dealii::SparseMatrix<double> &A, const std::string &who)
  {
    require_square(A, who);
    constexpr auto largest = static_cast<std::size_t>(std::numeric_limits<int>::max());
    if (A.m() > largest || A.n_nonzero_elements() > largest)
      throw InvalidInput(who + ": the matrix has " + std::to_string(A.n_nonzero_elements()) + " entries\n  expected: at most " +
                         std::to_string(largest));
    CrsMatrix<double> result;
    result.n_rows = result.n_columns = static_cast<int>(A.m());
    for (int i = 0; i < result.n_rows; ++i)
      {
        for (auto entry = A.begin(i); entry != A.end(i); ++entry)
          {
            result.columns.push_back(static_cast<int>(entry->column()));
            result.values.push_back(entry->value());
          }
        result.row_offsets.push_back(static_cast<int>(result.columns.size()));
      }
    return result;
  }

  CrsMatrix<double> own_block(const HostMatrix &A, const std::string &who)
  {
    require_square(A, who);
    CrsMatrix<double> all = local_matrix(A).matrix;
    if (all.n_columns == all.n_rows)
      return all;
    return own_columns(all);
  }

  void together(MPI_Comm comm, const std::function<void()> &work)
  {
    if (!dealii::Utilities::MPI::job_supports_mpi())
      return work();
    std::exception_ptr error;
    std::string        text;
    const unsigned int rank = dealii::Utilities::MPI::this_mpi_process(comm), n_ranks = dealii::Utilities::MPI::n_mpi_processes(comm);
    try
      {
        work();
      }
    catch (const std::exception &e)
      {
        error = std::current_exception();
        text  = "on rank " + std::to_string(rank) + " (rows counted from its first): " + e.what();
      }
    const unsigned int first = dealii::Utilities::MPI::min(error ? rank : n_ranks, comm);
    if (first == n_ranks)
      return;
    text = dealii::Utilities::MPI::broadcast(comm, text, first);
    if (error && n_ranks == 1)
      std::rethrow_exception(error);
    throw InvalidInput(text);
  }
} // namespace leopard
