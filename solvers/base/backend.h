// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace leopard
{
  /** Where an array lives, and so who may touch it. */
  enum class MemorySpace
  {
    host,
    device
  };

  /** Who computes: one thread with a seeded schedule, the host's threads, or a GPU. */
  enum class Backend
  {
    reference,
    host,
    cuda
  };

  /** "reference", "host" or "cuda". */
  std::string to_string(Backend backend);
} // namespace leopard
