// SPDX-License-Identifier: Apache-2.0
#include "analysis.h"

#include "../base/errors.h"
#include "../base/norms.h"
#include "../base/stopwatch.h"
#include "../base/words.h"
#include "crs_matrix.h"
#include "eigenvalues.h"
#include "matrix_entries.h"
#include "symmetrized.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <random>

namespace leopard
{
  namespace
  {
    std::vector<double> inverse_diagonal(const CrsMatrix<double> &A)
    {
      std::vector<double> inverse = diagonal_of(A);
      for (double &d : inverse)
        d = 1. / d;
      return inverse;
    }

    double normalize(std::vector<double> &v)
    {
      double sum = 0.;
      for (const double x : v)
        sum += x * x;
      const double norm = std::sqrt(sum);
      if (norm > 0.)
        for (double &x : v)
          x /= norm;
      return norm;
    }

    /** Power iteration with whatever step() does to a vector; returns the growth factor. */
    template <typename Step>
    double power_iteration(std::vector<double> v, const Step &step, int max_iterations, double tolerance)
    {
      normalize(v);
      double estimate = 0.;
      for (int n = 0; n < max_iterations; ++n)
        {
          step(v);
          const double growth = normalize(v);
          const bool   done   = n > 5 && reached(std::abs(growth - estimate), tolerance * growth);
          estimate            = growth;
          if (done || growth == 0.)
            break;
        }
      return estimate;
    }

    void require_square(const CrsMatrix<double> &A, const std::string &what)
    {
      A.validate();
      if (A.n_rows == 0 || A.n_columns != A.n_rows)
        throw InvalidInput(what + ": the matrix has " + std::to_string(A.n_rows) + " rows and " + std::to_string(A.n_columns) +
                           " columns\n  expected: a square matrix with rows and without ghost columns");
    }

    void require_positive(const ExtremeEigenvalues &eigenvalues, const std::string &what)
    {
      if (!(eigenvalues.smallest > 0. && eigenvalues.largest >= eigenvalues.smallest && eigenvalues.largest < HUGE_VAL))
        throw InvalidInput(what + ": the eigenvalues of D^-1 A reach from " + short_text(eigenvalues.smallest) + " to " +
                           short_text(eigenvalues.largest) + "\n  expected: positive ones, of a symmetric positive definite matrix");
    }
  } // namespace

  double estimate_spectral_radius_abs(const CrsMatrix<double> &A, int max_iterations, double tolerance)
  {
    const std::vector<double> inverse = inverse_diagonal(A);
    std::vector<double>       image(A.n_rows);
    const auto                step = [&](std::vector<double> &v) {
      for (int i = 0; i < A.n_rows; ++i)
        {
          double sum = 0.;
          for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
            if (A.columns[p] != i && A.columns[p] < A.n_rows)
              sum += std::abs(A.values[p] * inverse[i]) * v[A.columns[p]];
          image[i] = sum + v[i];
        }
      v.swap(image);
    };
    return power_iteration(std::vector<double>(A.n_rows, 1.), step, max_iterations, tolerance) - 1.;
  }

  double estimate_spectral_radius(const CrsMatrix<double> &A, int max_iterations, double tolerance)
  {
    const std::vector<double> inverse = inverse_diagonal(A);
    std::vector<double>       image(A.n_rows);
    const auto                step = [&](std::vector<double> &v) {
      for (int twice = 0; twice < 2; ++twice)
        {
          for (int i = 0; i < A.n_rows; ++i)
            {
              double sum = 0.;
              for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
                if (A.columns[p] != i && A.columns[p] < A.n_rows)
                  sum -= A.values[p] * inverse[i] * v[A.columns[p]];
              image[i] = sum;
            }
          v.swap(image);
        }
    };
    std::mt19937_64                        random(1);
    std::uniform_real_distribution<double> value(-1., 1.);
    std::vector<double>                    v(A.n_rows);
    for (double &x : v)
      x = value(random);
    return std::sqrt(power_iteration(v, step, max_iterations, tolerance));
  }

  ExtremeEigenvalues extreme_eigenvalues(const CrsMatrix<double> &A, double tolerance, double max_seconds)
  {
    require_square(A, "extreme eigenvalues");
    if (const int row = spectrum::row_without_positive_diagonal(A); row >= 0)
      throw InvalidInput("extreme eigenvalues: the diagonal entry of row " + std::to_string(row) + " is " + short_text(entry(A, row, row)) +
                         " (the first row is 0)\n  expected: a symmetric matrix with positive diagonal");
    if (const spectrum::Asymmetry at = spectrum::find_asymmetry(A); at.found)
      throw InvalidInput("extreme eigenvalues: the entry at row " + std::to_string(at.row) + ", column " + std::to_string(at.column) + " is " +
                         short_text(entry(A, at.row, at.column), 16) + ", and the one at row " + std::to_string(at.column) + ", column " +
                         std::to_string(at.row) + " is " + short_text(entry(A, at.column, at.row), 16) +
                         " (the first row is 0)\n  expected: a symmetric matrix with positive diagonal");
    return spectrum::extreme(A, tolerance, max_seconds);
  }

  Theta theta(const CrsMatrix<double> &A, const Blocks &blocks)
  {
    A.validate();
    if (blocks.n_rows() != A.n_rows)
      throw InvalidInput("theta: the blocks have " + std::to_string(blocks.n_rows()) + " rows\n  expected: as many as the matrix has, " +
                         std::to_string(A.n_rows));
    const auto ratio      = [](double inside, double outside) { return outside > 0. ? inside / outside : HUGE_VAL; };
    double     all_inside = 0., all_outside = 0.;
    Theta      result;
    result.block_ratios.resize(blocks.n_blocks());
    result.minimum = A.n_rows > 0 ? HUGE_VAL : 0.;
    for (int block = 0; block < blocks.n_blocks(); ++block)
      {
        double inside_block = 0., outside_block = 0.;
        for (int i = blocks.owned_begin[block]; i < blocks.owned_end[block]; ++i)
          {
            double outside = 0., diagonal = 1.;
            for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
              {
                const int j = A.columns[p];
                if (j == i)
                  diagonal = std::abs(A.values[p]);
                (j < blocks.begin[block] || j >= blocks.end[block] ? outside : inside_block) += std::abs(A.values[p]);
              }
            result.minimum = std::min(result.minimum, ratio(diagonal, outside));
            result.maximum = std::max(result.maximum, ratio(diagonal, outside));
            outside_block += outside;
          }
        result.block_ratios[block] = ratio(inside_block, outside_block);
        all_inside += inside_block;
        all_outside += outside_block;
      }
    result.ratio = ratio(all_inside, all_outside);
    return result;
  }

  bool spectrum::is_nonnegative_iteration(const CrsMatrix<double> &A)
  {
    for (int i = 0; i < A.n_rows; ++i)
      for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
        if (A.columns[p] != i && A.values[p] > 0.)
          return false;
    return true;
  }

  MatrixAnalysis spectrum::analysis_without_eigenvalues(const CrsMatrix<double> &A, const Blocks &blocks)
  {
    MatrixAnalysis result;
    result.n_rows          = A.n_rows;
    result.n_entries       = A.n_entries();
    result.symmetric       = !find_asymmetry(A).found;
    result.has_eigenvalues = result.symmetric && row_without_positive_diagonal(A) < 0;
    result.theta           = leopard::theta(A, blocks);
    return result;
  }

  MatrixAnalysis spectrum::analyze_within(const CrsMatrix<double> &A, const Blocks &blocks, double max_seconds)
  {
    constexpr double tolerance = 1e-4;
    const Stopwatch  stopwatch;
    const auto       left   = [&] { return max_seconds - stopwatch.seconds(); };
    MatrixAnalysis   result = analysis_without_eigenvalues(A, blocks);

    const std::optional<CrsMatrix<double>> similar               = result.symmetric ? std::nullopt : symmetrized(A);
    const CrsMatrix<double>               &M                     = similar ? *similar : A; // has the eigenvalues of A
    const bool                             is_symmetric          = result.symmetric || similar;
    const bool                             has_positive_diagonal = row_without_positive_diagonal(A) < 0;
    const bool                             is_own_absolute_value = has_positive_diagonal && is_nonnegative_iteration(A);
    if (is_symmetric && has_positive_diagonal)
      {
        const ExtremeEigenvalues eigenvalues = extreme(M, tolerance, left());
        result.spectral_radius               = std::max(std::abs(1. - eigenvalues.smallest), std::abs(1. - eigenvalues.largest));
        if (result.has_eigenvalues)
          {
            result.smallest_eigenvalue = eigenvalues.smallest;
            result.largest_eigenvalue  = eigenvalues.largest;
          }
      }
    else
      result.spectral_radius = is_own_absolute_value ? radius_abs(M, is_symmetric, tolerance, left()) : radius(M, tolerance, left());
    result.spectral_radius_abs =
      is_own_absolute_value ? result.spectral_radius : std::max(result.spectral_radius, radius_abs(M, is_symmetric, tolerance, left()));
    if (!is_symmetric && A.n_rows > n_dense && result.spectral_radius_abs > 0.)
      result.estimated = "rho(B) and rho(|B|) by Arnoldi's method, which is off by some percent where the matrix is far from normal";
    return result;
  }

  MatrixAnalysis analyze(const CrsMatrix<double> &A, const Blocks &blocks)
  {
    require_square(A, "analysis of a matrix");
    return spectrum::analyze_within(A, blocks, HUGE_VAL);
  }

  double spectral_radius_abs_with(double omega, double spectral_radius_abs)
  {
    return std::abs(1. - omega) + omega * spectral_radius_abs;
  }

  double largest_asynchronous_omega(double spectral_radius_abs)
  {
    return spectral_radius_abs < 1. ? 2. / (1. + spectral_radius_abs) : 0.;
  }

  double tau_scaling(const ExtremeEigenvalues &eigenvalues)
  {
    require_positive(eigenvalues, "tau scaling");
    return 2. / (eigenvalues.smallest + eigenvalues.largest);
  }

  MomentumParameters momentum_parameters(const ExtremeEigenvalues &eigenvalues, double caution)
  {
    require_positive(eigenvalues, "momentum parameters");
    if (!(caution >= 0. && caution <= 1.))
      throw InvalidInput("momentum parameters: the caution is " + short_text(caution) + "\n  expected: a number from 0 to 1");
    if (caution == 1.)
      return {tau_scaling(eigenvalues), 0.};
    const double first = std::sqrt(std::pow(eigenvalues.smallest, 1. - caution) * std::pow(eigenvalues.largest, caution));
    const double last  = std::sqrt(eigenvalues.largest);
    return {std::pow(2. / (first + last), 2), std::pow((last - first) / (last + first), 2)};
  }

  std::vector<int> theta_dependent_local_iterations(const Theta &theta, const Blocks &blocks, int k)
  {
    const auto n_blocks = static_cast<std::size_t>(blocks.n_blocks());
    if (k < 1)
      throw InvalidInput("theta-dependent local iterations: k is " + std::to_string(k) + "\n  expected: a number >= 1");
    if (theta.block_ratios.size() != n_blocks)
      throw InvalidInput("theta-dependent local iterations: theta is of " + std::to_string(theta.block_ratios.size()) +
                         " blocks\n  expected: of the same " + std::to_string(n_blocks) + " blocks");
    std::vector<int> result(n_blocks, k);
    for (std::size_t block = 0; block < n_blocks; ++block)
      if (theta.block_ratios[block] < theta.ratio * (1. - 1e-9)) // blocks that are all alike keep their k in spite of rounding
        result[block] = std::max(1, k - 1);
    return result;
  }
} // namespace leopard
