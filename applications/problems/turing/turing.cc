// SPDX-License-Identifier: Apache-2.0
#include "turing.h"

#include <solvers/base/errors.h>

#include <deal.II/base/parameter_handler.h>

#include <cmath>

namespace leopard
{
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

    /** A number in [-1, 1) that depends on seed, field and position, which is rounded to 1e-9 since ranks may compute it differently. */
    double random_at(const dealii::Point<3> &x, unsigned int c, std::uint64_t seed)
    {
      std::uint64_t hash = mix(seed * 16 + c);
      for (unsigned int d = 0; d < 3; ++d)
        hash = mix(hash ^ static_cast<std::uint64_t>(std::llround(x[d] * 1e9)));
      return static_cast<double>(hash >> 11) * 0x1p-52 - 1.;
    }

    /** Newton's method for f = g = 0 from the guess that the kinetics give. */
    std::array<double, 2> find_steady_state(const Kinetics &kinetics, const std::string &name)
    {
      std::array<double, 2> s = kinetics.steady_state();
      for (unsigned int step = 0; step < 50; ++step)
        {
          const auto r = kinetics.rates(s[0], s[1]);
          if (std::abs(r[0]) + std::abs(r[1]) < 1e-13 * (1. + std::abs(s[0]) + std::abs(s[1])))
            return s;
          const auto   j           = kinetics.jacobian(s[0], s[1]);
          const double determinant = j[0] * j[3] - j[1] * j[2];
          s[0] -= (j[3] * r[0] - j[1] * r[1]) / determinant;
          s[1] -= (j[0] * r[1] - j[2] * r[0]) / determinant;
        }
      throw Error(
        "no homogeneous steady state of the " + name + " kinetics was found near u = " + std::to_string(kinetics.steady_state()[0]) +
        ", v = " + std::to_string(kinetics.steady_state()[1]) +
        "\n  expected: constants for which f = g = 0 has a solution; or set 'Turing/Start from steady state = false' and give initial values");
    }
  } // namespace

  Turing::Turing()
  {
    for (const auto &[kinetics_name, make] : kinetics_registry())
      all_kinetics[kinetics_name] = make();
  }

  std::string Turing::description() const
  {
    using dealii::Patterns::Tools::to_string;
    return "Turing system: u_t = gamma f + laplace u, v_t = gamma g + kappa laplace v, " + kinetics->formula() + ", gamma = " + to_string(gamma) +
           ", kappa = " + to_string(kappa);
  }

  void Turing::declare_parameters(dealii::ParameterHandler &prm)
  {
    using namespace dealii::Patterns;
    using dealii::Patterns::Tools::to_string;
    std::string names;
    for (const auto &[kinetics_name, unused] : all_kinetics)
      names += (names.empty() ? "" : "|") + kinetics_name;
    prm.declare_entry("Kinetics", "Schnakenberg", Selection(names), "The reaction f(u,v), g(u,v).");
    prm.declare_entry("gamma", "1000", Double(0.), "Strength of the reaction, the domain's size squared over the diffusion of u. Dimensionless.");
    prm.declare_entry("kappa", "10", Double(0.), "Diffusion of v against that of u. Dimensionless.");
    for (const auto &[kinetics_name, kinetics_object] : all_kinetics)
      for (const auto &parameter : kinetics_object->parameters())
        prm.declare_entry(kinetics_name + " " + parameter.name,
                          to_string(*parameter.value),
                          Double(parameter.minimum),
                          kinetics_name + ", " + kinetics_object->formula() + ": " + parameter.documentation + ". Dimensionless.");
    prm.declare_entry("Start from steady state", "false", Bool(), "Adds the homogeneous steady state of the kinetics to the initial values.");
    prm.declare_entry("Perturbation", "0", Double(0.), "Amplitude of a random perturbation of the initial values, relative to them. Dimensionless.");
    prm.declare_entry("Seed", "1", Integer(0), "Seed of the random perturbation.");
    declare_common_parameters(prm);
  }

  void Turing::read_parameters(dealii::ParameterHandler &prm)
  {
    const std::string chosen = prm.get("Kinetics");
    kinetics                 = all_kinetics.at(chosen).get();
    gamma                    = prm.get_double("gamma");
    kappa                    = prm.get_double("kappa");
    for (const auto &[kinetics_name, kinetics_object] : all_kinetics)
      for (const auto &parameter : kinetics_object->parameters())
        *parameter.value = prm.get_double(kinetics_name + " " + parameter.name);
    perturbation             = prm.get_double("Perturbation");
    seed                     = prm.get_integer("Seed");
    starts_from_steady_state = prm.get_bool("Start from steady state");
    steady_state             = {};
    if (starts_from_steady_state)
      steady_state = find_steady_state(*kinetics, chosen);
    read_common_parameters(prm);
  }

  double Turing::diffusion(unsigned int c, const dealii::Point<3> & /*x*/) const
  {
    return c == 0 ? 1. : kappa;
  }

  void Turing::reaction(const double *u, double *r, double *jacobian) const
  {
    const auto rates = kinetics->rates(u[0], u[1]);
    for (unsigned int c = 0; c < 2; ++c)
      r[c] = gamma * rates[c];
    if (jacobian != nullptr)
      {
        const auto derivatives = kinetics->jacobian(u[0], u[1]);
        for (unsigned int i = 0; i < 4; ++i)
          jacobian[i] = gamma * derivatives[i];
      }
  }

  double Turing::initial_value(unsigned int c, const dealii::Point<3> &x) const
  {
    const double value = steady_state[c] + initial[c].value(x);
    return perturbation == 0. ? value : value * (1. + perturbation * random_at(x, c, seed));
  }
} // namespace leopard
