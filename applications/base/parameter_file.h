// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "arithmetic.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace dealii
{
  class ParameterHandler;
}

namespace leopard
{
  /**
   * Reads a parameter file in deal.II's format (subsection/set/end, # comments, \ continues a line) into prm, whose
   * entries are declared, and then the overrides "Section/Entry=value" ("Entry=value" for entries outside of sections).
   * @throws Error with all mistakes at once (ten at most), each with file, line, entry, what was found and what is
   * expected, and for an unknown name the one that it resembles.
   *
   * Where a number is expected arithmetic will do, with pi and the constants. @return what was computed so.
   */
  std::vector<ComputedNumber> parse_parameters(dealii::ParameterHandler       &prm,
                                               const std::string              &text,
                                               const std::string              &file_name,
                                               const std::vector<std::string> &overrides,
                                               const Constants                &constants = {});

  /**
   * Overrides of single constants, "SECTION/Constants/NAME=value", become overrides of the entry "SECTION/Constants" as
   * the text or earlier overrides give it.
   * @param constants "SECTION/Constants". @throws Error for a constant that is not there.
   */
  std::vector<std::string> with_constants(const std::string &text, const std::vector<std::string> &overrides, const std::string &constants);

  /**
   * The path "Section/Entry" of the entry that a user means by its name, where only one section has it, or by its path.
   * @throws Error that begins with `where` and names similar entries, if there is none or more than one.
   */
  std::string find_entry(dealii::ParameterHandler &prm, const std::string &name, const std::string &where);

  /**
   * The value that the overrides or else the text give to the entry "Section/Entry", before anything is declared or
   * checked; empty if none does.
   */
  std::string given_value(const std::string &text, const std::vector<std::string> &overrides, const std::string &entry);

  /** "Section/Entry" and value of each assignment of a text that is in parseable form. */
  std::vector<std::pair<std::string, std::string>> assignments_of(const std::string &text);

  /** Where entries "Section/Entry" are given: "FILE:LINE", or --set "ENTRY=VALUE". */
  using GivenEntries = std::map<std::string, std::string>;

  /** All that a text or the overrides give, each once, with the last place of each. */
  GivenEntries given_entries(const std::string &text, const std::string &file_name, const std::vector<std::string> &overrides);

  /**
   * Where the first of the given entries that a message names in quotes, before what is expected, is given; empty: it
   * names none.
   */
  std::string place_of(const std::string &message, const GivenEntries &given);

  /** The path of each entry that is declared: sections, then its name. */
  std::vector<std::vector<std::string>> declared_entries(dealii::ParameterHandler &prm);
} // namespace leopard
