// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../matrix/device_crs.h"
#include "krylov.h"

namespace leopard
{
  struct FgmresOptions : KrylovOptions
  {
    int restart = 30; ///< directions after which it begins anew, 1 to 1000; two vectors are stored for each

    /** @throws InvalidInput. */
    void validate() const;
  };

  /**
   * Flexible GMRES, restarted: the smallest residual in the space of the preconditioner's results, for matrices of any
   * kind and preconditioners that may change from one application to the next. The basis is made orthogonal by
   * classical Gram-Schmidt twice, the least squares problem is solved by Givens rotations; the residual never grows.
   * @param A square, host memory; copied. Its diagonal may have zeros. @param preconditioner as for make_cg().
   * @throws InvalidInput, DeviceError.
   * Source: Saad, Iterative Methods for Sparse Linear Systems, 2003, algorithm 9.6, section 6.5.3 (rotations).
   */
  template <typename Number>
  std::unique_ptr<KrylovSolver<Number>>
  make_fgmres(const CrsMatrix<Number> &A, const FgmresOptions &options, std::shared_ptr<Preconditioner<Number>> preconditioner = nullptr);

  /**
   * The same for a matrix that is on the device, whose arrays it shares, with the backend cuda. @param A one that has
   * been looked at, such as device::permuted() gives. update_values() changes the values of all who share them.
   */
  template <typename Number>
  std::unique_ptr<KrylovSolver<Number>>
  make_fgmres(const device::DeviceCrs<Number> &A, const FgmresOptions &options, std::shared_ptr<Preconditioner<Number>> preconditioner = nullptr);
} // namespace leopard
