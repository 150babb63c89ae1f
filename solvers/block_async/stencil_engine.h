// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../matrix/stencil.h"
#include "block_async_engine.h"

namespace leopard
{
  std::unique_ptr<BlockAsync::Engine> make_stencil_reference_engine(const Stencil &stencil, const BlockAsyncOptions &options);
  std::unique_ptr<BlockAsync::Engine> make_stencil_host_engine(const Stencil &stencil, const BlockAsyncOptions &options);
  std::unique_ptr<BlockAsync::Engine> make_stencil_cuda_engine(const Stencil &stencil, const BlockAsyncOptions &options);
} // namespace leopard
