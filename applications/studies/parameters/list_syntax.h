// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace leopard
{
  /** A name and what it is given: "async(k=5, merged=2)" or "Q2 [Discretization/Degree=2]". */
  struct NamedSettings
  {
    std::string                                      name;
    std::vector<std::pair<std::string, std::string>> settings; ///< name and value, in the order of the text
  };

  /**
   * The parts of a list, without blanks at their ends; commas inside round and square brackets separate nothing. An
   * empty text has no parts.
   * @param entry "Section/Entry", for messages. @throws Error for brackets that do not match and for empty parts.
   */
  std::vector<std::string> split_list(const std::string &entry, const std::string &text);

  /** NAME or NAME(SETTING=VALUE, ...). @throws Error. */
  NamedSettings parse_call(const std::string &entry, const std::string &text);

  /** NAME or NAME [SETTING=VALUE] [SETTING=VALUE] ...; values may hold anything but square brackets. @throws Error. */
  NamedSettings parse_bracketed(const std::string &entry, const std::string &text);
} // namespace leopard
