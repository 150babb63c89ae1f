// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "errors.h"

#include <cstddef>
#include <string>

namespace leopard
{
  /** A file that cannot be written, and the system's reason, for example ENOSPC. */
  class FileError : public Error
  {
  public:
    FileError(const std::string &path, int code);
    const int code; ///< a value of errno
  };

  /**
   * A file that becomes PATH when it is complete and on disk, so that PATH is whole or what it was. Until then it is a
   * new file in the same folder with a name of its own, ".leopard-", 16 hexadecimal digits, ".tmp": no file that is
   * there, and no link, is written to. What a killed program leaves has such a name and harms nobody.
   */
  class NewFile
  {
  public:
    /** @throws FileError. */
    explicit NewFile(const std::string &path);
    NewFile(const NewFile &)            = delete;
    NewFile &operator=(const NewFile &) = delete;
    /** Removes what was not committed. */
    ~NewFile();

    /** Appends. @throws FileError. */
    void write(const char *text, std::size_t n_bytes);
    /** Of the open file, to write to by other means. */
    int descriptor() const { return file; }
    /**
     * Syncs it to the disk and makes it PATH, with the permissions of a file that was there. @throws FileError; PATH is
     * what it was then.
     */
    void commit();

    /** A name of such a file, of PATH's folder, that no other file has, but by chance. */
    static std::string temporary_name(const std::string &path);
    /** Whether a file of this name, without its folder, is one that was left before it was committed. */
    static bool is_left_over(const std::string &name);

  private:
    const std::string path;
    std::string       temporary;
    int               file = -1;
  };

  /** Writes the text as a NewFile. @throws FileError. */
  void write_whole(const std::string &path, const std::string &text);

  /**
   * Finds out whether a file that is written like this can be written there, before time is spent on what is to be
   * written. Leaves nothing behind.
   * @throws Error naming the path and the reason: no such folder, no permission, or something there that is not a
   * regular file, such as a link (/dev/stdout is one).
   */
  void check_can_be_written(const std::string &path);
} // namespace leopard
