// SPDX-License-Identifier: Apache-2.0
#include "kinetics.h"

#include <solvers/base/errors.h>

#include <deal.II/base/utilities.h>

#include <algorithm>
#include <sstream>

namespace leopard
{
  namespace
  {
    const std::vector<std::string> places_in_space_and_time = {"x", "y", "z", "t"};
  }

  ExpressionKinetics::ExpressionKinetics(const std::vector<std::string>     &species,
                                         const std::vector<NamedExpression> &reactions_,
                                         const Constants                    &constants_)
    : names(species)
    , reactions(reactions_)
    , constants(constants_)
  {
    bool       on_place  = false;
    const auto has_value = [&](const std::string &name) {
      return std::any_of(constants.begin(), constants.end(), [&](const auto &constant) { return constant.first == name; });
    };
    for (const auto &[constant, value] : constants)
      if (std::find(species.begin(), species.end(), constant) != species.end())
        throw Error("'Turing/Constants' has a value for '" + constant +
                    "', which 'Turing/Species' names too\n  expected: another name for one of them");
    for (const NamedExpression &reaction : reactions)
      for (const std::string &name : places_in_space_and_time)
        on_place = on_place || (is_named(name, reaction.text) && !has_value(name));
    compiled = differentiate(reactions, species, constants, on_place ? places_in_space_and_time : std::vector<std::string>());
    for (unsigned int c = 0; c < species.size(); ++c)
      formulas += (c > 0 ? ", " : "") + ("f_" + species[c]) + " = " + reactions[c].text;
    for (const auto &[constant, value] : constants)
      {
        std::ostringstream text;
        text << ", " << constant << " = " << value;
        formulas += text.str();
      }
  }

  void ExpressionKinetics::evaluate(unsigned int n_nodes, const double *u, double *rates, double *jacobian, const Places &places) const
  {
    static thread_local std::vector<double> inputs;
    if (depends_on_place())
      {
        const std::size_t n = names.size(), width = compiled.values.n_inputs;
        inputs.assign(n_nodes * width, 0.);
        for (unsigned int i = 0; i < n_nodes; ++i)
          {
            double *const input = inputs.data() + i * width;
            std::copy_n(u + i * n, n, input);
            if (places.coordinates != nullptr)
              std::copy_n(places.coordinates + static_cast<std::size_t>(i) * places.dimension, places.dimension, input + n);
            input[n + 3] = places.time;
          }
        u = inputs.data();
      }
    if (rates != nullptr)
      compiled.values.evaluate(n_nodes, u, rates);
    if (jacobian != nullptr)
      compiled.derivatives.evaluate(n_nodes, u, jacobian);
  }

  BuiltInKinetics::BuiltInKinetics(const std::vector<Parameter> &constants_, const std::string &f, const std::string &g)
    : constants(constants_)
    , reactions({{"f", f}, {"g", g}})
  {
  }

  void BuiltInKinetics::compile()
  {
    Constants values;
    for (const Parameter &constant : constants)
      values.emplace_back(constant.name, constant.value);
    compiled = std::make_shared<const ExpressionKinetics>(species(), reactions, values);
  }

  std::string BuiltInKinetics::formula() const
  {
    return dealii::Utilities::replace_in_string("f = " + reactions[0].text + ", g = " + reactions[1].text, "*", " ");
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
