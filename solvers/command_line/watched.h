// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "arguments.h"

#include <chrono>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace leopard::command_line
{
  /**
   * A relaxation that says how a long solution goes on: after 2, 4, 8, ... seconds, with a residual test, the time that
   * the tolerance will take at the rate of the last half of the tests. It only looks; all is done by the relaxation
   * that it is made of.
   */
  template <typename Number>
  class Watched : public Relaxation<Number>
  {
  public:
    using Report = std::function<void(const std::string &text)>;

    /** Keeps the reference. @param tolerance relative, 0: none, and nothing is said. */
    Watched(Relaxation<Number> &relaxation, double tolerance, Report report);

    std::string     name() const override { return relaxation.name(); }
    std::string     description() const override { return relaxation.description(); }
    int             n_rows() const override { return relaxation.n_rows(); }
    int             n_columns() const override { return relaxation.n_columns(); }
    MemorySpace     memory_space() const override { return relaxation.memory_space(); }
    bool            is_fixed_linear_map() const override { return relaxation.is_fixed_linear_map(); }
    bool            is_symmetric_map() const override { return relaxation.is_symmetric_map(); }
    bool            tests_itself() const override { return relaxation.tests_itself(); }
    void            restart() override { relaxation.restart(); }
    void            update_values(const Number *values) override { relaxation.update_values(values); }
    void            iterate(Number *x, const Number *b, int n_iterations) override;
    IterationReport iterate_until(Number *x, const Number *b, int n_iterations, const ResidualTest &test) override;
    double          residual_norm_squared(const Number *x, const Number *b) override;
    double          norm_squared(const Number *b) override;

  private:
    void look(double residual);

    Relaxation<Number>                         &relaxation;
    const double                                tolerance;
    const Report                                report;
    const std::chrono::steady_clock::time_point start  = std::chrono::steady_clock::now();
    double                                      next   = 2.; ///< seconds
    double                                      norm_b = 0.;
    SolveResult                                 so_far;
  };
} // namespace leopard::command_line
