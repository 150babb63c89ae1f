// SPDX-License-Identifier: Apache-2.0
#include "own_rows.h"

#include "../base/errors.h"
#include "../base/together.h"
#include "../distributed/mpi/mpi_transport.h"
#include "../matrix/own_columns.h"

#include <deal.II/base/mpi.h>

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
    if (!dealii::Utilities::MPI::job_supports_mpi() || dealii::Utilities::MPI::n_mpi_processes(comm) == 1)
      return work();
    leopard::together(
      work,
      [comm](const std::string &own) { return first_error_in(comm, own); },
      "on rank " + std::to_string(dealii::Utilities::MPI::this_mpi_process(comm)) + " (rows counted from its first): ");
  }
} // namespace leopard
