// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../device/device.h"
#include "../device/device_vector.h"
#include "../matrix/device_matrix.h"
#include "../relaxation/relaxation.h"
#include "trilinos_matrix.h"

namespace leopard
{
  /**
   * A relaxation as a preconditioner for deal.II's Krylov solvers: vmult(dst, src) does n_iterations global iterations
   * for A dst = src from dst = 0. Takes Trilinos vectors for the memory space host and DeviceVectors for the device.
   * For chaotic schedules this is no fixed linear map: use SolverFGMRES or SolverFlexibleCG.
   *
   * With ghosts, their values are exchanged before each global iteration but the first (where they are zero).
   */
  class PreconditionRelaxation
  {
  public:
    /** Keeps references: both must outlive the preconditioner. @param n_iterations >= 1. */
    PreconditionRelaxation(Relaxation<double> &relaxation, int n_iterations, const Communication<double> &communication);
    ~PreconditionRelaxation();

    void vmult(HostVector &dst, const HostVector &src) const;
    void vmult(DeviceVector<double> &dst, const DeviceVector<double> &src) const;

  private:
    void iterate_from_zero(double *x, const double *b) const;

    Relaxation<double>          &relaxation;
    const int                    n_iterations;
    const Communication<double> &communication;
    mutable std::vector<double>  host_x;   ///< own entries and ghosts
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
