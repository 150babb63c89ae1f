// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "relaxation.h"

#include <memory>

namespace leopard
{
  template <typename Number>
  struct CrsMatrix;

  enum class PointMethod
  {
    jacobi,
    gauss_seidel,
    sor,
    ssor
  };

  /** "Jacobi", "Gauss-Seidel", "SOR" or "SSOR". */
  std::string to_string(PointMethod method);

  struct PointRelaxationOptions
  {
    PointMethod method    = PointMethod::jacobi;
    double      omega     = 1.;    ///< relaxation factor (of Jacobi: damping), dimensionless, in (0, 2); must be 1 for Gauss-Seidel
    bool        colouring = false; ///< rows in the order of their colours and not of their numbers; on the backend cuda always. Not for Jacobi
    Backend     backend   = Backend::host;

    /** @throws InvalidInput naming the option, what was found and what is expected. */
    void validate() const;
  };

  /**
   * The textbook point relaxations, which block-asynchronous iteration is compared with:
   * Jacobi x <- x + omega D^-1 (b - A x); SOR: x_i <- x_i + (omega / a_ii) (b_i - sum_j a_ij x_j), row by row with the
   * newest values; Gauss-Seidel: SOR with omega = 1; SSOR: an SOR sweep forward and one backward.
   *
   * The order of the rows is that of their numbers, or, with colouring, that of greedy_colouring(): colour after colour
   * (SSOR backward: the last colour first), where the rows of a colour do not depend on each other. The results for
   * both orders differ, each is the same in every run. x and b keep the numbering of A either way.
   *
   * Sequential on the host (x and b in host memory). On the backend cuda (x and b in device memory) Jacobi is
   * synchronous async-(1), and the others are multicolour relaxations with a kernel a colour; iterate() returns when
   * the work is queued on the default stream.
   * @param A host memory; copied. @throws InvalidInput, DeviceError.
   * Source: thesis, section 2.4; Saad, Iterative Methods for Sparse Linear Systems, 2003, sections 4.1 and 12.4
   * (multicolouring).
   */
  template <typename Number>
  std::unique_ptr<Relaxation<Number>> make_point_relaxation(const CrsMatrix<Number> &A, const PointRelaxationOptions &options);
} // namespace leopard
