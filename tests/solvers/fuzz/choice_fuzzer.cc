// SPDX-License-Identifier: Apache-2.0
// Feeds any bytes to the reader of tuned choices (leopard-solve --choice): they are refused with an Error, or are
// options that can be written and read again as the same. For libFuzzer.
#include <solvers/base/errors.h>
#include <solvers/block_async/tune.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include <sys/mman.h>
#include <unistd.h>

namespace
{
  void require(bool condition, const char *what)
  {
    if (condition)
      return;
    std::fprintf(stderr, "what was accepted violates: %s\n", what);
    std::abort();
  }

  leopard::CrsMatrix<double> two_by_two()
  {
    leopard::CrsMatrix<double> A;
    A.n_rows = A.n_columns = 2;
    A.row_offsets          = {0, 2, 4};
    A.columns              = {0, 1, 0, 1};
    A.values               = {2., -1., -1., 2.};
    return A;
  }

  std::string text_of(const std::string &path)
  {
    std::ifstream      stream(path, std::ios::binary);
    std::ostringstream text;
    text << stream.rdbuf();
    return text.str();
  }
} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
  static const leopard::CrsMatrix<double> A      = two_by_two();
  static const std::string                folder = [] {
    char name[] = "/tmp/choice_fuzzer_XXXXXX";
    require(mkdtemp(name) != nullptr, "a temporary folder");
    return std::string(name);
  }();
  const int file = memfd_create("fuzz", MFD_CLOEXEC);
  require(file >= 0 && write(file, data, size) == static_cast<ssize_t>(size), "a file in memory");
  try
    {
      const leopard::TunedChoice choice = leopard::read_choice("/proc/self/fd/" + std::to_string(file), A);
      choice.options.validate();
      require(std::isfinite(choice.seconds_a_digit) && choice.seconds_a_digit >= 0., "a time");
      const std::string one = folder + "/one.json", two = folder + "/two.json";
      leopard::write_choice(choice, A, one);
      leopard::write_choice(leopard::read_choice(one, A), A, two);
      require(text_of(one) == text_of(two), "the same choice when it is written and read again");
    }
  catch (const leopard::Error &)
    {
    }
  close(file);
  return 0;
}
