// SPDX-License-Identifier: Apache-2.0
#include "own_rows_preconditioner.h"

#include "../base/errors.h"

namespace leopard
{
  void OwnRowsPreconditioner::require_length(std::size_t n_x, std::size_t n_b) const
  {
    if (!is_initialized())
      throw InvalidInput(name + ": it is used before initialize()\n  expected: initialize() first");
    if (n_x != n_own_rows() || n_b != n_own_rows())
      throw InvalidInput(name + ": the vectors have " + std::to_string(n_x) + " and " + std::to_string(n_b) +
                         " own entries\n  expected: " + std::to_string(n_own_rows()) + ", as the matrix has rows here");
  }

  void OwnRowsPreconditioner::apply(double *x, std::size_t n_x, const double *b, std::size_t n_b) const
  {
    require_length(n_x, n_b);
    if (memory_space() == MemorySpace::host)
      return apply_there(x, b);
    device_x.reinit(n_x);
    device_b.reinit(n_b);
    device_b.copy_from_host(b);
    apply_there(device_x.data(), device_b.data());
    device_x.copy_to_host(x);
  }

  void OwnRowsPreconditioner::vmult(DeviceVector<double> &dst, const DeviceVector<double> &src) const
  {
    require_length(dst.size(), src.size());
    if (memory_space() != MemorySpace::device)
      throw InvalidInput(name + ": the vectors are on the device, and it is on the host\n  expected: the backend cuda");
    apply_there(dst.data(), src.data());
  }
} // namespace leopard
