// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <applications/reaction_diffusion/rules/uniform_growth.h>

#include <string>

namespace dealii
{
  class ParameterHandler;
}

namespace leopard
{
  using reaction_diffusion::GrowthFactors;

  /**
   * Uniform growth of the domain: a point x of the mesh, the domain at time zero, is at L(t) x at time t, with
   *
   *   L(t) = exp(r t) (exponential) or L(t) = 1 + r t (linear).
   *
   * On the mesh the equations read du/dt = L^-2 D laplace u - dim (L'/L) u + r(u): Crampin, Gaffney, Maini, Bull. Math.
   * Biol. 61 (1999) 1093, equations (12) and (13). Of a surface dim is 2. Lengths and times are dimensionless. Entries
   * of section "Mesh".
   */
  struct Growth
  {
    std::string law       = "none"; ///< none, exponential, linear
    double      rate      = 0.;     ///< r
    int         dimension = 2;      ///< of the domain

    void declare(dealii::ParameterHandler &prm);
    /** @throws Error for a rate without a law. */
    void read(dealii::ParameterHandler &prm, int dimension);

    bool grows() const { return law != "none"; }
    /** The same for the solver library. */
    reaction_diffusion::UniformGrowth uniform() const;
    double                            length(double t) const; ///< L
    double                            volume(double t) const; ///< L^dim, against that at time zero
    GrowthFactors                     factors(double t) const;
  };
} // namespace leopard
