// SPDX-License-Identifier: Apache-2.0
#pragma once

// Counts what a test program allocates with new. Included in one source of the program.

#include <atomic>
#include <cstdlib>
#include <new>

namespace
{
  std::atomic<long> n_allocations{0};
}

// Not put into their callers, where GCC takes malloc() and free() for none of the things that go with one another.
[[gnu::noinline]] void *operator new(std::size_t n, const std::nothrow_t & /*tag*/) noexcept
{
  ++n_allocations;
  return std::malloc(n > 0 ? n : 1);
}

[[gnu::noinline]] void *operator new(std::size_t n)
{
  if (void *memory = operator new(n, std::nothrow))
    return memory;
  throw std::bad_alloc();
}

[[gnu::noinline]] void operator delete(void *memory) noexcept
{
  std::free(memory);
}

[[gnu::noinline]] void operator delete(void *memory, std::size_t /*n*/) noexcept
{
  std::free(memory);
}
