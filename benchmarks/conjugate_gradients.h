// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <solvers/device/device.h>
#include <solvers/device/device_vector.h>
#include <solvers/matrix/device_matrix.h>

namespace leopard
{
  /**
   * Conjugate gradients with cuSPARSE and cuBLAS, as the yardstick, from x = 0 until ||r|| <= tolerance ||b||; D^-1 as
   * preconditioner if the diagonal's inverse is given. Returns the iterations.
   */
  inline int conjugate_gradients(const device::DeviceMatrix<double> &A,
                                 DeviceVector<double>               &x,
                                 const DeviceVector<double>         &b,
                                 const DeviceVector<double>         *inverse_diagonal,
                                 double                              tolerance)
  {
    DeviceVector<double> r(b), z(b), p(b), q(b);
    x = 0.;
    if (inverse_diagonal != nullptr)
      z.scale(*inverse_diagonal);
    p                 = z;
    double       rho  = r * z;
    const double goal = tolerance * b.l2_norm();
    int          n    = 0;
    for (; n < 100000 && r.l2_norm() > goal; ++n)
      {
        A.multiply(q.data(), p.data());
        const double alpha = rho / (p * q);
        x.add(alpha, p);
        r.add(-alpha, q);
        z = r;
        if (inverse_diagonal != nullptr)
          z.scale(*inverse_diagonal);
        const double new_rho = r * z;
        p.sadd(new_rho / rho, 1., z);
        rho = new_rho;
      }
    return n;
  }
} // namespace leopard
