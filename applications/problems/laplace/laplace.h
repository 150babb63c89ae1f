// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <applications/problems/problem.h>

namespace leopard
{
  /**
   * -div(a(x) grad u) = f with boundary values or fluxes. The coefficient a must be positive, or a symmetric positive
   * definite matrix.
   */
  class Laplace : public Problem
  {
  public:
    std::string      name() const override { return "Laplace"; }
    std::string      description() const override;
    void             declare_parameters(dealii::ParameterHandler &prm) override;
    void             read_parameters(dealii::ParameterHandler &prm) override;
    double           diffusion(unsigned int c, const dealii::Point<3> &x) const override;
    std::string      diffusion_entry(unsigned int /*c*/) const override { return tensor ? tensor->entry_name() : coefficient.entry_name(); }
    const Diffusion *diffusion_tensor(unsigned int /*c*/) const override { return tensor ? &*tensor : nullptr; }
    bool             has_constant_coefficients() const override;

  protected:
    ManufacturedSolution manufactured() const override;

  private:
    Expression               coefficient;
    std::optional<Diffusion> tensor; ///< in the place of the coefficient
  };
} // namespace leopard
