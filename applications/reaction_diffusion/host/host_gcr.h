// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <solvers/base/norms.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace leopard::reaction_diffusion
{
  /**
   * GCR (generalized conjugate residuals, Eisenstat, Elman and Schultz 1983): the smallest residual in the space of the
   * preconditioner's results, for matrices of any kind; truncated: of more than n_directions directions the newest are
   * kept (Vinsome 1976, Orthomin), which is all that a symmetric matrix and preconditioner need. Level: a HostLevel or
   * HostRows.
   */
  template <typename Level>
  class Gcr
  {
  public:
    /** Allocates for systems on this level. */
    void allocate(const Level &level, int n_directions)
    {
      for (auto *vectors : {&p, &q})
        vectors->assign(n_directions, std::vector<double>(level.d.size()));
      solution.resize(level.d.size());
      partial_sums.resize(level.n_blocks * (n_directions + 1));
      factors.resize(n_directions + 1);
    }

    /**
     * Adds to d until the residual is `reduction` times as large as at first. @param r the residual of d, before and
     * after. precondition() is to find an approximate solution of A d = r from d = 0. @return the number of iterations.
     */
    template <typename System, typename Precondition>
    int solve(const System        &system,
              double               implicit,
              Level               &level,
              std::vector<double> &r,
              double               reduction,
              int                  max_iterations,
              const Precondition  &precondition)
    {
      const auto residual_of = [&](int) -> const std::vector<double> & { return r; };
      products(level, 1, r, residual_of);
      double       norm = factors[0];
      const double goal = reduction * reduction * norm;
      std::swap(solution, level.d); // d is what the preconditioner works on
      int iteration = 0;
      for (; iteration < max_iterations && !reached(norm, goal); ++iteration)
        {
          const int n_kept = static_cast<int>(p.size()), k = iteration % n_kept, n_filled = std::min(iteration, n_kept);
          level.clear();
          precondition();
          std::swap(p[k], level.d);
          level.multiply(system, implicit, p[k].data(), q[k].data());
          products(level, n_filled, q[k], [&](int j) -> const std::vector<double> & { return q[j]; });
          orthogonalize(level, k, n_filled);
          products(level, 2, q[k], [&](int j) -> const std::vector<double> & { return j == 0 ? q[k] : r; });
          if (!(factors[0] > 0.))
            break;
          const double inverse = 1. / std::sqrt(factors[0]), alpha = factors[1] * inverse;
          double      *p_k = p[k].data(), *q_k = q[k].data(), *x = solution.data(), *residual = r.data();
          level.for_entries([&](long i, int /*block*/) {
            p_k[i] *= inverse;
            q_k[i] *= inverse;
            x[i] += alpha * p_k[i];
            residual[i] -= alpha * q_k[i];
          });
          products(level, 1, r, residual_of);
          norm = factors[0];
        }
      std::swap(solution, level.d);
      return iteration;
    }

  private:
    /** factors[j] = a . vectors(j) */
    template <typename Vectors>
    void products(Level &level, int n, const std::vector<double> &a, const Vectors &vectors)
    {
      std::fill(partial_sums.begin(), partial_sums.end(), 0.);
      const std::size_t stride = factors.size();
      for (int j = 0; j < n; ++j)
        {
          const double *b = vectors(j).data();
          level.for_ranges([&, j](long begin, long end, int block) { partial_sums[block * stride + j] += product(a.data(), b, begin, end); });
        }
      for (int j = 0; j < n; ++j)
        {
          factors[j] = 0.;
          for (int block = 0; block < level.n_blocks; ++block)
            factors[j] += partial_sums[block * stride + j];
        }
      if (n > 0)
        level.sum_over_ranks(factors.data(), n);
    }

    /** a . b over a range, in four sums that do not wait for one another. */
    static double product(const double *a, const double *b, long begin, long end)
    {
      double sum[4] = {};
      long   i      = begin;
      for (; i + 3 < end; i += 4)
        for (int q = 0; q < 4; ++q)
          sum[q] += a[i + q] * b[i + q];
      for (; i < end; ++i)
        sum[0] += a[i] * b[i];
      return sum[0] + sum[1] + (sum[2] + sum[3]);
    }

    /** Takes from p[k] and q[k] their parts along the other directions. */
    void orthogonalize(Level &level, int k, int n_filled)
    {
      for (int j = 0; j < n_filled; ++j)
        {
          if (j == k)
            continue;
          const double *p_j = p[j].data(), *q_j = q[j].data(), beta = factors[j];
          double       *p_k = p[k].data(), *q_k = q[k].data();
          level.for_entries([&](long i, int) {
            p_k[i] -= beta * p_j[i];
            q_k[i] -= beta * q_j[i];
          });
        }
    }

    std::vector<std::vector<double>> p, q; ///< directions, and A times them, orthonormal
    std::vector<double>              solution, partial_sums, factors;
  };
} // namespace leopard::reaction_diffusion
