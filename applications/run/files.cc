// SPDX-License-Identifier: Apache-2.0
#include "files.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <stdexcept>

#include <fcntl.h>
#include <unistd.h>

namespace leopard
{
  namespace
  {
    [[noreturn]] void fail(const std::string &path, const std::string &temporary, int code, std::size_t n_bytes)
    {
      ::unlink(temporary.c_str());
      std::string text = "the file '" + path + "' cannot be written: " + std::strerror(code);
      if (code == ENOSPC || code == EFBIG || code == EDQUOT)
        {
          std::error_code ignored;
          const auto      folder = std::filesystem::absolute(path).parent_path();
          text                   = "no room on the disk for the file '" + path + "': it needs " + std::to_string(n_bytes) + " bytes, " +
                 std::to_string(std::filesystem::space(folder, ignored).available) + " are free (" + std::strerror(code) + ")" +
                 "\n  expected: more room, or another 'Run/Directory'; nothing is half written, and a run can go on with --resume";
        }
      throw std::runtime_error(text);
    }
  } // namespace

  void write_file_atomically(const std::string &path, const std::string &content)
  {
    const std::string temporary = path + ".tmp";
    const int         file      = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file < 0)
      fail(path, temporary, errno, content.size());
    std::size_t done = 0;
    while (done < content.size())
      {
        const ssize_t n = ::write(file, content.data() + done, content.size() - done);
        if (n < 0 && errno == EINTR)
          continue;
        if (n < 0)
          {
            const int code = errno;
            ::close(file);
            fail(path, temporary, code, content.size());
          }
        done += static_cast<std::size_t>(n);
      }
    const int synced = ::fsync(file), sync_error = errno;
    const int closed = ::close(file), close_error = errno;
    if (synced != 0 || closed != 0)
      fail(path, temporary, synced != 0 ? sync_error : close_error, content.size());
    if (std::rename(temporary.c_str(), path.c_str()) != 0)
      fail(path, temporary, errno, content.size());
  }

  void sync_folder(const std::string &folder)
  {
    const int file = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (file < 0)
      return; // some file systems do not let a folder be opened; the rename itself has succeeded
    ::fsync(file);
    ::close(file);
  }
} // namespace leopard
