// SPDX-License-Identifier: Apache-2.0
#include "kinetics.h"

#include <solvers/base/errors.h>

#include <deal.II/base/utilities.h>

#include <algorithm>
#include <cctype>
#include <sstream>

namespace leopard
{
  ExpressionKinetics::ExpressionKinetics(const std::vector<std::string>     &species,
                                         const std::vector<NamedExpression> &reactions,
                                         const Constants                    &constants_,
                                         MPI_Comm                            comm,
                                         std::shared_ptr<const Pictures>     pictures)
    : names(species)
    , constants(constants_)
    , compiled(species, reactions, constants_, comm, std::move(pictures))
  {
    for (unsigned int c = 0; c < species.size(); ++c)
      formulas += (c > 0 ? ", " : "") + ("f_" + species[c]) + " = " + reactions[c].text;
    for (const auto &[constant, value] : constants)
      {
        std::ostringstream text;
        text << ", " << constant << " = " << value;
        formulas += text.str();
      }
  }

  BuiltInKinetics::BuiltInKinetics(const std::vector<Parameter> &constants_, const std::string &f, const std::string &g)
    : constants(constants_)
    , reactions({{"f", f}, {"g", g}})
  {
  }

  void BuiltInKinetics::compile(MPI_Comm comm, const Constants &known, const std::shared_ptr<const Pictures> &pictures)
  {
    if (std::any_of(constants.begin(), constants.end(), [](const Parameter &constant) { return !constant.expression.empty(); }))
      {
        std::vector<NamedExpression> on_place = reactions;
        for (NamedExpression &reaction : on_place)
          reaction.text = with_constants(reaction.text);
        compiled = std::make_shared<const ExpressionKinetics>(species(), on_place, known, comm, pictures);
        return;
      }
    Constants values;
    for (const Parameter &constant : constants)
      values.emplace_back(constant.name, constant.value);
    compiled = std::make_shared<const ExpressionKinetics>(species(), reactions, values, comm);
  }

  std::string BuiltInKinetics::with_constants(const std::string &reaction) const
  {
    // word by word, so that what is put in is not looked at again: it may name constants of the file
    std::string result, word;
    for (const char c : reaction + ' ')
      {
        if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_')
          {
            word += c;
            continue;
          }
        const auto found = std::find_if(constants.begin(), constants.end(), [&](const Parameter &constant) { return constant.name == word; });
        result += found == constants.end() ? word : "(" + (found->expression.empty() ? to_expression(found->value) : found->expression) + ")";
        result += c;
        word.clear();
      }
    return dealii::Utilities::trim(result);
  }

  std::string BuiltInKinetics::formula() const
  {
    std::string text = dealii::Utilities::replace_in_string("f = " + reactions[0].text + ", g = " + reactions[1].text, "*", " ");
    for (const Parameter &constant : constants)
      if (!constant.expression.empty())
        text += ", " + constant.name + " = " + constant.expression;
    return text;
  }

  double BuiltInKinetics::value(const std::string &name) const
  {
    return std::find_if(constants.begin(), constants.end(), [&](const Parameter &constant) { return constant.name == name; })->value;
  }

  std::vector<std::string> read_species(const std::string &text)
  {
    const auto fail = [&](const std::string &reason) {
      throw Error("'Turing/Species' is '" + text + "': " + reason + "\n  expected: names separated by commas, for example u, v, w");
    };
    std::vector<std::string> species;
    for (const std::string &name : dealii::Utilities::split_string_list(text, ','))
      {
        if (const std::string reason = why_no_name(name); !reason.empty())
          fail(reason);
        if (names_coordinate_or_time(name))
          fail("'" + name + "' means a coordinate or the time in other expressions");
        if (std::find(species.begin(), species.end(), name) != species.end())
          fail("'" + name + "' stands there twice");
        species.push_back(name);
      }
    if (species.empty())
      fail("a name is missing");
    return species;
  }
} // namespace leopard
