// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../multigrid/coarse_solvers.h"
#include "precision.h"

#include <memory>
#include <string>
#include <vector>

namespace leopard::command_line
{
  /** Largest number of rows whose sparse factors are computed without a look at what they take. */
  constexpr int most_rows_of_direct = 100000;

  /** Multiplications of the sparse factors of more rows: about a minute. */
  constexpr double most_operations = 3e11;

  /** Sparse factors, and corrections for what they lose to rounding. */
  class DirectMethod : public Solver
  {
  public:
    /**
     * @param A_ a reference to it is kept. @param has_dear_factors whether what they cost is looked at before, as that
     * of many rows is. @throws InvalidInput where that is too much, or the matrix is singular.
     */
    DirectMethod(const CrsMatrix<double> &A_, bool has_dear_factors, const Log &log);

    std::string name() const override { return "direct"; }
    std::string description() const override { return factors->name() + ", factors by Eigen"; }
    bool        is_fixed_linear_map() const override { return true; }
    std::string unit() const override { return "solutions with the factors"; }

    /**
     * x += (L U)^-1 (b - A x), as long as that halves the residual, of which what is reported is computed and what is
     * corrected: its sums are in extended precision. In double they hide how good x is where A or x have entries of
     * very different size.
     */
    SolveResult solve(const std::vector<double> &b, const StoppingCriteria &criteria, std::vector<double> &x, const Log &log) override;

  private:
    void check_cost(const Log &log) const;

    const CrsMatrix<double>              &A;
    std::unique_ptr<CoarseSolver<double>> factors;
  };
} // namespace leopard::command_line
