// SPDX-License-Identifier: Apache-2.0
#include "reference.h"

#include "entries.h"
#include "parameters.h"

#include <solvers/base/errors.h>

#include <deal.II/base/utilities.h>

#include <algorithm>
#include <map>
#include <set>

namespace leopard
{
  namespace
  {
    using Overrides = std::vector<std::string>;

    /** Files whose unused entries are asked for. */
    struct Example
    {
      Overrides overrides;
      bool      with_all_choices; ///< and with each other choice of an entry, one at a time
    };

    const std::vector<Example> &examples()
    {
      static const std::vector<Example> list = {
        {{"Problem=turing"}, true},
        {{"Problem=turing",
          "Turing/Kinetics=expressions",
          "Turing/Steady state=none",
          "Turing/Reaction u=u",
          "Turing/Reaction v=v",
          "Turing/Diffusion u=1",
          "Turing/Diffusion v=1"},
         false},
        {{"Problem=laplace", "Linear solver/Method=multigrid", "Linear solver/Preconditioner=none"}, true},
        {{"Problem=helmholtz", "Linear solver/Method=direct", "Linear solver/Preconditioner=none"}, false},
        {{"Problem=laplace", "Linear solver/Method=async", "Linear solver/Preconditioner=none", "Linear solver/Tuning time=1"}, false},
        {{"Problem=laplace",
          "Linear solver/Method=async",
          "Linear solver/Preconditioner=none",
          "Linear solver/Schedule=replay",
          "Linear solver/Overlap=uniform",
          "Linear solver/Overlap level=1"},
         false},
        {{"Problem=reaction-diffusion", "Reaction-diffusion/Reaction=expression", "Reaction-diffusion/f=u"}, false},
        {{"Problem=laplace", "Study=smoothers"}, false}};
      return list;
    }

    using Reasons = std::map<std::string, std::vector<std::string>>; ///< of an entry

    void ask(const Overrides &overrides, const std::vector<DeclaredEntry> &entries, Reasons &reasons, MPI_Comm comm)
    {
      try
        {
          const Parameters parameters("", overrides, comm);
          for (const DeclaredEntry &entry : entries)
            for (const RunKind &run : {RunKind{parameters}, RunKind{parameters, true}, RunKind{parameters, true, 0, false}})
              if (!run.fused || (parameters.study == "none" && parameters.problem->time_dependent()))
                if (const std::string why = why_not_used(entry.name(), run); !why.empty())
                  if (auto &known = reasons[entry.name()]; std::find(known.begin(), known.end(), why) == known.end())
                    known.push_back(why);
        }
      catch (const Error &)
        {
          return; // a choice that contradicts the others
        }
    }

    /** "'A' is b" and "'A' is c" become "'A' is b or c". */
    std::string joined(const std::vector<std::string> &reasons)
    {
      std::vector<std::pair<std::string, std::vector<std::string>>> groups; // "'A' is ", and b, c
      for (const std::string &reason : reasons)
        {
          const auto        is   = reason.front() == '\'' ? reason.find("' is ") : std::string::npos;
          const bool        one  = is != std::string::npos && reason.find(',') == std::string::npos;
          const std::string head = one ? reason.substr(0, is + 5) : reason, value = one ? reason.substr(is + 5) : "";
          auto              group = std::find_if(groups.begin(), groups.end(), [&](const auto &g) { return g.first == head; });
          if (group == groups.end())
            group = groups.insert(groups.end(), {head, {}});
          group->second.push_back(value);
        }
      std::string text;
      for (const auto &[head, values] : groups)
        {
          text += (text.empty() ? "" : "; ") + head;
          for (std::size_t i = 0; i < values.size(); ++i)
            text += (i == 0 ? "" : i + 1 == values.size() ? " or " : ", ") + values[i];
        }
      return text;
    }

    /** Without what begins a list or a table in Markdown. */
    std::string escaped(const std::string &text)
    {
      std::string result;
      for (const char c : text)
        result += (std::string("*_|<>").find(c) != std::string::npos ? "\\" : "") + std::string(1, c);
      return result;
    }

    std::string describe(const DeclaredEntry &entry, const std::vector<std::string> &reasons)
    {
      const std::string allowed = in_words(entry.pattern), unused = joined(reasons);
      return "- **" + escaped(entry.path.back()) + "**" + (allowed.empty() ? "" : ": " + escaped(allowed)) + "; default " +
             (entry.default_value.empty() ? "empty" : "`" + entry.default_value + "`") + ".\n  " + escaped(entry.documentation) + "\n" +
             (unused.empty() ? "" : "  *Not used where " + escaped(unused) + ".*\n");
    }
  } // namespace

  std::string reference_of_entries(MPI_Comm comm)
  {
    const std::vector<DeclaredEntry> entries = Parameters::declared();
    Reasons                          reasons;
    for (const Example &example : examples())
      {
        ask(example.overrides, entries, reasons, comm);
        for (const DeclaredEntry &entry : entries)
          for (const std::string &choice : example.with_all_choices ? choices_of(entry.pattern) : std::vector<std::string>())
            if (choice != entry.default_value && entry.name() != "Problem" && entry.name() != "Study")
              {
                Overrides other = example.overrides;
                other.push_back(entry.name() + "=" + choice);
                ask(other, entries, reasons, comm);
              }
      }
    std::string text =
      "# Parameters\n\n"
      "All entries of a parameter file, as `leopard --print-parameters=markdown` prints them: this file is made by\n"
      "`leopard --print-parameters=markdown > doc/parameters.md`, and a test says when it is out of date.\n\n"
      "A number may be written as arithmetic, `2*pi/3`, with the constants of the problem's entry `Constants`. An entry that is given and\n"
      "not used is named in the log, with the reason.\n\n## Entries without section\n\n";
    std::string section;
    for (const DeclaredEntry &entry : entries)
      {
        if (entry.path.size() > 1 && entry.path.front() != section)
          {
            section = entry.path.front();
            text += "\n## Section `" + section + "`\n\n";
          }
        auto &why = reasons[entry.name()];
        why.erase(std::remove_if(why.begin(),
                                 why.end(),
                                 [](const std::string &reason) {
                                   return reason.rfind("the problem is ", 0) == 0 && reason != "the problem is stationary" &&
                                          reason != "the problem is linear";
                                 }),
                  why.end());
        text += describe(entry, why);
      }
    return text;
  }
} // namespace leopard
