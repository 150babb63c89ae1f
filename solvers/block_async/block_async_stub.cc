// SPDX-License-Identifier: Apache-2.0
#include "../device/no_cuda.h"
#include "stencil_engine.h"

namespace leopard
{
  std::unique_ptr<BlockAsync::Engine> make_cuda_engine(const CrsMatrix & /*A*/, const BlockAsyncOptions & /*options*/)
  {
    no_cuda();
  }

  std::unique_ptr<BlockAsync::Engine> make_stencil_cuda_engine(const Stencil & /*stencil*/, const BlockAsyncOptions & /*options*/)
  {
    no_cuda();
  }
} // namespace leopard
