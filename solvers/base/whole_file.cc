// SPDX-License-Identifier: Apache-2.0
#include "whole_file.h"

#include "errors.h"

#include <cerrno>
#include <cstdio>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace leopard
{
  namespace
  {
    [[noreturn]] void fail(const std::string &path, int code)
    {
      throw Error(path + ": the file cannot be written: " + std::generic_category().message(code) +
                  "\n  expected: a folder that exists, that may be written to, and with room for the file");
    }
  } // namespace

  void write_whole(const std::string &path, const std::string &text)
  {
    const std::string temporary  = path + ".tmp";
    const int         descriptor = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (descriptor < 0)
      fail(path, errno);
    int code = 0;
    for (std::size_t done = 0; code == 0 && done < text.size();)
      if (const ssize_t n = ::write(descriptor, text.data() + done, text.size() - done); n > 0)
        done += static_cast<std::size_t>(n);
      else if (n == 0 || errno != EINTR)
        code = n < 0 ? errno : EIO;
    if (code == 0 && ::fsync(descriptor) != 0 && errno != EINVAL)
      code = errno;
    if (::close(descriptor) != 0 && code == 0)
      code = errno;
    if (code == 0 && std::rename(temporary.c_str(), path.c_str()) != 0)
      code = errno;
    if (code != 0)
      {
        ::unlink(temporary.c_str());
        fail(path, code);
      }
  }

  void check_can_be_written(const std::string &path)
  {
    struct stat status;
    if (path.empty() || (::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode)))
      throw Error((path.empty() ? "''" : path) + ": this is not a regular file, and a file is to be written there\n  expected: the name of a file");
    const std::string temporary = path + ".tmp";
    // a file that is there already is somebody's, and stays
    int        descriptor = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    const bool is_new     = descriptor >= 0;
    if (!is_new && errno == EEXIST)
      descriptor = ::open(temporary.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor < 0)
      fail(path, errno);
    ::close(descriptor);
    if (is_new)
      ::unlink(temporary.c_str());
  }
} // namespace leopard
