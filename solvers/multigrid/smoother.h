// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../block_async/block_async.h"
#include "../relaxation/methods.h"

#include <memory>
#include <string>
#include <vector>

namespace leopard
{
  /** Whether the blocks of stored matrices move: automatic, where it is known to pay, see blocks_move(). */
  enum class MovingBlocksChoice
  {
    automatic,
    no,
    yes
  };

  /** What smooths, and how. Numbers are dimensionless. */
  struct SmootherOptions
  {
    std::string method = "async"; ///< one of method_names(as_smoother), relaxation/methods.h
    /**
     * Relaxation factor, in (0, 2); 0: what suits the method and the dimension (default_omega()), and the level's
     * lambda_max (is_damped()).
     */
    double omega               = 0.;
    int    iterations_per_step = 1; ///< (global) iterations that make one smoothing step; the thesis merges two

    /**
     * async: all but backend and omega, which are given beside. Where tiles move (smoother_moves()), omega is 0 and no
     * sweep_weights are given, the sweeps of stencils like the Laplacian's have Chebyshev's weights (smoother.cc).
     */
    BlockAsyncOptions block_async = {};
    /**
     * Stored levels may have other blocks than of block_async.block_size rows: of 512 on a GPU where rows of the finest
     * level have at most 12 entries in the mean (benchmarks/results/2026-11-29_h200_small_stored_levels.md).
     */
    bool       any_block_size = false;
    BlockShape block_shape =
      BlockShape::tiles; ///< async with stored matrices; tiles fall back to METIS where there are no coordinates, and the description says so
    MovingBlocksChoice moving_blocks = MovingBlocksChoice::automatic; ///< async with stored matrices, tiles: every second iteration in other tiles
    ChebyshevOptions   chebyshev     = {}; ///< chebyshev: its interval, by default from lambda_max / (2 dim); all but backend

    /** @throws InvalidInput naming the option, what was found and what is expected. */
    void validate() const;
  };

  /**
   * Relaxation factor for smoothing: 1 for Gauss-Seidel, SSOR, ILU(0), and for Jacobi, which then does not smooth; 1,
   * 1.1, 1.2 for SOR in 1, 2, 3 dimensions; for damped-jacobi 2/3, 4/5, 6/7, best for the high frequencies of the
   * Laplacian (2 / (2 - mu_min - mu_max) with the high-frequency eigenvalues of B from mu_min = -1 to mu_max = 1 -
   * 1/dim; Trottenberg, Oosterlee, Schueller 2001, section 2.1).
   *
   * For async it lies between these, best where blocks are relaxed one after the other, and 0.6 and 0.75 in 2 and 3
   * dimensions, best where all are relaxed at once from old values of the others, when the error stays longest at their
   * borders (measured, benchmarks/results/2026-11-21_h200_multigrid.md).
   * @param at_once the share of the blocks that are at work at the same time, from 0 to 1: share_at_once(). For
   * stencils on the host 0 whatever the schedule is: their tiles are lines of up to 512 nodes, whose ends hardly count,
   * and 4/5 and 6/7 were best in every schedule.
   */
  double default_omega(const std::string &method, int dim, double at_once);

  /** Whether all blocks of a matrix with several are: on a GPU and in the synchronous schedule. */
  bool are_relaxed_at_once(const BlockAsyncOptions &options, Backend backend);

  /**
   * All blocks at once on a GPU and in the synchronous schedule, half of the values old in a replay; on host threads as
   * many as threads work, less the one whose values are the newest: with 128 threads, too, not above a quarter
   * (HostScheduler).
   */
  double share_at_once(const BlockAsyncOptions &options, Backend backend, int n_blocks, long n_rows);

  /**
   * Whether the smoother of stencils with this backend is async whose tiles move by half of their size from iteration
   * to iteration (BlockAsync for stencils): the errors that one iteration leaves at the borders of tiles are inside the
   * tiles of the next, and two iterations smooth as well as four with tiles that stay
   * (benchmarks/results/2026-11-23_h200_moving_tiles.md).
   * Not where omega, the steps and what a cycle takes have not been measured: with fewer than three local iterations.
   * @param dim directions in which the grid has more than one node; false in one dimension.
   */
  bool smoother_moves(const SmootherOptions &options, Backend backend, int dim);

  /**
   * Relaxation factors of the sweeps inside tiles that move, where omega and sweep_weights are not given: Chebyshev's
   * (chebyshev_sweep_weights()) for the eigenvalues of D^-1 A from 0.15 times the largest, or from the smallest, up,
   * with the bounds 1 - r and 1 + r (Gershgorin), where r is the sum of the sizes of the coefficients beside the
   * diagonal over the (smallest) diagonal. The same share is good in two and three dimensions with 3 to 8 sweeps
   * (benchmarks/results/2026-11-23_h200_moving_tiles.md). From 0.35 times the largest where the grid is one slab of
   * several: the border between slabs does not move with the tiles, and there the larger weights of the wider interval
   * leave more than they take away.
   * @return none with more sweeps, for which one omega is as good, and where the stencil is not like a Laplacian's:
   * symmetric, no coefficient beside the diagonal of the diagonal's sign, r <= 1.
   */
  template <typename Number>
  std::vector<double> moving_weights(const Stencil<Number> &stencil, int n_sweeps);

  /**
   * Whether the method's sweeps amplify where omega lambda_max(D^-1 A) is above 2: async, damped-jacobi. On levels with
   * lambda_max > 2 (distorted cells, higher degrees) multigrid takes default_omega() times 2 / lambda_max.
   */
  bool is_damped(const std::string &method);

  /**
   * A smoother for A x = b: anything that is a Relaxation. @param dim of space, for default_omega(); 0: unknown (as 2).
   * @throws InvalidInput, DeviceError.
   */
  template <typename Number>
  std::unique_ptr<Relaxation<Number>> make_smoother(const CrsMatrix<Number> &A, const SmootherOptions &options, Backend backend, int dim);

  /** Whether the method takes a matrix that is on the device. */
  bool is_made_on_device(const SmootherOptions &options);
  /** The same for such a matrix. */
  template <typename Number>
  std::unique_ptr<Relaxation<Number>> make_smoother(const device::DeviceCrs<Number> &A, const SmootherOptions &options, int dim);

  /** The same for a matrix that is not stored. Methods that need a stored one store it. */
  template <typename Number>
  std::unique_ptr<Relaxation<Number>> make_smoother(const Stencil<Number> &stencil, const SmootherOptions &options, Backend backend);

  /**
   * What make_smoother() has made of a stencil takes another one of the same pattern, and the relaxation factor that
   * suits it. @throws InvalidInput, DeviceError.
   */
  template <typename Number>
  void update_smoother(Relaxation<Number> &smoother, const Stencil<Number> &stencil, const SmootherOptions &options, Backend backend);
} // namespace leopard
