// SPDX-License-Identifier: Apache-2.0
#include "turing.h"

#include <applications/base/number_or_expression.h>
#include <applications/problems/diffusion_matrix.h>
#include <applications/reaction_diffusion/kinetics/kinetics_choice.h>
#include <applications/reaction_diffusion/kinetics/split_tape.h>
#include <applications/reaction_diffusion/rules/noise.h>
#include <solvers/base/errors.h>
#include <solvers/base/words.h>

#include <deal.II/base/parameter_handler.h>
#include <deal.II/base/utilities.h>

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
    /** Whether a text is this number, in whatever form. */
    bool is_number(const std::string &text, double number)
    {
      char *end = nullptr;
      return std::strtod(text.c_str(), &end) == number && *end == '\0';
    }

    std::string text_of(const Coefficient &coefficient)
    {
      return coefficient.is_number() ? to_string(coefficient.number()) : coefficient.expression();
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

    /** ", with A 0.5, with B 7": the built-in kinetics whose kappa is not 10. */
    template <typename Registry>
    std::string other_kappas(const Registry &built_in)
    {
      std::string result;
      for (const auto &[name, kinetics] : built_in)
        if (kinetics->default_kappa() != 10.)
          result += ", with " + name + " " + to_string(kinetics->default_kappa());
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
    if (!uses_expressions() && has_constant_coefficients() && diffusion(0, {}) == 1. && carried == nullptr && still.empty())
      return "Turing system: u_t = gamma f + laplace u, v_t = gamma g + kappa laplace v, " + kinetics->formula() + ", gamma = " + text_of(gamma) +
             ", kappa = " + to_string(diffusion(1, {}));
    std::string text = "Turing system: ";
    for (unsigned int c = 0; c < species.size(); ++c)
      text += (is_quasi_stationary(c) ? "0" : species[c] + "_t") + " = gamma " +
              (uses_expressions() ? "f_" + species[c] : std::string(c == 0 ? "f" : "g")) + (diffusions[c].is_zero() ? "" : " + ") +
              diffusions[c].description(species[c]) + (carried ? carried->description(c) : "") + ", ";
    return text + kinetics->formula() + ", gamma = " + text_of(gamma);
  }

  void Turing::prepare(const GivenValue &given)
  {
    picture_names = Pictures::names_in(given("Images"));
    if (const std::string value = given("Kinetics"); value == "expressions" || built_in.count(value) == 1)
      chosen_kinetics = value;
    if (!uses_expressions())
      {
        kinetics          = built_in.at(chosen_kinetics);
        has_own_diffusion = !given("Diffusion u").empty() || !given("Diffusion tensor u").empty();
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
      NumberOrExpression(0., picture_names),
      "Strength of the reaction, the domain's size squared over the diffusion of u; with expressions or a 'Diffusion u' the default is 1. "
      "Dimensionless.");
    prm.declare_entry("kappa",
                      to_string(kinetics->default_kappa()),
                      NumberOrExpression(0., picture_names, "x, y, z"),
                      "Diffusion of v against that of u; not with expressions or a 'Diffusion v'. The default is 10" + other_kappas(built_in) +
                        ". Dimensionless.");
    for (const auto &[kinetics_name, kinetics_object] : built_in)
      for (const auto &parameter : kinetics_object->parameters())
        prm.declare_entry(kinetics_name + " " + parameter.name,
                          to_string(parameter.value),
                          NumberOrExpression(parameter.minimum, picture_names),
                          kinetics_name + ", " + kinetics_object->formula() + ": " + parameter.documentation + ". Dimensionless.");
    declare_expressions(prm);
    prm.declare_entry("Quasi-stationary species",
                      "",
                      Anything(),
                      "Species without a time derivative, 'v, w': their equation, 0 = gamma f + D laplace v - div J, holds at every time. What "
                      "follows the others at once (a substance that diffuses fast), or stands for a derivative of them (doc/coefficients.md). Their "
                      "initial values are where the search for the first ones begins. Empty: none.");
    prm.declare_entry(
      "Images",
      "",
      Anything(),
      "Functions of the place from files, for all expressions of this section: 'coat: coat.png, rain: rain.csv, old: end.pvtu: u'. PNG and PGM have "
      "values "
      "from 0 (black) to 1 (white), of colours the luma, CSV the numbers of its lines. The first row is at the top, the largest y; the "
      "picture is stretched over a box around the domain and bilinear between the centres of its pixels, and beyond the outer ones as there: "
      "in a periodic direction, too, where its two ends meet in a jump unless they are alike. Of a .vtu or .pvtu file the field that is named "
      "behind it (else the one of the function's name) is interpolated in its cells, which must cover the domain. Files are relative to the "
      "folder of the parameter file. Empty: none.");
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
    prm.declare_entry("Seed", "1", Integer(0), "Seed of the random perturbation, and of noise.");
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
        declare_diffusion(prm, field);
        prm.declare_entry(
          "Noise " + field,
          "",
          Anything(),
          "Strength sigma of a random force sigma dW on " + field +
            ", white in space and time, taken at the beginning of a step (Ito): an expression in the species, x, y, z, t and constants; "
            "a number is additive noise, sigma*" +
            field + " multiplicative. Needs implicit Euler with steps that the error does not control. Dimensionless.");
        declare_transport(prm, field);
      }
  }

  void Turing::declare_transport(dealii::ParameterHandler &prm, const std::string &field)
  {
    prm.declare_entry("Cross-diffusion " + field,
                      "",
                      Anything(),
                      "Fluxes of " + field +
                        " along gradients of species: 'v: C, w: E' adds div(C grad v) + div(E grad w) to its equation, C and E expressions in "
                        "the species, x, y, z, t and constants. Chemotaxis of strength chi towards v is 'v: -chi*" +
                        field + "', and '" + field + ": C' is added to its own diffusion. Empty: none. Dimensionless.");
    prm.declare_entry("Advection " + field,
                      "",
                      Anything(),
                      "Velocity that carries " + field + ", its components 'v_x, v_y', in space and on surfaces 'v_x, v_y, v_z': adds -div(v " +
                        field + ") to its equation, each an expression in the species, x, y, z, t and constants. Empty: none. Dimensionless.");
  }

  void Turing::declare_diffusion(dealii::ParameterHandler &prm, const std::string &field)
  {
    prm.declare_entry(
      "Diffusion " + field,
      "",
      Anything(),
      "Diffusion coefficient D of " + field + " in div(D grad " + field +
        "), a number (0: it does not diffuse) or an expression in x, y, z; needed for kinetics 'expressions'. Others have 1 for u and kappa times "
        "that for v unless it is given, as the literature has it on a domain of its size: with 'gamma' = 1 times and lengths are then those of the "
        "literature. "
        "Dimensionless.");
    prm.declare_entry(
      "Diffusion tensor " + field,
      "",
      Anything(),
      "Diffusion of " + field +
        " that is faster in one direction than in another, in the place of the coefficient: the entries D_xx, D_xy, D_yy of a symmetric "
        "positive definite matrix, in space and on surfaces D_xx, D_xy, D_xz, D_yy, D_yz, D_zz, each a number or an expression in x, "
        "y, z. Empty: none. Dimensionless.");
  }

  void Turing::read_parameters(dealii::ParameterHandler &prm)
  {
    read_constants_of(prm);
    read_images(prm);
    gamma                    = Coefficient("Turing/gamma", prm.get("gamma"), constants, pictures);
    coefficients             = {gamma};
    least_values             = {0.};
    perturbation             = prm.get_double("Perturbation");
    seed                     = prm.get_integer("Seed");
    starts_from_steady_state = prm.get_bool("Start from steady state");
    read_kinetics(prm);
    read_noise(prm);
    read_transport(prm);
    read_quasi_stationary(prm);
    DiffusionMatrix(*this).check_constants();
    read_steady_state(prm);
    read_common_parameters(prm);
  }

  void Turing::read_noise(dealii::ParameterHandler &prm)
  {
    std::vector<NamedExpression> strengths;
    bool                         given = false;
    for (const std::string &field : species)
      {
        const std::string text = prm.get("Noise " + field);
        strengths.push_back({"Turing/Noise " + field, text.empty() ? "0" : text});
        given = given || !text.empty();
      }
    noise = given ? std::make_shared<FieldExpressions>(species, strengths, constants, comm, pictures) : nullptr;
  }

  void Turing::read_transport(dealii::ParameterHandler &prm)
  {
    FieldTransport::Texts texts;
    for (const std::string &field : species)
      {
        texts.cross_diffusion.push_back(prm.get("Cross-diffusion " + field));
        texts.advection.push_back(prm.get("Advection " + field));
      }
    carried = texts.empty() ? nullptr : std::make_shared<FieldTransport>("Turing", species, texts, dimension, constants, comm, pictures);
  }

  void Turing::read_quasi_stationary(dealii::ParameterHandler &prm)
  {
    still.clear();
    const std::string text = prm.get("Quasi-stationary species");
    const auto        fail = [&](const std::string &reason) {
      throw Error("'Turing/Quasi-stationary species' is '" + text + "': " + reason + "\n  expected: names of species that are not all of " +
                  joined(species) + ", separated by commas, or nothing");
    };
    for (const std::string &name : dealii::Utilities::split_string_list(text, ','))
      {
        const auto c = static_cast<unsigned int>(std::find(species.begin(), species.end(), name) - species.begin());
        if (c == species.size())
          fail("'" + name + "' is no species");
        if (std::find(still.begin(), still.end(), c) != still.end())
          fail("'" + name + "' stands there twice");
        if (!prm.get("Noise " + name).empty())
          fail("'Turing/Noise " + name + "' is given, and random forces act on what has a time derivative");
        still.push_back(c);
      }
    if (still.size() == species.size())
      fail("none is left that changes in time");
    std::sort(still.begin(), still.end());
  }

  void Turing::noise_strength(unsigned int n_nodes, const double *u, double *strengths, const Places &places) const
  {
    noise->evaluate(n_nodes, u, strengths, nullptr, places);
  }

  void Turing::read_images(dealii::ParameterHandler &prm)
  {
    pictures.reset();
    const std::string text = prm.get("Images");
    if (text.empty())
      return;
    std::vector<std::string> taken = species;
    taken.insert(taken.end(), coordinates_and_time().begin(), coordinates_and_time().end());
    for (const auto &[name, value] : constants)
      taken.push_back(name);
    pictures = Pictures::read("Turing/Images", text, folder, taken, comm);
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
        read_constants_of_kinetics(prm);
        built_in.at(chosen_kinetics)->compile(comm, constants, pictures);
        read_diffusion_of_built_in(prm);
        return;
      }
    if (!is_number(prm.get("kappa"), 10.))
      throw Error("'Turing/kappa' is given, but 'Turing/Kinetics' is expressions\n  expected: 'Diffusion " + species[0] +
                  "' and so on, and no kappa");
    std::vector<NamedExpression> reactions;
    diffusions.clear();
    for (const std::string &field : species)
      {
        const std::string reaction = prm.get("Reaction " + field);
        if (reaction.empty() || (prm.get("Diffusion " + field).empty() && prm.get("Diffusion tensor " + field).empty()))
          throw Error("'Turing/" + std::string(reaction.empty() ? "Reaction " : "Diffusion ") + field + "' is missing, and 'Turing/Species' names " +
                      field + "\n  expected: " + (reaction.empty() ? "one expression" : "one positive number, or an expression,") +
                      " for each species");
        reactions.push_back({"Turing/Reaction " + field, reaction});
        diffusions.push_back(read_diffusion(prm, field, true));
      }
    kinetics = std::make_shared<ExpressionKinetics>(species, reactions, constants, comm, pictures);
  }

  void Turing::read_constants_of_kinetics(dealii::ParameterHandler &prm)
  {
    for (auto &parameter : built_in.at(chosen_kinetics)->parameters())
      {
        const std::string name = chosen_kinetics + " " + parameter.name, text = prm.get(name);
        const Coefficient constant("Turing/" + name, text, constants, pictures);
        parameter.expression = constant.is_number() ? "" : text;
        if (constant.is_number())
          {
            parameter.value = constant.number();
            continue;
          }
        coefficients.push_back(constant);
        least_values.push_back(parameter.minimum);
      }
  }

  Diffusion Turing::read_diffusion(dealii::ParameterHandler &prm, const std::string &field, bool may_be_zero) const
  {
    const std::string scalar = "Diffusion " + field, tensor = "Diffusion tensor " + field;
    if (is_named("t", prm.get(scalar)))
      throw Error("'Turing/" + scalar + "' is '" + prm.get(scalar) +
                  "', which names the time t\n  expected: a positive number, or an expression in x, " +
                  "y, z; what is to change with time goes into 'Turing/Cross-diffusion " + field + " = " + field + ": ...', which is added to it");
    if (prm.get(tensor).empty())
      return Diffusion("Turing/" + scalar, prm.get(scalar), constants, pictures, may_be_zero);
    if (!prm.get(scalar).empty())
      throw Error("'Turing/" + scalar + "' and 'Turing/" + tensor + "' are given\n  expected: one of the two");
    return Diffusion::tensor("Turing/" + tensor, prm.get(tensor), constants, dimension, pictures);
  }

  void Turing::read_diffusion_of_built_in(dealii::ParameterHandler &prm)
  {
    const auto is_given = [&](const std::string &field) { return !(prm.get("Diffusion " + field) + prm.get("Diffusion tensor " + field)).empty(); };
    const std::string kappa = prm.get("kappa");
    if (is_named("t", kappa))
      throw Error("'Turing/kappa' is '" + kappa +
                  "', which names the time t\n  expected: a number, or an expression in x, y, z; what is to change with "
                  "time goes into 'Turing/Cross-diffusion v = v: ...', which is added to the diffusion of v");
    if (is_given("v") && !is_number(kappa, kinetics->default_kappa()))
      throw Error("'Turing/Diffusion v' and 'Turing/kappa' are given\n  expected: one of the two");
    const Diffusion of_u = is_given("u") ? read_diffusion(prm, "u", is_given("v")) : Diffusion(1.); // kappa is against that of u
    diffusions           = {of_u,
                  is_given("v") ? read_diffusion(prm, "v", true)
                                          : Diffusion(Coefficient("Turing/kappa", kappa, constants, pictures), of_u, constants, pictures)};
  }

  std::string Turing::diffusion_entry(unsigned int c) const
  {
    const std::string entry = diffusions[c].entry_name();
    return !entry.empty() ? entry : c == 0 ? "Turing/Diffusion u" : "Turing/kappa";
  }

  bool Turing::has_constant_coefficients() const
  {
    return std::all_of(diffusions.begin(), diffusions.end(), [](const Diffusion &d) { return d.is_constant() && !d.is_tensor(); });
  }

  std::vector<double> Turing::proportional_diffusion() const
  {
    std::vector<double> result = Problem::proportional_diffusion();
    if (!result.empty())
      return result;
    for (const Diffusion &d : diffusions)
      if (const auto ratio = d.ratio_to(diffusions[0]); ratio && *ratio > 0.)
        result.push_back(*ratio);
      else
        return {};
    return result;
  }

  std::optional<reaction_diffusion::KineticsChoice> Turing::library_kinetics(unsigned int                              n_nodes,
                                                                             const Places                             &nodes,
                                                                             const reaction_diffusion::ExpressionTape *load_factors,
                                                                             const double                             *loads) const
  {
    if (reaction_depends_on_place() || load_factors != nullptr)
      return kinetics_by_node(n_nodes, nodes, load_factors, loads);
    const auto compiled = reaction_diffusion::kinetics_names();
    if (uses_expressions() || std::find(compiled.begin(), compiled.end(), chosen_kinetics) == compiled.end())
      return reaction_diffusion::KineticsChoice{"expressions", {}, gamma.number(), kinetics->tape()};
    reaction_diffusion::KineticsChoice choice{chosen_kinetics, {}, gamma.number(), {}};
    for (const auto &[name, value] : kinetics->constants_used())
      choice.constants.push_back(value);
    return choice;
  }

  reaction_diffusion::KineticsChoice Turing::kinetics_by_node(unsigned int                              n_nodes,
                                                              const Places                             &nodes,
                                                              const reaction_diffusion::ExpressionTape *load_factors,
                                                              const double                             *loads) const
  {
    using namespace reaction_diffusion;
    const auto        n_species = static_cast<unsigned int>(species.size());
    const std::size_t n_places  = names_of_places(pictures.get()).size();
    ExpressionTape    number; // gamma, if it is one
    number.n_inputs       = static_cast<unsigned int>(n_places);
    number.constants      = {gamma.is_number() ? gamma.number() : 1.};
    number.outputs        = {static_cast<std::uint16_t>(n_places)};
    ExpressionTape factor = gamma.is_number() ? number : *gamma.compiled();
    for (std::size_t i = 0; i < coefficients.size(); ++i) // those of the place alone are looked at before the run
      if (coefficients[i].depends_on_time())
        factor = product(one_where_allowed(*coefficients[i].compiled(), least_values[i]), factor, 0);
    const AtNodes  parts = split_at_nodes(product(factor, kinetics->tape(), n_species), n_nodes, nodes);
    KineticsChoice choice{"expressions", {}, 1., load_factors != nullptr ? with_loads(parts.rest, n_species, *load_factors) : parts.rest};
    choice.has_load_time    = load_factors != nullptr && depends_on_input(*load_factors);
    choice.n_further_inputs = choice.expressions.n_inputs - n_species - (choice.has_load_time ? 1 : 0);
    auto by_node            = std::make_shared<std::vector<double>>(parts.by_node);
    if (n_nodes > 0)
      by_node->insert(by_node->end(), loads, loads + (choice.n_by_node() * n_nodes - parts.by_node.size()));
    choice.by_node = by_node;
    return choice;
  }

  Turing::AtNodes Turing::split_at_nodes(const reaction_diffusion::ExpressionTape &tape, unsigned int n_nodes, const Places &nodes) const
  {
    const std::size_t n_species = species.size();
    std::vector<bool> is_given(n_species, false);
    is_given.resize(tape.n_inputs, true);
    is_given[n_species + 3]    = false; // the time, the fourth of names_of_places()
    const auto        parts    = reaction_diffusion::split(tape, is_given);
    const std::size_t n_values = parts.given.outputs.size();
    AtNodes           result{parts.rest, std::vector<double>(n_values * n_nodes)};

    std::vector<double> inputs(tape.n_inputs, 0.), values(n_values);
    for (std::size_t i = 0; i < n_nodes && n_values > 0; ++i)
      {
        evaluate_places(point_of(nodes, i), 0., pictures.get(), inputs.data() + n_species);
        parts.given.evaluate(1, inputs.data(), values.data());
        for (std::size_t p = 0; p < n_values; ++p)
          result.by_node[p * n_nodes + i] = values[p];
      }
    return result;
  }

  reaction_diffusion::NoiseChoice Turing::library_noise(unsigned int n_nodes, const Places &nodes) const
  {
    if (noise == nullptr)
      return {};
    if (!noise->depends_on_place())
      return {noise->value_tape(), 0, seed};
    AtNodes    parts     = split_at_nodes(noise->value_tape(), n_nodes, nodes);
    const auto n_further = static_cast<unsigned int>(parts.rest.n_inputs - species.size());
    return {parts.rest, n_further, seed, std::make_shared<const std::vector<double>>(std::move(parts.by_node))};
  }

  ManufacturedSolution Turing::manufactured() const
  {
    ManufacturedSolution result = Problem::manufactured();
    result.reaction             = kinetics->expressions();
    result.reaction_constants   = kinetics->constants_used();
    result.reaction_factor      = gamma.is_number() ? gamma.number() : 1.;
    for (NamedExpression &reaction : result.reaction)
      if (!gamma.is_number())
        reaction.text = "(" + gamma.expression() + ")*(" + reaction.text + ")";
    for (unsigned int c = 0; c < species.size(); ++c)
      result.diffusion[c] = diffusions[c].expressions();
    if (carried == nullptr)
      return result;
    const std::vector<NamedExpression> &coefficients_of_transport = carried->coefficients().expressions();
    for (const FieldTransport::CrossTerm &term : carried->cross_terms())
      result.cross_diffusion.push_back({term.field, term.partner, coefficients_of_transport[term.expression]});
    for (const FieldTransport::AdvectionTerm &term : carried->advection_terms())
      for (unsigned int d = 0; d < term.dimension; ++d)
        result.advection.push_back({term.field, d, coefficients_of_transport[term.expression + d]});
    return result;
  }

  void Turing::reaction(unsigned int n_nodes, const double *u, double *rates, double *jacobian, const Places &places) const
  {
    kinetics->evaluate(n_nodes, u, rates, jacobian, places);
    static thread_local std::vector<double> factors; // of the nodes
    factors.resize(n_nodes);
    gamma.evaluate(n_nodes, places, factors.data());
    const std::size_t n = species.size();
    for (std::size_t i = 0; rates != nullptr && i < n_nodes * n; ++i)
      rates[i] *= factors[i / n];
    for (std::size_t i = 0; jacobian != nullptr && i < n_nodes * n * n; ++i)
      jacobian[i] *= factors[i / (n * n)];
  }

  NamedExpression Turing::reaction_entry(unsigned int c) const
  {
    const NamedExpression &reaction = kinetics->expressions()[c];
    return uses_expressions() ? reaction : NamedExpression{"Turing/Kinetics", reaction.text};
  }

  bool Turing::coefficients_depend_on_time() const
  {
    return std::any_of(coefficients.begin(), coefficients.end(), [](const Coefficient &c) { return c.depends_on_time(); });
  }

  std::vector<std::string> Turing::entries_with_time() const
  {
    std::vector<std::string> entries = Problem::entries_with_time();
    for (const Coefficient &coefficient : coefficients)
      if (coefficient.depends_on_time())
        entries.push_back(coefficient.entry_name());
    return entries;
  }

  std::string Turing::complaint_at(unsigned int n_nodes, const Places &places) const
  {
    for (std::size_t i = 0; i < coefficients.size(); ++i)
      if (!coefficients[i].is_number())
        if (const std::string text = coefficients[i].complaint(n_nodes, places, least_values[i]); !text.empty())
          return text;
    return "";
  }

  double Turing::initial_value(unsigned int c, const dealii::Point<3> &x) const
  {
    return perturbed(c, x, (starts_from_steady_state ? chosen_state[c] : 0.) + initial[c].value(x));
  }

  double Turing::perturbed(unsigned int c, const dealii::Point<3> &x, double value) const
  {
    using namespace reaction_diffusion;
    return perturbation == 0. || is_quasi_stationary(c) ? value : value * (1. + perturbation * uniform_at(rounded({x[0], x[1], x[2]}), c, seed));
  }
} // namespace leopard
