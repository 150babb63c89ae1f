// SPDX-License-Identifier: Apache-2.0
// What a study says of numbers that a test gives it.
#pragma once

#include <applications/studies/papers/study_report.h>

#include <functional>
#include <sstream>
#include <string>

namespace leopard::studies
{
  inline const char *const holds = "holds", *const not_so = "does not hold", *const open = "is not decided here";

  /** The verdicts of findings, with what was measured. */
  struct Said
  {
    explicit Said(const std::function<void(Report &)> &judge)
    {
      std::ostringstream out;
      Report             report(out, "");
      judge(report);
      report.finish();
      text = out.str();
    }

    /** The verdict of the one finding whose claim has these words. */
    std::string of(const std::string &words) const
    {
      std::istringstream lines(text);
      std::string        found = "no finding";
      for (std::string line; std::getline(lines, line);)
        for (const char *verdict : {holds, not_so, open})
          if (const std::size_t at = line.find(std::string(": ") + verdict + ": "); at != std::string::npos && line.substr(0, at).find(words) < at)
            {
              if (found != "no finding")
                return "several findings";
              found = verdict;
            }
      return found;
    }

    int count(const std::string &words) const
    {
      int n = 0;
      for (std::size_t at = text.find(words); at != std::string::npos; at = text.find(words, at + 1))
        ++n;
      return n;
    }

    int n_holding() const { return count(": holds: "); }

    std::string text;
  };
} // namespace leopard::studies
