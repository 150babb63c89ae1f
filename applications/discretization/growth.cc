// SPDX-License-Identifier: Apache-2.0
#include "growth.h"

#include <solvers/base/errors.h>

#include <deal.II/base/parameter_handler.h>

#include <cmath>

namespace leopard
{
  void Growth::declare(dealii::ParameterHandler &prm)
  {
    using namespace dealii::Patterns;
    prm.enter_subsection("Mesh");
    prm.declare_entry(
      "Growth",
      "none",
      Selection("none|exponential|linear"),
      "Uniform growth of the domain, whose lengths at time t are L(t) times those of the mesh: exponential, L = exp(r t); linear, L = 1 + r "
      "t. Time-dependent problems only.");
    prm.declare_entry("Growth rate", "0", Double(), "r; negative: the domain shrinks. Dimensionless, 1 / time.");
    prm.leave_subsection();
  }

  void Growth::read(dealii::ParameterHandler &prm, int dimension_)
  {
    prm.enter_subsection("Mesh");
    law  = prm.get("Growth");
    rate = prm.get_double("Growth rate");
    prm.leave_subsection();
    dimension = dimension_;
    if (grows() == (rate == 0.))
      throw Error(grows() ? "'Mesh/Growth' is " + law + ", but 'Mesh/Growth rate' is 0\n  expected: a rate, or none"
                          : "'Mesh/Growth rate' is given, but 'Mesh/Growth' is none\n  expected: set Growth = exponential or linear");
  }

  reaction_diffusion::UniformGrowth Growth::uniform() const
  {
    using reaction_diffusion::GrowthLaw;
    return {law == "exponential" ? GrowthLaw::exponential : law == "linear" ? GrowthLaw::linear : GrowthLaw::none, rate, dimension};
  }

  double Growth::length(double t) const
  {
    return uniform().length(t);
  }

  double Growth::volume(double t) const
  {
    return std::pow(length(t), dimension);
  }

  GrowthFactors Growth::factors(double t) const
  {
    return uniform().factors(t);
  }
} // namespace leopard
