// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <solvers/base/whole_file.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace leopard
{
  /**
   * Writes content to a new file beside PATH, syncs it to the disk and renames it, so that PATH is never half written.
   * Local, not collective.
   * @throws std::runtime_error with path and reason; nothing remains then and PATH is what it was.
   */
  void write_file_atomically(const std::string &path, const std::string &content);

  /** Syncs a folder's entries to the disk, so that a rename in it outlives a crash of the machine. */
  void sync_folder(const std::string &folder);

  /**
   * Syncs a file that somebody else has written. Local. @throws std::runtime_error if the disk has not taken all of it.
   */
  void sync_file(const std::string &path);

  /**
   * Finds out, by making and removing them, whether files of these sizes find room in a folder together. Local. @throws
   * std::runtime_error if not.
   */
  void check_room(const std::string &folder, const std::vector<std::uint64_t> &sizes);

  /** Makes a folder and those that it is in, where they are not there. Local. @throws std::runtime_error. */
  void make_folder(const std::string &path);

  /** A file beside PATH that takes so much room until it is destroyed. Local. @throws std::runtime_error. */
  std::unique_ptr<NewFile> keep_room(const std::string &path, std::size_t n_bytes);

  /** A text file that grows by whole pieces: what does not fit on the disk is taken back. Local. */
  class GrowingFile
  {
  public:
    GrowingFile()                               = default;
    GrowingFile(const GrowingFile &)            = delete;
    GrowingFile &operator=(const GrowingFile &) = delete;
    ~GrowingFile();

    /**
     * @param keep what the file has already; otherwise it begins anew. No link is followed. @throws std::runtime_error.
     */
    void open(const std::string &path, bool keep);
    bool is_open() const { return file >= 0; }
    /** Appends at once, whatever the buffers. @throws std::runtime_error; then the file ends as it did before. */
    void append(const std::string &text);

  private:
    std::string path;
    int         file = -1;
  };
} // namespace leopard
