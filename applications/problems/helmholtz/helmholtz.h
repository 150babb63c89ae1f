// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <applications/problems/problem.h>

namespace leopard
{
  /**
   * -laplace u + delta u = b with delta >= 0, positive definite (no wave equation). The larger delta, the
   * better relaxation converges.
   */
  class Helmholtz : public Problem
  {
  public:
    std::string name() const override { return "Helmholtz"; }
    std::string description() const override;
    void        declare_parameters(dealii::ParameterHandler &prm) override;
    void        read_parameters(dealii::ParameterHandler &prm) override;
    double      absorption(unsigned int /*c*/) const override { return delta; }

  private:
    double delta = 1.;
  };
} // namespace leopard
