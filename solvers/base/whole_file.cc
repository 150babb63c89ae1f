// SPDX-License-Identifier: Apache-2.0
#include "whole_file.h"

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <random>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace leopard
{
  namespace
  {
    const std::string prefix = ".leopard-", suffix = ".tmp";
    constexpr int     n_digits = 16;
  } // namespace

  FileError::FileError(const std::string &path, int code_)
    : Error(path + ": the file cannot be written: " + std::generic_category().message(code_) +
            "\n  expected: a folder that exists, that may be written to, and with room for the file")
    , code(code_)
  {
  }

  NewFile::NewFile(const std::string &path_)
    : path(path_)
  {
    for (int attempt = 0; file < 0; ++attempt)
      {
        temporary = temporary_name(path);
        file      = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
        if (file < 0 && (errno != EEXIST || attempt == 100))
          throw FileError(path, errno);
      }
  }

  NewFile::~NewFile()
  {
    if (file < 0)
      return;
    ::close(file);
    ::unlink(temporary.c_str());
  }

  void NewFile::write(const char *text, std::size_t n_bytes)
  {
    for (std::size_t done = 0; done < n_bytes;)
      if (const ssize_t n = ::write(file, text + done, n_bytes - done); n > 0)
        done += static_cast<std::size_t>(n);
      else if (n == 0 || errno != EINTR)
        throw FileError(path, n < 0 ? errno : EIO);
  }

  void NewFile::commit()
  {
    struct stat before;
    if (::lstat(path.c_str(), &before) == 0 && S_ISREG(before.st_mode))
      ::fchmod(file, before.st_mode & 0777);   // a private file stays private
    if (::fsync(file) != 0 && errno != EINVAL) // which says that this file system does not sync
      throw FileError(path, errno);
    if (std::rename(temporary.c_str(), path.c_str()) != 0)
      throw FileError(path, errno);
    const int descriptor = file;
    file                 = -1;
    if (::close(descriptor) != 0)
      throw FileError(path, errno);
  }

  std::string NewFile::temporary_name(const std::string &path)
  {
    static std::random_device source;
    const std::uint64_t       number = static_cast<std::uint64_t>(source()) << 32 | source();
    char                      digits[n_digits + 1];
    std::snprintf(digits, sizeof(digits), "%016llx", static_cast<unsigned long long>(number));
    return path.substr(0, path.rfind('/') + 1) + prefix + digits + suffix; // the folder is empty, or has its slash
  }

  bool NewFile::is_left_over(const std::string &name)
  {
    return name.size() == prefix.size() + n_digits + suffix.size() && name.rfind(prefix, 0) == 0 &&
           name.find_first_not_of("0123456789abcdef", prefix.size()) == prefix.size() + n_digits && name.substr(prefix.size() + n_digits) == suffix;
  }

  void write_whole(const std::string &path, const std::string &text)
  {
    NewFile file(path);
    file.write(text.data(), text.size());
    file.commit();
  }

  void check_can_be_written(const std::string &path)
  {
    struct stat status;
    const bool  exists = ::lstat(path.c_str(), &status) == 0;
    if (exists && S_ISLNK(status.st_mode))
      throw Error(path + ": this is a symbolic link, and a file is to be written there\n  expected: the name of a file; a link would be replaced");
    if (path.empty() || (exists && !S_ISREG(status.st_mode)))
      throw Error((path.empty() ? "''" : path) + ": this is not a regular file, and a file is to be written there\n  expected: the name of a file");
    if (exists && ::access(path.c_str(), W_OK) != 0)
      throw FileError(path, errno);
    const NewFile file(path);
  }
} // namespace leopard
