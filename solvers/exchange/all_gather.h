// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <string>

namespace leopard
{
  /** Collective: all gets n_ranks times n_bytes bytes of host memory, those of rank r from r n_bytes on. */
  using AllGather = std::function<void(const void *own, std::size_t n_bytes, void *all)>;

  /** For together(), collective: the first text that is not empty. */
  std::string first_error_of(const AllGather &all_gather, int n_ranks, const std::string &own);
} // namespace leopard
