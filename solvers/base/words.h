// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace leopard
{
  /**
   * Of the words the one that differs from `word` in the fewest letters (Levenshtein's distance, either case); empty if
   * none resembles it.
   */
  std::string most_similar(const std::string &word, const std::vector<std::string> &words);

  /** "a, b, c", or with the last separator " and " "a, b and c". */
  std::string joined(const std::vector<std::string> &words, const std::string &separator = ", ", const std::string &last_separator = "");

  /** A number for a message: "%g", with at most so many digits. */
  std::string short_text(double value, int digits = 6);

  /**
   * A spectral radius for a message: short_text(), but one that these digits would round to 1 by what is between,
   * "1 - 2.5e-08"; closer than 1e-10 it is 1. Dimensionless.
   */
  std::string radius_text(double radius, int digits = 6);

  /**
   * The text of a message with the middle of each very long line left out, and the number of characters there: what it
   * quotes may be 400 kB of a file.
   */
  std::string without_long_lines(const std::string &message);

  /** "; did you mean 'WORD'?" for messages on unknown names; empty if none resembles it. */
  std::string did_you_mean(const std::string &word, const std::vector<std::string> &words);
} // namespace leopard
