// SPDX-License-Identifier: Apache-2.0
#include "list_syntax.h"

#include <solvers/base/errors.h>

#include <deal.II/base/utilities.h>

namespace leopard
{
  using dealii::Utilities::trim;

  namespace
  {
    [[noreturn]] void reject(const std::string &entry, const std::string &text, const std::string &expected)
    {
      throw Error("'" + entry + "' has '" + text + "'\n  expected: " + expected);
    }

    std::pair<std::string, std::string> parse_setting(const std::string &entry, const std::string &text, const std::string &whole)
    {
      const auto equals = text.find('=');
      if (equals == std::string::npos || trim(text.substr(0, equals)).empty())
        reject(entry, whole, "settings of the form NAME=VALUE where '" + trim(text) + "' stands");
      return {trim(text.substr(0, equals)), trim(text.substr(equals + 1))};
    }
  } // namespace

  std::vector<std::string> split_list(const std::string &entry, const std::string &text)
  {
    std::vector<std::string> parts;
    if (trim(text).empty())
      return parts;
    std::string part, open; // closing brackets that are awaited
    for (const char c : text)
      {
        if (c == '(' || c == '[')
          open += c == '(' ? ')' : ']';
        else if (c == ')' || c == ']')
          {
            if (open.empty() || open.back() != c)
              reject(entry, text, std::string("no '") + c + "' without its opening bracket");
            open.pop_back();
          }
        if (c == ',' && open.empty())
          {
            parts.push_back(trim(part));
            part.clear();
          }
        else
          part += c;
      }
    if (!open.empty())
      reject(entry, text, std::string("a '") + open.back() + "' for each opening bracket");
    parts.push_back(trim(part));
    for (const std::string &p : parts)
      if (p.empty())
        reject(entry, text, "something between two commas");
    return parts;
  }

  NamedSettings parse_call(const std::string &entry, const std::string &text)
  {
    NamedSettings result;
    const auto    open = text.find('(');
    result.name        = trim(text.substr(0, open));
    if (open == std::string::npos)
      return result;
    if (result.name.empty() || text.back() != ')')
      reject(entry, text, "NAME or NAME(SETTING=VALUE, ...)");
    for (const std::string &setting : split_list(entry, text.substr(open + 1, text.size() - open - 2)))
      result.settings.push_back(parse_setting(entry, setting, text));
    return result;
  }

  NamedSettings parse_bracketed(const std::string &entry, const std::string &text)
  {
    NamedSettings result;
    auto          open = text.find('[');
    result.name        = trim(text.substr(0, open));
    if (result.name.empty())
      reject(entry, text, "a name before the first bracket");
    while (open != std::string::npos)
      {
        const auto close = text.find(']', open), next = text.find('[', open + 1);
        if (close == std::string::npos || next < close || !trim(text.substr(close + 1, next == std::string::npos ? next : next - close - 1)).empty())
          reject(entry, text, "NAME [SECTION/ENTRY=VALUE] [SECTION/ENTRY=VALUE] ...");
        result.settings.push_back(parse_setting(entry, text.substr(open + 1, close - open - 1), text));
        open = next;
      }
    return result;
  }
} // namespace leopard
