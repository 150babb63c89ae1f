// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../base/errors.h"

namespace leopard
{
  /**
   * What the stubs do, the files *_stub.cc that stand beside CUDA files: in a build without CUDA everything links, and
   * whatever is asked of a GPU says so.
   */
  [[noreturn]] inline void no_cuda()
  {
    throw DeviceError("built without CUDA: configure with -D LEOPARD_CUDA=ON, or choose the backend host");
  }
} // namespace leopard
