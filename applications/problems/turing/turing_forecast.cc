// SPDX-License-Identifier: Apache-2.0
// Steady states of a Turing problem and what linear theory says of them; of coefficients that vary, at single places.
#include "steady_states.h"
#include "turing.h"

#include <solvers/base/errors.h>

#include <deal.II/base/parameter_handler.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

namespace leopard
{
  void Turing::read_mean_initial_values(dealii::ParameterHandler &prm)
  {
    mean_initial_values.clear();
    if (starts_from_steady_state || pictures != nullptr || !prm.get("Initial values from").empty())
      return;
    constexpr unsigned int n = 8; // places a direction
    for (const std::string &field : species)
      {
        const std::string entry = entry_for("Initial value", field);
        const Expression  initial_value("Turing/" + entry, prm.get(entry), constants);
        double            sum = 0., size = 0.;
        unsigned int      of = 0;
        dealii::Point<3>  x;
        for (unsigned int i = 0; i < n * n * n; ++i)
          {
            const unsigned int index[] = {i % n, i / n % n, i / n / n};
            for (unsigned int d = 0; d < box_around.size(); ++d)
              x[d] = box_around[d].first + (index[d] + 0.5) / n * (box_around[d].second - box_around[d].first);
            if (const double value = initial_value.value(x); std::isfinite(value)) // where it is none is said at the nodes
              {
                sum += value;
                size += std::abs(value);
                ++of;
              }
          }
        mean_initial_values.push_back(of > 0 ? std::copysign(size / of, sum) : 0.);
      }
  }

  void Turing::read_steady_state(dealii::ParameterHandler &prm)
  {
    steady_states.clear();
    chosen_state.clear();
    guesses.clear();
    read_mean_initial_values(prm);
    wanted_state = prm.get("Steady state");
    if (starts_from_steady_state && (wanted_state == "none" || kinetics->depends_on_place()))
      throw Error("'Turing/Start from steady state' is true, but " +
                  std::string(wanted_state == "none"
                                ? "'Turing/Steady state' is none\n  expected: positive or any, or initial values"
                                : "the reaction depends on x, y, z or t and has no homogeneous steady state\n  expected: initial values"));
    if (wanted_state == "none")
      return;
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
    if (kinetics->depends_on_place())
      return;
    steady_states = states_at({});
    if (steady_states.empty())
      throw Error("the " + chosen_kinetics + (uses_expressions() ? " of 'Turing/Kinetics' have" : " kinetics has") + " no " +
                  (wanted_state == "positive" ? "positive " : "") + "homogeneous steady state that Newton's method finds: " + kinetics->formula() +
                  "\n  expected: constants for which the reaction vanishes at " + (wanted_state == "positive" ? "positive " : "") +
                  "values of all species; a 'Turing/Steady state guess' near them; or 'Turing/Steady state' = " +
                  (wanted_state == "positive" ? "any, if values need not be positive, or " : "") + "none, if there need not be one");
    const Places anywhere;
    chosen_state = choose_steady_state(steady_states, analysis_depends_on_place() ? nullptr : &anywhere);
  }

  std::vector<std::vector<double>> Turing::states_at(const Places &place) const
  {
    return find_steady_states(*kinetics, wanted_state == "positive", guesses, place, mean_initial_values);
  }

  std::vector<double> Turing::choose_steady_state(const std::vector<std::vector<double>> &states, const Places *place) const
  {
    // the one that a guess has led to, or else the first that forms patterns, or else the first that is stable, or else
    // the first
    std::vector<double> chosen = states[0];
    if (!guesses.empty() || states.size() == 1)
      return chosen;
    int best = -1;
    for (const auto &state : states)
      try
        {
          const TuringAnalysis analysis(linearize(state, place), Domain());
          const int            rank = !analysis.stable_without_diffusion ? 0 : analysis.bands.empty() ? 1 : 2;
          if (rank > best)
            {
              best   = rank;
              chosen = state;
            }
        }
      catch (const Error &) // no analysis of this one: cross-diffusion without a solution there, or numbers that are not finite
        {
        }
    return chosen;
  }

  bool Turing::analysis_depends_on_place() const
  {
    return reaction_depends_on_place() || (carried && carried->coefficients().depends_on_place()) ||
           !std::all_of(diffusions.begin(), diffusions.end(), [](const Diffusion &d) { return d.is_constant(); });
  }

  LinearizedSystem Turing::linearize(const std::vector<double> &state, const Places *place) const
  {
    LinearizedSystem system;
    system.species      = species;
    system.still        = still;
    system.steady_state = state;
    system.jacobian.resize(state.size() * state.size());
    if (place == nullptr)
      {
        kinetics->evaluate(1, state.data(), nullptr, system.jacobian.data());
        system.diffusion.assign(state.size(), 1.);
        return system;
      }
    reaction(1, state.data(), nullptr, system.jacobian.data(), *place);
    const dealii::Point<3> x           = point_of(*place, 0);
    const bool             anisotropic = std::any_of(diffusions.begin(), diffusions.end(), [](const Diffusion &d) { return d.is_tensor(); });
    for (const Diffusion &d : diffusions)
      if (!anisotropic)
        system.diffusion.push_back(d.value(x));
      else
        {
          system.tensors.push_back(d.matrix(x));
          system.space_dimension = std::max(system.space_dimension, d.dimension());
        }
    if (carried == nullptr)
      return system;
    const FieldTransport::Linearized there = carried->linearize(state, *place);
    if (!carried->cross_terms().empty())
      system.cross = there.diffusion;
    system.drift = there.drift;
    for (const FieldTransport::AdvectionTerm &term : carried->advection_terms())
      system.space_dimension = std::max(system.space_dimension, term.dimension);
    return system;
  }

  std::string Turing::complaint_of_coefficients(const Places &place) const
  {
    for (std::size_t i = 0; i < coefficients.size(); ++i)
      if (!coefficients[i].complaint(1, place, least_values[i]).empty())
        return "'" + coefficients[i].entry_name() + "' = " + coefficients[i].expression() + " is not finite, or less than it may be,";
    const dealii::Point<3> x = point_of(place, 0);
    for (unsigned int c = 0; c < diffusions.size(); ++c)
      if (!is_positive_definite(diffusions[c].matrix(x), place.dimension))
        return "'" + diffusion_entry(c) + "' is not positive";
    return "";
  }

  std::string Turing::range_over(const Domain &domain, nlohmann::json &report) const
  {
    const unsigned int dim = domain.lower.size(), n_each = dim == 2 ? 5 : 3;
    unsigned int       n_points = 1, n_patterns = 0;
    double             shortest = std::numeric_limits<double>::max(), longest = 0.;
    for (unsigned int d = 0; d < dim; ++d)
      n_points *= n_each;
    for (unsigned int i = 0; i < n_points; ++i)
      try
        {
          std::vector<double> x;
          for (unsigned int d = 0, rest = i; d < dim; ++d, rest /= n_each)
            x.push_back(domain.lower[d] + (rest % n_each + 0.5) / n_each * (domain.upper[d] - domain.lower[d]));
          const Places place{x.data(), dim, 0.};
          const auto   states = kinetics->depends_on_place() ? states_at(place) : std::vector<std::vector<double>>{chosen_state};
          if (states.empty())
            continue;
          const TuringAnalysis there(linearize(choose_steady_state(states, &place), &place), Domain());
          if (!there.stable_without_diffusion || there.bands.empty())
            continue;
          ++n_patterns;
          shortest = std::min(shortest, there.wavelength);
          longest  = std::max(longest, there.wavelength);
        }
      catch (const Error &) // no analysis there: numbers that are not finite
        {
        }
    report["over_domain"] = {{"points", n_points}, {"unstable", n_patterns}};
    std::ostringstream text;
    text.precision(4);
    text << "\n  elsewhere: of " << n_points << " points of a box around the domain, at t = 0 and each with its own numbers, ";
    if (n_patterns == 0)
      {
        text << "none is unstable";
        return text.str();
      }
    text << n_patterns << (n_patterns == 1 ? " is" : " are") << " unstable to a pattern, with wavelengths from " << shortest << " to " << longest;
    report["over_domain"]["wavelengths"] = {shortest, longest};
    return text.str();
  }

  Forecast Turing::analyze(const Domain &domain, std::string &text, nlohmann::json &report) const
  {
    const std::string no_analysis = "  no analysis: the reaction depends on x, y, z or t, ";
    if (wanted_state == "none")
      {
        text = no_analysis + "so that there is no homogeneous steady state";
        return {};
      }
    const bool          on_place = analysis_depends_on_place();
    std::vector<double> centre;
    for (unsigned int d = 0; d < domain.lower.size(); ++d)
      centre.push_back((domain.lower[d] + domain.upper[d]) / 2.);
    const Places       place{centre.data(), static_cast<unsigned int>(centre.size()), 0.};
    std::ostringstream at_centre;
    for (const double x : centre)
      at_centre << (at_centre.str().empty() ? "(" : ", ") << x;
    at_centre << ")";
    const std::string here =
      std::string("at the centre of ") + (domain.lengths.empty() ? "a box around the domain, " : "the domain, ") + at_centre.str() + ", and t = 0";
    if (const std::string reason = on_place ? complaint_of_coefficients(place) : ""; !reason.empty())
      {
        text = "  no analysis: " + reason + " " + here;
        return {};
      }
    const auto states = kinetics->depends_on_place() ? states_at(place) : steady_states;
    if (states.empty())
      {
        text =
          no_analysis + "and Newton's method finds no " + (wanted_state == "positive" ? "positive " : "") + "homogeneous steady state of it " + here;
        return {};
      }
    const std::vector<double> state = chosen_state.empty() ? choose_steady_state(states, &place) : chosen_state;
    if (const std::string complaint = carried ? carried->complaint(1, state.data(), place) : ""; !complaint.empty())
      {
        text = "  no analysis: at the homogeneous steady state " + complaint.substr(0, complaint.find('\n'));
        return {};
      }
    const TuringAnalysis analysis(linearize(state, &place), domain);
    text   = analysis.text(on_place ? here : "");
    report = analysis.report();
    if (states.size() > 1)
      text += "\n  other steady states were found (" + std::to_string(states.size() - 1) + "); 'Turing/Steady state guess' chooses another";
    if (std::any_of(source.begin(), source.end(), [](const Expression &s) { return !s.is_zero(); }))
      text += "\n  the sources of the parameter file are left out of the analysis";
    if (has_boundary_conditions())
      text +=
        "\n  the boundary values and fluxes of the parameter file are left out of the analysis: the homogeneous state may not satisfy them, and the "
        "modes are those of zero flux";
    if (carried && !carried->advection_terms().empty() && carried->coefficients().depends_on_place())
      text += "\n  where the divergence of a velocity is not zero the homogeneous state is none: the analysis leaves that divergence out";
    report["steady_states_found"] = states;
    if (on_place)
      {
        report["place"] = centre;
        text += analysis.is_anisotropic() ? "\n  elsewhere they are others, which the analysis does not look at" : range_over(domain, report);
        return {}; // no forecast for the whole domain
      }
    Forecast forecast{analysis.pattern, analysis.pattern ? analysis.wavelength : 0., {}};
    for (const TuringAnalysis::Band &band : analysis.bands)
      forecast.bands.emplace_back(band.k_min, band.k_max);
    return forecast;
  }
} // namespace leopard
