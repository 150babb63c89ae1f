// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "thread_pool.h"

#include <cstddef>
#include <vector>

namespace leopard
{
  /**
   * Resizes an empty vector to n zeros in memory that all threads of a pool have touched first: it is then that the
   * system makes pages, which takes longer than to write to them.
   */
  template <typename T>
  void resize_touched(std::vector<T> &v, std::size_t n, ThreadPool &pool)
  {
    constexpr long page = 4096; // bytes
    v.reserve(n);
    auto *const memory = reinterpret_cast<volatile char *>(v.data());
    parallel_for(pool, static_cast<long>(n * sizeof(T) / page), 256, [&](long begin, long end) {
      for (long p = begin; p < end; ++p)
        memory[p * page] = 0;
    });
    v.resize(n);
  }
} // namespace leopard
