// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../base/host_device.h"
#include "../base/norms.h"
#include "../device/block_sum.cuh"

namespace leopard
{
  // GCR on the device (see Gcr in gcr.h), as kernels of a graph: for make_gcr() and for the time loop of
  // applications/reaction_diffusion. An iteration is
  //
  //   z = M r; A z, and its inner products with the images kept; find_components();
  //   orthogonalize_direction; find_step(); follow_direction; whether it goes on
  //
  // The one-thread rules and the two kernels over vectors stand here once. Not so the product A z: the time loop's
  // grids and meshes have no stored matrix, and take the inner products in the kernel that multiplies, for up to six
  // directions in registers; a matrix is multiplied by cuSPARSE, and as many directions as are wanted are gone through
  // afterwards. And who says when to end differs: the time loop's controller, and KrylovState. On its coarsest grid the
  // time loop has GCR as one kernel of one thread block, which has no use for parts of sums (coarsest_grid.cuh).
  //
  // The kernels are templates on `Vectors`, which is handed over by value:
  //
  //   Entry, Scalars, threads   what a vector is made of (a pair, on grids); a GcrScalars; threads of a block
  //   for_entries(f)            f(at) for the calling thread's share of all places
  //   solution(), residual(), found()   Entry *: the correction, r, and z
  //   multiplied(k)             Entry *: A z; it may be image(k)
  //   direction(k), image(k)    Entry *: directions, and A times them
  //   n_kept()                  directions, the newest of which are kept
  //   clears                    whether z is to be zero for the next preconditioning
  //   parts, n_sums             each thread block's sums, n_sums of them from one block to the next
  //   product(a, b), sum_of(a, s, b), zero()   a . b in double, a + s b, 0: of Entries

  /** Scalars of GCR. */
  template <typename Number, int capacity>
  struct GcrScalars
  {
    int    iteration; ///< of the solve under way, or since it began anew
    bool   stuck;
    double goal;              ///< of r . r
    double squares[capacity]; ///< q_j . q_j
    Number beta[capacity], alpha;

    LEOPARD_HOST_DEVICE void begin(double goal_)
    {
      iteration = 0;
      stuck     = false;
      goal      = goal_;
    }

    /** beta_j = (A z . q_j) / (q_j . q_j). @param products A z . q_j. */
    LEOPARD_HOST_DEVICE void find_components(int n_filled, const double *products)
    {
      for (int j = 0; j < n_filled; ++j)
        {
          const Number component = static_cast<Number>(products[j] / squares[j]);
          // what is zero in all directions stays zero
          beta[j] = component - component == Number(0) ? component : Number(0);
        }
    }

    /**
     * alpha = (q_k . r) / (q_k . q_k). If q_k . q_k is not between these two, as it is not if it is only rounding
     * errors or not finite, GCR is stuck and ends.
     */
    LEOPARD_HOST_DEVICE void find_step(int k, double image_squared, double image_residual, double smallest, double largest)
    {
      const bool found = image_squared > smallest && image_squared < largest;
      squares[k]       = found ? image_squared : 1.;
      alpha            = found ? static_cast<Number>(image_residual / image_squared) : Number(0);
      stuck            = !found;
    }

    /** @param squared r . r */
    LEOPARD_HOST_DEVICE bool goes_on(double squared, int max_iterations) const
    {
      return iteration < max_iterations && !reached(squared, goal) && !stuck;
    }
  };

  // Eight blocks of 256 threads a multiprocessor are launched, and all are to be there at once: hence the bounds.

  /** p_k and q_k from z and A z: less their parts along the other directions; parts of q_k . q_k and q_k . r. */
  template <typename Vectors>
  __global__ void __launch_bounds__(Vectors::threads, 2048 / Vectors::threads)
    orthogonalize_direction(const __grid_constant__ Vectors v, const typename Vectors::Scalars *gcr)
  {
    const int k = gcr->iteration % v.n_kept(), n_filled = min(gcr->iteration, v.n_kept());
    double    sum[2] = {0., 0.};
    v.for_entries([&](auto at) {
      auto p = v.found()[at], q = v.multiplied(k)[at];
      for (int j = 0; j < n_filled; ++j)
        {
          if (j == k)
            continue;
          p = Vectors::sum_of(p, -gcr->beta[j], v.direction(j)[at]);
          q = Vectors::sum_of(q, -gcr->beta[j], v.image(j)[at]);
        }
      v.direction(k)[at] = p;
      v.image(k)[at]     = q;
      sum[0] += Vectors::product(q, q);
      sum[1] += Vectors::product(q, v.residual()[at]);
    });
    write_part<Addition>(sum, v.parts, Vectors::n_sums);
  }

  /**
   * x += alpha p_k, r -= alpha q_k, z = 0; part of r . r. With alpha = 0 the direction, which may be no number, is not
   * read.
   */
  template <typename Vectors>
  __global__ void __launch_bounds__(Vectors::threads, 2048 / Vectors::threads)
    follow_direction(const __grid_constant__ Vectors v, const typename Vectors::Scalars *gcr)
  {
    const int  k      = gcr->iteration % v.n_kept();
    const auto alpha  = gcr->alpha;
    double     sum[1] = {0.};
    v.for_entries([&](auto at) {
      auto r = v.residual()[at];
      if (alpha != 0)
        {
          r                = Vectors::sum_of(r, -alpha, v.image(k)[at]);
          v.solution()[at] = Vectors::sum_of(v.solution()[at], alpha, v.direction(k)[at]);
          v.residual()[at] = r;
        }
      if constexpr (Vectors::clears)
        v.found()[at] = Vectors::zero();
      sum[0] += Vectors::product(r, r);
    });
    write_part<Addition>(sum, v.parts, Vectors::n_sums);
  }
} // namespace leopard
