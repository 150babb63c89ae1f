// SPDX-License-Identifier: Apache-2.0
#include "inner_solver.h"

#include "../base/errors.h"
#include "../device/device.h"
#include "../device/device_vector.h"
#include "../exchange/communication.h"
#include "../krylov/krylov.h"
#include "../multigrid/multigrid.h"
#include "../relaxation/with_ghosts.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace leopard
{
  namespace
  {
    template <typename Solver>
    std::shared_ptr<Solver> checked(std::shared_ptr<Solver> solver)
    {
      if (solver == nullptr)
        throw InvalidInput("an inner solver is made of nothing\n  expected: a relaxation, a multigrid or a Krylov method");
      return solver;
    }

    /** The solver, if it is one without ghosts. */
    template <typename Solver>
    std::shared_ptr<Solver> checked_columns(std::shared_ptr<Solver> solver)
    {
      if (checked(solver)->n_columns() != solver->n_rows())
        throw InvalidInput("an inner solver has " + std::to_string(solver->n_columns() - solver->n_rows()) +
                           " ghosts\n  expected: a matrix of one rank");
      return solver;
    }

    template <typename Number>
    void set_zero(Number *c, int n, MemorySpace space)
    {
      if (space == MemorySpace::host)
        std::fill_n(c, n, Number(0));
      else if (n > 0)
        device::set_zero(c, static_cast<std::size_t>(n) * sizeof(Number));
    }

    template <typename Number>
    class RelaxationInside : public InnerSolver<Number>
    {
    public:
      RelaxationInside(std::shared_ptr<Relaxation<Number>> relaxation_, std::shared_ptr<const Communication<Number>> communication_)
        : relaxation(checked(std::move(relaxation_)))
        , communication(checked(std::move(communication_)))
      {
        const auto n = static_cast<std::size_t>(relaxation->n_columns());
        if (relaxation->n_columns() == relaxation->n_rows())
          return;
        if (memory_space() == MemorySpace::device)
          device_c.reinit(n);
        else
          host_c.resize(n);
      }

      std::string name() const override { return relaxation->name(); }
      int         n_rows() const override { return relaxation->n_rows(); }
      MemorySpace memory_space() const override { return relaxation->memory_space(); }

      Number *own_correction() override { return !host_c.empty() ? host_c.data() : device_c.size() > 0 ? device_c.data() : nullptr; }

      int solve(Number *c, const Number *r, int n) override
      {
        relaxation->restart();
        const int at_once = communication->has_ghosts() ? 1 : n;
        relaxation->iterate_from_zero(c, r, at_once);
        go_on(c, r, n - at_once);
        return n;
      }

      void go_on(Number *c, const Number *r, int n) override { iterate_with_ghosts(*relaxation, c, r, n, *communication); }

      double relative_residual(Number *c, const Number *r) override
      {
        communication->update_ghosts(c, memory_space());
        return std::sqrt(communication->sum(relaxation->residual_norm_squared(c, r)) / communication->sum(relaxation->norm_squared(r)));
      }

    private:
      const std::shared_ptr<Relaxation<Number>>          relaxation;
      const std::shared_ptr<const Communication<Number>> communication;
      std::vector<Number>                                host_c; ///< with ghosts, where there are any
      DeviceVector<Number>                               device_c;
    };

    template <typename Number>
    class MultigridInside : public InnerSolver<Number>
    {
    public:
      MultigridInside(std::shared_ptr<Multigrid<Number>> multigrid_, std::shared_ptr<const RankSums> ranks_)
        : multigrid(checked(std::move(multigrid_)))
        , ranks(checked(std::move(ranks_)))
      {
      }

      std::string name() const override { return "multigrid"; }
      int         n_rows() const override { return multigrid->n_rows(); }
      MemorySpace memory_space() const override { return multigrid->memory_space(); }
      bool        bears_momentum() const override { return multigrid->has_mirrored_steps(); }

      Number    *own_correction() override { return multigrid->own_solution(); }
      Number    *own_residual() override { return multigrid->own_right_hand_side(); }
      const int *own_order() const override { return multigrid->own_order(); }

      int solve(Number *c, const Number *r, int n) override
      {
        multigrid->vmult(c, r);
        go_on(c, r, n - 1);
        return n;
      }

      void go_on(Number *c, const Number *r, int n) override
      {
        for (int i = 0; i < n; ++i)
          multigrid->cycle(c, r);
      }

      double relative_residual(Number *c, const Number *r) override
      {
        const auto n = static_cast<std::size_t>(n_rows());
        if (memory_space() == MemorySpace::device)
          {
            DeviceVector<Number> product(n);
            multigrid->multiply(product.data(), c);
            const double of_r = device::dot(r, r, n);
            device::axpy(product.data(), Number(-1), r, n);
            return relative(device::dot(product.data(), product.data(), n), of_r);
          }
        std::vector<Number> product(n);
        multigrid->multiply(product.data(), c);
        double sum = 0., of_r = 0.;
        for (std::size_t i = 0; i < n; ++i)
          {
            const double difference = static_cast<double>(r[i]) - static_cast<double>(product[i]);
            sum += difference * difference;
            of_r += static_cast<double>(r[i]) * static_cast<double>(r[i]);
          }
        return relative(sum, of_r);
      }

    private:
      /** From the squares of this rank. */
      double relative(double of_residual, double of_r) const
      {
        const double norm = std::sqrt(ranks->sum(of_r));
        const double left = std::sqrt(ranks->sum(of_residual));
        return norm == 0. ? 0. : left / norm;
      }

      const std::shared_ptr<Multigrid<Number>> multigrid;
      const std::shared_ptr<const RankSums>    ranks;
    };

    template <typename Number>
    class KrylovInside : public InnerSolver<Number>
    {
    public:
      explicit KrylovInside(std::shared_ptr<KrylovSolver<Number>> krylov_)
        : krylov(checked(std::move(krylov_)))
      {
      }

      std::string name() const override { return krylov->name(); }
      int         n_rows() const override { return krylov->n_rows(); }
      MemorySpace memory_space() const override { return krylov->memory_space(); }
      bool        counts() const override { return false; }

      int solve(Number *c, const Number *r, int n) override
      {
        set_zero(c, n_rows(), memory_space());
        KrylovLimits limits       = krylov->limits();
        limits.max_iterations     = std::min(limits.max_iterations, n);
        const KrylovResult result = krylov->solve(c, r, limits);
        residual                  = result.relative_residual;
        return result.n_iterations;
      }

      void   go_on(Number   */*c*/, const Number   */*r*/, int /*n*/) override {}
      double relative_residual(Number * /*c*/, const Number * /*r*/) override { return residual; }

    private:
      const std::shared_ptr<KrylovSolver<Number>> krylov;
      double                                      residual = 1.;
    };
  } // namespace

  template <typename Number>
  std::unique_ptr<InnerSolver<Number>> make_inner_solver(std::shared_ptr<Relaxation<Number>> relaxation)
  {
    return make_inner_solver(checked_columns(std::move(relaxation)), std::make_shared<const Communication<Number>>());
  }

  template <typename Number>
  std::unique_ptr<InnerSolver<Number>> make_inner_solver(std::shared_ptr<Relaxation<Number>>          relaxation,
                                                         std::shared_ptr<const Communication<Number>> communication)
  {
    return std::make_unique<RelaxationInside<Number>>(std::move(relaxation), std::move(communication));
  }

  template <typename Number>
  std::unique_ptr<InnerSolver<Number>> make_inner_solver(std::shared_ptr<Multigrid<Number>> multigrid)
  {
    return make_inner_solver(checked_columns(std::move(multigrid)), std::make_shared<const RankSums>());
  }

  template <typename Number>
  std::unique_ptr<InnerSolver<Number>> make_inner_solver(std::shared_ptr<Multigrid<Number>> multigrid, std::shared_ptr<const RankSums> ranks)
  {
    return std::make_unique<MultigridInside<Number>>(std::move(multigrid), std::move(ranks));
  }

  template <typename Number>
  std::unique_ptr<InnerSolver<Number>> make_inner_solver(std::shared_ptr<KrylovSolver<Number>> krylov)
  {
    return std::make_unique<KrylovInside<Number>>(std::move(krylov));
  }

  double tolerance_of_corrections(double tolerance)
  {
    constexpr double most_digits = 5.5, margin = 0.5;
    return margin * std::pow(tolerance, 1. / std::ceil(-std::log10(tolerance) / most_digits));
  }

#define INSTANTIATE(Number)                                                                                                    \
  template std::unique_ptr<InnerSolver<Number>> make_inner_solver(std::shared_ptr<Relaxation<Number>> relaxation);             \
  template std::unique_ptr<InnerSolver<Number>> make_inner_solver(std::shared_ptr<Relaxation<Number>>          relaxation,     \
                                                                  std::shared_ptr<const Communication<Number>> communication); \
  template std::unique_ptr<InnerSolver<Number>> make_inner_solver(std::shared_ptr<Multigrid<Number>> multigrid);               \
  template std::unique_ptr<InnerSolver<Number>> make_inner_solver(std::shared_ptr<Multigrid<Number>> multigrid,                \
                                                                  std::shared_ptr<const RankSums>    ranks);                      \
  template std::unique_ptr<InnerSolver<Number>> make_inner_solver(std::shared_ptr<KrylovSolver<Number>> krylov);
  LEOPARD_FOR_EACH_NUMBER(INSTANTIATE)
#undef INSTANTIATE
} // namespace leopard
