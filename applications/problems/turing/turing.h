// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kinetics.h"

#include <applications/problems/problem.h>

#include <cstdint>
#include <map>

namespace leopard
{
  /**
   * Two-species Turing systems with no-flux boundaries (thesis, equations (4.23) and (4.24)):
   *
   *   u_t = gamma f(u,v) + laplace u,    v_t = gamma g(u,v) + kappa laplace v.
   *
   * u is the activator. Initial values are expressions or the homogeneous steady state of the kinetics, plus a seeded random
   * perturbation that depends on the node's position only, not on the number of ranks.
   */
  class Turing : public Problem
  {
  public:
    Turing();

    std::string              name() const override { return "Turing"; }
    std::vector<std::string> fields() const override { return {"u", "v"}; }
    std::string              description() const override;
    bool                     time_dependent() const override { return true; }
    bool                     has_reaction() const override { return true; }
    void                     declare_parameters(dealii::ParameterHandler &prm) override;
    void                     read_parameters(dealii::ParameterHandler &prm) override;
    double                   diffusion(unsigned int c, const dealii::Point<3> &x) const override;
    void                     reaction(const double *u, double *r, double *jacobian) const override;
    double                   initial_value(unsigned int c, const dealii::Point<3> &x) const override;

  private:
    std::map<std::string, std::unique_ptr<Kinetics>> all_kinetics;
    const Kinetics                                  *kinetics = nullptr;
    double                                           gamma = 1000., kappa = 10.;
    double                                           perturbation             = 0.;
    bool                                             starts_from_steady_state = false;
    std::array<double, 2>                            steady_state             = {};
    std::uint64_t                                    seed                     = 0;
  };
} // namespace leopard
