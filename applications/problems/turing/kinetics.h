// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <applications/problems/field_expressions.h>

#include <mpi.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace leopard
{
  /** The reaction of n species, f_1(u_1, ..., u_n, x, t) to f_n, dimensionless. */
  class Kinetics
  {
  public:
    virtual ~Kinetics() = default;

    virtual std::vector<std::string> species() const = 0;
    /** The reaction as formulas, for the log and the documentation. */
    virtual std::string formula() const = 0;
    /** Whether the species are concentrations, which must not be negative. */
    virtual bool are_concentrations() const { return true; }
    /** Whether they are expected to have a homogeneous steady state with all species positive. */
    virtual bool has_positive_steady_state() const { return are_concentrations(); }

    /**
     * The reaction at many nodes. @param u host, n_nodes * n, the species of a node side by side, @param rates gets f_c
     * at [node * n + c], @param jacobian gets df_c/du_d at [(node * n + c) * n + d]; either may be nullptr.
     */
    virtual void evaluate(unsigned int n_nodes, const double *u, double *rates, double *jacobian, const Places &places = {}) const = 0;
    /** Whether the reaction depends on x or t. */
    virtual bool depends_on_place() const { return false; }

    /** The reactions as they are written, one expression a species, and the constants in them. */
    virtual const std::vector<NamedExpression> &expressions() const    = 0;
    virtual const Constants                    &constants_used() const = 0;

    /**
     * The reaction and its derivatives as one program in the species, and names_of_places() if it depends on the place;
     * see reaction_diffusion::TapeKinetics.
     */
    virtual const reaction_diffusion::ExpressionTape &tape() const = 0;

    /** Diffusion of v against that of u unless the file says otherwise. */
    virtual double default_kappa() const { return 10.; }
    /** The species whose pattern is measured, the activator. */
    virtual unsigned int pattern_species() const { return 0; }

    /** A homogeneous steady state, or a first guess for one, n numbers; empty if none is known. */
    virtual std::vector<double> steady_state_guess() const { return {}; }
  };

  /** Kinetics that are written as expressions; the derivatives are formed symbolically. */
  class ExpressionKinetics : public Kinetics
  {
  public:
    /**
     * @param species their names, @param reactions one expression for each, with the entry that has it; they may name
     * x, y, z and t
     * @param pictures that they may name, too
     * @param comm all of whose ranks call this and get the same operations, those of rank 0: GiNaC's order of terms
     * differs between processes.
     * @throws Error naming the entry for whatever is wrong with an expression or a name.
     */
    ExpressionKinetics(const std::vector<std::string>     &species,
                       const std::vector<NamedExpression> &reactions,
                       const Constants                    &constants,
                       MPI_Comm                            comm     = MPI_COMM_SELF,
                       std::shared_ptr<const Pictures>     pictures = nullptr);

    std::vector<std::string> species() const override { return names; }
    std::string              formula() const override { return formulas; }
    void evaluate(unsigned int n_nodes, const double *u, double *rates, double *jacobian, const Places &places = {}) const override
    {
      compiled.evaluate(n_nodes, u, rates, jacobian, places);
    }
    bool                                      depends_on_place() const override { return compiled.depends_on_place(); }
    const std::vector<NamedExpression>       &expressions() const override { return compiled.expressions(); }
    const Constants                          &constants_used() const override { return constants; }
    const reaction_diffusion::ExpressionTape &tape() const override { return compiled.tape(); }

  private:
    std::vector<std::string> names;
    Constants                constants;
    std::string              formulas;
    FieldExpressions         compiled;
  };

  /**
   * The reaction of two species, u and v, that has a name. A new one is one short file in the folder kinetics/: a class
   * derived from this one that gives its constants and reactions and registers itself with a RegisterKinetics object.
   * All else, derivatives and the time loop on host and GPU, follows from the expressions. Where
   * applications/reaction_diffusion/kinetics/kinetics_choice.h has compiled kinetics of the same name the fused time
   * loop takes these, which are faster.
   */
  class BuiltInKinetics : public Kinetics
  {
  public:
    /** A constant that the parameter file can set: the entry "KINETICS NAME". */
    struct Parameter
    {
      std::string name, documentation;
      double      value; ///< the default, until another one is given
      double      minimum    = 0.;
      std::string expression = {}; ///< in x, y, z, t, in the place of the value; empty: none
    };

    /** @param f, g expressions in u, v and the constants. */
    BuiltInKinetics(const std::vector<Parameter> &constants, const std::string &f, const std::string &g);

    std::vector<Parameter>       &parameters() { return constants; }
    const std::vector<Parameter> &parameters() const { return constants; }

    /**
     * To be called when the constants are known, by all ranks of comm, before what follows. @param known, pictures what
     * constants that are expressions may name. @throws Error.
     */
    void compile(MPI_Comm comm = MPI_COMM_SELF, const Constants &known = {}, const std::shared_ptr<const Pictures> &pictures = nullptr);

    std::vector<std::string> species() const override { return {"u", "v"}; }
    std::string              formula() const override;
    void evaluate(unsigned int n_nodes, const double *u, double *rates, double *jacobian, const Places &places = {}) const override
    {
      compiled->evaluate(n_nodes, u, rates, jacobian, places);
    }
    bool                                      depends_on_place() const override { return compiled && compiled->depends_on_place(); }
    const std::vector<NamedExpression>       &expressions() const override { return compiled ? compiled->expressions() : reactions; }
    const Constants                          &constants_used() const override { return compiled->constants_used(); }
    const reaction_diffusion::ExpressionTape &tape() const override { return compiled->tape(); }

  protected:
    /** Of a constant. */
    double value(const std::string &name) const;

  private:
    /** A reaction with the values and expressions of the constants in the place of their names. */
    std::string with_constants(const std::string &reaction) const;

    std::vector<Parameter>                    constants;
    std::vector<NamedExpression>              reactions;
    std::shared_ptr<const ExpressionKinetics> compiled;
  };

  using KineticsRegistry = std::map<std::string, std::function<std::unique_ptr<BuiltInKinetics>()>>;

  /** All built-in kinetics by name. */
  KineticsRegistry &kinetics_registry();

  /**
   * Registers a class under a name at program start: static const RegisterKinetics<Schnakenberg> entry("Schnakenberg");
   */
  template <typename K>
  struct RegisterKinetics
  {
    explicit RegisterKinetics(const std::string &name)
    {
      kinetics_registry()[name] = [] { return std::make_unique<K>(); };
    }
  };

  /**
   * Reads "u, v, w". @throws Error naming the entry 'Turing/Species' for a name that is none, stands twice, or cannot
   * be told from the coordinates x, y, z and the time t.
   */
  std::vector<std::string> read_species(const std::string &text);
} // namespace leopard
