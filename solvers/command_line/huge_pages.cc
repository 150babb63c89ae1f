// SPDX-License-Identifier: Apache-2.0
// operator new of this program: large arrays in huge pages, where the system gives them to those who ask
// (/sys/kernel/mm/transparent_hugepage/enabled: madvise). A matrix of millions of rows is touched once or twice, so
// that a fault for each 4 KB is a good part of the time.
#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>
#include <new>

namespace
{
  constexpr std::size_t huge_page = std::size_t(1) << 21; ///< bytes

  void *allocate(std::size_t n_bytes)
  {
    if (n_bytes < 2 * huge_page)
      return std::malloc(n_bytes > 0 ? n_bytes : 1);
    const std::size_t whole  = (n_bytes + huge_page - 1) / huge_page * huge_page;
    void *const       result = whole < n_bytes ? nullptr : std::aligned_alloc(huge_page, whole);
    if (result != nullptr)
      madvise(result, n_bytes, MADV_HUGEPAGE); // where it is refused pages are small
    return result;
  }
} // namespace

void *operator new(std::size_t n_bytes)
{
  if (void *const result = allocate(n_bytes))
    return result;
  throw std::bad_alloc();
}

void operator delete(void *memory) noexcept
{
  std::free(memory);
}

void operator delete(void *memory, std::size_t /*n_bytes*/) noexcept
{
  std::free(memory);
}
