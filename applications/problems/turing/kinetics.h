// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <solvers/reaction_diffusion/expression_tape.h>

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

    /** The reaction and its derivatives as one program, see reaction_diffusion::TapeKinetics; nullptr if it is no set of expressions. */
    virtual const reaction_diffusion::ExpressionTape *tape() const { return nullptr; }

    /** Diffusion of v against that of u unless the file says otherwise. */
    virtual double default_kappa() const { return 10.; }
    /** The species whose pattern is measured, the activator. */
    virtual unsigned int pattern_species() const { return 0; }

    /** A homogeneous steady state, or a first guess for one, n numbers; empty if none is known. */
    virtual std::vector<double> steady_state_guess() const { return {}; }
  };

  /**
   * The reaction of two species. A new one is one short file in the folder kinetics/: a class derived from TwoSpecies<R> that has formula(),
   * parameters() and steady_state_guess() and registers itself with a RegisterKinetics object. The functor R has the reaction itself, as
   * solvers/reaction_diffusion/kinetics.h says; those of that file can be stepped on the GPU.
   */
  template <typename R>
  class TwoSpecies : public Kinetics
  {
  public:
    /** @param defaults the constants that a parameter file does not set. */
    explicit TwoSpecies(const R &defaults)
      : reaction(defaults)
    {
    }

    std::vector<std::string> species() const override { return {"u", "v"}; }

    void evaluate(unsigned int n_nodes, const double *u, double *rates, double *jacobian) const override
    {
      double r[2], j[4]; // for what is not asked for
      for (unsigned int i = 0; i < n_nodes; ++i)
        reaction.evaluate(u + 2 * i, rates != nullptr ? rates + 2 * i : r, jacobian != nullptr ? jacobian + 4 * i : j);
    }

  protected:
    R reaction;
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
