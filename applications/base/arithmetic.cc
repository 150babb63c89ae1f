// SPDX-License-Identifier: Apache-2.0
#include "arithmetic.h"

#include <solvers/base/errors.h>

#include <cmath>
#include <cstdlib>

namespace leopard
{
  namespace
  {
    bool is_plain_number(const std::string &text)
    {
      char *end = nullptr;
      std::strtod(text.c_str(), &end);
      return !text.empty() && *end == '\0';
    }

    std::string written(double value)
    {
      const bool is_integer = value == std::floor(value) && std::abs(value) < 1e15;
      if (is_integer)
        return std::to_string(static_cast<long long>(value));
      const std::string text = to_expression(value);
      return text.front() == '(' ? text.substr(1, text.size() - 2) : text;
    }

    /** "position 3, 'abc': there is no constant 'abc'" of an Error's text. */
    std::string reason_of(const Error &error)
    {
      std::string text = error.what();
      text             = text.substr(0, text.find('\n'));
      const auto begin = text.find("cannot be used, ");
      return begin == std::string::npos ? text : text.substr(begin + 16);
    }
  } // namespace

  bool is_numeric(const std::string &pattern)
  {
    return pattern.find("[Integer") != std::string::npos || pattern.find("[Double") != std::string::npos;
  }

  std::string
  computed_value(const std::string &pattern, const std::string &entry, const std::string &text, const Constants &constants, std::string &why_not)
  {
    if (!is_numeric(pattern) || text.empty())
      return "";
    const bool  is_list = pattern.rfind("[List", 0) == 0;
    const auto  items   = is_list ? split_outside_parentheses(text, ',') : std::vector<std::string>{text};
    bool        any     = false;
    std::string result;
    try
      {
        for (const std::string &item : items)
          {
            any = any || !is_plain_number(item);
            result += (result.empty() ? "" : ", ") + (is_plain_number(item) ? item : written(value_of({entry, item}, constants)));
          }
      }
    catch (const Error &error)
      {
        why_not = reason_of(error);
        return "";
      }
    return any ? result : "";
  }

  std::string plain_number(const std::string &text, const Constants &constants)
  {
    if (is_plain_number(text))
      return text;
    try
      {
        return written(value_of({"", text}, constants));
      }
    catch (const Error &)
      {
        return text;
      }
  }
} // namespace leopard
