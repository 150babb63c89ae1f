// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <solvers/matrix/crs_matrix.h>
#include <solvers/relaxation/relaxation.h>

#include <memory>

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

  /** Part of make_plain_crs(). */
  std::unique_ptr<Relaxation<double>> make_plain_crs_cuda(const CrsMatrix<double> &A, int block_size, int local_iterations);
} // namespace leopard::studies
