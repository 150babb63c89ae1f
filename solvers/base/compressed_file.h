// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "whole_file.h"

#include <cstddef>
#include <string>

struct gzFile_s;

namespace leopard
{
  /** A NewFile, compressed with gzip if PATH ends in .gz; without commit() nothing remains. */
  class CompressedFile
  {
  public:
    /** @throws FileError. */
    explicit CompressedFile(const std::string &path);
    CompressedFile(const CompressedFile &)            = delete;
    CompressedFile &operator=(const CompressedFile &) = delete;
    ~CompressedFile();

    /** Appends. @throws FileError. */
    void write(const std::string &text);
    /** See NewFile. @throws FileError. */
    void commit();

  private:
    const std::string path;
    NewFile           file;
    gzFile_s         *stream = nullptr; ///< of zlib, with a descriptor of its own
  };
} // namespace leopard
