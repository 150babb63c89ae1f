// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kinetics.h"
#include "turing_analysis.h"

#include <applications/problems/coefficient.h>
#include <applications/problems/field_transport.h>
#include <applications/problems/problem.h>

#include <cstdint>
#include <map>

namespace leopard
{
  /**
   * Reaction-diffusion systems of n species, with no flux through the boundary unless the file says otherwise,
   *
   *   du_c/dt = gamma f_c(u_1, ..., u_n, x, t) + D_c laplace u_c - div J_c + sigma_c(u_1, ..., u_n, x, t) dW_c/dt,
   *
   * or div(D_c grad u_c) where D_c depends on x or is a matrix; J_c is cross-diffusion and advection, see
   * FieldTransport; gamma and the constants of f may depend on x and t. Quasi-stationary species have a zero on the
   * left. Built-in kinetics have two species with D = (1, kappa) (thesis, equations (4.23) and (4.24)), or diffusion
   * coefficients of the file, as the literature has them on a domain of its size; "expressions" are of any number.
   * Initial values are expressions or the homogeneous steady state of the kinetics, plus a seeded random perturbation
   * that depends on the node's position only, not on the number of ranks.
   */
  class Turing : public Problem
  {
  public:
    Turing();

    std::string              name() const override { return "Turing"; }
    std::vector<std::string> fields() const override { return species; }
    bool                     fields_are_concentrations() const override { return kinetics->are_concentrations(); }
    std::string              description() const override;
    bool                     time_dependent() const override { return true; }
    bool                     has_reaction() const override { return true; }
    void                     prepare(const GivenValue &given) override;
    void                     declare_parameters(dealii::ParameterHandler &prm) override;
    void                     read_parameters(dealii::ParameterHandler &prm) override;
    const FieldTransport    *transport() const override { return carried.get(); }
    bool                     does_not_diffuse(unsigned int c) const override { return diffusions[c].is_zero(); }

    const std::vector<unsigned int> &quasi_stationary() const override { return still; }
    double                           diffusion(unsigned int c, const dealii::Point<3> &x) const override { return diffusions[c].value(x); }
    const Diffusion                 *diffusion_tensor(unsigned int c) const override { return diffusions[c].is_tensor() ? &diffusions[c] : nullptr; }
    std::string                      diffusion_entry(unsigned int c) const override;
    bool                             has_constant_coefficients() const override;
    std::vector<double>              proportional_diffusion() const override;
    void            reaction(unsigned int n_nodes, const double *u, double *rates, double *jacobian, const Places &places = {}) const override;
    NamedExpression reaction_entry(unsigned int c) const override;
    NamedExpression noise_entry(unsigned int c) const override { return noise->expressions()[c]; }
    bool            coefficients_depend_on_time() const override;

    std::vector<std::string> entries_with_time() const override;

    std::string  complaint_at(unsigned int n_nodes, const Places &places) const override;
    bool         reaction_depends_on_place() const override { return kinetics->depends_on_place() || !gamma.is_number(); }
    bool         has_noise() const override { return noise != nullptr; }
    void         noise_strength(unsigned int n_nodes, const double *u, double *strengths, const Places &places = {}) const override;
    double       initial_value(unsigned int c, const dealii::Point<3> &x) const override;
    double       perturbed(unsigned int c, const dealii::Point<3> &x, double value) const override;
    bool         has_analysis() const override { return !chosen_state.empty() || kinetics->depends_on_place(); }
    Forecast     analyze(const Domain &domain, std::string &text, nlohmann::json &report) const override;
    unsigned int pattern_field() const override { return kinetics->pattern_species(); }

    /** The homogeneous steady state of the analysis; empty if 'Steady state' is none or there is none. */
    const std::vector<double> &steady_state() const override { return chosen_state; }

    std::optional<reaction_diffusion::KineticsChoice> library_kinetics(unsigned int                              n_nodes      = 0,
                                                                       const Places                             &nodes        = {},
                                                                       const reaction_diffusion::ExpressionTape *load_factors = nullptr,
                                                                       const double                             *loads = nullptr) const override;

    reaction_diffusion::NoiseChoice library_noise(unsigned int n_nodes = 0, const Places &nodes = {}) const override;

  protected:
    std::string entry_for(const std::string &what, const std::string &field) const override { return what + " " + field; }

    ManufacturedSolution manufactured() const override;

  private:
    bool      uses_expressions() const { return chosen_kinetics == "expressions"; }
    void      declare_diffusion(dealii::ParameterHandler &prm, const std::string &field);
    void      declare_transport(dealii::ParameterHandler &prm, const std::string &field);
    void      declare_expressions(dealii::ParameterHandler &prm);
    void      read_images(dealii::ParameterHandler &prm);
    void      read_kinetics(dealii::ParameterHandler &prm);
    void      read_constants_of_kinetics(dealii::ParameterHandler &prm);
    Diffusion read_diffusion(dealii::ParameterHandler &prm, const std::string &field, bool may_be_zero) const;
    void      read_diffusion_of_built_in(dealii::ParameterHandler &prm);
    void      read_noise(dealii::ParameterHandler &prm);
    void      read_transport(dealii::ParameterHandler &prm);
    void      read_quasi_stationary(dealii::ParameterHandler &prm);
    void      read_steady_state(dealii::ParameterHandler &prm);
    void      read_mean_initial_values(dealii::ParameterHandler &prm);

    /** What of a program is computed at the nodes once, and what is left of it. */
    struct AtNodes
    {
      reaction_diffusion::ExpressionTape rest;    ///< inputs: the species, the time, the values by node
      std::vector<double>                by_node; ///< as of KineticsChoice
    };
    /** @param tape its inputs are the species and names_of_places(). */
    AtNodes split_at_nodes(const reaction_diffusion::ExpressionTape &tape, unsigned int n_nodes, const Places &nodes) const;

    /** library_kinetics() as expressions that know place and time. */
    reaction_diffusion::KineticsChoice
    kinetics_by_node(unsigned int n_nodes, const Places &nodes, const reaction_diffusion::ExpressionTape *load_factors, const double *loads) const;

    /** Whether steady states or their stability depend on the place. */
    bool                analysis_depends_on_place() const;
    std::vector<double> choose_steady_state(const std::vector<std::vector<double>> &states, const Places *place) const;
    /** @param place null: with gamma = 1 and equal diffusion, for what does not depend on these. */
    LinearizedSystem linearize(const std::vector<double> &state, const Places *place) const;
    /** The steady states of the reaction at a place. */
    std::vector<std::vector<double>> states_at(const Places &place) const;
    /** Why there is no analysis at a place: which coefficient is none there; or nothing. */
    std::string complaint_of_coefficients(const Places &place) const;
    std::string range_over(const Domain &domain, nlohmann::json &report) const;

    std::map<std::string, std::shared_ptr<BuiltInKinetics>> built_in;
    std::string                                             chosen_kinetics = "Schnakenberg"; ///< as prepare() has found it
    std::vector<std::string>                                species         = {"u", "v"};
    std::shared_ptr<const Kinetics>                         kinetics;
    std::shared_ptr<const FieldExpressions>                 noise;         ///< the strengths; null for none
    std::shared_ptr<const FieldTransport>                   carried;       ///< cross-diffusion and advection; null for none
    std::vector<unsigned int>                               still;         ///< quasi-stationary species
    std::vector<std::string>                                picture_names; ///< as prepare() has found them
    std::vector<Diffusion>                                  diffusions;
    std::vector<Coefficient>                                coefficients; ///< gamma and constants of built-in kinetics that are expressions
    std::vector<double>                                     least_values; ///< that these may have
    bool                             has_own_diffusion        = false;    ///< built-in kinetics with 'Diffusion u', as prepare() has found it
    Coefficient                      gamma                    = Coefficient(1000.);
    double                           perturbation             = 0.;
    bool                             starts_from_steady_state = false;
    std::string                      wanted_state             = "positive"; ///< the entry 'Steady state'
    std::vector<std::vector<double>> guesses;                               ///< where the search for it begins
    std::vector<double>              mean_initial_values;                   ///< about, of |u|; empty where they are not known yet
    std::vector<std::vector<double>> steady_states;                         ///< all that were found
    std::vector<double>              chosen_state;
  };
} // namespace leopard
