// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <csignal>

#include <sys/resource.h>

namespace leopard
{
  /** While it lives no file grows beyond so many bytes: writing fails, as it does on a full disk. */
  class FileSizeLimit
  {
  public:
    explicit FileSizeLimit(unsigned long n_bytes)
      : handler(std::signal(SIGXFSZ, SIG_IGN))
    {
      getrlimit(RLIMIT_FSIZE, &before);
      rlimit limit   = before;
      limit.rlim_cur = n_bytes;
      setrlimit(RLIMIT_FSIZE, &limit);
    }
    FileSizeLimit(const FileSizeLimit &)            = delete;
    FileSizeLimit &operator=(const FileSizeLimit &) = delete;
    ~FileSizeLimit()
    {
      setrlimit(RLIMIT_FSIZE, &before);
      std::signal(SIGXFSZ, handler);
    }

  private:
    rlimit before{};
    void (*handler)(int);
  };
} // namespace leopard
