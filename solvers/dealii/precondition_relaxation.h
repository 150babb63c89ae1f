// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../device/device.h"
#include "../device/device_vector.h"
#include "../matrix/device_matrix.h"
#include "../relaxation/relaxation.h"
#include "trilinos_matrix.h"

#include <vector>

namespace leopard
{
  /**
   * A relaxation as a preconditioner for deal.II's Krylov solvers: vmult(dst, src) does n_iterations global iterations
   * for A dst = src from dst = 0. Takes Trilinos vectors for the memory space host and DeviceVectors for the device.
   * For chaotic schedules this is no fixed linear map: use SolverFGMRES or SolverFlexibleCG.
   *
   * With ghosts, their values are exchanged before each global iteration but the first (where they are zero).
   *
   * The relaxation may have its rows in another order than host vectors (blocks that are compact). DeviceVectors are in
   * the order of the relaxation.
   */
  class PreconditionRelaxation
  {
  public:
    /**
     * Keeps references: all must outlive the preconditioner. @param n_iterations >= 1. @param old_row row i of the
     * relaxation is row old_row[i] of host vectors; empty: they have the same order.
     */
    PreconditionRelaxation(Relaxation<double>          &relaxation,
                           int                          n_iterations,
                           const Communication<double> &communication,
                           const std::vector<int>      &old_row);
    ~PreconditionRelaxation();

    void vmult(HostVector &dst, const HostVector &src) const;
    void vmult(DeviceVector<double> &dst, const DeviceVector<double> &src) const;

  private:
    void iterate_from_zero(double *x, const double *b) const;

    Relaxation<double>          &relaxation;
    const int                    n_iterations;
    const Communication<double> &communication;
    const std::vector<int>      &old_row;
    mutable std::vector<double>  host_b;   ///< in the relaxation's order, where it is another
    mutable std::vector<double>  host_x;   ///< likewise; own entries and ghosts
    mutable DeviceVector<double> device_x; ///< the same on the device
  };

  /** y = A x for device vectors of a distributed matrix, as deal.II's solvers ask for it. */
  class DeviceOperator
  {
  public:
    /** Uploads A. Keeps a reference to the communication. */
    DeviceOperator(const CrsMatrix<double> &A, const Communication<double> &communication);

    void vmult(DeviceVector<double> &dst, const DeviceVector<double> &src) const;
    void update_values(const double *values);

  private:
    device::DeviceMatrix<double> matrix;
    const Communication<double> &communication;
    mutable DeviceVector<double> x_with_ghosts;
  };
} // namespace leopard
