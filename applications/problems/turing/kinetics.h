// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace leopard
{
  /**
   * The reaction of two species, f(u,v) and g(u,v), dimensionless. A new one is one short file in the folder kinetics/ that
   * derives from this class and registers itself with a RegisterKinetics object; nothing else changes.
   */
  class Kinetics
  {
  public:
    /** A constant that the parameter file can set, with its default. */
    struct Parameter
    {
      std::string name, documentation;
      double     *value;
      double      minimum = 0.;
    };

    virtual ~Kinetics() = default;

    /** f and g as formulas, for the log and the documentation. */
    virtual std::string formula() const = 0;
    /** The constants; their defaults are the values they point to. */
    virtual std::vector<Parameter> parameters() = 0;
    /** f and g. */
    virtual std::array<double, 2> rates(double u, double v) const = 0;
    /** {f_u, f_v, g_u, g_v}. */
    virtual std::array<double, 4> jacobian(double u, double v) const = 0;
    /** A homogeneous steady state {u, v}, or a good first guess for it: Newton's method polishes it. */
    virtual std::array<double, 2> steady_state() const = 0;
  };

  using KineticsRegistry = std::map<std::string, std::function<std::unique_ptr<Kinetics>()>>;

  /** All kinetics by name. */
  KineticsRegistry &kinetics_registry();

  /** Registers a class under a name at program start: static const RegisterKinetics<Schnakenberg> entry("Schnakenberg"); */
  template <typename K>
  struct RegisterKinetics
  {
    explicit RegisterKinetics(const std::string &name)
    {
      kinetics_registry()[name] = [] { return std::make_unique<K>(); };
    }
  };
} // namespace leopard
