// SPDX-License-Identifier: Apache-2.0
#include "turing_analysis.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <sstream>

namespace leopard
{
  namespace
  {
    std::string number(double x)
    {
      std::ostringstream text;
      text.precision(5);
      text << x;
      return text.str();
    }

    std::string number(const std::complex<double> &z)
    {
      return number(z.real()) + (z.imag() == 0. ? "" : (z.imag() > 0. ? " + " : " - ") + number(std::abs(z.imag())) + "i");
    }

    /** "a, b, c" of f(0), ..., f(n-1). */
    template <typename Function>
    std::string list(unsigned int n, const Function &f)
    {
      std::string text;
      for (unsigned int i = 0; i < n; ++i)
        text += (i > 0 ? ", " : "") + f(i);
      return text;
    }

    std::string name(const Mode &mode, const Domain &domain)
    {
      if (domain.radius > 0.)
        return "degree " + std::to_string(mode.numbers[0]);
      return "(" + list(mode.numbers.size(), [&](unsigned int d) { return std::to_string(mode.numbers[d]); }) + ")" +
             (mode.multiplicity > 1 ? " (" + std::to_string(mode.multiplicity) + " times)" : "");
    }

    std::string domain_name(const Domain &domain)
    {
      if (domain.radius > 0.)
        return "sphere of radius " + number(domain.radius) + ", area " + number(domain.measure);
      if (domain.lengths.empty())
        return domain.name + ", " + (domain.dimension == 2 ? "area " : "volume ") + number(domain.measure);
      std::string text;
      for (const double length : domain.lengths)
        text += (text.empty() ? "" : " x ") + number(length);
      std::string directions;
      for (unsigned int d = 0; d < domain.lengths.size(); ++d)
        if (domain.is_periodic(d))
          directions += std::string(directions.empty() ? ", periodic in " : " and ") + "xyz"[d];
      return text + directions;
    }
  } // namespace

  namespace
  {
    /** From the x axis, in degrees, without rounding errors of the search. */
    double angle(const dealii::Tensor<1, 3> &e)
    {
      return std::round(std::atan2(e[1], e[0]) * 180. / std::acos(-1.) * 1e3) / 1e3 + 0.;
    }

    /** "the angle 30 degrees to the x axis", or "the direction (0, 0, 1)". */
    std::string direction_name(const LinearizedSystem &system, const dealii::Tensor<1, 3> &e)
    {
      if (system.space_dimension == 2)
        return "the angle " + number(angle(e)) + " degrees to the x axis";
      return "the direction (" + list(3, [&](unsigned int d) { return number(std::abs(e[d]) < 1e-5 ? 0. : e[d]); }) + ")";
    }

    /** Stripes across a direction. */
    std::string stripes(const LinearizedSystem &system, const dealii::Tensor<1, 3> &e)
    {
      if (system.space_dimension == 3)
        return "of sheets across this direction";
      return "of stripes across this direction, which run at the angle " + number(angle(e) > 0. ? angle(e) - 90. : angle(e) + 90.) +
             " degrees to the x axis";
    }
  } // namespace

  std::string TuringAnalysis::why_stable() const
  {
    const std::string stable = "the homogeneous steady state is stable against small disturbances of every wave number";
    if (system.n() == 1)
      return stable + ": a single species forms none";
    if (!has_conditions())
      return stable + "; the slowest decays with the rate " + number(growth_rate);
    const auto &names = system.species;
    if (conditions.critical_ratio == 0.)
      return stable + ": no species activates itself (the diagonal of the Jacobian is " + number(system.jacobian[0]) + ", " +
             number(system.jacobian[3]) + "), whatever the diffusion coefficients are";
    const unsigned int a = conditions.activator, i = 1 - a;
    return stable + ": the inhibitor " + names[i] + " diffuses " + number(system.diffusion[i] / system.diffusion[a]) +
           " times as fast as the activator " + names[a] + ", and must diffuse more than " + number(conditions.critical_ratio) + " times as fast";
  }

  void TuringAnalysis::explain()
  {
    if (!stable_without_diffusion)
      reason = "the homogeneous steady state is unstable without diffusion already (eigenvalue " + number(eigenvalues.front()) + "): the fields " +
               (eigenvalues.front().imag() != 0. ? "oscillate" : "leave it for another state") + " everywhere at once";
    else if (bands.empty())
      reason = why_stable();
    else if (has_known_modes ? n_modes == 0. : n_modes < 0.5)
      {
        const std::string modes_text = !has_known_modes
                                         ? "holds none of the domain's wave numbers, after Weyl's law (" + number(n_modes) + " of them)"
                                         : "holds none of the domain's wave numbers";
        reason                       = "the domain is too small or its modes just miss the band: the band of unstable wave numbers " + modes_text;
        if (!domain.lengths.empty())
          {
            unsigned int smallest = 0;
            for (unsigned int d = 1; d < domain.lengths.size(); ++d)
              smallest = smallest_wave_number(d) < smallest_wave_number(smallest) ? d : smallest;
            reason += std::string("; the smallest is ") + (domain.is_periodic(smallest) ? "2 pi/" : "pi/") + number(domain.lengths[smallest]) +
                      " = " + number(smallest_wave_number(smallest));
          }
        else if (domain.radius > 0.)
          reason += "; the smallest is sqrt(2)/" + number(domain.radius) + " = " + number(std::sqrt(2.) / domain.radius);
      }
  }

  std::string TuringAnalysis::text(const std::string &place) const
  {
    const unsigned int n        = system.n();
    const std::string  expected = "\n  expected" + std::string(place.empty() ? "" : " with these") + ": a pattern of wavelength ";
    std::string        result   = "Turing analysis of small disturbances of the homogeneous steady state" +
                         (place.empty() ? "" : ",\n  of coefficients as they are " + place) +
                         "\n  steady state: " + list(n, [&](unsigned int c) { return system.species[c] + " = " + number(system.steady_state[c]); });
    result += "\n  without diffusion: " + std::string(stable_without_diffusion ? "stable" : "unstable") + ", eigenvalues " +
              list(eigenvalues.size(), [&](unsigned int c) { return number(eigenvalues[c]); });
    if (!system.still.empty())
      result += "\n  quasi-stationary, so that they follow the others at once: " +
                list(system.still.size(), [&](unsigned int i) { return system.species[system.still[i]]; });
    if (!system.cross.empty())
      {
        const std::vector<double> D = system.full_diffusion();
        result += "\n  diffusion with cross-diffusion" + std::string(system.tensors.empty() ? "" : " in the direction of the fastest growth") + ": ";
        for (unsigned int i = 0; i < n * n; ++i)
          result += (i == 0 ? "[" : i % n == 0 ? "; " : ", ") + number(D[i]);
        result += "]";
      }
    if (has_conditions())
      {
        const auto met = [](bool is_met) { return is_met ? " (met)" : " (not met)"; };
        result += std::string("\n  conditions") + (prefers_direction ? " in the direction of the fastest growth" : "") +
                  ": f_u + g_v = " + number(conditions.trace) + " < 0" + met(conditions.trace < 0.) +
                  ", f_u g_v - f_v g_u = " + number(conditions.determinant) + " > 0" + met(conditions.determinant > 0.) +
                  ", D_v f_u + D_u g_v = " + number(conditions.mixed) + " > 0" + met(conditions.mixed > 0.) +
                  ", its square over 4 D_u D_v (f_u g_v - f_v g_u) = " + number(conditions.excess) + " > 1" + met(conditions.excess > 1.);
        if (conditions.critical_ratio > 0.)
          result += "\n  critical diffusion of " + system.species[1 - conditions.activator] + " against " + system.species[conditions.activator] +
                    ": " + number(conditions.critical_ratio);
      }
    if (!bands.empty())
      {
        result += "\n  unstable wave numbers: " +
                  list(bands.size(), [&](unsigned int b) { return number(bands[b].k_min) + " < k < " + number(bands[b].k_max); });
        result += "; the fastest: k = " + number(k_fastest) + ", growth rate " + number(growth_rate) +
                  (frequency > 0. ? ", frequency " + number(frequency) + " (waves)" : "");
        if (prefers_direction)
          result += "\n  by direction: the fastest has " + direction_name(system, direction) + "; growth rates of the others down to " +
                    number(slowest_direction) + ", fastest wavelengths from " + number(shortest) + " to " + number(longest);
        else if (is_anisotropic() && system.tensors.empty())
          result += "\n  by direction: all grow equally fast, since the flow carries all disturbances alike";
        else if (is_anisotropic())
          result += "\n  by direction: all grow equally fast, since the diffusion tensors are proportional, with wavelengths from " +
                    number(shortest) + " to " + number(longest) +
                    ": such a pattern is one of a stretched domain, and no direction of stripes is preferred";
        if (!system.drift.empty())
          result += "\n  with advection disturbances are plane waves of an unbounded or periodic domain: the number of modes is an estimate";
        else if (is_anisotropic() && !domain.lengths.empty() && !has_known_modes)
          result += "\n  with such diffusion tensors the modes of a box that is not periodic are no products of cosines, or they are too many to "
                    "count: their number is an estimate";
        result += "\n  on this domain (" + domain_name(domain) + "): " + (modes.empty() && n_modes > 0. ? "about " : "") +
                  number(std::round(n_modes)) + " unstable modes";
        if (!modes.empty())
          result += "; the fastest: " + list(std::min<std::size_t>(modes.size(), 3), [&](unsigned int i) {
                      return name(modes[i], domain) + " with k = " + number(modes[i].k) + ", growth rate " + number(modes[i].growth_rate);
                    });
      }
    if (pattern && prefers_direction)
      result += expected + number(wavelength) + " " + stripes(system, direction) + (frequency > 0. ? "; it moves in waves" : "");
    else if (pattern)
      result += expected + number(wavelength) + ", about " + number(std::max(1., std::round(n_spots))) + " spots if it is one of spots" +
                (frequency > 0. ? "; it moves in waves" : "");
    else
      {
        const bool is_faster = !stable_without_diffusion && !bands.empty() && growth_rate > eigenvalues.front().real();
        result += is_faster ? "\n  a pattern of wavelength " + number(2. * M_PI / k_fastest) +
                                " may form all the same, as its disturbances grow faster (growth rate " + number(growth_rate) + "): " + reason
                            : "\n  no pattern will form from small disturbances, because " + reason;
        if (stable_without_diffusion && n > 1)
          result += "\n  a large one, such as a patch with other values, may form one all the same: linear theory does not speak of it";
      }
    return result;
  }

  nlohmann::json TuringAnalysis::report() const
  {
    using nlohmann::json;
    json               result;
    const unsigned int n = system.n();
    for (unsigned int c = 0; c < n; ++c)
      {
        result["steady_state"][system.species[c]] = system.steady_state[c];
        result["diffusion"][system.species[c]]    = system.diffusion[c];
      }
    for (const std::complex<double> &value : eigenvalues)
      result["eigenvalues"].push_back({value.real(), value.imag()});
    for (const unsigned int c : system.still)
      result["quasi_stationary"].push_back(system.species[c]);
    result["jacobian"] = system.jacobian;
    if (!system.cross.empty())
      result["full_diffusion"] = system.full_diffusion();
    result["stable_without_diffusion"] = stable_without_diffusion;
    if (has_conditions())
      result["conditions"] = {{"trace", conditions.trace},
                              {"determinant", conditions.determinant},
                              {"mixed", conditions.mixed},
                              {"excess", conditions.excess},
                              {"critical_diffusion_ratio", conditions.critical_ratio}};
    result["unstable_wave_numbers"] = json::array();
    for (const Band &band : bands)
      result["unstable_wave_numbers"].push_back({band.k_min, band.k_max});
    result["fastest"] = {{"k", k_fastest}, {"growth_rate", growth_rate}, {"frequency", frequency}};
    result["domain"]  = {
       {"name", domain.name}, {"lengths", domain.lengths}, {"periodic", domain.periodic}, {"radius", domain.radius}, {"measure", domain.measure}};
    result["unstable_modes"] = {{"number", n_modes}, {"fastest", json::array()}};
    for (unsigned int i = 0; i < std::min<std::size_t>(modes.size(), 20); ++i)
      result["unstable_modes"]["fastest"].push_back(
        {{"numbers", modes[i].numbers}, {"k", modes[i].k}, {"growth_rate", modes[i].growth_rate}, {"multiplicity", modes[i].multiplicity}});
    if (is_anisotropic())
      result["direction"] = {{"preferred", prefers_direction},
                             {"fastest", {direction[0], direction[1], direction[2]}},
                             {"slowest_growth_rate", slowest_direction},
                             {"wavelengths", {shortest, longest}}};
    result["pattern"] = pattern;
    if (pattern)
      {
        result["wavelength"] = wavelength;
        result["spots"]      = n_spots;
      }
    else
      result["reason"] = reason;
    return result;
  }
} // namespace leopard
