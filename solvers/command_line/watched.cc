// SPDX-License-Identifier: Apache-2.0
#include "watched.h"

#include "../base/number_types.h"
#include "../base/words.h"
#include "advice.h"
#include "report.h"

#include <cmath>

namespace leopard::command_line
{
  template <typename Number>
  Watched<Number>::Watched(Relaxation<Number> &relaxation_, double tolerance_, Report report_)
    : relaxation(relaxation_)
    , tolerance(tolerance_)
    , report(std::move(report_))
  {
  }

  template <typename Number>
  void Watched<Number>::iterate(Number *x, const Number *b, int n_iterations)
  {
    relaxation.iterate(x, b, n_iterations);
    so_far.n_iterations += n_iterations;
  }

  template <typename Number>
  IterationReport Watched<Number>::iterate_until(Number *x, const Number *b, int n_iterations, const ResidualTest &test)
  {
    IterationReport result = relaxation.iterate_until(x, b, n_iterations, test);
    norm_b                 = result.norm_b;
    so_far.n_iterations += result.maximum;
    look(result.final_residual);
    return result;
  }

  template <typename Number>
  double Watched<Number>::residual_norm_squared(const Number *x, const Number *b)
  {
    const double result = relaxation.residual_norm_squared(x, b);
    look(std::sqrt(result));
    return result;
  }

  template <typename Number>
  double Watched<Number>::norm_squared(const Number *b)
  {
    const double result = relaxation.norm_squared(b);
    norm_b              = std::sqrt(result);
    return result;
  }

  template <typename Number>
  void Watched<Number>::look(double residual)
  {
    so_far.history_iterations.push_back(so_far.n_iterations);
    so_far.history_residuals.push_back(residual);
    so_far.final_residual = residual;
    so_far.seconds        = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (!(so_far.seconds >= next) || !(tolerance > 0.) || !(norm_b > 0.))
      return;
    next                     = 2. * so_far.seconds;
    const double      factor = so_far.convergence_factor();
    const std::string rest   = time_to_come(so_far, factor, tolerance * norm_b, tolerance);
    report("after " + duration(so_far.seconds) + " and " + std::to_string(so_far.n_iterations) + " global iterations the relative residual is " +
           short_text(residual / norm_b, 3) + (rest.empty() ? "; it does not fall" : "; " + rest));
  }

#define INSTANTIATE(Number) template class Watched<Number>;
  LEOPARD_FOR_EACH_NUMBER(INSTANTIATE)
#undef INSTANTIATE
} // namespace leopard::command_line
