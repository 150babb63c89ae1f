// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <applications/problems/problem.h>

namespace leopard
{
  /**
   * -laplace u = f(u), with the built-in f(u) = -(alpha + beta u^2) (thesis, section 4.14, equation (4.18) and after)
   * or any expression f(u) or f(u, x), whose derivative is formed unless it is given.
   */
  class ReactionDiffusion : public Problem
  {
  public:
    std::string     name() const override { return "Reaction-diffusion"; }
    std::string     description() const override;
    bool            has_reaction() const override { return true; }
    bool            reaction_depends_on_fields() const override;
    void            declare_parameters(dealii::ParameterHandler &prm) override;
    void            read_parameters(dealii::ParameterHandler &prm) override;
    void            reaction(unsigned int n_nodes, const double *u, double *rates, double *jacobian, const Places &places = {}) const override;
    NamedExpression reaction_entry(unsigned int c) const override;
    bool            reaction_depends_on_place() const override { return !built_in && compiled.values.n_inputs > 1; }

  protected:
    ManufacturedSolution manufactured() const override;

  private:
    void check_derivative(const std::string &given) const;
    /** f or its derivative. @param tape in u, and x, y, z if the reaction depends on the place. */
    void evaluate(const reaction_diffusion::ExpressionTape &tape, unsigned int n_nodes, const double *u, const Places &places, double *values) const;

    bool                      built_in = true;
    double                    alpha = 1., beta = 2.;
    std::string               f; ///< as it is written
    DifferentiatedExpressions compiled;
  };
} // namespace leopard
