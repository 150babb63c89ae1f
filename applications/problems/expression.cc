// SPDX-License-Identifier: Apache-2.0
#include "expression.h"

#include <applications/symbolic/nesting.h>
#include <solvers/base/errors.h>

#include <deal.II/base/numbers.h>
#include <deal.II/base/utilities.h>

#include <iostream>
#include <regex>
#include <sstream>

namespace leopard
{
  namespace
  {
    /** Keeps to itself what is written to std::cerr: before it throws, deal.II prints five lines about a wrong expression there. */
    class QuietErrors
    {
    public:
      QuietErrors()
        : before(std::cerr.rdbuf(kept.rdbuf()))
      {
      }
      ~QuietErrors() { std::cerr.rdbuf(before); }
      QuietErrors(const QuietErrors &)            = delete;
      QuietErrors &operator=(const QuietErrors &) = delete;

    private:
      std::ostringstream    kept;
      std::streambuf *const before;
    };
  } // namespace

  Expression::Expression(const std::string &entry_, const std::string &text_, const std::string &variables)
    : entry(entry_)
    , text(dealii::Utilities::trim(text_))
  {
    if (is_zero())
      return;
    const auto fail = [&](const std::string &reason) {
      throw Error("the expression '" + shortened(text) + "' of the entry '" + entry + "' cannot be evaluated" + reason +
                  "\n  expected: an expression in " + variables + ",t with muParser's functions (sin, exp, sqrt, if(a,b,c), ...) and pi");
    };
    if (const std::string reason = why_too_deep(text); !reason.empty())
      fail(": " + reason);
    parser = std::make_shared<dealii::FunctionParser<3>>(1);
    // muParser complains at the first evaluation only, and not by name
    try
      {
        const QuietErrors quiet;
        parser->initialize(variables + ",t", text, {{"pi", dealii::numbers::PI}}, true);
        value(dealii::Point<3>(0.3, 0.4, 0.5), 0.1);
      }
    catch (const std::exception &exception)
      {
        // of deal.II's long text only what muParser says is of use here
        std::smatch       match;
        const std::string what = exception.what();
        std::string       reason;
        if (std::regex_search(what, match, std::regex("The parser said: ([^\\n]*)")))
          reason = ": " + match[1].str();
        fail(reason);
      }
  }

  double Expression::value(const dealii::Point<3> &p, double t) const
  {
    if (!parser)
      return 0.;
    parser->set_time(t);
    return parser->value(p);
  }

  bool Expression::depends_on_time() const
  {
    return std::regex_search(text, std::regex("(^|[^A-Za-z0-9_])t($|[^A-Za-z0-9_(])"));
  }

  BoundaryExpressions::BoundaryExpressions(const std::string &entry_, const std::string &text)
    : entry(entry_)
  {
    for (const std::string &item : dealii::Utilities::split_string_list(text, ';'))
      {
        if (item.empty())
          continue;
        const auto colon = item.find(':');
        const auto key   = dealii::Utilities::trim(item.substr(0, colon));
        const bool is_id = !key.empty() && key.find_first_not_of("0123456789") == std::string::npos && key.size() < 9;
        if (colon == std::string::npos || !(is_id || key == "*"))
          throw Error("the entry '" + entry + "' has the item '" + item + "'\n  expected: ID: EXPRESSION; ID: EXPRESSION; ... where ID is a " +
                      "boundary id or * for all the others, for example '0: x*y; *: 0'");
        const Expression expression(entry + ", boundary " + key, item.substr(colon + 1));
        if (key == "*")
          for_all_others = std::make_shared<Expression>(expression);
        else if (!expressions.emplace(std::stoul(key), expression).second)
          throw Error("the entry '" + entry + "' names the boundary id " + key + " twice");
      }
  }

  const Expression *BoundaryExpressions::find(unsigned int boundary_id) const
  {
    const auto found = expressions.find(boundary_id);
    return found != expressions.end() ? &found->second : for_all_others.get();
  }

  std::vector<unsigned int> BoundaryExpressions::named_ids() const
  {
    std::vector<unsigned int> ids;
    for (const auto &[id, expression] : expressions)
      ids.push_back(id);
    return ids;
  }
} // namespace leopard
