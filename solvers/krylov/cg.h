// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../matrix/device_crs.h"
#include "krylov.h"

namespace leopard
{
  struct CgOptions : KrylovOptions
  {
  };

  /**
   * Conjugate gradients for symmetric positive definite matrices, or semidefinite ones with b in their range; the
   * preconditioner should be symmetric and positive definite. With one that is not fixed or not symmetric (chaotic
   * schedules, SOR) it is the flexible form, beta = z_{k+1}^T (r_{k+1} - r_k) / (z_k^T r_k), which orthogonalizes
   * against the last direction only and bears small differences; the numerator is -alpha z_{k+1}^T A p_k, so that it
   * costs one more inner product. Ends with KrylovReason::indefinite where it meets a direction without positive
   * curvature, p^T A p <= 0; the matrix is then not positive definite, and x is that of the steps before.
   * @param A square, host memory; copied. @param preconditioner null: none. In the memory space of the backend and, on
   * the backend cuda, queued.
   * @throws InvalidInput, DeviceError.
   * Source: Saad, Iterative Methods for Sparse Linear Systems, 2003, algorithm 9.1; flexible: Notay 2000, FCG(1).
   */
  template <typename Number>
  std::unique_ptr<KrylovSolver<Number>>
  make_cg(const CrsMatrix<Number> &A, const CgOptions &options, std::shared_ptr<Preconditioner<Number>> preconditioner = nullptr);

  /**
   * The same for a matrix that is on the device, whose arrays it shares, with the backend cuda. @param A one that has
   * been looked at, such as device::permuted() gives. update_values() changes the values of all who share them.
   */
  template <typename Number>
  std::unique_ptr<KrylovSolver<Number>>
  make_cg(const device::DeviceCrs<Number> &A, const CgOptions &options, std::shared_ptr<Preconditioner<Number>> preconditioner = nullptr);
} // namespace leopard
