// SPDX-License-Identifier: Apache-2.0
#include "expression.h"

#include "coefficient.h"

#include <applications/symbolic/function_names.h>
#include <applications/symbolic/misreading.h>
#include <applications/symbolic/nesting.h>
#include <solvers/base/errors.h>

#include <deal.II/base/numbers.h>
#include <deal.II/base/utilities.h>

#include <algorithm>
#include <iostream>
#include <regex>
#include <sstream>

namespace leopard
{
  namespace
  {
    /**
     * Keeps to itself what is written to std::cerr: before it throws, deal.II prints five lines about a wrong
     * expression there.
     */
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

  Expression::Expression(const std::string                     &entry_,
                         const std::string                     &text_,
                         const Constants                       &constants_,
                         const std::shared_ptr<const Pictures> &pictures_)
    : entry(entry_)
    , text(dealii::Utilities::trim(text_))
    , constants(constants_)
  {
    if (is_zero())
      return;
    const bool has_pictures = pictures_ != nullptr && pictures_->are_named_in(text);
    if (has_pictures || std::regex_search(text, std::regex("!(?!=)"))) // muParser has no sign for "not"
      {
        pictures = has_pictures ? pictures_ : nullptr;
        tape     = std::make_shared<const reaction_diffusion::ExpressionTape>(compile({entry, text}, names_of_places(pictures.get()), constants));
        return;
      }
    std::string                   names;
    std::map<std::string, double> values = {{"pi", dealii::numbers::PI}};
    for (const auto &[name, value] : constants)
      {
        names += (names.empty() ? " with the constants " : ", ") + name;
        values[name] = value;
      }
    const auto fail = [&](const std::string &reason) {
      throw Error("the expression '" + shortened(text) + "' of the entry '" + entry + "' cannot be evaluated" + reason +
                  "\n  expected: an expression in x, y, z, t" + names + "; pi, + - * / ^, < <= > >= == != && || !, A ? B : C, and the functions " +
                  symbolic::functions_of_muparser());
    };
    if (const std::string reason = why_too_deep(text); !reason.empty())
      fail(": " + reason);
    if (std::regex_search(text, std::regex("\\brand(_seed)?\\s*\\(")))
      fail(": rand() is another number in each call and in each run; 'Turing/Perturbation' and 'Noise' have random numbers of a seed");
    try
      {
        symbolic::refuse_misreadings(text); // muParser takes the last of several results, and assigns
      }
    catch (const symbolic::Misread &misread)
      {
        fail(", at position " + std::to_string(misread.position + 1) + ", '" + shortened(text.substr(misread.position)) + "': " + misread.reason);
      }
    parser = std::make_shared<dealii::FunctionParser<3>>(1);
    // muParser complains at the first evaluation only, and not by name
    try
      {
        const QuietErrors quiet;
        // in "0||y" it would not know the sign
        parser->initialize("x,y,z,t", std::regex_replace(text, std::regex(R"(\|\||&&)"), " $& "), values, true);
        value(dealii::Point<3>(0.3, 0.4, 0.5), 0.1);
      }
    catch (const std::exception &exception)
      {
        // of deal.II's long text only what muParser says is of use here
        std::smatch       match;
        const std::string what = exception.what();
        std::string       reason;
        if (std::regex_search(what, match, std::regex("The parser said: ((?:[^\\n]|\\n(?!\\n|-))*)")))
          reason = ": " + std::regex_replace(dealii::Utilities::trim(match[1].str()), std::regex("\\s+"), " "); // it has line breaks
        fail(reason);
      }
  }

  Expression::Expression(const std::string &entry_, const std::string &description, const reaction_diffusion::ExpressionTape &tape_)
    : entry(entry_)
  {
    const bool is_constant = tape_.instructions.empty() && tape_.outputs[0] >= tape_.n_inputs;
    if (is_constant && tape_.constants[tape_.outputs[0] - tape_.n_inputs] == 0.)
      return;
    text = description;
    tape = std::make_shared<const reaction_diffusion::ExpressionTape>(tape_);
  }

  reaction_diffusion::ExpressionTape Expression::compiled() const
  {
    return tape ? *tape : compile({entry, description()}, names_of_places(nullptr), constants);
  }

  Expression Expression::with_program(const reaction_diffusion::ExpressionTape &program) const
  {
    Expression result = *this;
    result.parser.reset();
    result.tape = std::make_shared<const reaction_diffusion::ExpressionTape>(program);
    return result;
  }

  double Expression::value(const dealii::Point<3> &p, double t) const
  {
    if (tape)
      return value_at(*tape, p, t, pictures.get());
    if (!parser)
      return 0.;
    parser->set_time(t);
    return parser->value(p);
  }

  bool Expression::depends_on_time() const
  {
    constexpr unsigned int time = 3; // of the tape's inputs
    if (tape)
      return tape->outputs[0] == time || std::any_of(tape->instructions.begin(), tape->instructions.end(), [](const auto &instruction) {
               return instruction.a == time || instruction.b == time;
             });
    return std::regex_search(text, std::regex("(^|[^A-Za-z0-9_])t($|[^A-Za-z0-9_(])"));
  }

  BoundaryExpressions::BoundaryExpressions(const Expression &expression)
    : entry(expression.entry_name())
    , for_all_others(std::make_shared<Expression>(expression))
  {
  }

  BoundaryExpressions::BoundaryExpressions(const std::string                     &entry_,
                                           const std::string                     &text,
                                           const Constants                       &constants,
                                           const std::shared_ptr<const Pictures> &pictures)
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
                      "boundary id, a name of the mesh file, or * for all the others, for example '0: x*y; *: 0'");
        std::smatch       next;
        const std::string rest = item.substr(colon + 1);
        if (std::regex_search(rest, next, std::regex(",\\s*([0-9]+|\\*)\\s*:")))
          throw Error("the entry '" + entry + "' has the item '" + item + "', where '" + next[1].str() +
                      ":' begins another one after a comma\n  expected: a semicolon between two items, for example '7: x; 9: 1'");
        const Expression expression(entry + ", boundary " + key, rest, constants, pictures);
        if (key == "*")
          for_all_others = std::make_shared<Expression>(expression);
        else if (!expressions.emplace(std::stoul(key), expression).second)
          throw Error("the entry '" + entry + "' names the boundary id " + key + " twice\n  expected: one expression for each id");
      }
  }

  const Expression *BoundaryExpressions::find(unsigned int boundary_id) const
  {
    const auto found = expressions.find(boundary_id);
    return found != expressions.end() ? &found->second : for_all_others.get();
  }

  bool BoundaryExpressions::depends_on_time() const
  {
    return (for_all_others && for_all_others->depends_on_time()) ||
           std::any_of(expressions.begin(), expressions.end(), [](const auto &item) { return item.second.depends_on_time(); });
  }

  BoundaryExpressions BoundaryExpressions::changed(const std::function<Expression(const Expression &)> &change) const
  {
    BoundaryExpressions result = *this;
    for (auto &[id, expression] : result.expressions)
      expression = change(expression);
    if (for_all_others)
      result.for_all_others = std::make_shared<Expression>(change(*for_all_others));
    return result;
  }

  std::vector<unsigned int> BoundaryExpressions::named_ids() const
  {
    std::vector<unsigned int> ids;
    for (const auto &[id, expression] : expressions)
      ids.push_back(id);
    return ids;
  }
} // namespace leopard
