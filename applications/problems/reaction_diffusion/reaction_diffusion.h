// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <applications/problems/problem.h>

namespace leopard
{
  /**
   * -laplace u = f(u), with the built-in f(u) = -(alpha + beta u^2) (thesis, section 4.14, equation (4.18) and after) or any
   * expression f(u) that comes with its derivative.
   */
  class ReactionDiffusion : public Problem
  {
  public:
    std::string name() const override { return "Reaction-diffusion"; }
    std::string description() const override;
    bool        has_reaction() const override { return true; }
    void        declare_parameters(dealii::ParameterHandler &prm) override;
    void        read_parameters(dealii::ParameterHandler &prm) override;
    void        reaction(unsigned int n_nodes, const double *u, double *rates, double *jacobian) const override;

  private:
    void check_derivative() const;

    bool       built_in = true;
    double     alpha = 1., beta = 2.;
    Expression f, derivative;
  };
} // namespace leopard
