// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../base/norms.h"
#include "../matrix/crs_matrix.h"
#include "../matrix/row_residual.h"

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

namespace leopard::command_line
{
  /** ||v||_2, whatever the magnitude of its entries. */
  double norm(const std::vector<double> &v);

  /** How well a vector solves A x = b, whatever its solver says of it. */
  struct Quality
  {
    double residual = 0.; ///< ||b - A x||_2, its sums in extended precision (long double); units of b
    double scale    = 1.; ///< ||b||_2, or 1 for b = 0
    /**
     * u || |A| |x| + |b| ||_2 with u = 2^-53: about what changes the residual where every entry changes in its last
     * place. What is computed in double precision can hardly come below it, and where it does it is luck.
     */
    double rounding = 0.;
    /**
     * max_i |b - A x|_i / (|A| |x| + |b|)_i, the componentwise backward error: by what part of itself every entry would
     * have to change for x to be exact, whatever the sizes of the rows. Oettli, Prager 1964.
     */
    double of_each_row = 0.;

    double relative() const { return residual / scale; }
    double relative_rounding() const { return rounding / scale; }
    /** Not where x is so large that even extended precision does not know the residual to the tolerance. */
    bool meets(double tolerance) const { return (residual == 0. || reached(relative(), 1.1 * tolerance)) && is_known(tolerance); }
    bool is_known(double tolerance) const
    {
      constexpr double unit_of_double = std::numeric_limits<double>::epsilon(), least = 1e-15;
      const double     extended = static_cast<double>(std::numeric_limits<long double>::epsilon()) / unit_of_double; // of rounding
      return reached(extended * relative_rounding(), std::max(tolerance, least));
    }
    /** Whether rounding errors are why it is no smaller. */
    bool is_rounding() const { return is_rounding_of_residual(residual, rounding); }
  };

  /** What the largest entry of x is at least, whatever x solves A x = b. */
  struct SizeOfSolution
  {
    long double least = 0.L; ///< max_i |b_i| / sum_j |a_ij|, which may be beyond double; units of x
    int         row   = -1;  ///< that shows it; -1: none

    std::string text() const; ///< of least: "1e+400"
  };

  /** Rows without entries that are not zero, of which there is no such x, are left out. */
  SizeOfSolution least_size_of_solution(const CrsMatrix<double> &A, const std::vector<double> &b);

  /** b - A x, its sums in extended precision (long double). */
  std::vector<double> residual_of(const CrsMatrix<double> &A, const std::vector<double> &x, const std::vector<double> &b);

  Quality quality_of(const CrsMatrix<double> &A, const std::vector<double> &x, const std::vector<double> &b);
} // namespace leopard::command_line
