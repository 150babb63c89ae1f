// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <fstream>
#include <string>

namespace leopard
{
  /** printf into a string. */
  std::string format(const char *text, ...) __attribute__((format(printf, 1, 2)));

  /** "0.8 s", "42 s", "3 min 05 s", "2 h 10 min". */
  std::string duration(double seconds);

  /** Lines for a human, on the terminal and in a file, from rank 0; other ranks' calls do nothing. Each line is flushed. */
  class Log
  {
  public:
    /** @param on_terminal whether lines go to the terminal, too. */
    explicit Log(MPI_Comm comm, bool on_terminal = true);

    /** Also writes to a file from now on. Collective. @throws Error if it cannot be opened. */
    void open(const std::string &path, bool append);

    void line(const std::string &text);
    void warning(const std::string &text);

  private:
    MPI_Comm      comm;
    bool          speaks;      ///< whether this is rank 0
    bool          on_terminal; ///< whether lines go to the terminal
    std::ofstream file;
  };
} // namespace leopard
