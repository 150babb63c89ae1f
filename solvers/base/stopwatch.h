// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

namespace leopard
{
  /** Seconds of a clock that is never set back, of which differences count. */
  inline double now()
  {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  }

  /** Wall time since it was made. */
  class Stopwatch
  {
  public:
    double seconds() const { return now() - start; }

  private:
    double start = now();
  };
} // namespace leopard
