// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../base/norms.h"
#include "krylov.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

namespace leopard
{
  struct GcrOptions : KrylovOptions
  {
    int n_directions = 10; ///< kept of more, the newest, 1 to 128; two vectors are stored for each

    /** @throws InvalidInput. */
    void validate() const;
  };

  /**
   * GCR, truncated, preconditioned by anything that may change from one application to the next: on the host the class
   * below, on the device the kernels that are the time loop's, too (gcr_kernels.cuh). Without truncation its residuals
   * are those of FGMRES. That holds where A M, M the preconditioner, has a positive definite symmetric part; elsewhere
   * A times the new direction may be nothing new (r^T A M r = 0), or hardly, and GCR breaks down or goes on slowly by
   * rounding errors where FGMRES does not.
   * @param A square, host memory; copied. Its diagonal may have zeros. @param preconditioner as for make_cg().
   * @throws InvalidInput, DeviceError.
   * Source: Saad, Iterative Methods for Sparse Linear Systems, 2003, algorithm 6.21.
   */
  template <typename Number>
  std::unique_ptr<KrylovSolver<Number>>
  make_gcr(const CrsMatrix<Number> &A, const GcrOptions &options, std::shared_ptr<Preconditioner<Number>> preconditioner = nullptr);

  /** a . b over a range, in four sums that do not wait for one another. */
  template <typename Number>
  double product_over_range(const Number *a, const Number *b, long begin, long end)
  {
    double sum[4] = {};
    long   i      = begin;
    for (; i + 3 < end; i += 4)
      for (int s = 0; s < 4; ++s)
        sum[s] += static_cast<double>(a[i + s]) * static_cast<double>(b[i + s]);
    for (; i < end; ++i)
      sum[0] += static_cast<double>(a[i]) * static_cast<double>(b[i]);
    return sum[0] + sum[1] + (sum[2] + sum[3]);
  }

  /**
   * GCR (generalized conjugate residuals, Eisenstat, Elman and Schultz 1983) on the host: the smallest residual in the
   * space of the preconditioner's results, for matrices of any kind and preconditioners that change; truncated: of more
   * than n_directions directions the newest are kept (Vinsome 1976, Orthomin), which is all that a symmetric matrix and
   * preconditioner need.
   *
   * Where the vectors' entries are and who works on them is asked of a Space:
   *
   *   n_pieces()                           pieces of the vectors, of which each has its partial sums
   *   for_ranges(f)                        f(begin, end, piece) for ranges of entries, in parallel; a piece's ranges
   *   one after the other. Entries in no
   *                                        range (ghosts) are neither read nor written
   *   sum_over_ranks(double *values, n)    entries become their sums over all ranks
   *
   * Sums are in double, and for given pieces always in the same order.
   */
  template <typename Space, typename Number = double>
  class Gcr
  {
  public:
    using Vector = std::vector<Number>;

    /** For vectors of n entries, ghosts included. */
    void allocate(const Space &space, std::size_t n, int n_directions)
    {
      for (auto *vectors : {&p, &q})
        vectors->assign(n_directions, Vector(n));
      stride = (n_directions + 1 + 7) / 8 * 8; // pieces write to cache lines of their own
      partial_sums.resize(space.n_pieces() * stride);
      factors.resize(n_directions + 1);
      beta.resize(n_directions);
    }

    /**
     * A x = b, from the present x, until the residual is `reduction` times as large as at first.
     * @param r b - A x, before and after. @param multiply(v, result): result = A v; it may update the ghosts of v.
     * @param precondition(z, r): z near A^-1 r, whatever is in z; it may exchange z for another vector of its length.
     * @return the number of iterations, which may end before the goal is reached: at max_iterations, and where A times
     * what the preconditioner has found is not a new direction, or not finite.
     */
    template <typename Multiply, typename Precondition>
    int solve(Space &space, Vector &x, Vector &r, double reduction, int max_iterations, const Multiply &multiply, const Precondition &precondition)
    {
      double       norm      = norm_squared(space, r);
      const double goal      = reduction * reduction * norm;
      int          iteration = 0;
      for (; iteration < max_iterations && !reached(norm, goal); ++iteration)
        {
          const int n_kept = static_cast<int>(p.size()), k = iteration % n_kept, n_filled = std::min(iteration, n_kept);
          precondition(p[k], r);
          multiply(p[k], q[k]);
          find_components(space, k, n_filled);
          orthogonalize(space, k, n_filled, r);
          if (!is_new_direction(k, n_filled))
            break;
          norm = follow(space, k, x, r);
        }
      return iteration;
    }

    /** Whether the last image of a direction, and so all before it, was finite. */
    bool is_finite() const { return std::isfinite(factors[0]) && std::isfinite(factors[1]); }

  private:
    double norm_squared(Space &space, const Vector &r)
    {
      add_up(space, 1, [&](long begin, long end, double *sums) { sums[0] += product_over_range(r.data(), r.data(), begin, end); });
      return factors[0];
    }

    /** factors[j] = q_k . q_j of the directions kept */
    void find_components(Space &space, int k, int n_filled)
    {
      if (n_filled > 0)
        add_up(space, n_filled, [&](long begin, long end, double *sums) {
          for (int j = 0; j < n_filled; ++j)
            if (j != k)
              sums[j] += product_over_range(q[k].data(), q[j].data(), begin, end);
        });
    }

    /** Takes from p_k and q_k their parts along the other directions; then factors are q_k . q_k and q_k . r. */
    void orthogonalize(Space &space, int k, int n_filled, const Vector &r)
    {
      Number *const p_k = p[k].data(), *const q_k = q[k].data();
      std::copy_n(factors.begin(), n_filled, beta.begin());
      add_up(space, 2, [&](long begin, long end, double *sums) {
        for (int j = 0; j < n_filled; ++j)
          {
            if (j == k)
              continue;
            const Number *const p_j = p[j].data(), *const q_j = q[j].data();
            const Number beta_j = static_cast<Number>(beta[j]);
            for (long i = begin; i < end; ++i)
              {
                p_k[i] -= beta_j * p_j[i];
                q_k[i] -= beta_j * q_j[i];
              }
          }
        sums[0] += product_over_range(q_k, q_k, begin, end);
        sums[1] += product_over_range(q_k, r.data(), begin, end);
      });
    }

    /** Whether more than rounding errors is left of q_k. */
    bool is_new_direction(int k, int n_filled) const
    {
      constexpr double rounding = 100. * static_cast<double>(std::numeric_limits<Number>::epsilon());
      double           before   = factors[0]; // the images kept are unit vectors
      for (int j = 0; j < n_filled; ++j)
        if (j != k)
          before += beta[j] * beta[j];
      return is_finite() && factors[0] > rounding * rounding * before;
    }

    /** The step along p_k, whose image becomes a unit vector. @return r . r behind it. */
    double follow(Space &space, int k, Vector &x, Vector &r)
    {
      const double  inverse_length = 1. / std::sqrt(factors[0]);
      const Number  inverse = static_cast<Number>(inverse_length), alpha = static_cast<Number>(factors[1] * inverse_length);
      Number *const p_k = p[k].data(), *const q_k = q[k].data(), *const solution = x.data(), *const residual = r.data();
      add_up(space, 1, [&](long begin, long end, double *sums) {
        for (long i = begin; i < end; ++i)
          {
            p_k[i] *= inverse;
            q_k[i] *= inverse;
            solution[i] += alpha * p_k[i];
            residual[i] -= alpha * q_k[i];
          }
        sums[0] += product_over_range(residual, residual, begin, end);
      });
      return factors[0];
    }

    /** Calls f(begin, end, sums) for all ranges; factors become the n sums over all of them. */
    template <typename F>
    void add_up(Space &space, int n, const F &f)
    {
      std::fill(partial_sums.begin(), partial_sums.end(), 0.);
      space.for_ranges([&](long begin, long end, int piece) { f(begin, end, &partial_sums[piece * stride]); });
      for (int j = 0; j < n; ++j)
        {
          factors[j] = 0.;
          for (int piece = 0; piece < space.n_pieces(); ++piece)
            factors[j] += partial_sums[piece * stride + j];
        }
      space.sum_over_ranks(factors.data(), n);
    }

    std::vector<Vector> p, q; ///< directions, and A times them, orthonormal
    std::vector<double> factors, beta;
    std::vector<double> partial_sums; ///< `stride` of a piece
    std::size_t         stride = 0;
  };
} // namespace leopard
