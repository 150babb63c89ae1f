// SPDX-License-Identifier: Apache-2.0
#include "log.h"

#include "collective.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <vector>

namespace leopard
{
  std::string for_shell(const std::string &text)
  {
    if (!text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
          return std::isalnum(c) != 0 || c > 127 || std::strchr("_./+-=:,@%", c) != nullptr;
        }))
      return text;
    std::string result = "'";
    for (const char c : text)
      result += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return result + "'";
  }

  std::string format(const char *text, ...)
  {
    va_list arguments, again;
    va_start(arguments, text);
    va_copy(again, arguments);
    const int         n = std::vsnprintf(nullptr, 0, text, arguments);
    std::vector<char> buffer(n + 1);
    std::vsnprintf(buffer.data(), buffer.size(), text, again);
    va_end(again);
    va_end(arguments);
    return {buffer.data(), static_cast<std::size_t>(n)};
  }

  std::string duration(double seconds)
  {
    if (!std::isfinite(seconds) || seconds < 0.)
      return "?";
    if (seconds < 9.95)
      return format("%.1f s", seconds);
    if (seconds < 60.)
      return format("%.0f s", seconds);
    const long s = std::lround(seconds);
    if (s < 3600)
      return format("%ld min %02ld s", s / 60, s % 60);
    return format("%ld h %02ld min", s / 3600, s / 60 % 60);
  }

  Log::Log(MPI_Comm comm_, bool on_terminal_)
    : comm(comm_)
    , on_terminal(on_terminal_)
  {
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    speaks = rank == 0;
  }

  void Log::open(const std::string &path, bool append)
  {
    on_rank_zero(comm, [&] {
      file.open(path, append);
      file.append(not_yet_written);
      not_yet_written.clear();
    });
  }

  void Log::line(const std::string &text)
  {
    if (!speaks)
      return;
    if (on_terminal && !(std::cout << text << std::endl))
      {
        std::cerr << "leopard: standard output cannot be written; the lines for it are in the log file only" << std::endl;
        on_terminal = false;
      }
    if (!file.is_open())
      not_yet_written += text + "\n";
    else if (error.empty())
      try
        {
          file.append(text + "\n");
        }
      catch (const std::exception &exception)
        {
          error = exception.what();
        }
  }

  void Log::check() const
  {
    throw_if_any_failed(error, comm);
  }

  void Log::warning(const std::string &text)
  {
    line("warning: " + text);
  }
} // namespace leopard
