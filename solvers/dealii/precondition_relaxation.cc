// SPDX-License-Identifier: Apache-2.0
#include "precondition_relaxation.h"

#include "../relaxation/with_ghosts.h"

#include <algorithm>

namespace leopard
{
  PreconditionRelaxation::PreconditionRelaxation(Relaxation<double>          &relaxation_,
                                                 int                          n_iterations_,
                                                 const Communication<double> &communication_,
                                                 const std::vector<int>      &old_row_)
    : relaxation(relaxation_)
    , n_iterations(n_iterations_)
    , communication(communication_)
    , old_row(old_row_)
  {
    if (relaxation.memory_space() == MemorySpace::host)
      {
        host_x.resize(relaxation.n_columns());
        host_b.resize(old_row.size());
      }
    else
      device_x.reinit(relaxation.n_columns());
  }

  PreconditionRelaxation::~PreconditionRelaxation() = default;

  void PreconditionRelaxation::iterate_from_zero(double *x, const double *b) const
  {
    relaxation.restart(); // a new right-hand side: what a polynomial or momentum remembers belongs to the one before
    iterate_with_ghosts(relaxation, x, b, n_iterations, communication, true);
  }

  void PreconditionRelaxation::vmult(HostVector &dst, const HostVector &src) const
  {
    std::fill(host_x.begin(), host_x.end(), 0.);
    if (old_row.empty())
      {
        iterate_from_zero(host_x.data(), src.begin());
        std::copy_n(host_x.begin(), relaxation.n_rows(), dst.begin());
        return;
      }
    for (std::size_t i = 0; i < old_row.size(); ++i)
      host_b[i] = src.begin()[old_row[i]];
    iterate_from_zero(host_x.data(), host_b.data());
    for (std::size_t i = 0; i < old_row.size(); ++i)
      dst.begin()[old_row[i]] = host_x[i];
  }

  void PreconditionRelaxation::vmult(DeviceVector<double> &dst, const DeviceVector<double> &src) const
  {
    device_x = 0.;
    iterate_from_zero(device_x.data(), src.data());
    device::copy_on_device(dst.data(), device_x.data(), dst.size() * sizeof(double));
  }

  DeviceOperator::DeviceOperator(const CrsMatrix<double> &A, const Communication<double> &communication_)
    : matrix(A)
    , communication(communication_)
  {
    if (communication.has_ghosts())
      x_with_ghosts.reinit(A.n_columns);
  }

  void DeviceOperator::vmult(DeviceVector<double> &dst, const DeviceVector<double> &src) const
  {
    if (!communication.has_ghosts())
      {
        matrix.multiply(dst.data(), src.data());
        return;
      }
    device::copy_on_device(x_with_ghosts.data(), src.data(), src.size() * sizeof(double));
    communication.update_ghosts(x_with_ghosts.data(), MemorySpace::device);
    matrix.multiply(dst.data(), x_with_ghosts.data());
  }

  void DeviceOperator::update_values(const double *values)
  {
    matrix.update_values(values);
  }
} // namespace leopard
