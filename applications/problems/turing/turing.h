// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kinetics.h"
#include "turing_analysis.h"

#include <applications/problems/problem.h>

#include <cstdint>
#include <map>

namespace leopard
{
  /**
   * Reaction-diffusion systems of n species, with no flux through the boundary unless the file says otherwise,
   *
   *   du_c/dt = gamma f_c(u_1, ..., u_n, x, t) + D_c laplace u_c.
   *
   * Built-in kinetics have two species with D = (1, kappa) (thesis, equations (4.23) and (4.24)), or diffusion
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
    double                   diffusion(unsigned int c, const dealii::Point<3> &x) const override;
    void         reaction(unsigned int n_nodes, const double *u, double *rates, double *jacobian, const Places &places = {}) const override;
    bool         reaction_depends_on_place() const override { return kinetics->depends_on_place(); }
    double       initial_value(unsigned int c, const dealii::Point<3> &x) const override;
    double       perturbed(unsigned int c, const dealii::Point<3> &x, double value) const override;
    bool         has_analysis() const override { return !chosen_state.empty() || kinetics->depends_on_place(); }
    Forecast     analyze(const Domain &domain, std::string &text, nlohmann::json &report) const override;
    unsigned int pattern_field() const override { return kinetics->pattern_species(); }

    /** The homogeneous steady state of the analysis; empty if 'Steady state' is none or there is none. */
    const std::vector<double> &steady_state() const override { return chosen_state; }

    std::optional<reaction_diffusion::KineticsChoice> library_kinetics() const override;

  protected:
    std::string entry_for(const std::string &what, const std::string &field) const override { return what + " " + field; }

    ManufacturedSolution manufactured() const override;

  private:
    bool             uses_expressions() const { return chosen_kinetics == "expressions"; }
    void             read_diffusion(dealii::ParameterHandler &prm);
    void             declare_expressions(dealii::ParameterHandler &prm);
    void             read_kinetics(dealii::ParameterHandler &prm);
    void             read_steady_state(dealii::ParameterHandler &prm);
    void             choose_steady_state(bool first_is_from_guess);
    LinearizedSystem linearize(const std::vector<double> &state) const;

    std::map<std::string, std::shared_ptr<BuiltInKinetics>> built_in;
    std::string                                             chosen_kinetics = "Schnakenberg"; ///< as prepare() has found it
    std::vector<std::string>                                species         = {"u", "v"};
    std::shared_ptr<const Kinetics>                         kinetics;
    std::vector<double>                                     diffusion_coefficients;
    bool                             has_own_diffusion        = false; ///< built-in kinetics with 'Diffusion u', as prepare() has found it
    double                           gamma                    = 1000.;
    double                           perturbation             = 0.;
    bool                             starts_from_steady_state = false;
    std::vector<std::vector<double>> steady_states; ///< all that were found
    std::vector<double>              chosen_state;
    std::uint64_t                    seed = 0;
  };
} // namespace leopard
