// SPDX-License-Identifier: Apache-2.0
#include "host_array.h"
#include "no_cuda.h"

namespace leopard::device
{
  void *PageLockedMemory::allocate(std::size_t /*n_bytes*/)
  {
    no_cuda();
  }
  void PageLockedMemory::release(void * /*pointer*/) noexcept {}
} // namespace leopard::device
