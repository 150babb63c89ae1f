// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <solvers/base/host_device.h>

#include <cmath>

namespace leopard::reaction_diffusion
{
  /** What growth makes of du/dt = D laplace u + r at one time: du/dt = diffusion D laplace u - dilution u + r. */
  struct GrowthFactors
  {
    double diffusion = 1.; ///< 1 / L^2
    double dilution  = 0.; ///< dim L' / L, 1 / time
  };

  enum class GrowthLaw
  {
    none,
    exponential, ///< L = exp(r t)
    linear       ///< L = 1 + r t
  };

  /**
   * Uniform growth of the domain: a point x of the mesh, the domain at time zero, is at L(t) x at time t. On the mesh
   * the equations read du/dt = L^-2 D laplace u - dim (L'/L) u + r(u): Crampin, Gaffney, Maini, Bull. Math. Biol. 61
   * (1999) 1093, equations (12) and (13). Lengths and times are dimensionless.
   */
  struct UniformGrowth
  {
    GrowthLaw law       = GrowthLaw::none;
    double    rate      = 0.; ///< r
    int       dimension = 2;  ///< of the domain; 2 of a surface

    LEOPARD_HOST_DEVICE double length(double t) const
    {
      return law == GrowthLaw::exponential ? std::exp(rate * t) : law == GrowthLaw::linear ? 1. + rate * t : 1.;
    }
    LEOPARD_HOST_DEVICE GrowthFactors factors(double t) const
    {
      GrowthFactors result;
      if (law == GrowthLaw::none)
        return result;
      const double l   = length(t);
      result.diffusion = 1. / (l * l);
      result.dilution  = dimension * (law == GrowthLaw::exponential ? rate : rate / l);
      return result;
    }
  };
} // namespace leopard::reaction_diffusion
