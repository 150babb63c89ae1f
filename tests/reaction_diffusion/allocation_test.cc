// SPDX-License-Identifier: Apache-2.0
// Nothing is allocated in a time step: this program's operator new counts.
#include "../count_allocations.h"
#include "noise_on.h"

#include <cstdint>

namespace leopard::reaction_diffusion
{
  namespace
  {
    /** Some steps, then some whose allocations are counted. */
    void expect_no_allocation(StepperOptions options, const std::string &what, bool with_noise = false)
    {
      NodeGrid grid;
      grid.n            = {110, 80, 1}; // large enough for several threads
      grid.spacing      = {1. / 109., 1. / 109., 1.};
      options.n_threads = 3;
      if (with_noise)
        options.noise = multiplicative_noise(noise_on(grid, {}));
      options.stepping.step_size = 1e-5;
      std::vector<double> u(options.diffusion.size() * grid.n_nodes(), 0.9);
      for (long i = 0; i < grid.n_nodes(); ++i)
        u[i] += 1e-3 * static_cast<double>(i % 7);
      for (const bool as_mesh : {false, true})
        {
          if (as_mesh && is_exponential(options.stepping.scheme))
            continue; // it has grids only
          const auto stepper = as_mesh ? std::make_unique<Stepper>(laplacian_of(grid), options) : std::make_unique<Stepper>(grid, options);
          stepper->start(u.data());
          stepper->advance(1., 3, 0.);
          const long before = n_allocations;
          stepper->advance(1., 5, 0.);
          const long after = n_allocations;
          EXPECT_EQ(after, before) << what << (as_mesh ? ", as a mesh" : "");
          EXPECT_EQ(stepper->step_number(), 8) << what;
          std::vector<double> one(1); // and it does count
          EXPECT_GT(n_allocations, after);
        }
    }
  } // namespace

  TEST(ReactionDiffusionMemory, NothingIsAllocatedInAStep)
  {
    for (const LinearMethod method : {LinearMethod::sweeps, LinearMethod::multigrid})
      {
        StepperOptions options;
        options.stepping.linear_method    = method;
        options.stepping.error_controlled = false;
        for (const Scheme scheme : multistep_schemes())
          {
            options.stepping.scheme = scheme;
            expect_no_allocation(options, "fixed steps");
          }
        options.stepping.scheme = Scheme::etdrk4;
        expect_no_allocation(options, "ETDRK4");
        options.stepping.scheme           = Scheme::imex_bdf2;
        options.stepping.error_controlled = true;
        expect_no_allocation(options, "SBDF2, error-controlled");
        options.stepping.error_controlled = false;
        options.stepping.scheme           = Scheme::bdf2;
        options.stepping.bound_fraction   = 0.9;
        expect_no_allocation(options, "at the asynchronous bound");
        options.stepping.bound_fraction = 0.;
        options.stepping.scheme         = Scheme::implicit_euler;
        expect_no_allocation(options, "noise", true);
        options.stepping.scheme = Scheme::bdf2;
        for (const std::uint16_t n : {1, 2, 3, 4})
          {
            options.kinetics = {"expressions", {}, 10., logistic(n)};
            options.diffusion.assign(n, 1.);
            expect_no_allocation(options, "expressions, " + std::to_string(n) + " species");
          }
      }
  }
} // namespace leopard::reaction_diffusion
