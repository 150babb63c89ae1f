// SPDX-License-Identifier: Apache-2.0
// What the fuzz targets share.
#pragma once

#include <solvers/base/errors.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

/** Leaks of MPI and of GiNaC's exceptions are theirs. */
extern "C" const char *__asan_default_options()
{
  return "detect_leaks=0";
}

namespace fuzz
{
  /** Ends the program where something accepted is not what it should be. */
  inline void require(bool condition, const std::string &what)
  {
    if (condition)
      return;
    std::fprintf(stderr, "violated: %s\n", what.c_str());
    std::abort();
  }

  /**
   * @return whether f() accepts what it is given; it may refuse it with an Error that says something, and may throw
   * nothing else.
   */
  template <typename Function>
  bool accepts(const Function &f)
  {
    try
      {
        f();
        return true;
      }
    catch (const leopard::Error &error)
      {
        require(error.what()[0] != '\0', "an error says something");
        return false;
      }
  }
} // namespace fuzz
