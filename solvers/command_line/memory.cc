// SPDX-License-Identifier: Apache-2.0
#include "memory.h"

#include "../base/errors.h"
#include "../base/usable_resources.h"
#include "../base/words.h"
#include "../device/device.h"

namespace leopard::command_line
{
  void say_memory(const std::string &of_what, double bytes, Backend backend, const std::string &to_do, const Log &log)
  {
    const bool        on_device = backend == Backend::cuda;
    const double      there     = on_device ? static_cast<double>(device::free_memory()) : usable_memory();
    const std::string text      = of_what + ": about " + short_text(bytes / 1e9, 2) + " GB of the " + short_text(there / 1e9, 3) + " GB that " +
                             (on_device ? "are free on the GPU" : "this process may use");
    log("memory", text);
    if (bytes > there && there > 0.)
      throw InvalidInput("memory: " + text + "\n  expected: no more than is there; " + to_do);
  }

  double bytes_of_blocks(const CrsMatrix<double> &A, Backend backend)
  {
    // host: value, column and source of each entry; on the GPU the rows as they are read, and packets as large
    const double of_entry = backend == Backend::cuda ? 2. * (sizeof(double) + sizeof(int)) : sizeof(double) + 2. * sizeof(int);
    const double of_row   = 6. * sizeof(double); // x, b, their residual, the diagonal, weights and offsets
    return of_entry * A.n_entries() + of_row * A.n_rows;
  }

  double bytes_of_stencil_levels(double n_rows)
  {
    constexpr double of_row = 60.;
    return of_row * n_rows;
  }
} // namespace leopard::command_line
