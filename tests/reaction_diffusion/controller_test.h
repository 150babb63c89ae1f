// SPDX-License-Identifier: Apache-2.0
// The fused time loop without fields: the test answers in the place of an engine.
#pragma once

#include <applications/reaction_diffusion/rules/controller.h>

#include <gtest/gtest.h>

#include <vector>

namespace leopard::reaction_diffusion
{
  /** Norms of G and u, and of the old values after a prediction. */
  inline Sums sums_of(double residual, double old_values = 1., double u = 1.)
  {
    Sums sums;
    sums.residual = residual * residual;
    sums.squares  = u * u;
    sums.history  = old_values * old_values;
    return sums;
  }

  /** Fixed steps of implicit Euler of size 1. @param row_sum of |I - D^-1 J| without reaction. */
  inline Controller controller(double row_sum, double newton_tolerance = 1e-8)
  {
    Controller c;
    c.options.scheme           = Scheme::implicit_euler;
    c.options.error_controlled = false;
    c.options.step_size        = 1.;
    c.options.newton_tolerance = newton_tolerance;
    c.rate_bound               = row_sum / (1. - row_sum);
    c.n_unknowns               = 4.;
    c.stop_time                = 1e6;
    c.last_step                = 1000000;
    c.resume({0, 0., 1., {}});
    return c;
  }

  /** Answers with these norms of the residual, after the prediction and after corrections. */
  inline Action play(Controller &c, const std::vector<double> &residuals, double row_rate = 0.)
  {
    Action action = c.start();
    for (const double residual : residuals)
      {
        EXPECT_NE(action, Action::stop);
        Sums sums     = sums_of(residual);
        sums.row_rate = row_rate;
        action        = c.next(sums);
      }
    return action;
  }
} // namespace leopard::reaction_diffusion
