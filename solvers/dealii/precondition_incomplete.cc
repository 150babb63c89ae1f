// SPDX-License-Identifier: Apache-2.0
#include "precondition_incomplete.h"

#include "../base/errors.h"
#include "own_rows.h"

#include <deal.II/base/multithread_info.h>

namespace leopard
{
  PreconditionIncomplete::PreconditionIncomplete()  = default;
  PreconditionIncomplete::~PreconditionIncomplete() = default;

  void PreconditionIncomplete::initialize(const dealii::SparseMatrix<double> &A, const AdditionalData &data)
  {
    take(crs_matrix(A, "PreconditionIncomplete"), data);
  }

  void PreconditionIncomplete::initialize(const HostMatrix &A, const AdditionalData &data)
  {
    together(A.get_mpi_communicator(), [&] { take(own_block(A, "PreconditionIncomplete"), data); });
  }

  void PreconditionIncomplete::take(const CrsMatrix<double> &A, AdditionalData data)
  {
    if (data.solves.block_async.n_threads == 0)
      data.solves.block_async.n_threads = static_cast<int>(dealii::MultithreadInfo::n_threads());
    factors = make_incomplete_preconditioner<double>(A, data);
  }

  bool PreconditionIncomplete::is_fixed_linear_map() const
  {
    return factors != nullptr && factors->is_fixed_linear_map();
  }

  bool PreconditionIncomplete::is_symmetric_map() const
  {
    return factors != nullptr && factors->is_symmetric_map();
  }

  std::string PreconditionIncomplete::description() const
  {
    return factors == nullptr ? "" : factors->description();
  }

  void PreconditionIncomplete::require_length(std::size_t n_x, std::size_t n_b) const
  {
    if (factors == nullptr)
      throw InvalidInput("PreconditionIncomplete: it is used before initialize()\n  expected: initialize() first");
    const auto n_rows = static_cast<std::size_t>(factors->n_rows());
    if (n_x != n_rows || n_b != n_rows)
      throw InvalidInput("PreconditionIncomplete: the vectors have " + std::to_string(n_x) + " and " + std::to_string(n_b) +
                         " own entries\n  expected: " + std::to_string(n_rows) + ", as the matrix has rows here");
  }

  void PreconditionIncomplete::apply(double *x, std::size_t n_x, const double *b, std::size_t n_b) const
  {
    require_length(n_x, n_b);
    if (factors->memory_space() == MemorySpace::host)
      return factors->apply(x, b);
    device_x.reinit(n_x);
    device_b.reinit(n_b);
    device_b.copy_from_host(b);
    factors->apply(device_x.data(), device_b.data());
    device_x.copy_to_host(x);
  }

  void PreconditionIncomplete::vmult(DeviceVector<double> &dst, const DeviceVector<double> &src) const
  {
    require_length(dst.size(), src.size());
    if (factors->memory_space() != MemorySpace::device)
      throw InvalidInput("PreconditionIncomplete: the vectors are on the device, and the factors on the host\n  expected: the backend cuda");
    factors->apply(dst.data(), src.data());
  }
} // namespace leopard
