// SPDX-License-Identifier: Apache-2.0
#include "read_text.h"

#include "errors.h"
#include "kind_of_file.h"
#include "thread_pool.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

namespace leopard
{
  void Text::reserve(std::size_t new_capacity)
  {
    auto larger = std::make_unique_for_overwrite<char[]>(new_capacity);
    if (size != 0)
      std::memcpy(larger.get(), data.get(), size);
    data     = std::move(larger);
    capacity = new_capacity;
  }

  namespace
  {
    struct CloseGz
    {
      void operator()(gzFile file) const { gzclose(file); }
    };
    using GzFile = std::unique_ptr<gzFile_s, CloseGz>;

    std::string reason(int code)
    {
      return std::generic_category().message(code);
    }

    struct FileDescriptor
    {
      const int number;
      ~FileDescriptor()
      {
        if (number >= 0)
          close(number);
      }
    };

    /**
     * n bytes from the beginning of a file, which is not compressed, by all threads: copies out of the page cache, and
     * the first touch of the memory that they go to, take longer than a fast disk. @return whether it has so many.
     */
    bool read_by_all(const FileDescriptor &file, char *to, std::size_t n)
    {
      std::atomic<bool> is_whole{true};
      parallel_for(static_cast<long>(n), 1 << 20, [&](long begin, long end) {
        while (begin < end)
          {
            const ssize_t got = pread(file.number, to + begin, static_cast<std::size_t>(end - begin), begin);
            if (got < 0 && errno == EINTR)
              continue;
            if (got <= 0)
              {
                is_whole = false;
                return;
              }
            begin += got;
          }
      });
      return is_whole;
    }

    /** A regular file without the two bytes that gzip begins with, of one size throughout; else nothing. */
    bool read_plain(const std::string &path, Text &text)
    {
      std::error_code      problem;
      const std::uintmax_t size = std::filesystem::file_size(path, problem);
      if (problem || size < 2)
        return false;
      const FileDescriptor file{open(path.c_str(), O_RDONLY | O_CLOEXEC)};
      unsigned char        first[2] = {0, 0};
      if (file.number < 0 || pread(file.number, first, 2, 0) != 2 || (first[0] == 0x1f && first[1] == 0x8b))
        return false;
      text.reserve(size);
      char behind = 0;
      if (!read_by_all(file, text.data.get(), size) || pread(file.number, &behind, 1, static_cast<off_t>(size)) != 0)
        return false;
      text.size = size;
      return true;
    }
  } // namespace

  Text read_text(const std::string &path, const std::string &expected)
  {
    std::error_code ignored;
    if (const std::string kind = why_no_regular_file(path); !kind.empty())
      throw InvalidInput(path + ": this is " + kind + "\n  expected: " + expected);
    Text text;
    if (read_plain(path, text)) // what goes wrong in it is said below
      return text;
    text  = Text();
    errno = 0;
    const GzFile file(gzopen(path.c_str(), "rbe"));
    if (file == nullptr)
      throw InvalidInput(path + ": the file cannot be opened: " + reason(errno) + "\n  expected: " + expected);
    gzbuffer(file.get(), 1 << 17);

    const auto file_size = std::filesystem::file_size(path, ignored);
    text.reserve(std::max<std::size_t>(ignored ? 0 : file_size + 1, 1 << 16));
    while (true)
      {
        if (text.size == text.capacity)
          text.reserve(2 * text.capacity);
        errno = 0;
        const int n =
          gzread(file.get(), text.data.get() + text.size, static_cast<unsigned int>(std::min<std::size_t>(text.capacity - text.size, 1 << 30)));
        const int code   = errno;
        int       status = Z_OK;
        gzerror(file.get(), &status);
        if (n > 0)
          text.size += n;
        if (n < 0 || (status != Z_OK && status != Z_STREAM_END))
          throw InvalidInput(path + ":" + std::to_string(1 + std::count(text.data.get(), text.data.get() + text.size, '\n')) + ": " +
                             (status == Z_BUF_ERROR ? "the compressed file ends too early"
                              : status == Z_ERRNO   ? "the file cannot be read: " + reason(code)
                                                    : "the compressed file is damaged") +
                             "\n  expected: the whole file, as gzip has written it");
        if (n == 0)
          return text;
      }
  }

} // namespace leopard
