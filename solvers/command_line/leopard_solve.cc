// SPDX-License-Identifier: Apache-2.0
#include "../base/errors.h"
#include "../base/words.h"
#include "option_names.h"
#include "program.h"

#include <csignal>
#include <cstdio>
#include <new>
#include <string>

namespace
{
  int fail(const std::string &what, int code, bool of_choice = false)
  {
    std::fprintf(stderr, "leopard-solve: %s\n", leopard::without_long_lines(leopard::command_line::in_options(what, of_choice)).c_str());
    return code;
  }
} // namespace

int main(int argc, char **argv)
{
  constexpr int failure = 1, wrong_usage = 2;
  std::signal(SIGXFSZ, SIG_IGN); // a write beyond the limit on files (ulimit -f) fails and says why
  using namespace leopard;
  command_line::Arguments arguments;
  try
    {
      if (const int code = command_line::parse_command_line(argc, argv, arguments); code >= 0)
        return code;
    }
  catch (const std::exception &problem)
    {
      return fail(problem.what(), wrong_usage);
    }
  try
    {
      const int code = command_line::run(arguments);
      if (code == 0 && std::ferror(stdout) != 0)
        return fail("what is printed could not be written\n  expected: a standard output with room, such as > /dev/null for none", failure);
      return code;
    }
  catch (const command_line::UsageError &problem)
    {
      return fail(problem.what(), wrong_usage);
    }
  catch (const Error &problem)
    {
      return fail(problem.what(), failure, !arguments.choice.empty() && !arguments.tune);
    }
  catch (const std::bad_alloc &)
    {
      return fail("not enough memory for this matrix\n  expected: a machine with more, or a smaller matrix", failure);
    }
  catch (const std::exception &problem)
    {
      return fail(std::string("unexpected error: ") + problem.what(), failure);
    }
}
