// SPDX-License-Identifier: Apache-2.0
#include "problem.h"
#include "found_value.h"

#include <applications/reaction_diffusion/kinetics/kinetics_choice.h>
#include <applications/reaction_diffusion/rules/noise.h>
#include <applications/symbolic/separate.h>
#include <solvers/base/errors.h>

#include <deal.II/base/parameter_handler.h>

#include <algorithm>
#include <cmath>

namespace leopard
{
  std::optional<reaction_diffusion::KineticsChoice> Problem::library_kinetics(unsigned int /*n_nodes*/,
                                                                              const Places & /*nodes*/,
                                                                              const reaction_diffusion::ExpressionTape * /*load_factors*/,
                                                                              const double * /*loads*/) const
  {
    return {};
  }

  std::vector<double> Problem::proportional_diffusion() const
  {
    std::vector<double> result;
    for (unsigned int c = 0; c < (has_constant_coefficients() ? fields().size() : 0); ++c)
      result.push_back(diffusion(c, dealii::Point<3>()));
    if (std::find(result.begin(), result.end(), 0.) != result.end())
      return {};
    return result;
  }

  void Problem::reaction(unsigned int n_nodes, const double * /*u*/, double *rates, double *jacobian, const Places & /*places*/) const
  {
    const std::size_t n = fields().size();
    if (rates != nullptr)
      std::fill_n(rates, n_nodes * n, 0.);
    if (jacobian != nullptr)
      std::fill_n(jacobian, n_nodes * n * n, 0.);
  }

  NamedExpression Problem::reaction_entry(unsigned int c) const
  {
    return {name(), "the reaction of " + fields()[c]};
  }

  NamedExpression Problem::noise_entry(unsigned int c) const
  {
    return {name(), "the noise of " + fields()[c]};
  }

  std::string Problem::not_finite_in_reaction(const double *u, const Places &place, bool derivatives) const
  {
    const std::size_t   n = fields().size();
    std::vector<double> rates(n), jacobian(n * n);
    reaction(1, u, rates.data(), derivatives ? jacobian.data() : nullptr, place);
    const auto text = [&](std::size_t c) { return expression_of_entry(reaction_entry(c).text, reaction_entry(c).entry); };
    for (std::size_t c = 0; c < n; ++c)
      if (!std::isfinite(rates[c]))
        return text(c) + is_value(rates[c]);
    for (std::size_t i = 0; derivatives && i < n * n; ++i)
      if (!std::isfinite(jacobian[i]))
        return "the derivative by " + fields()[i % n] + " of " + text(i / n) + is_value(jacobian[i]);
    return "";
  }

  void Problem::noise_strength(unsigned int n_nodes, const double * /*u*/, double *strengths, const Places & /*places*/) const
  {
    std::fill_n(strengths, n_nodes * fields().size(), 0.);
  }

  reaction_diffusion::NoiseChoice Problem::library_noise(unsigned int /*n_nodes*/, const Places & /*nodes*/) const
  {
    return {};
  }

  const std::vector<double> &Problem::steady_state() const
  {
    static const std::vector<double> none;
    return none;
  }

  double Problem::initial_value(unsigned int c, const dealii::Point<3> &x) const
  {
    return initial[c].value(x);
  }

  std::string Problem::entry_for(const std::string &what, const std::string &field) const
  {
    return fields().size() == 1 ? what : what + " " + field;
  }

  void Problem::declare_common_parameters(dealii::ParameterHandler &prm)
  {
    using dealii::Patterns::Anything;
    prm.declare_entry(
      "Constants",
      "",
      Anything(),
      "Constants by name, 'a: 0.1, b: 1 - a', for all expressions and numbers of the file; 'Run/Sweep' knows them by their names. Dimensionless.");
    for (const std::string &field : fields())
      {
        prm.declare_entry(
          entry_for("Source", field),
          "",
          Anything(),
          "Source term s of the equation for " + field +
            ", an expression in x, y, z, t. Empty: the one that belongs to the exact solution, and 0 if there is none. Dimensionless.");
        prm.declare_entry(entry_for("Initial value", field),
                          "0",
                          Anything(),
                          "Value of " + field +
                            " at time zero (first guess in a nonlinear stationary problem), an expression in x, y, z. Dimensionless.");
        prm.declare_entry(entry_for("Exact solution", field),
                          "",
                          Anything(),
                          "Exact solution for " + field +
                            ", an expression in x, y, z, t; needed for a convergence table. Empty: none. Dimensionless.");
      }
    prm.declare_entry(
      "Initial values from",
      "",
      Anything(),
      "Takes all fields at time zero (the first guess in a stationary problem) by their names from the newest checkpoint of another run, "
      "or from a file of ParaView's: the run's folder, or a .vtu or .pvtu file, from where the program is started. The mesh may be "
      "another one: between its nodes fields are interpolated in its cells. Empty: the initial values of this section.");
    for (const std::string &field : fields())
      declare_boundary_conditions(prm, field);
  }

  void Problem::declare_boundary_conditions(dealii::ParameterHandler &prm, const std::string &field)
  {
    using dealii::Patterns::Anything;
    const std::string fluxes = entry_for("Boundary fluxes", field);
    prm.declare_entry(entry_for("Boundary values", field),
                      time_dependent() ? "" : "automatic",
                      Anything(),
                      "Prescribed values " + std::string(time_dependent() ? "of " + field + " " : "") +
                        "by boundary id, or name of a mesh file: 'ID: EXPRESSION; ...' in x, y, z" + (time_dependent() ? ", t" : "") +
                        "; * stands for all ids that neither this entry nor '" + fluxes +
                        "' names. automatic: the values of the exact solution, and '*: 0' if "
                        "there is none." +
                        (time_dependent() ? " Empty: none, nothing flows through the boundary." : "") +
                        " Through ids for which neither entry gives something nothing flows (zero flux), as the log says; ids of a mesh: leopard "
                        "--describe-mesh. Dimensionless.");
    prm.declare_entry(fluxes,
                      "",
                      Anything(),
                      (time_dependent() ? "Prescribed fluxes D d" + field + "/dn (outward normal) in x, y, z, t, D the diffusion coefficient,"
                                        : std::string("Prescribed fluxes a du/dn (outward normal)")) +
                        " by boundary id, in the same form. Dimensionless.");
  }

  const std::vector<unsigned int> &Problem::quasi_stationary() const
  {
    static const std::vector<unsigned int> none;
    return none;
  }

  bool Problem::is_quasi_stationary(unsigned int c) const
  {
    return std::binary_search(quasi_stationary().begin(), quasi_stationary().end(), c);
  }

  std::string Problem::what_is_missing() const
  {
    const std::vector<std::string> names = fields();
    for (unsigned int c = 0; c < names.size(); ++c)
      if (is_quasi_stationary(c) || does_not_diffuse(c))
        return names[c] + (is_quasi_stationary(c) ? " is quasi-stationary" : " does not diffuse");
    return "";
  }

  ManufacturedSolution Problem::manufactured() const
  {
    ManufacturedSolution result;
    result.fields           = fields();
    result.time_dependent   = time_dependent();
    result.quasi_stationary = quasi_stationary();
    result.dimension        = dimension;
    for (unsigned int c = 0; c < fields().size(); ++c)
      {
        result.diffusion.push_back({{"diffusion", to_expression(diffusion(c, dealii::Point<3>()))}});
        result.absorption.push_back(absorption(c));
      }
    return result;
  }

  void Problem::read_constants_of(dealii::ParameterHandler &prm)
  {
    const std::string entry = name() + "/Constants";
    constants               = read_constants(entry, prm.get("Constants"));
    for (const auto &[constant, value] : constants)
      {
        const auto  all  = fields();
        const char *what = std::find(all.begin(), all.end(), constant) != all.end() ? "a field of this problem"
                           : constant == "t"                                        ? "the time"
                           : constant == "x" || constant == "y" || constant == "z"  ? "a coordinate"
                                                                                    : nullptr;
        if (what != nullptr)
          throw Error("'" + entry + "' has a value for '" + constant + "', which is the name of " + what +
                      " and could not be told from it in expressions\n  expected: another name for the constant");
      }
  }

  void Problem::read_common_parameters(dealii::ParameterHandler &prm)
  {
    const std::string section = name() + "/";
    source.clear();
    initial.clear();
    exact_solution.clear();
    initial_from = prm.get("Initial values from");
    for (const std::string &field : fields())
      {
        const auto expression = [&](const std::string &what) {
          const std::string entry = entry_for(what, field);
          return Expression(section + entry, prm.get(entry), constants, pictures);
        };
        source.push_back(expression("Source"));
        initial.push_back(expression("Initial value"));
        if (!prm.get(entry_for("Exact solution", field)).empty())
          exact_solution.push_back(expression("Exact solution"));
      }
    if (!exact_solution.empty() && exact_solution.size() != fields().size())
      throw Error("section '" + name() + "' gives an exact solution for some fields only\n  expected: one for each field, or none");
    if (!exact_solution.empty())
      derive_sources(prm);
    boundary_conditions.clear();
    for (unsigned int c = 0; c < fields().size(); ++c)
      boundary_conditions.push_back(read_boundary_conditions(prm, c));
  }

  void Problem::derive_sources(dealii::ParameterHandler &prm)
  {
    const auto is_given = [&](const std::string &field) { return !prm.get(entry_for("Source", field)).empty(); };
    const auto names    = fields();
    if (std::all_of(names.begin(), names.end(), is_given))
      return;
    ManufacturedSolution solution = manufactured();
    for (const Expression &exact : exact_solution)
      solution.exact.push_back({exact.entry_name(), exact.expression().empty() ? "0" : exact.expression()});
    std::vector<reaction_diffusion::ExpressionTape> sources;
    try
      {
        sources = sources_of(solution, constants);
      }
    catch (const Error &error)
      {
        throw Error("'" + name() + "/" + entry_for("Source", names[0]) +
                    "' is not given and cannot be derived from the exact solution: " + error.what() + "\n  or the source as an expression");
      }
    for (unsigned int c = 0; c < names.size(); ++c)
      if (const std::string entry = entry_for("Source", names[c]); !is_given(names[c]))
        source[c] = Expression(name() + "/" + entry, "that of the exact solution", sources[c]);
    has_derived_source = true;
    derived            = "source";
  }

  BoundaryConditions Problem::read_boundary_conditions(dealii::ParameterHandler &prm, unsigned int c)
  {
    const std::string  field = fields()[c], of_values = entry_for("Boundary values", field), of_fluxes = entry_for("Boundary fluxes", field);
    const std::string  section = name() + "/", values = prm.get(of_values);
    BoundaryConditions result;
    result.fluxes = BoundaryExpressions(section + of_fluxes, prm.get(of_fluxes), constants, pictures);
    if (values == "automatic" && !exact_solution.empty())
      {
        result.values = BoundaryExpressions(exact_solution[c]);
        if (derived.find("boundary values") == std::string::npos)
          derived += std::string(derived.empty() ? "" : " and ") + "boundary values";
      }
    else
      result.values = BoundaryExpressions(section + of_values, values == "automatic" ? "*: 0" : values, constants, pictures);
    for (const unsigned int id : result.fluxes.named_ids())
      if (result.values.names(id))
        throw Error("boundary id " + std::to_string(id) + " stands in both '" + section + of_values + "' and '" + section + of_fluxes +
                    "'\n  expected: one condition for each boundary; remove one of the two");
    return result;
  }

  const BoundaryConditions &Problem::boundary(unsigned int c) const
  {
    static const BoundaryConditions none;
    return c < boundary_conditions.size() ? boundary_conditions[c] : none;
  }

  bool Problem::has_boundary_conditions() const
  {
    return std::any_of(boundary_conditions.begin(), boundary_conditions.end(), [](const BoundaryConditions &of_field) { return !of_field.empty(); });
  }

  bool Problem::has_sources_or_fluxes() const
  {
    return std::any_of(source.begin(), source.end(), [](const Expression &s) { return !s.is_zero(); }) ||
           std::any_of(boundary_conditions.begin(), boundary_conditions.end(), [](const BoundaryConditions &b) { return !b.fluxes.empty(); });
  }

  bool Problem::has_boundary_values() const
  {
    return std::any_of(boundary_conditions.begin(), boundary_conditions.end(), [](const BoundaryConditions &b) { return !b.values.empty(); });
  }

  std::vector<std::string> Problem::entries_with_time() const
  {
    std::vector<std::string> entries;
    const auto               add = [&](const std::vector<NamedExpression> &expressions) {
      for (const NamedExpression &expression : expressions)
        if (const std::string entry = expression.entry.substr(0, expression.entry.find(',')); // and not which of its parts
            is_named("t", expression.text) && std::find(entries.begin(), entries.end(), entry) == entries.end())
          entries.push_back(entry);
    };
    for (unsigned int c = 0; c < fields().size(); ++c)
      {
        if (has_reaction())
          add({reaction_entry(c)});
        if (source[c].depends_on_time())
          entries.push_back(source[c].entry_name());
        for (const BoundaryExpressions *of_boundary : {&boundary(c).values, &boundary(c).fluxes})
          if (of_boundary->depends_on_time())
            entries.push_back(of_boundary->entry_name());
      }
    if (transport() != nullptr)
      add(transport()->coefficients().expressions());
    return entries;
  }

  bool Problem::load_depends_on_time() const
  {
    return std::any_of(source.begin(), source.end(), [](const Expression &s) { return s.depends_on_time(); }) ||
           std::any_of(boundary_conditions.begin(), boundary_conditions.end(), [](const BoundaryConditions &of_field) {
             return of_field.values.depends_on_time() || of_field.fluxes.depends_on_time();
           });
  }

  Problem::SeparatedLoad Problem::separated_load() const
  {
    SeparatedLoad  result{"", {}, source, boundary_conditions};
    TimeSeparation separation;
    const auto     parts_of = [&](const Expression &expression) {
      if (expression.is_zero() || !result.why_not.empty())
        return expression;
      try
        {
          if (const auto parts = separation.parts(expression.compiled()))
            return expression.with_program(*parts);
          result.why_not =
            "'" + expression.entry_name() + "' is no sum of products of functions of the place and functions of the time that could be found";
        }
      catch (const Error &)
        {
          result.why_not = "'" + expression.entry_name() + "' has a function that reactions cannot have";
        }
      return expression;
    };
    for (Expression &s : result.source)
      s = parts_of(s);
    for (BoundaryConditions &conditions : result.boundary_conditions)
      {
        conditions.values = conditions.values.changed(parts_of);
        conditions.fluxes = conditions.fluxes.changed(parts_of);
      }
    result.factors = separation.factors();
    return result;
  }

  bool Problem::may_be_singular(bool closed) const
  {
    const BoundaryConditions &conditions = boundary(0);
    return !time_dependent() && !has_reaction() && absorption(0) == 0. &&
           (closed || conditions.values.empty() || (conditions.fluxes.for_all() && conditions.values.named_ids().empty()));
  }
} // namespace leopard
