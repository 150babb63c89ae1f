// SPDX-License-Identifier: Apache-2.0
#include "residual_rounding.h"

#include <solvers/base/norms.h>
#include <solvers/dealii/vector_norm.h>

#include <deal.II/base/mpi.h>

#include <cmath>

namespace leopard
{
  ResidualRounding rounding_of_residual(const HostMatrix &A, const HostVector &x, const HostVector &b)
  {
    const MPI_Comm    comm  = x.get_mpi_communicator();
    const LocalMatrix local = local_matrix(A);
    HostVector        with_ghosts(local.owned, local.ghosts, comm), residual(x), rounding(x);
    with_ghosts = x;
    std::vector<double> columns(x.begin(), x.end());
    for (const auto ghost : local.ghosts)
      columns.push_back(with_ghosts(ghost));
    double worst = 0.;
    for (int i = 0; i < local.matrix.n_rows; ++i)
      {
        const RowResidual row = row_residual(local.matrix, i, columns.data(), b.begin()[i]);
        residual.begin()[i]   = static_cast<double>(row.residual);
        rounding.begin()[i]   = row.rounding();
        worst                 = larger_or_nan(row.backward_error(), worst);
      }
    // a maximum over ranks may forget what is no number, which the norm of the residual is then
    return {l2_norm(residual), l2_norm(rounding), dealii::Utilities::MPI::max(worst, comm)};
  }
} // namespace leopard
