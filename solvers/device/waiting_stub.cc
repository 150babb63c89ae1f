// SPDX-License-Identifier: Apache-2.0
#include "no_cuda.h"
#include "waiting.h"

namespace leopard::device
{
  void set_waiting(Waiting /*waiting*/)
  {
    no_cuda();
  }
  Waiting waiting()
  {
    no_cuda();
  }
  std::string pci_bus_id()
  {
    no_cuda();
  }
} // namespace leopard::device
