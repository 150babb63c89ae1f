// SPDX-License-Identifier: Apache-2.0
#include "parameter_file.h"

#include "entry_documentation.h"

#include <solvers/base/errors.h>
#include <solvers/base/words.h>

#include <deal.II/base/parameter_handler.h>
#include <deal.II/base/utilities.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <functional>
#include <limits>
#include <map>
#include <sstream>

namespace leopard
{
  using dealii::ParameterHandler;
  using dealii::Utilities::trim;
  using Path = std::vector<std::string>;

  namespace
  {
    struct Assignment
    {
      Path        path; ///< sections, then the entry
      std::string value;
      std::string where; ///< "file.prm:12"
    };

    std::string join(const Path &path)
    {
      return joined(path, "/");
    }

    using Report = std::function<void(const std::string &where, const std::string &what)>;

    /** Splits the text in assignments and reports lines that are none. */
    std::vector<Assignment> scan(const std::string &text, const std::string &file_name, const Report &report)
    {
      std::vector<Assignment>  assignments;
      Path                     sections;
      std::vector<std::string> opened; // where each open section began
      std::istringstream       stream(text);
      unsigned int             number = 0;
      std::string              where;
      for (std::string raw; std::getline(stream, raw);)
        {
          ++number;
          where = file_name + ":" + std::to_string(number);
          std::string line;
          const auto  without_comment = [](const std::string &s) { return trim(s.substr(0, s.find('#'))); };
          if (number == 1 && raw.rfind("\xEF\xBB\xBF", 0) == 0) // the byte order mark that some editors write
            raw.erase(0, 3);
          line = without_comment(raw);
          while (!line.empty() && line.back() == '\\' && std::getline(stream, raw))
            {
              ++number;
              line = line.substr(0, line.size() - 1) + without_comment(raw);
            }
          if (line.empty())
            continue;
          const std::string word = line.substr(0, line.find_first_of(" \t"));
          const std::string rest = trim(line.substr(word.size()));
          if (word == "subsection" && !rest.empty())
            {
              sections.push_back(rest);
              opened.push_back(where);
            }
          else if (word == "end" && rest.empty())
            {
              if (sections.empty())
                report(where, "'end' without a section to end");
              else
                {
                  sections.pop_back();
                  opened.pop_back();
                }
            }
          else if (word == "set" && rest.find('=') != std::string::npos)
            {
              Assignment assignment;
              assignment.path = sections;
              assignment.path.push_back(trim(rest.substr(0, rest.find('='))));
              assignment.value = trim(rest.substr(rest.find('=') + 1));
              assignment.where = where;
              assignments.push_back(assignment);
            }
          else
            report(where, "the line '" + line + "' is not understood\n  expected: subsection NAME, set NAME = VALUE, or end");
        }
      for (std::size_t i = 0; i < sections.size(); ++i)
        report(opened[i], "the section '" + sections[i] + "' has no 'end'");
      return assignments;
    }

    std::string suggestion(const Path &path, const std::vector<Path> &declared)
    {
      if (path.empty()) // of "/"
        return "--print-parameters shows all entries";
      // the same name in another section first, then the most similar path
      for (const Path &candidate : declared)
        if (candidate.back() == path.back())
          return "it is known in " + (candidate.size() > 1 ? "section '" + candidate[0] + "'" : std::string("no section")) + ": did you mean '" +
                 join(candidate) + "'?";
      for (const Path &candidate : declared)
        if (candidate.size() > 1 && path.size() == 1 && join(candidate) == path.back())
          return "in a file it stands between 'subsection " + candidate[0] + "' and 'end', as '" + candidate[1] + "'";
      std::vector<std::string> paths;
      for (const Path &candidate : declared)
        paths.push_back(path.size() == 1 ? candidate.back() : join(candidate));
      const std::string similar = most_similar(join(path), paths);
      const auto        found   = std::find(paths.begin(), paths.end(), similar);
      return found == paths.end() ? "--print-parameters shows all entries" : "did you mean '" + join(declared[found - paths.begin()]) + "'?";
    }

    /** What a pattern's exception says of it: "[Double 0...MAX_DOUBLE (inclusive)]". */
    std::string pattern_in(const ParameterHandler::ExcValueDoesNotMatchPattern &exception)
    {
      std::ostringstream info;
      exception.print_info(info);
      const std::string text = info.str();
      if (const auto list = text.rfind("[List"); list != std::string::npos)
        return trim(text.substr(list));
      const auto bracket = text.rfind("\n[") != std::string::npos ? text.rfind("\n[") + 1 : text.rfind('[');
      return bracket == std::string::npos ? text : trim(text.substr(bracket));
    }

    /** f(item, number) for the numbers of a list. */
    template <typename F>
    void for_numbers(const std::string &list, const F &f)
    {
      for (const std::string &item : dealii::Utilities::split_string_list(list, ','))
        {
          char *end           = nullptr;
          errno               = 0;
          const double number = std::strtod(item.c_str(), &end);
          if (!item.empty() && *end == '\0')
            f(item, number);
        }
    }

    /** ", at most 2147483647" where a number does not fit into the integers of deal.II; else nothing. */
    std::string range_of_integers(const std::string &pattern, const std::string &value)
    {
      using Limits = std::numeric_limits<int>;
      std::string text;
      for_numbers(value, [&](const std::string & /*item*/, double number) {
        if (number > Limits::max() || number < Limits::min())
          text = number > 0. ? ", at most " + std::to_string(Limits::max()) : ", at least " + std::to_string(Limits::min());
      });
      return pattern.find("[Integer") == std::string::npos ? "" : text;
    }

    /**
     * A number that double precision does not hold, or holds with fewer digits, which deal.II cannot read; or nothing.
     */
    std::string beyond_double(const std::string &value)
    {
      std::string found;
      for_numbers(value, [&](const std::string &item, double /*number*/) {
        if (errno == ERANGE)
          found = item;
      });
      return found;
    }

    /**
     * Whether a value can be written to a parameter file and read again: # begins a comment, and a \ at the end goes on
     * in the next line.
     */
    bool fits_in_a_line(const std::string &value)
    {
      return std::none_of(value.begin(), value.end(), [](unsigned char c) { return c == '#' || (std::iscntrl(c) != 0 && c != '\t'); }) &&
             (value.empty() || value.back() != '\\');
    }

    void set(ParameterHandler            &prm,
             const Assignment            &assignment,
             const std::vector<Path>     &declared,
             const Constants             &constants,
             std::vector<ComputedNumber> &computed,
             const Report                &report)
    {
      const Path &path = assignment.path;
      if (std::find(declared.begin(), declared.end(), path) == declared.end())
        {
          report(assignment.where, "there is no entry '" + join(path) + "'; " + suggestion(path, declared));
          return;
        }
      const auto refuse_size = [&](const std::string &number) {
        report(assignment.where,
               "'" + join(path) + "' is '" + assignment.value + "': " + number +
                 " is beyond the range of double precision\n  expected: 0, or numbers from 2.3e-308 to 1.7e308 in size");
      };
      if (const std::string number = beyond_double(assignment.value); !number.empty())
        {
          refuse_size(number);
          return;
        }
      for (std::size_t i = 0; i + 1 < path.size(); ++i)
        prm.enter_subsection(path[i]);
      try
        {
          prm.set(path.back(), assignment.value);
        }
      catch (const ParameterHandler::ExcValueDoesNotMatchPattern &exception)
        {
          const std::string pattern = pattern_in(exception);
          std::string       value, why_not, range = range_of_integers(pattern, assignment.value);
          try
            {
              value = computed_value(pattern, join(path), assignment.value, constants, why_not);
              if (const std::string number = beyond_double(value); !number.empty())
                refuse_size(number);
              else if (!value.empty())
                {
                  prm.set(path.back(), value);
                  computed.push_back({join(path), assignment.value, value});
                }
            }
          catch (const ParameterHandler::ExcValueDoesNotMatchPattern &)
            {
              why_not = "it is " + value;
              range   = range_of_integers(pattern, value);
              value   = "";
            }
          if (value.empty())
            report(assignment.where,
                   "'" + join(path) + "' is '" + assignment.value + "'" + (why_not.empty() ? "" : ": " + why_not) +
                     "\n  expected: " + in_words(pattern) + range + (is_numeric(pattern) ? ", or arithmetic such as 2*pi/3" : ""));
        }
      for (std::size_t i = 0; i + 1 < path.size(); ++i)
        prm.leave_subsection();
    }
  } // namespace

  std::vector<Path> declared_entries(ParameterHandler &prm)
  {
    std::ostringstream stream; // entries_of() takes ten times as long
    prm.print_parameters(stream, ParameterHandler::ShortPRM | ParameterHandler::KeepDeclarationOrder);
    std::vector<Path> paths;
    for (const Assignment &assignment : scan(stream.str(), "", [](const std::string &, const std::string &) {}))
      paths.push_back(assignment.path);
    std::stable_partition(paths.begin(), paths.end(), [](const Path &path) { return path.size() == 1; }); // as entries_of()
    return paths;
  }

  std::vector<ComputedNumber> parse_parameters(ParameterHandler               &prm,
                                               const std::string              &text,
                                               const std::string              &file_name,
                                               const std::vector<std::string> &overrides,
                                               const Constants                &constants)
  {
    std::vector<ComputedNumber> computed;
    std::vector<std::string>    mistakes;
    const Report                report      = [&](const std::string &where, const std::string &what) { mistakes.push_back(where + ": " + what); };
    const auto                  declared    = declared_entries(prm);
    const auto                  assignments = scan(text, file_name, report);

    std::map<std::string, std::string> set_at;
    for (const Assignment &assignment : assignments)
      {
        const auto [first, is_new] = set_at.emplace(join(assignment.path), assignment.where);
        if (is_new)
          set(prm, assignment, declared, constants, computed, report);
        else
          report(assignment.where, "'" + first->first + "' is set again; it was set at " + first->second);
      }
    for (const std::string &item : overrides)
      {
        const auto equals = item.find('=');
        if (equals == std::string::npos || trim(item.substr(0, equals)).empty())
          {
            report("--set \"" + item + "\"", "the form is not understood\n  expected: --set \"Section/Entry=value\"");
            continue;
          }
        Assignment assignment;
        for (const std::string &part : dealii::Utilities::split_string_list(item.substr(0, equals), '/'))
          assignment.path.push_back(part);
        assignment.value = trim(item.substr(equals + 1));
        assignment.where = "--set \"" + item + "\"";
        if (!fits_in_a_line(assignment.value))
          {
            report(assignment.where,
                   "the value is no line of a parameter file\n  expected: no line breaks and other control characters, no # and no \\ at the end");
            continue;
          }
        set(prm, assignment, declared, constants, computed, report);
      }

    if (mistakes.empty())
      return computed;
    std::string all;
    for (std::size_t i = 0; i < std::min<std::size_t>(mistakes.size(), 10); ++i)
      all += (i == 0 ? "" : "\n") + mistakes[i];
    if (mistakes.size() > 10)
      all += "\n... and " + std::to_string(mistakes.size() - 10) + " more";
    throw Error(all);
  }

  std::string find_entry(ParameterHandler &prm, const std::string &name, const std::string &where)
  {
    Path path;
    for (const std::string &part : dealii::Utilities::split_string_list(name, '/'))
      path.push_back(part);
    const auto  declared = declared_entries(prm);
    std::string found, all;
    for (const Path &candidate : declared)
      if (candidate == path)
        return join(candidate); // "Dimension" of no section, or the whole path
      else if (path.size() == 1 && candidate.back() == path.back())
        {
          all += (found.empty() ? "'" : ", '") + join(candidate) + "'";
          found = join(candidate);
        }
    if (found.empty())
      throw Error(where + ": there is no entry '" + name + "'; " + suggestion(path, declared));
    if (all != "'" + found + "'")
      throw Error(where + ": the entry '" + name + "' stands in several sections\n  expected: one of " + all);
    return found;
  }

  std::vector<std::pair<std::string, std::string>> assignments_of(const std::string &text)
  {
    std::vector<std::pair<std::string, std::string>> result;
    for (const Assignment &assignment : scan(text, "", [](const std::string &, const std::string &) {}))
      result.emplace_back(join(assignment.path), assignment.value);
    return result;
  }

  std::string given_value(const std::string &text, const std::vector<std::string> &overrides, const std::string &entry)
  {
    std::string value;
    for (const auto &[path, given] : assignments_of(text))
      if (path == entry)
        value = given;
    for (const std::string &item : overrides)
      if (const auto equals = item.find('='); equals != std::string::npos && trim(item.substr(0, equals)) == entry)
        value = trim(item.substr(equals + 1));
    return value;
  }

  GivenEntries given_entries(const std::string &text, const std::string &file_name, const std::vector<std::string> &overrides)
  {
    GivenEntries entries;
    for (const Assignment &assignment : scan(text, file_name, [](const std::string &, const std::string &) {}))
      entries[join(assignment.path)] = assignment.where;
    for (const std::string &item : overrides)
      entries[join(dealii::Utilities::split_string_list(item.substr(0, item.find('=')), '/'))] = "--set \"" + item + "\"";
    return entries;
  }

  std::string place_of(const std::string &message, const GivenEntries &given)
  {
    std::string place;
    std::size_t first = message.find("\n  expected:");
    for (const auto &[entry, where] : given)
      for (const char *end : {"'", ", "}) // 'Laplace/Boundary values, boundary 3'
        if (const std::size_t position = message.find("'" + entry + end); position < first)
          {
            first = position;
            place = where;
          }
    return place;
  }

  std::vector<std::string> with_constants(const std::string &text, const std::vector<std::string> &overrides, const std::string &constants)
  {
    std::vector<std::string> result;
    for (const std::string &item : overrides)
      {
        const auto        equals = item.find('=');
        const std::string path   = trim(item.substr(0, equals));
        if (equals == std::string::npos || path.rfind(constants + "/", 0) != 0)
          {
            result.push_back(item);
            continue;
          }
        const std::string name = trim(path.substr(constants.size() + 1));
        std::string       all, known;
        bool              found = false;
        for (const std::string &part : split_outside_parentheses(given_value(text, result, constants), ','))
          if (const std::string other = trim(part.substr(0, part.find(':'))); !part.empty())
            {
              found = found || other == name;
              known += (known.empty() ? "" : ", ") + other;
              all += (all.empty() ? "" : ", ") + (other == name ? name + ": " + trim(item.substr(equals + 1)) : part);
            }
        if (!found)
          throw Error("--set \"" + item + "\": '" + constants + "' has no constant '" + name +
                      "'\n  expected: " + (known.empty() ? "constants there, for example '" + name + ": 1'" : "one of " + known));
        result.push_back(constants + "=" + all);
      }
    return result;
  }
} // namespace leopard
