// SPDX-License-Identifier: Apache-2.0
#include "files.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <stdexcept>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace leopard
{
  namespace
  {
    [[noreturn]] void fail(const std::string &path, int code, std::size_t n_bytes)
    {
      if (code != ENOSPC && code != EFBIG && code != EDQUOT)
        throw std::runtime_error("the file '" + path + "' cannot be written: " + std::strerror(code));
      std::error_code   ignored;
      const auto        folder = std::filesystem::absolute(path).parent_path();
      const std::string needs = "it needs " + std::to_string(n_bytes) + " bytes", why = std::string(" (") + std::strerror(code) + ")";
      const std::string end = "; nothing is half written, and a run that has a checkpoint can go on with --resume";
      if (code == EFBIG)
        throw std::runtime_error("the file '" + path + "' is larger than files may be here: " + needs + why +
                                 "\n  expected: a larger limit of files (ulimit -f), or a file system for such files" + end);
      // what the file had taken is free again: more than it needs would be no reason
      const auto        free = std::filesystem::space(folder, ignored).available;
      const std::string less = free < n_bytes ? ", " + std::to_string(free) + " are free" : "";
      throw std::runtime_error("no room on the disk for the file '" + path + "': " + needs + less + why +
                               "\n  expected: more room, or another 'Run/Directory'" + end);
    }
  } // namespace

  void write_file_atomically(const std::string &path, const std::string &content)
  {
    try
      {
        write_whole(path, content);
      }
    catch (const FileError &error)
      {
        fail(path, error.code, content.size());
      }
  }

  void sync_folder(const std::string &folder)
  {
    const int file = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (file < 0)
      return; // some file systems do not let a folder be opened; the rename itself has succeeded
    ::fsync(file);
    ::close(file);
  }

  void sync_file(const std::string &path)
  {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0)
      fail(path, errno, 0);
    struct stat status = {};
    ::fstat(file, &status);
    const int code = ::fsync(file) != 0 && errno != EINVAL ? errno : 0;
    ::close(file);
    if (code != 0)
      fail(path, code, status.st_size);
  }

  void check_room(const std::string &folder, const std::vector<std::uint64_t> &sizes)
  {
    std::vector<std::unique_ptr<NewFile>> files;
    const std::string                     name = folder + "/checkpoint"; // never made, but in messages
    for (const std::uint64_t size : sizes)
      try
        {
          files.push_back(std::make_unique<NewFile>(name));
          // not posix_fallocate(), which writes to each block where the file system has no such call
          const auto length = static_cast<off_t>(std::max<std::uint64_t>(size, 1));
          int        code   = 0;
          do
            code = ::fallocate(files.back()->descriptor(), 0, 0, length) != 0 ? errno : 0;
          while (code == EINTR);
          if (code != 0 && code != EOPNOTSUPP && code != ENOSYS && code != EINVAL) // which say that this file system cannot tell
            throw FileError(name, code);
        }
      catch (const FileError &error)
        {
          files.clear();
          fail(folder, error.code, size);
        }
  }

  void make_folder(const std::string &path)
  {
    std::error_code code;
    std::filesystem::create_directories(path, code);
    if (code)
      fail(path, code.value(), 0);
  }

  std::unique_ptr<NewFile> keep_room(const std::string &path, std::size_t n_bytes)
  {
    try
      {
        auto file = std::make_unique<NewFile>(path);
        file->write(std::string(n_bytes, ' ').data(), n_bytes);
        return file;
      }
    catch (const FileError &error)
      {
        fail(path, error.code, n_bytes);
      }
  }

  GrowingFile::~GrowingFile()
  {
    if (file >= 0)
      ::close(file);
  }

  void GrowingFile::open(const std::string &path_, bool keep)
  {
    path = path_;
    file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC | (keep ? 0 : O_TRUNC), 0666);
    if (file < 0)
      throw std::runtime_error("the file '" + path + "' cannot be written: " + (errno == ELOOP ? "it is a symbolic link" : std::strerror(errno)));
  }

  void GrowingFile::append(const std::string &text)
  {
    struct stat before = {};
    ::fstat(file, &before);
    for (std::size_t done = 0; done < text.size();)
      if (const ssize_t n = ::write(file, text.data() + done, text.size() - done); n > 0)
        done += static_cast<std::size_t>(n);
      else if (n == 0 || errno != EINTR)
        {
          const int code = n < 0 ? errno : EIO;
          if (done > 0 && ::ftruncate(file, before.st_size) != 0)
            fail(path, errno, text.size());
          fail(path, code, text.size());
        }
  }
} // namespace leopard
