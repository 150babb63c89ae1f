// SPDX-License-Identifier: Apache-2.0
// How many sweeps the fused time loop plans, and what it learns from them.
#include "controller_test.h"

#include <cmath>

namespace leopard::reaction_diffusion
{
  namespace
  {
    int sweeps(double reduction, double rate)
    {
      return static_cast<int>(std::log(reduction) / std::log(rate) + 1.);
    }

    /** Sweeps of the first correction from a residual of one. */
    int first_sweeps(Controller c, double norm = 1., double old_values = 1.)
    {
      EXPECT_EQ(c.start(), Action::predict);
      EXPECT_EQ(c.next(sums_of(norm, old_values)), Action::correct);
      return c.n_sweeps;
    }
  } // namespace

  TEST(Controller, PlansTheSweepsThatTheRateAsksFor)
  {
    EXPECT_EQ(first_sweeps(controller(0.5, 1e-2)), sweeps(3e-3, 0.5));
    EXPECT_EQ(first_sweeps(controller(0.5)), sweeps(3e-9, 0.5)) << "29 are not many";
    EXPECT_EQ(first_sweeps(controller(0.645)), sweeps(1e-3, 0.645)) << "45 are";
    EXPECT_EQ(first_sweeps(controller(0.9)), sweeps(1e-3, 0.9));
    EXPECT_EQ(first_sweeps(controller(0.9, 1e-2)), sweeps(3e-3, 0.9)) << "many, for a small reduction";
    EXPECT_EQ(first_sweeps(controller(0.05), 1e-20), 2) << "below the goal";
    EXPECT_EQ(first_sweeps(controller(0.6), 1e-20), sweeps(0.5, 0.6));
    EXPECT_EQ(first_sweeps(controller(0.6), 0.), sweeps(0.5, 0.6));
    Controller imex         = controller(0.9);
    imex.options.scheme     = Scheme::imex_bdf2;
    imex.options.max_sweeps = 1000;
    EXPECT_EQ(first_sweeps(imex), sweeps(3e-9, 0.9)) << "there is no Newton's method whose steps could be more";
    imex.smallest_reduction = 1e-6;
    EXPECT_EQ(first_sweeps(imex), sweeps(1e-6, 0.9));
    Controller far           = controller(0.5);
    far.options.newton_floor = 0.5;
    EXPECT_EQ(first_sweeps(far, 0.4), sweeps(0.005, 0.5)) << "below the goal, far from a solution";
    EXPECT_EQ(first_sweeps(far, 0.4, 100.), sweeps(0.005, 0.5));
    EXPECT_EQ(first_sweeps(far, 0.009, 100.), 2) << "a ten thousandth of the old values";
  }

  TEST(Controller, PlansAllSweepsThereMayBeWhereTheyHardlyContract)
  {
    for (const int most : {1000, 400, 20})
      for (const double row_sum : {0.9999, 1. - 1e-9, 1. - 1e-15})
        {
          Controller c         = controller(row_sum);
          c.options.max_sweeps = most;
          EXPECT_EQ(first_sweeps(c), most) << row_sum;
        }
    Controller c = controller(0.5);
    c.rate_bound = 1e17; // its row sum is 1 after rounding
    EXPECT_EQ(Controller::row_sum_bound(c.rate_bound, 0.), 1.);
    EXPECT_EQ(first_sweeps(c), 400);
    c.rate_bound   = 100.;
    c.excess_bound = 2.; // and with positive couplings it can be more
    EXPECT_EQ(first_sweeps(c), 400);
    c.rate_bound   = 1.;
    c.excess_bound = 0.75;
    EXPECT_EQ(first_sweeps(c), sweeps(1e-3, 0.8));
  }

  TEST(Controller, LearnsTheRateOfSweeps)
  {
    Controller c = controller(0.5, 1e-6);
    EXPECT_EQ(play(c, {1., 0.1}), Action::correct);
    EXPECT_EQ(c.n_sweeps, sweeps(1e-3, 0.5)) << "Newton's method may have left that, and then leaves a hundredth";
    const double seen = std::pow(0.4, 1. / c.n_sweeps);
    c.next(sums_of(0.04));
    EXPECT_EQ(c.n_sweeps, sweeps(1e-3, seen)) << "it squares what it leaves, sweeps do not";

    c = controller(0.5, 1e-6);
    play(c, {1., 0.1});
    c.next(sums_of(0.1 * 0.0199));
    EXPECT_EQ(c.n_sweeps, sweeps(3e-7 / 0.00199, 0.5)) << "a fiftieth after a tenth: twice the square";

    c = controller(0.5, 1e-6);
    play(c, {1., 0.51});
    EXPECT_EQ(c.n_sweeps, sweeps(1e-3, std::pow(0.51, 1. / sweeps(3e-7, 0.5)))) << "not even half";

    c = controller(0.9);
    play(c, {1., 1e-5});
    EXPECT_EQ(c.n_sweeps, sweeps(1e-3, std::pow(1e-5, 1. / sweeps(1e-3, 0.9)))) << "faster than thought";

    c = controller(0.5);
    play(c, {1., 1.});
    EXPECT_EQ(c.n_sweeps, sweeps(1e-3, 0.98)) << "slower sweeps would be Newton's method";

    c                    = controller(0.01, 1e-14);
    c.smallest_reduction = 0.1;
    c.start();
    c.next(sums_of(1., 1e-3));
    EXPECT_EQ(c.n_sweeps, 2);
    c.smallest_reduction = 1e-6;
    c.next(sums_of(1e-10));
    EXPECT_EQ(c.n_sweeps, sweeps(3e-5, 0.02)) << "two sweeps say little of many";
  }

  TEST(Controller, RemembersTheRateInTheNextStep)
  {
    const auto sweeps_of_next_step = [](double row_sum, double left, double tolerance = 1e-2) {
      Controller c = controller(row_sum, tolerance);
      EXPECT_EQ(play(c, {1., left * tolerance}), Action::predict);
      EXPECT_EQ(c.totals.steps, 1);
      EXPECT_EQ(c.next(sums_of(1.)), Action::correct);
      return c.n_sweeps;
    };
    const int before = sweeps(3e-3, 0.9);
    EXPECT_EQ(sweeps_of_next_step(0.9, 0.11), sweeps(3e-3, std::pow(1.1e-3, 1. / before)));
    EXPECT_EQ(sweeps_of_next_step(0.9, 0.09), sweeps(3e-3, std::pow(9e-4, 1. / before))) << "still faster";
    EXPECT_EQ(sweeps_of_next_step(0.01, 0.5, 1e-8), sweeps(3e-9, 0.01));
    Controller c = controller(0.5, 1e-2);
    play(c, {1., 0.9});
    EXPECT_EQ(c.next(sums_of(0.009)), Action::predict);
    c.next(sums_of(1.));
    EXPECT_EQ(c.n_sweeps, sweeps(3e-3, 0.5)) << "no slower than the row sums";
    c = controller(0.01, 1e-2);
    play(c, {1., 0.9});
    c.next(sums_of(0.009));
    c.options.newton_tolerance = 1e-8;
    c.next(sums_of(1.));
    EXPECT_EQ(c.n_sweeps, sweeps(1e-3, 0.05)) << "nor faster than that, unless it was seen";
    const auto rate_after = [](double left) {
      Controller imex     = controller(0.01, 1e-2);
      imex.options.scheme = Scheme::imex_bdf2;
      play(imex, {1., left});
      EXPECT_EQ(imex.totals.sweeps, 2.);
      return imex.sweep_rate;
    };
    EXPECT_NEAR(rate_after(1.1e-3), std::sqrt(1.1e-3), 1e-6) << "slower than was thought";
    EXPECT_EQ(rate_after(0.9e-3), 0.01) << "that may be rounding";
  }

  TEST(Controller, SolvesNoDeeperThanNewtonsMethodGoes)
  {
    Controller c = controller(0.3);
    play(c, {1.});
    EXPECT_EQ(c.n_sweeps, sweeps(3e-9, 0.3)) << "nothing is known of it";
    c.next(sums_of(1e-2));
    EXPECT_EQ(c.n_sweeps, sweeps(1e-5, 0.3)) << "a tenth of the square of a hundredth";
    c.next(sums_of(1e-6));
    EXPECT_EQ(c.n_sweeps, sweeps(3e-3, 0.3)) << "the goal";
    EXPECT_EQ(c.next(sums_of(3e-9)), Action::predict);
    c.next(sums_of(1.));
    EXPECT_EQ(c.n_sweeps, sweeps(1e-3, 0.3)) << "a hundredth in the last step: never less than a thousandth";
    c.next(sums_of(1e-4));
    c.next(sums_of(2e-9));
    c.next(sums_of(1.));
    EXPECT_EQ(c.n_sweeps, sweeps(1e-5, c.sweep_rate)) << "a tenth of a ten thousandth in the last step";

    c                          = controller(0.3);
    c.options.max_newton_steps = 1;
    play(c, {1., 1e-9});
    c.first_ratio = 0.5;
    c.next(sums_of(1.));
    EXPECT_EQ(c.n_sweeps, sweeps(3e-9, 0.3)) << "no further correction is allowed";

    c                = controller(0.3);
    c.options.scheme = Scheme::imex_bdf2;
    play(c, {1., 1e-9});
    c.first_ratio = 0.5;
    c.next(sums_of(1.));
    EXPECT_EQ(c.n_sweeps, sweeps(3e-9, c.sweep_rate)) << "no Newton's method";
  }
} // namespace leopard::reaction_diffusion
