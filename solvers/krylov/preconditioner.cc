// SPDX-License-Identifier: Apache-2.0
#include "preconditioner.h"

#include "../base/errors.h"
#include "../device/device.h"
#include "../relaxation/with_ghosts.h"
#include "krylov_over_ranks.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace leopard
{
  namespace
  {
    template <typename Number>
    class RelaxationPreconditioner : public Preconditioner<Number>
    {
    public:
      RelaxationPreconditioner(std::shared_ptr<Relaxation<Number>>          relaxation_,
                               int                                          n_iterations_,
                               std::shared_ptr<const Communication<Number>> communication_)
        : relaxation(std::move(relaxation_))
        , n_iterations(n_iterations_)
        , communication(std::move(communication_))
        , ghosted(communication->has_ghosts() ? relaxation->n_columns() : 0)
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
        if (!communication->has_ghosts())
          return relaxation->iterate_from_zero(z, r, n_iterations);
        relaxation->iterate_from_zero(ghosted.data(), r, 1);
        iterate_with_ghosts(*relaxation, ghosted.data(), r, n_iterations - 1, *communication);
        std::copy_n(ghosted.begin(), n_rows(), z);
      }

    private:
      const std::shared_ptr<Relaxation<Number>>          relaxation;
      const int                                          n_iterations;
      const std::shared_ptr<const Communication<Number>> communication;
      std::vector<Number>                                ghosted; ///< z with ghosts, where there are any
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
  std::shared_ptr<Preconditioner<Number>>
  make_preconditioner(std::shared_ptr<Relaxation<Number>> relaxation, int n_iterations, std::shared_ptr<const Communication<Number>> communication)
  {
    if (relaxation == nullptr)
      throw InvalidInput("a preconditioner is made of no relaxation\n  expected: one of the methods");
    if (relaxation->n_columns() != relaxation->n_rows() && !communication->has_ghosts())
      throw InvalidInput("the preconditioner " + relaxation->name() + " has " + std::to_string(relaxation->n_columns() - relaxation->n_rows()) +
                         " ghosts\n  expected: a matrix of one rank");
    if (communication->has_ghosts() && relaxation->memory_space() != MemorySpace::host)
      throw InvalidInput("the preconditioner " + relaxation->name() + " of several ranks is on the device\n  expected: one on the host");
    if (n_iterations < 1)
      throw InvalidInput("the preconditioner " + relaxation->name() + " is to do " + std::to_string(n_iterations) +
                         " iterations\n  expected: a number >= 1");
    return std::make_shared<RelaxationPreconditioner<Number>>(std::move(relaxation), n_iterations, std::move(communication));
  }

  template <typename Number>
  std::shared_ptr<Preconditioner<Number>> make_preconditioner(std::shared_ptr<Relaxation<Number>> relaxation, int n_iterations)
  {
    return make_preconditioner(std::move(relaxation), n_iterations, std::make_shared<const Communication<Number>>());
  }

  template <typename Number>
  std::shared_ptr<Preconditioner<Number>> make_identity_preconditioner(int n_rows, MemorySpace memory_space)
  {
    return std::make_shared<IdentityPreconditioner<Number>>(n_rows, memory_space);
  }

#define INSTANTIATE(Number)                                                                                                               \
  template std::shared_ptr<Preconditioner<Number>> make_preconditioner(std::shared_ptr<Relaxation<Number>> relaxation, int n_iterations); \
  template std::shared_ptr<Preconditioner<Number>> make_preconditioner(                                                                   \
    std::shared_ptr<Relaxation<Number>> relaxation, int n_iterations, std::shared_ptr<const Communication<Number>> communication);        \
  template std::shared_ptr<Preconditioner<Number>> make_identity_preconditioner(int n_rows, MemorySpace memory_space);
  LEOPARD_FOR_EACH_NUMBER(INSTANTIATE)
#undef INSTANTIATE
} // namespace leopard
