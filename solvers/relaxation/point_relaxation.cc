// SPDX-License-Identifier: Apache-2.0
#include "point_relaxation.h"

#include "../base/errors.h"
#include "../base/words.h"
#include "../matrix/colouring.h"
#include "host_relaxation.h"
#include "methods.h"
#include "relaxation_engine.h"

#include <algorithm>
#include <numeric>

namespace leopard
{
  namespace
  {
    template <typename Number>
    class HostPointRelaxation : public HostRelaxation<Number>
    {
    public:
      HostPointRelaxation(const CrsMatrix<Number> &A_, const PointRelaxationOptions &options_)
        : HostRelaxation<Number>(A_)
        , options(options_)
        , omega(static_cast<Number>(options_.omega))
        , new_x(options_.method == PointMethod::jacobi ? A.n_rows : 0)
      {
        if (options.colouring)
          colouring = greedy_colouring(A);
      }

      std::string name() const override { return (options.colouring ? "multicolour " : "") + to_string(options.method); }

      std::string description() const override
      {
        return options.colouring ? std::to_string(colouring.n_colours()) + " colours of " + std::to_string(colouring.smallest()) + " to " +
                                     std::to_string(colouring.largest()) + " rows"
                                 : "";
      }

      bool is_symmetric_map() const override { return options.method == PointMethod::jacobi || options.method == PointMethod::ssor; }

      void iterate(Number *x, const Number *b, int n_iterations) override
      {
        for (int n = 0; n < n_iterations; ++n)
          if (options.method == PointMethod::jacobi)
            {
              for (int i = 0; i < A.n_rows; ++i)
                new_x[i] = relaxed(i, x, b);
              std::copy(new_x.begin(), new_x.end(), x);
            }
          else
            {
              for (int k = 0; k < A.n_rows; ++k)
                x[row(k)] = relaxed(row(k), x, b);
              if (options.method == PointMethod::ssor)
                for (int k = A.n_rows - 1; k >= 0; --k)
                  x[row(k)] = relaxed(row(k), x, b);
            }
      }

      void set_omega(double value) override
      {
        PointRelaxationOptions changed = options;
        changed.omega                  = value;
        changed.validate();
        options = changed;
        omega   = static_cast<Number>(value);
      }

    private:
      /** The k-th row of a forward sweep. */
      int row(int k) const { return options.colouring ? colouring.rows[k] : k; }

      Number relaxed(int i, const Number *x, const Number *b) const { return x[i] + omega * inverse_diagonal[i] * residual_of_row(i, x, b); }

      using HostRelaxation<Number>::A;
      using HostRelaxation<Number>::inverse_diagonal;
      using HostRelaxation<Number>::residual_of_row;

      PointRelaxationOptions options;
      Number                 omega;
      Colouring              colouring; ///< with that option only
      std::vector<Number>    new_x;     ///< Jacobi only
    };
  } // namespace

  std::string to_string(PointMethod method)
  {
    switch (method)
      {
        case PointMethod::jacobi:
          return "Jacobi";
        case PointMethod::gauss_seidel:
          return "Gauss-Seidel";
        case PointMethod::sor:
          return "SOR";
        case PointMethod::ssor:
          return "SSOR";
      }
    return "unknown";
  }

  void PointRelaxationOptions::validate() const
  {
    if (!(omega > 0. && omega < 2.))
      throw InvalidInput("omega is " + short_text(omega) + "\n  expected: a number between 0 and 2");
    if (method == PointMethod::gauss_seidel && omega != 1.)
      throw InvalidInput("omega is " + short_text(omega) + " for Gauss-Seidel\n  expected: 1, or the method SOR");
    if (method == PointMethod::jacobi && colouring)
      throw InvalidInput("colouring is set for Jacobi, which knows no order of the rows\n  expected: no colouring, or Gauss-Seidel, SOR or SSOR");
  }

  template <typename Number>
  std::unique_ptr<Relaxation<Number>> make_point_relaxation(const CrsMatrix<Number> &A, const PointRelaxationOptions &options)
  {
    options.validate();
    if (options.backend != Backend::cuda)
      return std::make_unique<HostPointRelaxation<Number>>(A, options);
    if (options.method != PointMethod::jacobi)
      return make_multicolour_cuda(A, options);
    return make_jacobi_cuda(A, options);
  }

  namespace
  {
    template <PointMethod method, bool colouring>
    constexpr auto make_point = [](const auto &A, const MethodOptions &options) {
      return make_point_relaxation(A, {method, options.omega, colouring, options.backend});
    };

    /** A little more than Gauss-Seidel smooths better: 1.1 in two dimensions, 1.2 in three. */
    double smoothing_omega_of_sor(int dim, double /*at_once*/)
    {
      return 1. + 0.1 * (dim - 1);
    }
  } // namespace

  // on a GPU they are multicolour relaxations, and a smoother of that kind is asked for by its name
  extern const Method gauss_seidel_method = {.name         = "gauss-seidel",
                                             .meaning      = "Gauss-Seidel, row by row",
                                             .uses         = as_solver + as_smoother,
                                             .uses_on_cuda = as_solver,
                                             .omega        = OmegaRange::one,
                                             .make         = make_point<PointMethod::gauss_seidel, false>};

  extern const Method multicolour_method = {.name         = "multicolour-gauss-seidel",
                                            .meaning      = "Gauss-Seidel, colour by colour",
                                            .uses         = as_smoother,
                                            .uses_on_cuda = as_smoother,
                                            .omega        = OmegaRange::one,
                                            .make         = make_point<PointMethod::gauss_seidel, true>};

  extern const Method sor_method = {.name            = "sor",
                                    .meaning         = "successive overrelaxation",
                                    .uses            = as_solver + as_smoother,
                                    .uses_on_cuda    = as_solver + as_smoother,
                                    .smoothing_omega = smoothing_omega_of_sor,
                                    .make            = make_point<PointMethod::sor, false>};

  extern const Method ssor_method = {.name         = "ssor",
                                     .meaning      = "symmetric SOR, a sweep forward and one backward",
                                     .uses_on_cuda = as_solver,
                                     .is_iterated  = false,
                                     .make         = make_point<PointMethod::ssor, false>};

#define INSTANTIATE(Number) \
  template std::unique_ptr<Relaxation<Number>> make_point_relaxation(const CrsMatrix<Number> &A, const PointRelaxationOptions &options);
  LEOPARD_FOR_EACH_NUMBER(INSTANTIATE)
#undef INSTANTIATE
} // namespace leopard
