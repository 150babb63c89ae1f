// SPDX-License-Identifier: Apache-2.0
#include "incomplete_smoother.h"

#include "../base/errors.h"
#include "../base/words.h"
#include "../device/device_array.h"
#include "../matrix/device_matrix.h"
#include "../matrix/own_columns.h"
#include "../relaxation/ilu0.h"
#include "../relaxation/methods.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <string>

namespace leopard
{
  namespace
  {
    template <typename Number>
    class IncompleteSmoother : public Relaxation<Number>
    {
    public:
      IncompleteSmoother(const CrsMatrix<Number> &A, double omega_, const IncompleteOptions &options)
        : omega(omega_)
        , rows(A.n_rows)
        , columns(A.n_columns)
        , factors(make_incomplete_preconditioner(own_columns(A, &entries), options))
        , matrix(A)
        , values(entries.size())
        , r(rows)
        , c(rows)
        , v(options.solves.solve == TriangularSolve::asynchronous ? columns : 0)
      {
        find_damping();
      }

      std::string name() const override { return factors->name(); }
      std::string description() const override { return factors->description() + (damping < 1. ? ", damped by " + short_text(damping) : ""); }
      int         n_rows() const override { return rows; }
      int         n_columns() const override { return columns; }
      MemorySpace memory_space() const override { return MemorySpace::device; }
      bool        is_fixed_linear_map() const override { return factors->is_fixed_linear_map(); }
      bool        is_symmetric_map() const override { return factors->is_symmetric_map(); }

      void iterate(Number *x, const Number *b, int n_iterations) override
      {
        for (int n = 0; n < n_iterations; ++n)
          {
            take_residual(x, b);
            add(x, r.data());
          }
      }

      void iterate_from_zero(Number *x, const Number *b, int n_iterations) override
      {
        device::set_zero(x, columns * sizeof(Number));
        if (n_iterations < 1)
          return;
        add(x, b);
        iterate(x, b, n_iterations - 1);
      }

      double residual_norm_squared(const Number *x, const Number *b) override
      {
        take_residual(x, b);
        return norm_squared(r.data());
      }

      double norm_squared(const Number *b) override { return device::dot(b, b, rows); }

      void update_values(const Number *new_values) override
      {
        for (std::size_t p = 0; p < entries.size(); ++p)
          values[p] = new_values[entries[p]];
        factors->update_values(values.data());
        matrix.update_values(new_values);
        find_damping();
      }

    private:
      void take_residual(const Number *x, const Number *b)
      {
        device::copy_on_device(r.data(), b, rows * sizeof(Number));
        matrix.multiply(r.data(), Number(-1), x, Number(1));
      }

      void add(Number *x, const Number *residual)
      {
        factors->apply(c.data(), residual);
        device::axpy(x, static_cast<Number>(damping * omega), c.data(), rows);
      }

      /**
       * With few iterations M is nearer to D^-1, and M A has eigenvalues of 2 and more, where with exact solves they
       * are hardly above 1: then omega = 1 amplifies. Power iteration; 4/3 as for smoothed prolongations.
       */
      void find_damping()
      {
        constexpr int n_steps = 15;
        damping               = 1.;
        if (v.size() == 0)
          return;
        std::mt19937_64                        random(1);
        std::uniform_real_distribution<double> value(-1., 1.);
        std::vector<Number>                    start(columns, Number(0));
        std::generate(start.begin(), start.begin() + rows, [&] { return static_cast<Number>(value(random)); });
        device::copy_to_device(v.data(), start.data(), columns * sizeof(Number));
        double largest = 0.;
        for (int step = 0; step < n_steps; ++step)
          {
            const double length = std::sqrt(device::dot(v.data(), v.data(), rows));
            matrix.multiply(r.data(), v.data());
            factors->apply(c.data(), r.data());
            const double next = std::sqrt(device::dot(c.data(), c.data(), rows));
            largest           = next / length;
            if (!(std::isfinite(next) && length > 0. && next > 0.))
              break;
            device::set_zero(v.data(), rows * sizeof(Number));
            device::axpy(v.data(), static_cast<Number>(1. / next), c.data(), rows);
          }
        if (!std::isfinite(largest))
          throw InvalidInput("incomplete factors as a smoother: solving with them makes numbers that are not finite\n  expected: a matrix nearer to "
                             "one with a dominant diagonal, or another smoother");
        damping = std::min(1., 4. / (3. * 1.1 * largest));
      }

      const double                                            omega;
      const int                                               rows, columns;
      std::vector<int>                                        entries; ///< of A in own columns
      const std::shared_ptr<IncompletePreconditioner<Number>> factors;
      device::DeviceMatrix<Number>                            matrix;
      std::vector<Number>                                     values; ///< new ones, on their way to the factors
      device::Array<Number>                                   r, c, v;
      double                                                  damping = 1.; ///< beside omega
    };

    /** A GPU solves with the factors by a few global iterations: as smoothers they need not be exact. */
    IncompleteOptions smoothing_options(const MethodOptions &options)
    {
      IncompleteOptions  result;
      BlockAsyncOptions &async   = result.solves.block_async;
      result.factors.shift       = false; // as on the host
      result.solves.solve        = TriangularSolve::asynchronous;
      result.solves.n_iterations = 2;
      if (options.block_async != nullptr)
        {
          async.block_size       = options.block_async->block_size;
          async.local_iterations = options.block_async->local_iterations;
          async.schedule         = options.block_async->schedule;
        }
      async.backend = Backend::cuda;
      async.storage = Storage::double_precision; // which takes new values
      return result;
    }

    int host_threads(const MethodOptions &options)
    {
      return options.backend == Backend::reference ? 1 : options.block_async != nullptr ? options.block_async->n_threads : 0;
    }
  } // namespace

  template <typename Number>
  std::unique_ptr<Relaxation<Number>> make_incomplete_smoother(const CrsMatrix<Number> &A, double omega, const IncompleteOptions &options)
  {
    if (!(omega > 0. && omega < 2.))
      throw InvalidInput("incomplete factors as a smoother: omega is " + short_text(omega) + "\n  expected: a number between 0 and 2");
    if (options.solves.block_async.backend != Backend::cuda)
      throw InvalidInput("incomplete factors as a smoother: the backend is " + to_string(options.solves.block_async.backend) +
                         "\n  expected: cuda; ilu0 is for the host");
    A.validate();
    return std::make_unique<IncompleteSmoother<Number>>(A, omega, options);
  }

  extern const Method ilu0_method = {.name         = "ilu0",
                                     .meaning      = "incomplete factors with the entries of the matrix; on a GPU solved with by async",
                                     .uses         = as_smoother,
                                     .uses_on_cuda = as_smoother,
                                     .make         = [](const auto &A, const MethodOptions &options) {
                                       return options.backend == Backend::cuda
                                                        ? make_incomplete_smoother(A, options.omega, smoothing_options(options))
                                                        : make_ilu0(A, options.omega, host_threads(options));
                                     }};

#define INSTANTIATE(Number) \
  template std::unique_ptr<Relaxation<Number>> make_incomplete_smoother(const CrsMatrix<Number> &A, double omega, const IncompleteOptions &options);
  LEOPARD_FOR_EACH_NUMBER(INSTANTIATE)
#undef INSTANTIATE
} // namespace leopard
