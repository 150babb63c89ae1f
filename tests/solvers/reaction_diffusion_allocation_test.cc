// SPDX-License-Identifier: Apache-2.0
// Nothing is allocated in a time step: this program's operator new counts.
#include <solvers/reaction_diffusion/stepper.h>

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <vector>

namespace
{
  std::atomic<long> n_allocations{0};
}

void *operator new(std::size_t n, const std::nothrow_t & /*tag*/) noexcept
{
  ++n_allocations;
  return std::malloc(n > 0 ? n : 1);
}

void *operator new(std::size_t n)
{
  if (void *memory = operator new(n, std::nothrow))
    return memory;
  throw std::bad_alloc();
}

void operator delete(void *memory) noexcept
{
  std::free(memory);
}

void operator delete(void *memory, std::size_t /*n*/) noexcept
{
  std::free(memory);
}

namespace leopard::reaction_diffusion
{
  TEST(ReactionDiffusionMemory, NothingIsAllocatedInAStep)
  {
    for (const LinearMethod method : {LinearMethod::sweeps, LinearMethod::multigrid})
      {
        NodeGrid grid;
        grid.n       = {110, 80, 1}; // large enough for several threads
        grid.spacing = {1. / 109., 1. / 109., 1.};
        StepperOptions options;
        options.n_threads                 = 3;
        options.stepping.linear_method    = method;
        options.stepping.error_controlled = false;
        options.stepping.step_size        = 1e-5;
        std::vector<double> u(2 * grid.n_nodes(), 0.9);
        for (long i = 0; i < grid.n_nodes(); ++i)
          u[i] += 1e-3 * static_cast<double>(i % 7);
        Stepper stepper(grid, options);
        stepper.start(u.data());
        stepper.advance(1., 3, 0.);
        const long before = n_allocations;
        stepper.advance(1., 5, 0.);
        const long after = n_allocations;
        EXPECT_EQ(after, before);
        EXPECT_EQ(stepper.step_number(), 8);
        std::vector<double> one(1); // and it does count
        EXPECT_GT(n_allocations, after);
      }
  }
} // namespace leopard::reaction_diffusion
