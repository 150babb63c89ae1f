// SPDX-License-Identifier: Apache-2.0
#include "compressed_file.h"

#include <algorithm>
#include <cerrno>

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

namespace leopard
{
  CompressedFile::CompressedFile(const std::string &path_)
    : path(path_)
    , file(path_)
  {
    const int of_zlib = ::fcntl(file.descriptor(), F_DUPFD_CLOEXEC, 0); // zlib closes its own
    if (of_zlib < 0)
      throw FileError(path, errno);
    stream = gzdopen(of_zlib, path.size() >= 3 && path.compare(path.size() - 3, 3, ".gz") == 0 ? "wb" : "wbT");
    if (stream == nullptr)
      {
        ::close(of_zlib);
        throw FileError(path, ENOMEM);
      }
  }

  CompressedFile::~CompressedFile()
  {
    if (stream != nullptr)
      gzclose(stream);
  }

  void CompressedFile::write(const std::string &text)
  {
    constexpr std::size_t most = 1 << 30; // zlib counts bytes in an int
    for (std::size_t done = 0; done < text.size(); done += most)
      {
        errno = 0;
        if (gzwrite(stream, text.data() + done, static_cast<unsigned int>(std::min(most, text.size() - done))) == 0)
          throw FileError(path, errno != 0 ? errno : EIO);
      }
  }

  void CompressedFile::commit()
  {
    errno            = 0;
    const int closed = gzclose(stream), code = errno != 0 ? errno : EIO;
    stream = nullptr;
    if (closed != Z_OK)
      throw FileError(path, code);
    file.commit();
  }
} // namespace leopard
