// SPDX-License-Identifier: Apache-2.0
#include "turing.h"

#include "steady_states.h"

#include <applications/reaction_diffusion/kinetics/kinetics_choice.h>
#include <solvers/base/errors.h>

#include <deal.II/base/parameter_handler.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace leopard
{
  using namespace dealii::Patterns;
  using dealii::Patterns::Tools::to_string;

  KineticsRegistry &kinetics_registry()
  {
    static KineticsRegistry registry;
    return registry;
  }

  namespace
  {
    /** splitmix64 (Steele, Lea, Flood 2014): spreads the bits of a number over all bits. */
    std::uint64_t mix(std::uint64_t z)
    {
      z += 0x9e3779b97f4a7c15ULL;
      z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
      z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
      return z ^ (z >> 31);
    }

    /**
     * A number in [-1, 1) that depends on seed, field and position, which is rounded to 1e-9 since ranks may compute it
     * differently.
     */
    double random_at(const dealii::Point<3> &x, unsigned int c, std::uint64_t seed)
    {
      std::uint64_t hash = mix(seed * 16 + c);
      for (unsigned int d = 0; d < 3; ++d)
        hash = mix(hash ^ static_cast<std::uint64_t>(std::llround(x[d] * 1e9)));
      return static_cast<double>(hash >> 11) * 0x1p-52 - 1.;
    }

    /** The value of the entry 'Diffusion FIELD'. @throws Error. */
    double diffusion_coefficient(const std::string &field, const std::string &text, const Constants &constants)
    {
      double      value = 0.;
      std::string reason;
      try
        {
          value = value_of({"Turing/Diffusion " + field, text}, constants);
        }
      catch (const Error &error)
        {
          reason = error.what();
          reason = "\n  reason: " + reason.substr(0, reason.find('\n'));
        }
      if (!(value > 0. && std::isfinite(value)))
        throw Error("'Turing/Diffusion " + field + "' is '" + text + "'\n  expected: a positive number" + reason);
      return value;
    }

    /** What a built-in kinetics requires of its steady state, unless the user says otherwise. */
    std::string default_steady_state(const Kinetics &kinetics)
    {
      return kinetics.has_positive_steady_state() ? "positive" : "any";
    }

    /** The names of built-in kinetics whose steady state may have fields that are not positive: "A", "A, B". */
    template <typename Registry>
    std::string without_positive_state(const Registry &built_in)
    {
      std::string result;
      for (const auto &[name, kinetics] : built_in)
        if (!kinetics->has_positive_steady_state())
          result += (result.empty() ? "" : ", ") + name;
      return result;
    }
  } // namespace

  Turing::Turing()
  {
    for (const auto &[kinetics_name, make] : kinetics_registry())
      built_in[kinetics_name] = make();
    kinetics = built_in.at(chosen_kinetics);
  }

  std::string Turing::description() const
  {
    if (!uses_expressions() && diffusion_coefficients[0] == 1.)
      return "Turing system: u_t = gamma f + laplace u, v_t = gamma g + kappa laplace v, " + kinetics->formula() + ", gamma = " + to_string(gamma) +
             ", kappa = " + to_string(diffusion_coefficients[1]);
    std::string text = "Turing system: ";
    for (unsigned int c = 0; c < species.size(); ++c)
      text += species[c] + "_t = gamma " + (uses_expressions() ? "f_" + species[c] : std::string(c == 0 ? "f" : "g")) + " + " +
              to_string(diffusion_coefficients[c]) + " laplace " + species[c] + ", ";
    return text + kinetics->formula() + ", gamma = " + to_string(gamma);
  }

  void Turing::prepare(const GivenValue &given)
  {
    if (const std::string value = given("Kinetics"); value == "expressions" || built_in.count(value) == 1)
      chosen_kinetics = value;
    if (!uses_expressions())
      {
        kinetics          = built_in.at(chosen_kinetics);
        has_own_diffusion = !given("Diffusion u").empty();
        return;
      }
    if (const std::string value = given("Species"); !value.empty())
      species = read_species(value);
  }

  void Turing::declare_parameters(dealii::ParameterHandler &prm)
  {
    std::string names;
    for (const auto &[kinetics_name, unused] : built_in)
      names += kinetics_name + "|";
    prm.declare_entry("Kinetics",
                      "Schnakenberg",
                      Selection(names + "expressions"),
                      "The reaction: f(u,v) and g(u,v) of the name, or expressions: one for each species, in the entries 'Reaction u' and so on.");
    prm.declare_entry(
      "gamma",
      uses_expressions() || has_own_diffusion ? "1" : "1000",
      Double(0.),
      "Strength of the reaction, the domain's size squared over the diffusion of u; with expressions or a 'Diffusion u' the default is 1. "
      "Dimensionless.");
    prm.declare_entry(
      "kappa",
      to_string(kinetics->default_kappa()),
      Double(0.),
      "Diffusion of v against that of u; not with expressions or a 'Diffusion v'. The default is 10, with Gray-Scott 0.5. Dimensionless.");
    for (const auto &[kinetics_name, kinetics_object] : built_in)
      for (const auto &parameter : kinetics_object->parameters())
        prm.declare_entry(kinetics_name + " " + parameter.name,
                          to_string(parameter.value),
                          Double(parameter.minimum),
                          kinetics_name + ", " + kinetics_object->formula() + ": " + parameter.documentation + ". Dimensionless.");
    declare_expressions(prm);
    prm.declare_entry(
      "Steady state",
      uses_expressions() ? "positive" : default_steady_state(*kinetics),
      Selection("positive|any|none"),
      "What the kinetics must have: a homogeneous steady state with all species positive; any one; or none, which leaves the analysis "
      "before the run out. The default is positive, any for " +
        without_positive_state(built_in) + ".");
    prm.declare_entry(
      "Steady state guess", "", Anything(), "Where the search for the steady state begins, if there are several: 'u: 1, v: 0.9'. Dimensionless.");
    prm.declare_entry("Start from steady state", "false", Bool(), "Adds the homogeneous steady state of the kinetics to the initial values.");
    prm.declare_entry("Perturbation", "0", Double(0.), "Amplitude of a random perturbation of the initial values, relative to them. Dimensionless.");
    prm.declare_entry("Seed", "1", Integer(0), "Seed of the random perturbation.");
    declare_common_parameters(prm);
  }

  void Turing::declare_expressions(dealii::ParameterHandler &prm)
  {
    prm.declare_entry("Species",
                      "u, v",
                      Anything(),
                      "Kinetics 'expressions': names of the species. Each has entries of its own: 'Reaction NAME', 'Diffusion NAME', 'Initial value "
                      "NAME', 'Source NAME', 'Exact solution NAME'.");
    for (const std::string &field : species)
      {
        prm.declare_entry(
          "Reaction " + field,
          "",
          Anything(),
          "Kinetics 'expressions': the reaction of " + field +
            ", an expression in the species, x, y, z, t and constants; it may have if(CONDITION, YES, NO), min, max and abs. Dimensionless.");
        prm.declare_entry(
          "Diffusion " + field,
          "",
          Anything(),
          "Diffusion coefficient of " + field +
            "; needed for kinetics 'expressions'. Others have 1 for u and kappa times that for v unless it is given, as the literature has "
            "it on a domain of its size: with 'gamma' = 1 times and lengths are then those of the literature. Dimensionless.");
      }
  }

  void Turing::read_parameters(dealii::ParameterHandler &prm)
  {
    read_constants_of(prm);
    gamma                    = prm.get_double("gamma");
    perturbation             = prm.get_double("Perturbation");
    seed                     = prm.get_integer("Seed");
    starts_from_steady_state = prm.get_bool("Start from steady state");
    read_kinetics(prm);
    read_steady_state(prm);
    read_common_parameters(prm);
  }

  void Turing::read_kinetics(dealii::ParameterHandler &prm)
  {
    if (!uses_expressions())
      {
        for (const std::string entry : {"Reaction u", "Reaction v"})
          if (!prm.get(entry).empty())
            throw Error("'Turing/" + entry + "' is given, but 'Turing/Kinetics' is " + chosen_kinetics +
                        "\n  expected: set Kinetics = expressions, or no " + entry);
        if (read_species(prm.get("Species")) != species)
          throw Error("'Turing/Species' is '" + prm.get("Species") + "', but 'Turing/Kinetics' is " + chosen_kinetics +
                      ", whose species are u, v\n  expected: set Kinetics = expressions, or no Species");
        for (auto &parameter : built_in.at(chosen_kinetics)->parameters())
          parameter.value = prm.get_double(chosen_kinetics + " " + parameter.name);
        built_in.at(chosen_kinetics)->compile(comm);
        read_diffusion(prm);
        return;
      }
    if (prm.get_double("kappa") != 10.)
      throw Error("'Turing/kappa' is given, but 'Turing/Kinetics' is expressions\n  expected: 'Diffusion " + species[0] +
                  "' and so on, and no kappa");
    std::vector<NamedExpression> reactions;
    diffusion_coefficients.clear();
    for (const std::string &field : species)
      {
        const std::string reaction = prm.get("Reaction " + field), diffusion = prm.get("Diffusion " + field);
        if (reaction.empty() || diffusion.empty())
          throw Error("'Turing/" + std::string(reaction.empty() ? "Reaction " : "Diffusion ") + field + "' is missing, and 'Turing/Species' names " +
                      field + "\n  expected: " + (reaction.empty() ? "one expression" : "one positive number") + " for each species");
        reactions.push_back({"Turing/Reaction " + field, reaction});
        diffusion_coefficients.push_back(diffusion_coefficient(field, diffusion, constants));
      }
    kinetics = std::make_shared<ExpressionKinetics>(species, reactions, constants, comm);
  }

  void Turing::read_diffusion(dealii::ParameterHandler &prm)
  {
    const std::string of_u = prm.get("Diffusion u"), of_v = prm.get("Diffusion v");
    const double      kappa = prm.get_double("kappa"), first = of_u.empty() ? 1. : diffusion_coefficient("u", of_u, constants);
    if (!of_v.empty() && kappa != kinetics->default_kappa())
      throw Error("'Turing/Diffusion v' and 'Turing/kappa' are given\n  expected: one of the two");
    diffusion_coefficients = {first, of_v.empty() ? kappa * first : diffusion_coefficient("v", of_v, constants)};
  }

  void Turing::read_steady_state(dealii::ParameterHandler &prm)
  {
    steady_states.clear();
    chosen_state.clear();
    const std::string kind = prm.get("Steady state");
    if (kind == "none" || kinetics->depends_on_place())
      {
        if (starts_from_steady_state)
          throw Error("'Turing/Start from steady state' is true, but " +
                      std::string(kind == "none"
                                    ? "'Turing/Steady state' is none\n  expected: positive or any, or initial values"
                                    : "the reaction depends on x, y, z or t and has no homogeneous steady state\n  expected: initial values"));
        return;
      }
    std::vector<std::vector<double>> guesses;
    if (const std::string text = prm.get("Steady state guess"); !text.empty())
      {
        const Constants     given = read_constants("Turing/Steady state guess", text, constants);
        std::vector<double> guess;
        for (const std::string &field : species)
          for (const auto &[constant, value] : given)
            if (constant == field)
              guess.push_back(value);
        if (guess.size() != species.size() || given.size() != species.size())
          throw Error("'Turing/Steady state guess' is '" + text + "'\n  expected: one number for each species, for example '" + species[0] +
                      ": 1, ...'");
        guesses.push_back(guess);
      }
    if (const auto guess = kinetics->steady_state_guess(); !guess.empty())
      guesses.push_back(guess);
    steady_states = find_steady_states(*kinetics, kind == "positive", guesses);
    if (steady_states.empty())
      throw Error("the " + chosen_kinetics + (uses_expressions() ? " of 'Turing/Kinetics' have" : " kinetics has") + " no " +
                  (kind == "positive" ? "positive " : "") + "homogeneous steady state that Newton's method finds: " + kinetics->formula() +
                  "\n  expected: constants for which the reaction vanishes at " + (kind == "positive" ? "positive " : "") +
                  "values of all species; a 'Turing/Steady state guess' near them; or 'Turing/Steady state' = " +
                  (kind == "positive" ? "any, if values need not be positive, or " : "") + "none, if there need not be one");
    choose_steady_state(!guesses.empty());
  }

  void Turing::choose_steady_state(bool first_is_from_guess)
  {
    // the one that a guess has led to, or else the first that forms patterns, or else the first that is stable, or else
    // the first
    chosen_state = steady_states[0];
    if (first_is_from_guess || steady_states.size() == 1)
      return;
    int best = -1;
    for (const auto &state : steady_states)
      {
        const TuringAnalysis analysis(linearize(state), Domain());
        const int            rank = !analysis.stable_without_diffusion ? 0 : analysis.bands.empty() ? 1 : 2;
        if (rank > best)
          {
            best         = rank;
            chosen_state = state;
          }
      }
  }

  LinearizedSystem Turing::linearize(const std::vector<double> &state) const
  {
    LinearizedSystem system;
    system.species      = species;
    system.steady_state = state;
    system.diffusion    = diffusion_coefficients;
    system.jacobian.resize(state.size() * state.size());
    reaction(1, state.data(), nullptr, system.jacobian.data());
    return system;
  }

  Forecast Turing::analyze(const Domain &domain, std::string &text, nlohmann::json &report) const
  {
    if (chosen_state.empty())
      {
        text = "  no analysis: the reaction depends on x, y, z or t, so that there is no homogeneous steady state";
        return {};
      }
    const TuringAnalysis analysis(linearize(chosen_state), domain);
    text   = analysis.text();
    report = analysis.report();
    if (steady_states.size() > 1)
      text += "\n  other steady states were found (" + std::to_string(steady_states.size() - 1) + "); 'Turing/Steady state guess' chooses another";
    if (std::any_of(source.begin(), source.end(), [](const Expression &s) { return !s.is_zero(); }))
      text += "\n  the sources of the parameter file are left out of the analysis";
    if (has_boundary_conditions())
      text +=
        "\n  the boundary values and fluxes of the parameter file are left out of the analysis: the homogeneous state may not satisfy them, and the "
        "modes are those of zero flux";
    report["steady_states_found"] = steady_states;
    Forecast forecast{analysis.pattern, analysis.pattern ? analysis.wavelength : 0., {}};
    for (const TuringAnalysis::Band &band : analysis.bands)
      forecast.bands.emplace_back(band.k_min, band.k_max);
    return forecast;
  }

  std::optional<reaction_diffusion::KineticsChoice> Turing::library_kinetics() const
  {
    if (kinetics->depends_on_place())
      return {};
    const auto compiled = reaction_diffusion::kinetics_names();
    if (uses_expressions() || std::find(compiled.begin(), compiled.end(), chosen_kinetics) == compiled.end())
      return reaction_diffusion::KineticsChoice{"expressions", {}, gamma, kinetics->tape()};
    reaction_diffusion::KineticsChoice choice{chosen_kinetics, {}, gamma, {}};
    for (const auto &[name, value] : kinetics->constants_used())
      choice.constants.push_back(value);
    return choice;
  }

  ManufacturedSolution Turing::manufactured() const
  {
    ManufacturedSolution result = Problem::manufactured();
    result.reaction             = kinetics->expressions();
    result.reaction_constants   = kinetics->constants_used();
    result.reaction_factor      = gamma;
    return result;
  }

  double Turing::diffusion(unsigned int c, const dealii::Point<3> & /*x*/) const
  {
    return diffusion_coefficients[c];
  }

  void Turing::reaction(unsigned int n_nodes, const double *u, double *rates, double *jacobian, const Places &places) const
  {
    kinetics->evaluate(n_nodes, u, rates, jacobian, places);
    const std::size_t n = species.size();
    for (std::size_t i = 0; rates != nullptr && i < n_nodes * n; ++i)
      rates[i] *= gamma;
    for (std::size_t i = 0; jacobian != nullptr && i < n_nodes * n * n; ++i)
      jacobian[i] *= gamma;
  }

  double Turing::initial_value(unsigned int c, const dealii::Point<3> &x) const
  {
    return perturbed(c, x, (starts_from_steady_state ? chosen_state[c] : 0.) + initial[c].value(x));
  }

  double Turing::perturbed(unsigned int c, const dealii::Point<3> &x, double value) const
  {
    return perturbation == 0. ? value : value * (1. + perturbation * random_at(x, c, seed));
  }
} // namespace leopard
