// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../base/errors.h"
#include "block_async.h"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace leopard
{
  std::string to_string(Schedule schedule);
  std::string to_string(Overlap overlap);

  /**
   * Words and what they stand for: the words that parameter files, command lines and files of choices have for the
   * values of an enum are those of its to_string().
   */
  template <typename Enum>
  using Names = std::vector<std::pair<std::string, Enum>>;

  /** For those values that can be had somewhere. */
  template <typename Enum, std::size_t n>
  Names<Enum> names_of(const Enum (&values)[n])
  {
    Names<Enum> result;
    for (const Enum value : values)
      result.emplace_back(to_string(value), value);
    return result;
  }

  /** "chaotic, synchronous, replay" */
  template <typename Enum>
  std::string words_of(const Names<Enum> &names, const std::string &separator = ", ")
  {
    std::string result;
    for (const auto &[word, value] : names)
      result += (result.empty() ? "" : separator) + word;
    return result;
  }

  /** @throws InvalidInput for another word. */
  template <typename Enum>
  Enum value_of(const std::string &word, const Names<Enum> &names)
  {
    for (const auto &[name, value] : names)
      if (name == word)
        return value;
    throw InvalidInput("'" + word + "'\n  expected: one of " + words_of(names));
  }

  const Names<Schedule>  &schedule_names();
  const Names<TwoStage>  &two_stage_names();
  const Names<Execution> &execution_names();
  const Names<Overlap>   &overlap_names();
} // namespace leopard
