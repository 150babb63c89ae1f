// SPDX-License-Identifier: Apache-2.0
#include "eigenvalues.h"

#include "../base/errors.h"
#include "../base/norms.h"
#include "../base/stopwatch.h"
#include "../base/thread_pool.h"
#include "../base/words.h"
#include "crs_matrix.h"
#include "matrix_entries.h"
#include "own_columns.h"
#include "symmetrized.h"

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wuse-after-free" // GCC 12 is wrong about what it inlines of Eigen
#endif

#include <Eigen/Eigenvalues>
#include <Spectra/GenEigsSolver.h>
#include <Spectra/SymEigsSolver.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <mutex>
#include <random>
#include <tuple>

namespace leopard::spectrum
{
  namespace
  {
    constexpr int max_restarts = 2000; ///< of the Krylov space; time is the limit that matters

    constexpr std::size_t max_steps = 4000; ///< of the method without restart

    /** Lanczos tests the residual relative to the eigenvalue; the shift keeps a goal for eigenvalues that are zero. */
    constexpr double shift = 1e-4;

    /** y = M x by all threads. */
    void multiply_by_all(const CrsMatrix<double> &M, const double *x, double *y)
    {
      parallel_for(M.n_rows, 4096, [&](long begin, long end) {
        for (long i = begin; i < end; ++i)
          {
            double sum = 0.;
            for (int p = M.row_offsets[i]; p < M.row_offsets[i + 1]; ++p)
              sum += M.values[p] * x[M.columns[p]];
            y[i] = sum;
          }
      });
    }

    /** What Spectra asks of an operator: y = M x, until time is up. */
    class Product
    {
    public:
      using Scalar = double;

      Product(const CrsMatrix<double> &matrix_, double max_seconds_)
        : matrix(matrix_)
        , max_seconds(max_seconds_)
        , start(std::chrono::steady_clock::now())
      {
      }

      Eigen::Index rows() const { return matrix.n_rows; }
      Eigen::Index cols() const { return matrix.n_rows; }

      void perform_op(const double *x, double *y) const
      {
        if (std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() > max_seconds)
          throw ConvergenceFailure("the eigenvalues of the matrix of " + std::to_string(matrix.n_rows) + " rows were not found within " +
                                   short_text(max_seconds) + " seconds\n  expected: more time, a larger tolerance, or estimates by power iteration");
        multiply_by_all(matrix, x, y);
      }

    private:
      const CrsMatrix<double>                    &matrix;
      const double                                max_seconds;
      const std::chrono::steady_clock::time_point start;
    };

    /** Entries value(row, column, a_ij) in the place of those of A; ghost columns are left out. */
    template <typename Value>
    CrsMatrix<double> transformed(const CrsMatrix<double> &A, const Value &value)
    {
      CrsMatrix<double> M = A.n_columns > A.n_rows ? own_columns(A) : A;
      parallel_for(M.n_rows, 4096, [&](long begin, long end) {
        for (int i = static_cast<int>(begin); i < static_cast<int>(end); ++i)
          for (int p = M.row_offsets[i]; p < M.row_offsets[i + 1]; ++p)
            M.values[p] = value(i, M.columns[p], M.values[p]);
      });
      return M;
    }

    Eigen::MatrixXd dense(const CrsMatrix<double> &M)
    {
      Eigen::MatrixXd result = Eigen::MatrixXd::Zero(M.n_rows, M.n_rows);
      for (int i = 0; i < M.n_rows; ++i)
        for (int p = M.row_offsets[i]; p < M.row_offsets[i + 1]; ++p)
          result(i, M.columns[p]) = M.values[p];
      return result;
    }

    /** Vectors of the Krylov space. */
    int n_basis_vectors(int n)
    {
      return static_cast<int>(std::clamp<long>((1L << 27) / n, 20, 60));
    }

    /** Runs a solver of Spectra for so many eigenvalues and returns them. */
    template <typename Solver>
    auto eigenvalues(const CrsMatrix<double> &M, Spectra::SortRule rule, int n_eigenvalues, double tolerance, double max_seconds)
    {
      Product product(M, max_seconds);
      try
        {
          Solver solver(product, n_eigenvalues, n_basis_vectors(M.n_rows));
          solver.init();
          if (solver.compute(rule, max_restarts, tolerance) == n_eigenvalues)
            return solver.eigenvalues();
        }
      catch (const Error &)
        {
          throw;
        }
      catch (const std::exception &problem)
        {
          throw ConvergenceFailure("the eigenvalues of the matrix of " + std::to_string(M.n_rows) + " rows were not found: " + problem.what() +
                                   "\n  expected: a matrix with moderate entries");
        }
      throw ConvergenceFailure("the eigenvalues of the matrix of " + std::to_string(M.n_rows) + " rows were not found to " + short_text(tolerance) +
                               " in " + std::to_string(max_restarts) + " restarts\n  expected: a larger tolerance, or estimates by power iteration");
    }

    double lanczos(const CrsMatrix<double> &M, Spectra::SortRule rule, double tolerance, double max_seconds)
    {
      return eigenvalues<Spectra::SymEigsSolver<Product>>(M, rule, 1, tolerance, max_seconds)[0];
    }

    /** D^-1/2 A D^-1/2 + beyond I. */
    CrsMatrix<double> symmetric_form(const CrsMatrix<double> &A, double beyond)
    {
      const std::vector<double> diagonal = diagonal_of(A, 0);
      return transformed(
        A, [&](int i, int j, double value) { return i == j ? 1. + beyond : value / (std::sqrt(diagonal[i]) * std::sqrt(diagonal[j])); });
    }

    ExtremeEigenvalues of_tridiagonal(const std::vector<double> &diagonal, const std::vector<double> &beside)
    {
      const auto                                     n = static_cast<Eigen::Index>(diagonal.size());
      Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver;
      solver.computeFromTridiagonal(
        Eigen::Map<const Eigen::VectorXd>(diagonal.data(), n), Eigen::Map<const Eigen::VectorXd>(beside.data(), n - 1), Eigen::EigenvaluesOnly);
      return {solver.eigenvalues()[0], solver.eigenvalues()[n - 1]};
    }

    /**
     * Whether the graph of the entries off the diagonal has no cycle: then I - D^-1 A is nilpotent and all its
     * eigenvalues are 0.
     */
    bool is_triangular_in_some_order(const CrsMatrix<double> &A)
    {
      const auto counts = [&](int i, int p) { return A.columns[p] != i && A.columns[p] < A.n_rows && A.values[p] != 0.; };

      std::vector<int> n_incoming(A.n_rows, 0), free_rows;
      for (int i = 0; i < A.n_rows; ++i)
        for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
          if (counts(i, p))
            ++n_incoming[A.columns[p]];
      for (int i = 0; i < A.n_rows; ++i)
        if (n_incoming[i] == 0)
          free_rows.push_back(i);
      for (std::size_t next = 0; next < free_rows.size(); ++next)
        {
          const int i = free_rows[next];
          for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
            if (counts(i, p) && --n_incoming[A.columns[p]] == 0)
              free_rows.push_back(A.columns[p]);
        }
      return free_rows.size() == static_cast<std::size_t>(A.n_rows);
    }
  } // namespace

  namespace
  {
    bool has_sorted_rows(const CrsMatrix<double> &A, ThreadPool &pool)
    {
      return parallel_sum(pool, A.n_rows, 4096, [&A](long begin, long end) {
               double n = 0.;
               for (long i = begin; i < end; ++i)
                 n += std::is_sorted(A.columns.begin() + A.row_offsets[i], A.columns.begin() + A.row_offsets[i + 1]) ? 0. : 1.;
               return n;
             }) == 0.;
    }

    /** sqrt(|a_ii|), whose products neither over- nor underflow. */
    std::vector<double> roots_of_diagonal(const CrsMatrix<double> &A, int n_threads = 0)
    {
      std::vector<double> roots = diagonal_of(A, n_threads);
      parallel_for(
        A.n_rows,
        4096,
        [&](long begin, long end) {
          for (long i = begin; i < end; ++i)
            roots[i] = std::sqrt(std::abs(roots[i]));
        },
        n_threads);
      return roots;
    }

    /**
     * find_asymmetry() of a matrix with sorted rows, by the pool's threads: each entry looks for the one that mirrors
     * it.
     */
    Asymmetry find_asymmetry_in_sorted(const CrsMatrix<double> &A, ThreadPool &pool)
    {
      constexpr int              none  = std::numeric_limits<int>::max();
      const std::vector<double>  roots = roots_of_diagonal(A, pool.size());
      std::mutex                 one_at_a_time;
      std::tuple<int, bool, int> first = {none, true, none}; // row, whether the entry is in the other row only, column
      parallel_for(pool, A.n_rows, 4096, [&](long begin, long end) {
        std::tuple<int, bool, int> mine = {none, true, none};
        for (int i = static_cast<int>(begin); i < static_cast<int>(end); ++i)
          for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
            if (const int j = A.columns[p]; j < A.n_rows && j != i)
              {
                const auto   row_begin = A.columns.begin() + A.row_offsets[j], row_end = A.columns.begin() + A.row_offsets[j + 1];
                const auto   found    = std::lower_bound(row_begin, row_end, i);
                const bool   is_there = found != row_end && *found == i;
                const double mirrored = is_there ? A.values[found - A.columns.begin()] : 0.;
                if (std::abs(A.values[p] - mirrored) > 1e-12 * roots[i] * roots[j])
                  mine = std::min(mine, {std::min(i, j), i > j && !is_there, std::max(i, j)});
              }
        const std::lock_guard<std::mutex> lock(one_at_a_time);
        first = std::min(first, mine);
      });
      const auto [row, is_in_other, column] = first;
      return row == none ? Asymmetry() : Asymmetry{true, row, column};
    }
  } // namespace

  Asymmetry find_asymmetry(const CrsMatrix<double> &A, int n_threads)
  {
    if (const auto pool = shared_thread_pool(n_threads); has_sorted_rows(A, *pool))
      return find_asymmetry_in_sorted(A, *pool);
    std::vector<int> offsets(A.n_rows + 1, 0);
    for (const int j : A.columns)
      if (j < A.n_rows)
        ++offsets[j + 1];
    for (int i = 0; i < A.n_rows; ++i)
      offsets[i + 1] += offsets[i];
    std::vector<int>    rows(offsets.back()), next(offsets.begin(), offsets.end() - 1); // the transposed matrix
    std::vector<double> values(offsets.back());
    for (int i = 0; i < A.n_rows; ++i)
      for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
        if (const int j = A.columns[p]; j < A.n_rows)
          {
            rows[next[j]]     = i;
            values[next[j]++] = A.values[p];
          }
    const std::vector<double> roots = roots_of_diagonal(A, n_threads);
    std::vector<double>       difference(A.n_rows, 0.);
    for (int i = 0; i < A.n_rows; ++i)
      {
        const int begin = A.row_offsets[i], end = A.row_offsets[i + 1];
        for (int p = begin; p < end; ++p)
          if (A.columns[p] < A.n_rows)
            difference[A.columns[p]] += A.values[p];
        for (int p = offsets[i]; p < offsets[i + 1]; ++p)
          difference[rows[p]] -= values[p];
        const auto differs = [&](int j) { return std::abs(difference[j]) > 1e-12 * roots[i] * roots[j]; };
        for (int p = begin; p < end; ++p)
          if (A.columns[p] < A.n_rows && differs(A.columns[p]))
            return {true, i, A.columns[p]};
        for (int p = offsets[i]; p < offsets[i + 1]; ++p)
          if (differs(rows[p]))
            return {true, i, rows[p]};
        for (int p = begin; p < end; ++p)
          if (A.columns[p] < A.n_rows)
            difference[A.columns[p]] = 0.;
        for (int p = offsets[i]; p < offsets[i + 1]; ++p)
          difference[rows[p]] = 0.;
      }
    return {};
  }

  int row_without_positive_diagonal(const CrsMatrix<double> &A, int n_threads)
  {
    const std::vector<double> diagonal = diagonal_of(A, n_threads);
    const auto                found    = std::find_if(diagonal.begin(), diagonal.end(), [](double d) { return !(d > 0.); });
    return found == diagonal.end() ? -1 : static_cast<int>(found - diagonal.begin());
  }

  ExtremeEigenvalues extreme(const CrsMatrix<double> &A, double tolerance, double max_seconds)
  {
    if (A.n_rows == 0)
      return {1., 1.};
    const CrsMatrix<double> M = symmetric_form(A, shift);
    if (A.n_rows <= n_dense)
      {
        const Eigen::VectorXd all = Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(dense(M), Eigen::EigenvaluesOnly).eigenvalues();
        return {all[0] - shift, all[A.n_rows - 1] - shift};
      }
    const double smallest = lanczos(M, Spectra::SortRule::SmallestAlge, tolerance, max_seconds);
    return {smallest - shift, lanczos(M, Spectra::SortRule::LargestAlge, tolerance, max_seconds) - shift};
  }

  Estimate estimate_extreme(const CrsMatrix<double> &A, double tolerance, double max_seconds)
  {
    constexpr int    least_products = 40; // so many find lambda_n to about a percent, however busy the machine is
    constexpr int    many_rows      = 20000;
    constexpr double of_smallest = 0.5, is_settled = 0.05;
    if (A.n_rows <= n_dense)
      return {extreme(A, tolerance, max_seconds), 0, true};
    const auto               start      = std::chrono::steady_clock::now();
    const SmallestEigenvalue smallest   = estimate_smallest(A, std::max(tolerance, 0.02), of_smallest * max_seconds);
    const bool               is_enough  = A.n_rows > many_rows && reached(smallest.last_change, is_settled);
    int                      n_products = 0;
    const auto               time_out   = [&] {
      return ++n_products >= least_products &&
             (is_enough || std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() > max_seconds);
    };
    const CrsMatrix<double> M = symmetric_form(A, 0.);
    SymmetricProduct        product;
    product.n_rows   = A.n_rows;
    product.multiply = [&](const double *x, double *Mx) { multiply_by_all(M, x, Mx); };
    product.sum      = [](double value) { return value; };
    product.smooth   = roots_of_diagonal(A);
    Estimate result  = estimate_extreme(product, tolerance, 0., max_steps, time_out);

    if (smallest.value < result.eigenvalues.smallest)
      {
        result.eigenvalues.smallest = smallest.value;
        result.smallest_change      = smallest.last_change;
      }
    return result;
  }

  Estimate estimate_extreme(const SymmetricProduct &M, double tolerance, double floor, std::size_t max_products, const std::function<bool()> &is_over)
  {
    constexpr long grain = 16384;
    const auto     pool  = shared_thread_pool(M.n_threads);
    const auto     n     = static_cast<long>(M.n_rows);
    const auto     sum   = [&](const auto &of_row) { // of all rows
      return M.sum(parallel_sum(*pool, n, grain, [&](long begin, long end) {
        double part = 0.;
        for (long i = begin; i < end; ++i)
          part += of_row(i);
        return part;
      }));
    };
    const auto square = [](double x) { return x * x; };

    std::vector<double> v(n), before(n, 0.), image(n), diagonal, beside;
    Estimate            result;
    std::mt19937_64     random(M.seed);
    for (double &x : v)
      x = std::uniform_real_distribution<double>(-1., 1.)(random);
    for (std::size_t i = 0; i < M.smooth.size(); ++i)
      v[i] = M.smooth[i] * (1. + v[i]);
    double length = std::sqrt(sum([&](long i) { return square(v[i]); }));
    if (!(length > 0.)) // there are no rows
      return result;
    for (std::size_t next_look = 20;;)
      {
        parallel_for(*pool, n, grain, [&](long begin, long end) {
          for (long i = begin; i < end; ++i)
            v[i] /= length;
        });
        M.multiply(v.data(), image.data());
        const double last_beside = ++result.n_products > 1 ? beside.back() : 0.;
        diagonal.push_back(sum([&](long i) { return v[i] * (image[i] -= last_beside * before[i]); }));
        const double norm = std::sqrt(sum([&](long i) { return square(image[i] -= diagonal.back() * v[i]); }));
        if (!std::isfinite(norm))
          {
            result.eigenvalues = {norm, norm};
            return result;
          }
        const bool exact = norm < 1e-12, last = exact || result.n_products >= max_products || (is_over && is_over());
        if (result.n_products == next_look || last)
          {
            const ExtremeEigenvalues old = result.eigenvalues;
            result.eigenvalues           = of_tridiagonal(diagonal, beside);
            const ExtremeEigenvalues &e  = result.eigenvalues;
            result.settled = exact || (reached(std::abs(old.smallest - e.smallest), tolerance * std::max(std::abs(e.smallest), floor)) &&
                                       reached(std::abs(old.largest - e.largest), tolerance * e.largest));
            if (last || result.settled)
              return result;
            next_look += next_look / 2;
          }
        beside.push_back(norm);
        before.swap(v);
        v.swap(image);
        length = norm;
      }
  }

  bool finds_negative_eigenvalue(const CrsMatrix<double> &A, double max_seconds)
  {
    constexpr std::size_t     most = 60, fewest = 20;
    const auto                pool = shared_thread_pool(0);
    const Stopwatch           stopwatch;
    const std::vector<double> roots = roots_of_diagonal(A);
    std::vector<double>       scaled(A.n_rows);
    SymmetricProduct          product; // D^-1/2 A D^-1/2, without a copy of A
    product.n_rows   = A.n_rows;
    product.smooth   = roots;
    product.sum      = [](double value) { return value; };
    product.multiply = [&](const double *x, double *Mx) {
      parallel_for(*pool, A.n_rows, 16384, [&](long begin, long end) {
        for (long i = begin; i < end; ++i)
          scaled[i] = x[i] / roots[i];
      });
      parallel_for(*pool, A.n_rows, 4096, [&](long begin, long end) {
        for (long i = begin; i < end; ++i)
          {
            double sum = 0.;
            for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
              sum += A.values[p] * scaled[A.columns[p]];
            Mx[i] = sum / roots[i];
          }
      });
    };
    std::size_t n_products = 0;
    const auto  is_over    = [&] { return ++n_products >= fewest && stopwatch.seconds() > max_seconds; };
    return estimate_extreme(product, 0., 0., most, is_over).eigenvalues.smallest < -1e-10;
  }

  double radius(const CrsMatrix<double> &A, double tolerance, double max_seconds)
  {
    if (is_triangular_in_some_order(A))
      return 0.;
    const std::vector<double> diagonal = diagonal_of(A, 0);
    const CrsMatrix<double>   B        = transformed(A, [&](int i, int j, double value) { return i == j ? 0. : -value / diagonal[i]; });
    if (A.n_rows <= n_dense)
      return Eigen::EigenSolver<Eigen::MatrixXd>(dense(B), false).eigenvalues().cwiseAbs().maxCoeff();
    // several, as the first to converge need not be the largest
    return eigenvalues<Spectra::GenEigsSolver<Product>>(B, Spectra::SortRule::LargestMagn, 6, tolerance, max_seconds).cwiseAbs().maxCoeff();
  }

  double radius_abs(const CrsMatrix<double> &A, bool symmetric, double tolerance, double max_seconds)
  {
    if (is_triangular_in_some_order(A))
      return 0.;
    if (!symmetric && A.n_rows > n_dense)
      if (const auto similar = symmetrized(A))
        return radius_abs(*similar, true, tolerance, max_seconds);
    // the similar matrix |D|^-1/2 |A - D| |D|^-1/2 is symmetric if A is
    const std::vector<double> diagonal = diagonal_of(A, 0);
    const CrsMatrix<double>   M        = transformed(A, [&](int i, int j, double value) {
      return i == j ? 0. : std::abs(value) / (std::sqrt(std::abs(diagonal[i])) * std::sqrt(std::abs(diagonal[j])));
    });
    if (A.n_rows <= n_dense)
      return Eigen::EigenSolver<Eigen::MatrixXd>(dense(M), false).eigenvalues().cwiseAbs().maxCoeff();
    if (symmetric)
      return lanczos(M, Spectra::SortRule::LargestAlge, tolerance, max_seconds);
    // the largest eigenvalue of a nonnegative matrix is real (Perron and Frobenius)
    return eigenvalues<Spectra::GenEigsSolver<Product>>(M, Spectra::SortRule::LargestReal, 1, tolerance, max_seconds)[0].real();
  }
} // namespace leopard::spectrum
