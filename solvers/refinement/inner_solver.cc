// SPDX-License-Identifier: Apache-2.0
#include "inner_solver.h"

#include "../base/errors.h"
#include "../device/device.h"
#include "../device/device_vector.h"
#include "../krylov/krylov.h"
#include "../multigrid/multigrid.h"
#include "../relaxation/relaxation.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace leopard
{
  namespace
  {
    /** The solver, if it is one without ghosts. */
    template <typename Solver>
    std::shared_ptr<Solver> checked(std::shared_ptr<Solver> solver)
    {
      if (solver == nullptr)
        throw InvalidInput("an inner solver is made of nothing\n  expected: a relaxation, a multigrid or a Krylov method");
      return solver;
    }

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
      explicit RelaxationInside(std::shared_ptr<Relaxation<Number>> relaxation_)
        : relaxation(checked_columns(std::move(relaxation_)))
      {
      }

      std::string name() const override { return relaxation->name(); }
      int         n_rows() const override { return relaxation->n_rows(); }
      MemorySpace memory_space() const override { return relaxation->memory_space(); }

      int solve(Number *c, const Number *r, int n) override
      {
        relaxation->restart();
        relaxation->iterate_from_zero(c, r, n);
        return n;
      }

      void go_on(Number *c, const Number *r, int n) override { relaxation->iterate(c, r, n); }

      double relative_residual(Number *c, const Number *r) override
      {
        return std::sqrt(relaxation->residual_norm_squared(c, r) / relaxation->norm_squared(r));
      }

    private:
      const std::shared_ptr<Relaxation<Number>> relaxation;
    };

    template <typename Number>
    class MultigridInside : public InnerSolver<Number>
    {
    public:
      explicit MultigridInside(std::shared_ptr<Multigrid<Number>> multigrid_)
        : multigrid(checked_columns(std::move(multigrid_)))
      {
      }

      std::string name() const override { return "multigrid"; }
      int         n_rows() const override { return multigrid->n_rows(); }
      MemorySpace memory_space() const override { return multigrid->memory_space(); }

      Number *own_correction() override { return multigrid->own_solution(); }
      Number *own_residual() override { return multigrid->own_right_hand_side(); }

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
            const double norm = std::sqrt(device::dot(r, r, n));
            device::axpy(product.data(), Number(-1), r, n);
            return norm == 0. ? 0. : std::sqrt(device::dot(product.data(), product.data(), n)) / norm;
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
        return of_r == 0. ? 0. : std::sqrt(sum / of_r);
      }

    private:
      const std::shared_ptr<Multigrid<Number>> multigrid;
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

      int solve(Number *c, const Number *r, int /*n*/) override
      {
        set_zero(c, n_rows(), memory_space());
        const KrylovResult result = krylov->solve(c, r);
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
    return std::make_unique<RelaxationInside<Number>>(std::move(relaxation));
  }

  template <typename Number>
  std::unique_ptr<InnerSolver<Number>> make_inner_solver(std::shared_ptr<Multigrid<Number>> multigrid)
  {
    return std::make_unique<MultigridInside<Number>>(std::move(multigrid));
  }

  template <typename Number>
  std::unique_ptr<InnerSolver<Number>> make_inner_solver(std::shared_ptr<KrylovSolver<Number>> krylov)
  {
    return std::make_unique<KrylovInside<Number>>(std::move(krylov));
  }

#define INSTANTIATE(Number)                                                                                        \
  template std::unique_ptr<InnerSolver<Number>> make_inner_solver(std::shared_ptr<Relaxation<Number>> relaxation); \
  template std::unique_ptr<InnerSolver<Number>> make_inner_solver(std::shared_ptr<Multigrid<Number>> multigrid);   \
  template std::unique_ptr<InnerSolver<Number>> make_inner_solver(std::shared_ptr<KrylovSolver<Number>> krylov);
  LEOPARD_FOR_EACH_NUMBER(INSTANTIATE)
#undef INSTANTIATE
} // namespace leopard
