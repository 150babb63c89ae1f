// SPDX-License-Identifier: Apache-2.0
// An upper bound of the smallest eigenvalue from aggregates of rows.
#include "../base/norms.h"
#include "../base/stopwatch.h"
#include "../base/thread_pool.h"
#include "crs_matrix.h"
#include "eigenvalues.h"
#include "matrix_entries.h"
#include "rows_in_parts.h"

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wuse-after-free" // GCC 12 is wrong about what it inlines of Eigen
#endif

#include <Eigen/Eigenvalues>

#include <algorithm>
#include <array>
#include <cmath>
#include <list>
#include <random>
#include <utility>

namespace leopard::spectrum
{
  namespace
  {
    constexpr long grain = 16384;
    constexpr int  none  = -1;

    using Vector = std::vector<double>;

    /**
     * The pencil (A, D) of a level and of each of its rows the one of the next coarser level; none: its value there is
     * zero.
     */
    struct Pencil
    {
      const CrsMatrix<double> *A = nullptr;
      CrsMatrix<double>        own; ///< A of coarse levels
      Vector                   D;
      std::vector<int>         coarse_row = {};
    };

    /** Which rows of a matrix are coupled strongly, -a_ij > strength sqrt(m_i m_j), m_i the largest -a_ij of row i. */
    class StrongCouplings
    {
    public:
      explicit StrongCouplings(const CrsMatrix<double> &A_)
        : A(A_)
        , roots(A_.n_rows)
      {
        parallel_for(A.n_rows, grain, [&](long begin, long end) {
          for (long i = begin; i < end; ++i)
            {
              double largest = 0.;
              for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
                largest = A.columns[p] != i ? std::max(largest, -A.values[p]) : largest;
              roots[i] = std::sqrt(largest);
            }
        });
      }

      /** function(j, -a_ij) for the rows j that row i is coupled to strongly. */
      template <typename Function>
      void each(int i, const Function &function) const
      {
        constexpr double strength = 0.05; // small, so that aggregates follow what is strong beside coefficients that jump at random
        const double     least    = strength * roots[i];
        for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
          if (const int j = A.columns[p]; j != i && -A.values[p] > least * roots[j])
            function(j, -A.values[p]);
      }

    private:
      const CrsMatrix<double> &A;
      Vector                   roots;
    };

    /**
     * A row with its neighbours where none is taken; others join the neighbour they are coupled to most strongly.
     * @return how many there are.
     */
    int aggregate_rows(const CrsMatrix<double> &A, std::vector<int> &of_row)
    {
      const StrongCouplings strong(A);
      int                   n = 0;
      of_row.assign(A.n_rows, none);
      for (int i = 0; i < A.n_rows; ++i)
        {
          bool is_free = of_row[i] == none, is_coupled = false;
          if (is_free)
            strong.each(i, [&](int j, double) {
              is_coupled = true;
              is_free    = is_free && of_row[j] == none;
            });
          if (!is_free || !is_coupled)
            continue;
          of_row[i] = n;
          strong.each(i, [&](int j, double) { of_row[j] = n; });
          ++n;
        }
      const int n_first = n; // those of rows that join are not joined
      for (int i = 0; i < A.n_rows; ++i)
        {
          if (of_row[i] != none)
            continue;
          double strongest = 0.;
          int    joined    = none;
          strong.each(i, [&](int j, double size) {
            if (of_row[j] >= 0 && of_row[j] < n_first && size > strongest)
              {
                strongest = size;
                joined    = of_row[j];
              }
          });
          of_row[i] = joined != none ? none - 1 - joined : none; // below none until all have looked
        }
      for (int i = 0; i < A.n_rows; ++i)
        {
          if (of_row[i] < none)
            of_row[i] = none - 1 - of_row[i];
          if (of_row[i] != none)
            continue;
          bool is_coupled = false;
          strong.each(i, [&](int j, double) {
            is_coupled = true;
            if (of_row[j] == none)
              of_row[j] = n;
          });
          if (is_coupled)
            of_row[i] = n++;
        }
      return n;
    }

    /** P^T A P and P^T D P with the P of ones of fine's aggregates. */
    Pencil coarsened(const Pencil &fine, int n_coarse)
    {
      const CrsMatrix<double> &A = *fine.A;
      std::vector<int>         first(n_coarse + 1, 0), rows;
      for (const int c : fine.coarse_row)
        if (c != none)
          ++first[c + 1];
      for (int c = 0; c < n_coarse; ++c)
        first[c + 1] += first[c];
      rows.resize(first[n_coarse]);
      std::vector<int> next(first.begin(), first.end() - 1);
      for (int i = 0; i < A.n_rows; ++i)
        if (const int c = fine.coarse_row[i]; c != none)
          rows[next[c]++] = i;
      Pencil coarse;
      coarse.D.resize(n_coarse);
      coarse.own = rows_in_parts<double>(n_coarse, n_coarse, 0, [&](int begin, int end, CrsMatrix<double> &part) {
        std::vector<int> place(n_coarse, none); // of a column among those of the row
        for (int c = begin; c < end; ++c)
          {
            const int row_begin = static_cast<int>(part.columns.size());
            for (int k = first[c]; k < first[c + 1]; ++k)
              {
                coarse.D[c] += fine.D[rows[k]];
                for (int p = A.row_offsets[rows[k]]; p < A.row_offsets[rows[k] + 1]; ++p)
                  if (const int j = fine.coarse_row[A.columns[p]]; j != none)
                    {
                      if (place[j] < row_begin)
                        {
                          place[j] = static_cast<int>(part.columns.size());
                          part.columns.push_back(j);
                          part.values.push_back(0.);
                        }
                      part.values[place[j]] += A.values[p];
                    }
              }
            part.row_offsets.push_back(static_cast<int>(part.columns.size()));
          }
      });
      return coarse;
    }

    /** A vector v with A v. */
    struct WithImage
    {
      Vector v, Av;

      explicit WithImage(std::size_t n)
        : v(n, 0.)
        , Av(n, 0.)
      {
      }
    };

    /**
     * Lowers x^T A x / x^T D x step by step in the space of x, D^-1 (A - quotient D) x and the last step (Knyazev 2001,
     * with D for preconditioner).
     */
    class Descent
    {
    public:
      Descent(const Pencil &level, Vector start)
        : A(*level.A)
        , D(level.D)
        , pool(shared_thread_pool(0))
        , x(0)
        , r(D.size())
        , p(D.size())
      {
        x.v = std::move(start);
        x.Av.resize(D.size());
        multiply(x);
        const auto   sums   = products();
        const double length = std::sqrt(sums[x_d_x]);
        quotient            = sums[x_a_x] / sums[x_d_x];
        for_rows([&](long i) {
          x.v[i] /= length;
          x.Av[i] /= length;
        });
      }

      /** @return whether there is a next step. */
      bool step()
      {
        for_rows([&](long i) { r.v[i] = x.Av[i] / D[i] - quotient * x.v[i]; });
        multiply(r);
        const auto sums = products();
        if (!(sums[r_d_r] > 1e-28 * sums[x_d_x])) // it is an eigenvector
          return false;
        const int             n    = n_steps > 0 && sums[p_d_p] > 0. ? 3 : 2;
        const double          of_r = 1. / std::sqrt(sums[r_d_r]), of_p = n == 3 ? 1. / std::sqrt(sums[p_d_p]) : 0.;
        const Eigen::Vector3d unit(1., of_r, of_p);
        Eigen::Matrix3d       a, d;
        a << sums[x_a_x], sums[x_a_r], sums[x_a_p], sums[x_a_r], sums[r_a_r], sums[r_a_p], sums[x_a_p], sums[r_a_p], sums[p_a_p];
        d << sums[x_d_x], sums[x_d_r], sums[x_d_p], sums[x_d_r], sums[r_d_r], sums[r_d_p], sums[x_d_p], sums[r_d_p], sums[p_d_p];
        a = unit.asDiagonal() * a * unit.asDiagonal();
        d = unit.asDiagonal() * d * unit.asDiagonal();
        const Eigen::GeneralizedSelfAdjointEigenSolver<Eigen::MatrixXd> solver(a.topLeftCorner(n, n), d.topLeftCorner(n, n));
        if (solver.info() != Eigen::Success || !(solver.eigenvalues()[0] <= quotient + 1e-15 * std::abs(sums[r_a_r])))
          return false; // rounding errors are all that is left
        quotient = solver.eigenvalues()[0];
        ++n_steps;
        const double y_x = solver.eigenvectors()(0, 0), y_r = solver.eigenvectors()(1, 0) * of_r,
                     y_p = n == 3 ? solver.eigenvectors()(2, 0) * of_p : 0.;
        for_rows([&](long i) {
          p.v[i]  = y_r * r.v[i] + y_p * p.v[i];
          p.Av[i] = y_r * r.Av[i] + y_p * p.Av[i];
          x.v[i]  = y_x * x.v[i] + p.v[i];
          x.Av[i] = y_x * x.Av[i] + p.Av[i];
        });
        return true;
      }

      double quotient = 0.;
      Vector take() { return std::move(x.v); }

    private:
      enum Term
      {
        x_a_x,
        x_a_r,
        x_a_p,
        r_a_r,
        r_a_p,
        p_a_p,
        x_d_x,
        x_d_r,
        x_d_p,
        r_d_r,
        r_d_p,
        p_d_p,
        n_terms
      };

      template <typename Function>
      void for_rows(const Function &function)
      {
        parallel_for(*pool, A.n_rows, grain, [&](long begin, long end) {
          for (long i = begin; i < end; ++i)
            function(i);
        });
      }

      void multiply(WithImage &of) const
      {
        parallel_for(*pool, A.n_rows, grain / 4, [&](long begin, long end) {
          for (long i = begin; i < end; ++i)
            {
              double sum = 0.;
              for (int q = A.row_offsets[i]; q < A.row_offsets[i + 1]; ++q)
                sum += A.values[q] * of.v[A.columns[q]];
              of.Av[i] = sum;
            }
        });
      }

      /** All scalar products, in one pass. */
      std::array<double, n_terms> products() const
      {
        using Sums                             = std::array<double, n_terms>;
        const long                     n       = A.n_rows;
        const int                      n_parts = static_cast<int>(std::clamp<long>(n / grain, 1, pool->size()));
        std::vector<Sums>              parts(n_parts);
        const std::function<void(int)> work = [&](int part) {
          Sums s{};
          for (long i = n * part / n_parts; i < n * (part + 1) / n_parts; ++i)
            {
              const double d = D[i], X = x.v[i], R = r.v[i], P = p.v[i], AX = x.Av[i], AR = r.Av[i], AP = p.Av[i];
              s[x_a_x] += X * AX;
              s[x_a_r] += X * AR;
              s[x_a_p] += X * AP;
              s[r_a_r] += R * AR;
              s[r_a_p] += R * AP;
              s[p_a_p] += P * AP;
              s[x_d_x] += X * d * X;
              s[x_d_r] += X * d * R;
              s[x_d_p] += X * d * P;
              s[r_d_r] += R * d * R;
              s[r_d_p] += R * d * P;
              s[p_d_p] += P * d * P;
            }
          parts[part] = s;
        };
        if (n_parts == 1)
          work(0);
        else
          pool->run(work, n_parts);
        for (int part = 1; part < n_parts; ++part)
          for (int term = 0; term < n_terms; ++term)
            parts[0][term] += parts[part][term];
        return parts[0];
      }

      const CrsMatrix<double>          &A;
      const Vector                     &D;
      const std::shared_ptr<ThreadPool> pool;
      WithImage                         x, r, p;
      int                               n_steps = 0;
    };
  } // namespace

  SmallestEigenvalue estimate_smallest(const CrsMatrix<double> &A, double tolerance, double max_seconds)
  {
    constexpr int     few_rows = 200, fewest_steps = 10, most_steps = 400;
    const Stopwatch   stopwatch;
    std::list<Pencil> levels(1); // whose coarse ones are referred to
    levels.back().A = &A;
    levels.back().D = diagonal_of(A, 0);
    while (levels.back().A->n_rows > few_rows)
      {
        Pencil   &fine     = levels.back();
        const int n_coarse = aggregate_rows(*fine.A, fine.coarse_row);
        if (n_coarse == 0 || 2l * n_coarse > fine.A->n_rows)
          break;
        levels.push_back(coarsened(fine, n_coarse));
        levels.back().A = &levels.back().own;
      }

    std::mt19937_64 random(1);
    Vector          x(levels.back().D.size());
    for (double &value : x)
      value = 1. + std::uniform_real_distribution<double>(-0.5, 0.5)(random);
    SmallestEigenvalue result;
    // a step of a coarse level costs little: twice as many on each, on the coarsest as many as it takes
    for (auto level = levels.rbegin();; ++level)
      {
        const bool is_finest = std::next(level) == levels.rend();
        const int  depth     = static_cast<int>(std::distance(level, levels.rend())) - 1;
        const bool is_first  = level == levels.rbegin();
        const int  most      = is_finest || is_first ? most_steps : std::min(most_steps, fewest_steps << std::min(depth, 10));

        Descent             descent(*level, std::move(x));
        std::vector<double> quotients = {descent.quotient};
        for (int n = 1; n <= most; ++n)
          {
            if (!descent.step())
              {
                result.last_change = 0.;
                break;
              }
            quotients.push_back(descent.quotient);
            result.last_change = std::abs(quotients[n / 2] / quotients[n] - 1.);
            // what coarse levels leave is not found by those steps of the finest that there is time for
            const bool may_end = n >= fewest_steps && (is_finest || is_first);
            if (may_end && ((is_finest && reached(result.last_change, tolerance)) || stopwatch.seconds() > max_seconds))
              break;
          }
        if (is_finest)
          {
            result.value = descent.quotient;
            return result;
          }
        x                  = descent.take();
        const Pencil &fine = *std::next(level);
        Vector        finer(fine.D.size());
        for (std::size_t i = 0; i < finer.size(); ++i)
          finer[i] = fine.coarse_row[i] == none ? 0. : x[fine.coarse_row[i]];
        x = std::move(finer);
      }
  }
} // namespace leopard::spectrum
