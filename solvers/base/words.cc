// SPDX-License-Identifier: Apache-2.0
#include "words.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <numeric>

namespace leopard
{
  namespace
  {
    std::size_t edit_distance(const std::string &a, const std::string &b)
    {
      std::vector<std::size_t> row(b.size() + 1);
      std::iota(row.begin(), row.end(), 0);
      for (std::size_t i = 1; i <= a.size(); ++i)
        {
          std::size_t diagonal = row[0];
          row[0]               = i;
          for (std::size_t j = 1; j <= b.size(); ++j)
            {
              const std::size_t change = diagonal + (std::tolower(a[i - 1]) == std::tolower(b[j - 1]) ? 0 : 1);
              diagonal                 = row[j];
              row[j]                   = std::min({change, row[j] + 1, row[j - 1] + 1});
            }
        }
      return row[b.size()];
    }
  } // namespace

  std::string most_similar(const std::string &word, const std::vector<std::string> &words)
  {
    std::string best;
    std::size_t best_distance = std::min(3 + word.size() / 4, word.size() / 2) + 1; // what differs in more than half of its letters is not similar
    for (const std::string &candidate : words)
      if (const std::size_t distance = edit_distance(word, candidate); distance < best_distance)
        {
          best          = candidate;
          best_distance = distance;
        }
    return best;
  }

  std::string short_text(double value, int digits)
  {
    char text[40];
    std::snprintf(text, sizeof(text), "%.*g", digits, value);
    return text;
  }

  std::string radius_text(double radius, int digits)
  {
    const std::string text = short_text(radius, digits);
    return text != "1" || std::abs(1. - radius) < 1e-10 ? text : (radius < 1. ? "1 - " : "1 + ") + short_text(std::abs(1. - radius), 2);
  }

  std::string joined(const std::vector<std::string> &words, const std::string &separator, const std::string &last_separator)
  {
    std::string text;
    for (std::size_t i = 0; i < words.size(); ++i)
      text += (i == 0 ? "" : i + 1 < words.size() || last_separator.empty() ? separator : last_separator) + words[i];
    return text;
  }

  std::string did_you_mean(const std::string &word, const std::vector<std::string> &words)
  {
    const std::string similar = most_similar(word, words);
    return similar.empty() || similar == word ? "" : "; did you mean '" + similar + "'?";
  }

  std::string without_long_lines(const std::string &message)
  {
    constexpr std::size_t longest = 800, kept = 250;
    const auto            is_within_character = [](char c) { return (static_cast<unsigned char>(c) & 0xc0u) == 0x80u; }; // of UTF-8
    std::string           text;
    for (std::size_t begin = 0; begin <= message.size();)
      {
        const std::size_t end = std::min(message.find('\n', begin), message.size());
        if (end - begin > longest)
          {
            std::size_t first = begin + kept, last = end - kept;
            while (first > begin && is_within_character(message[first]))
              --first;
            while (last < end && is_within_character(message[last]))
              ++last;
            text += message.substr(begin, first - begin) + " ... (" + std::to_string(last - first) + " more characters) ... " +
                    message.substr(last, end - last);
          }
        else
          text += message.substr(begin, end - begin);
        if (end < message.size())
          text += '\n';
        begin = end + 1;
      }
    return text;
  }
} // namespace leopard
