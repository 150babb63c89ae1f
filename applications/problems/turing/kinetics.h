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
  /** The reaction of n species, f_1(u_1, ..., u_n) to f_n, dimensionless. */
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

    virtual std::vector<std::string> species() const = 0;
    /** The reaction as formulas, for the log and the documentation. */
    virtual std::string formula() const = 0;
    /** The constants that have an entry of their own; their defaults are the values they point to. */
    virtual std::vector<Parameter> parameters() { return {}; }
    /** Whether the species are concentrations, which must not be negative. */
    virtual bool are_concentrations() const { return true; }
    /** Whether they are expected to have a homogeneous steady state with all species positive. */
    virtual bool has_positive_steady_state() const { return are_concentrations(); }

    /**
     * The reaction at many nodes. @param u host, n_nodes * n, the species of a node side by side, @param rates gets f_c at
     * [node * n + c], @param jacobian gets df_c/du_d at [(node * n + c) * n + d]; either may be nullptr.
     */
    virtual void evaluate(unsigned int n_nodes, const double *u, double *rates, double *jacobian) const = 0;

    /** A homogeneous steady state, or a first guess for one, n numbers; empty if none is known. */
    virtual std::vector<double> steady_state_guess() const { return {}; }
  };

  /**
   * The reaction of two species, f(u,v) and g(u,v). A new one is one short file in the folder kinetics/: a class K, derived from
   * TwoSpecies<K>, that registers itself with a RegisterKinetics object and has, beside formula() and parameters(), these members:
   *
   *   std::array<double, 2> rates(double u, double v) const;       // f and g
   *   std::array<double, 4> jacobian(double u, double v) const;    // {f_u, f_v, g_u, g_v}
   *   std::array<double, 2> steady_state() const;                  // a homogeneous steady state {u, v}, or a good first guess for it
   */
  template <typename K>
  class TwoSpecies : public Kinetics
  {
  public:
    std::vector<std::string> species() const override { return {"u", "v"}; }

    void evaluate(unsigned int n_nodes, const double *u, double *rates, double *jacobian) const override
    {
      const K &kinetics = static_cast<const K &>(*this);
      for (unsigned int i = 0; i < n_nodes; ++i, u += 2)
        {
          if (rates != nullptr)
            {
              const auto r     = kinetics.rates(u[0], u[1]);
              rates[2 * i]     = r[0];
              rates[2 * i + 1] = r[1];
            }
          if (jacobian != nullptr)
            {
              const auto j = kinetics.jacobian(u[0], u[1]);
              for (unsigned int p = 0; p < 4; ++p)
                jacobian[4 * i + p] = j[p];
            }
        }
    }

    std::vector<double> steady_state_guess() const override
    {
      const auto s = static_cast<const K &>(*this).steady_state();
      return {s[0], s[1]};
    }
  };

  using KineticsRegistry = std::map<std::string, std::function<std::unique_ptr<Kinetics>()>>;

  /** All built-in kinetics by name. */
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
