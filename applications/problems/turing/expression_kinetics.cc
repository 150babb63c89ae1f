// SPDX-License-Identifier: Apache-2.0
#include "expression_kinetics.h"

#include <solvers/base/errors.h>

#include <deal.II/base/utilities.h>

#include <algorithm>

namespace leopard
{
  ExpressionKinetics::ExpressionKinetics(const std::vector<std::string>     &species,
                                         const std::vector<NamedExpression> &reactions,
                                         const Constants                    &constants)
    : names(species)
  {
    for (const auto &[constant, value] : constants)
      if (std::find(species.begin(), species.end(), constant) != species.end())
        throw Error("'Turing/Constants' has a value for '" + constant +
                    "', which 'Turing/Species' names too\n  expected: another name for one of them");
    compiled = differentiate(reactions, species, constants);
    for (unsigned int c = 0; c < species.size(); ++c)
      formulas += (c > 0 ? ", " : "") + ("f_" + species[c]) + " = " + reactions[c].text;
    for (const auto &[constant, value] : constants)
      {
        std::ostringstream text;
        text << ", " << constant << " = " << value;
        formulas += text.str();
      }
  }

  void ExpressionKinetics::evaluate(unsigned int n_nodes, const double *u, double *rates, double *jacobian) const
  {
    if (rates != nullptr)
      compiled.values.evaluate(n_nodes, u, rates);
    if (jacobian != nullptr)
      compiled.derivatives.evaluate(n_nodes, u, jacobian);
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
        if (name == "x" || name == "y" || name == "z" || name == "t")
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
