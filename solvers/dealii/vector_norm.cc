// SPDX-License-Identifier: Apache-2.0
#include "vector_norm.h"

#include "../base/norms.h"

#include <deal.II/base/mpi.h>

#include <cmath>
#include <limits>

namespace leopard
{
  double l2_norm(const HostVector &v)
  {
    constexpr double smallest = 1e-140; // below it squares that count may have been lost
    const double     plain    = v.l2_norm();
    if (plain >= smallest && std::isfinite(plain))
      return plain;
    SafeNorm own;
    for (const double value : v)
      own.add(value);
    const MPI_Comm comm   = v.get_mpi_communicator();
    const bool     finite = dealii::Utilities::MPI::min(std::isfinite(own.value()) ? 1 : 0, comm) == 1;
    if (!finite)
      return std::numeric_limits<double>::quiet_NaN();
    const double largest = dealii::Utilities::MPI::max(own.value(), comm);
    if (largest == 0.)
      return 0.;
    const double part = own.value() / largest;
    return largest * std::sqrt(dealii::Utilities::MPI::sum(part * part, comm));
  }
} // namespace leopard
