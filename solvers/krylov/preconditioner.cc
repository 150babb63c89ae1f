// SPDX-License-Identifier: Apache-2.0
#include "preconditioner.h"

#include "../base/errors.h"
#include "../device/device.h"
#include "../relaxation/relaxation.h"

#include <algorithm>
#include <utility>

namespace leopard
{
  namespace
  {
    template <typename Number>
    class RelaxationPreconditioner : public Preconditioner<Number>
    {
    public:
      RelaxationPreconditioner(std::shared_ptr<Relaxation<Number>> relaxation_, int n_iterations_)
        : relaxation(std::move(relaxation_))
        , n_iterations(n_iterations_)
      {
      }

      std::string name() const override { return relaxation->name(); }
      int         n_rows() const override { return relaxation->n_rows(); }
      MemorySpace memory_space() const override { return relaxation->memory_space(); }
      bool        is_fixed_linear_map() const override { return relaxation->is_fixed_linear_map(); }
      bool        is_symmetric_map() const override { return relaxation->is_symmetric_map(); }
      bool        is_queued() const override { return relaxation->is_queued(); }

      void apply(Number *z, const Number *r) override
      {
        relaxation->restart();
        relaxation->iterate_from_zero(z, r, n_iterations);
      }

    private:
      const std::shared_ptr<Relaxation<Number>> relaxation;
      const int                                 n_iterations;
    };

    template <typename Number>
    class IdentityPreconditioner : public Preconditioner<Number>
    {
    public:
      IdentityPreconditioner(int n_, MemorySpace space_)
        : n(n_)
        , space(space_)
      {
      }

      std::string name() const override { return "none"; }
      int         n_rows() const override { return n; }
      MemorySpace memory_space() const override { return space; }
      bool        is_fixed_linear_map() const override { return true; }
      bool        is_symmetric_map() const override { return true; }
      bool        is_queued() const override { return space == MemorySpace::device; }

      void apply(Number *z, const Number *r) override
      {
        if (space == MemorySpace::host)
          std::copy_n(r, n, z);
        else if (n > 0)
          device::copy_on_device(z, r, static_cast<std::size_t>(n) * sizeof(Number));
      }

    private:
      const int         n;
      const MemorySpace space;
    };
  } // namespace

  template <typename Number>
  std::shared_ptr<Preconditioner<Number>> make_preconditioner(std::shared_ptr<Relaxation<Number>> relaxation, int n_iterations)
  {
    if (relaxation == nullptr)
      throw InvalidInput("a preconditioner is made of no relaxation\n  expected: one of the methods");
    if (relaxation->n_columns() != relaxation->n_rows())
      throw InvalidInput("the preconditioner " + relaxation->name() + " has " + std::to_string(relaxation->n_columns() - relaxation->n_rows()) +
                         " ghosts\n  expected: a matrix of one rank");
    if (n_iterations < 1)
      throw InvalidInput("the preconditioner " + relaxation->name() + " is to do " + std::to_string(n_iterations) +
                         " iterations\n  expected: a number >= 1");
    return std::make_shared<RelaxationPreconditioner<Number>>(std::move(relaxation), n_iterations);
  }

  template <typename Number>
  std::shared_ptr<Preconditioner<Number>> make_identity_preconditioner(int n_rows, MemorySpace memory_space)
  {
    return std::make_shared<IdentityPreconditioner<Number>>(n_rows, memory_space);
  }

#define INSTANTIATE(Number)                                                                                                               \
  template std::shared_ptr<Preconditioner<Number>> make_preconditioner(std::shared_ptr<Relaxation<Number>> relaxation, int n_iterations); \
  template std::shared_ptr<Preconditioner<Number>> make_identity_preconditioner(int n_rows, MemorySpace memory_space);
  LEOPARD_FOR_EACH_NUMBER(INSTANTIATE)
#undef INSTANTIATE
} // namespace leopard
