// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <solvers/matrix/crs_matrix.h>
#include <solvers/relaxation/relaxation.h>

#include <memory>
#include <string>
#include <vector>

namespace leopard::studies
{
  /**
   * async-(k) on the matrix in plain CRS: the same iterates as BlockAsync up to rounding, from a storage without
   * blocks. A thread a row runs over its row in each local iteration and finds out for each entry whether it is the
   * diagonal, in the block or outside (thesis, Algorithms 14 and 16; the off-block values are frozen as in Algorithm
   * 14). Columns of 32 bits, values of 64. What block-CRS is measured against, and nothing else: only the chaotic
   * schedule, blocks of equal size, and no weights. On cuda a launch a global iteration, on the host the threads of
   * BlockAsync.
   * @param block_size on cuda at most 1024. @throws InvalidInput, DeviceError.
   */
  std::unique_ptr<Relaxation<double>>
  make_plain_crs(const CrsMatrix<double> &A, int block_size, int local_iterations, Backend backend, int n_threads);

  /** How a row in plain CRS finds its diagonal entry. */
  enum class FindsDiagonal
  {
    by_branch, ///< thesis, Algorithm 16: if (col[i] == index) diag = val[i]
    by_product ///< Algorithm 17: diag += int(col[i] == index) * val[i]
  };

  /**
   * Algorithms 16 and 17 of the thesis as printed: each row is updated 1 + local_iterations times,
   *   x_i <- x_i + (b_i - sum_j a_ij x_j) / a_ii,
   * each time from the newest values of all columns in memory, and written at once; nothing is frozen. The rows of a
   * block make a sweep one after the other before the next sweep begins: a thread that updated one row again and again
   * would change nothing after the first time. So it is two-stage total (Algorithm 15) with 1 + local_iterations
   * sweeps. On the host the threads of BlockAsync, each with the rows of a block in their order; on cuda a thread a row
   * and a launch a global iteration, where the rows of a block wait for each other between two sweeps, and within a
   * sweep a row has old or new values of the others. @param block_size on cuda at most 1024.
   * @throws InvalidInput, DeviceError.
   */
  std::unique_ptr<Relaxation<double>>
  make_printed_crs(const CrsMatrix<double> &A, int block_size, int local_iterations, FindsDiagonal finds_diagonal, Backend backend, int n_threads);

  /**
   * Algorithm 18 of the thesis as printed, transcribed, in block-CRS with the diagonal first: one global iteration, the
   * blocks one after the other, the rows of a block in step. It makes 1 + local_iterations sweeps, as line 19 updates
   * before the loop. To see what the printed listing does, not to be fast. @param x of n_rows values, changed.
   */
  void iterate_algorithm_18(const CrsMatrix<double> &A, int block_size, int local_iterations, std::vector<double> &x, const std::vector<double> &b);

  /** "Algorithm 16", "Algorithm 17". */
  std::string name_of_printed(FindsDiagonal finds_diagonal);

  /** Parts of make_plain_crs() and make_printed_crs(). */
  std::unique_ptr<Relaxation<double>> make_plain_crs_cuda(const CrsMatrix<double> &A, int block_size, int local_iterations);
  std::unique_ptr<Relaxation<double>>
  make_printed_crs_cuda(const CrsMatrix<double> &A, int block_size, int local_iterations, FindsDiagonal finds_diagonal);
} // namespace leopard::studies
