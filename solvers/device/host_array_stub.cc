// SPDX-License-Identifier: Apache-2.0
#include "host_array.h"
#include "no_cuda.h"

namespace leopard::device
{
  void *allocate_on_host(std::size_t /*n_bytes*/)
  {
    no_cuda();
  }
  void release_on_host(void * /*pointer*/) noexcept {}
} // namespace leopard::device
