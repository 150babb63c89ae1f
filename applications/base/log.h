// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "files.h"

#include <mpi.h>

#include <string>

namespace leopard
{
  /** printf into a string. */
  std::string format(const char *text, ...) __attribute__((format(printf, 1, 2)));

  /** The text as one word of a shell's command: in quotes where a shell would make something else of it. */
  std::string for_shell(const std::string &text);

  /** "0.8 s", "42 s", "3 min 05 s", "2 h 10 min". */
  std::string duration(double seconds);

  /**
   * Lines for a human, on the terminal and in a file, from rank 0; other ranks' calls do nothing. Each line is written
   * at once.
   */
  class Log
  {
  public:
    /** @param on_terminal whether lines go to the terminal, too. */
    explicit Log(MPI_Comm comm, bool on_terminal = true);

    /** Also writes to a file, first the lines until now. Collective. @throws Error if that cannot be done. */
    void open(const std::string &path, bool append);

    void line(const std::string &text);
    void warning(const std::string &text);

    /**
     * Whoever can bear an end of the run asks this now and then. Collective. @throws Error if the file has not taken a
     * line; the first such line is its last.
     */
    void check() const;

  private:
    MPI_Comm    comm;
    bool        speaks;      ///< whether this is rank 0
    bool        on_terminal; ///< whether lines go to the terminal
    GrowingFile file;
    std::string not_yet_written; ///< lines before there is a file
    std::string error;           ///< of the file
  };
} // namespace leopard
