// SPDX-License-Identifier: Apache-2.0
#include "with_ghosts.h"

#include "../base/errors.h"
#include "../device/device.h"

#include <chrono>
#include <exception>
#include <string>
#include <thread>

namespace leopard
{
  template <typename Number>
  void iterate_with_ghosts(Relaxation<Number>          &relaxation,
                           Number                      *x,
                           const Number                *b,
                           int                          n,
                           const Communication<Number> &communication,
                           bool                         ghosts_are_current,
                           LooseExchange<Number>       *loose)
  {
    if (!communication.has_ghosts())
      {
        relaxation.iterate(x, b, n);
        return;
      }
    if (loose != nullptr)
      loose->begin();
    for (int i = 0; i < n; ++i)
      {
        if (loose != nullptr && i > 0)
          loose->update_ghosts(x, relaxation.memory_space());
        else if (i > 0 || !ghosts_are_current)
          communication.update_ghosts(x, relaxation.memory_space());
        relaxation.iterate(x, b, 1);
      }
  }

  template <typename Number>
  FreeIterations iterate_freely(
    Relaxation<Number> &relaxation, Number *x, const Number *b, int n, const Communication<Number> &communication, FreeExchange<Number> &exchange)
  {
    const MemorySpace space = relaxation.memory_space();
    int               done  = 0;
    std::string       error; // of this rank, which then stands still: others may be under way
    for (bool all_are_done = n == 0; !all_are_done;)
      {
        const bool stands_still = done / (1 + most_more) >= n;
        if (!error.empty() || stands_still)
          std::this_thread::sleep_for(std::chrono::microseconds(10));
        if (error.empty())
          try
            {
              if (done > 0)
                exchange.update_ghosts(x, space);
              if (!stands_still)
                {
                  relaxation.iterate(x, b, 1);
                  if (space == MemorySpace::device)
                    device::wait(); // what is only asked for is not done
                  ++done;
                }
            }
          catch (const std::exception &exception)
            {
              error = exception.what();
            }
        all_are_done = (done >= n || !error.empty()) && exchange.all_are_done();
      }
    if (error = exchange.first_error(error); !error.empty())
      throw Error(error);
    FreeIterations result;
    result.minimum = -static_cast<int>(communication.max(-done));
    result.maximum = static_cast<int>(communication.max(done));
    result.mean    = communication.sum(done) / communication.sum(1.);
    return result;
  }

#define INSTANTIATE(Number)                                                                    \
  template void           iterate_with_ghosts(Relaxation<Number>          &relaxation,         \
                                              Number                      *x,                  \
                                              const Number                *b,                  \
                                              int                          n,                  \
                                              const Communication<Number> &communication,      \
                                              bool                         ghosts_are_current, \
                                              LooseExchange<Number>       *loose);                   \
  template FreeIterations iterate_freely(                                                      \
    Relaxation<Number> &relaxation, Number *x, const Number *b, int n, const Communication<Number> &communication, FreeExchange<Number> &exchange);
  LEOPARD_FOR_EACH_NUMBER(INSTANTIATE)
#undef INSTANTIATE
} // namespace leopard
