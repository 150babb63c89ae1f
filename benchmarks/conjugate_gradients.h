// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <solvers/device/device.h>
#include <solvers/device/device_vector.h>
#include <solvers/matrix/device_matrix.h>

namespace leopard
{
  /**
   * Conjugate gradients from x = 0 until ||r|| <= tolerance ||b||, the host waiting for each inner product,
   * which is one over ranks if the vectors have RankSums. Returns the iterations.
   * @param multiply q = A p. @param precondition z = C r.
   */
  template <typename Multiply, typename Precondition>
  int conjugate_gradients(
    const Multiply &multiply, const Precondition &precondition, DeviceVector<double> &x, const DeviceVector<double> &b, double tolerance)
  {
    DeviceVector<double> r(b), z(b), p(b), q(b);
    x = 0.;
    precondition(z, r);
    p                 = z;
    double       rho  = r * z;
    const double goal = tolerance * b.l2_norm();
    int          n    = 0;
    for (; n < 100000 && r.l2_norm() > goal; ++n)
      {
        multiply(q, p);
        const double alpha = rho / (p * q);
        x.add(alpha, p);
        r.add(-alpha, q);
        precondition(z, r);
        const double new_rho = r * z;
        p.sadd(new_rho / rho, 1., z);
        rho = new_rho;
      }
    return n;
  }

  /** The same with cuSPARSE, as the yardstick; D^-1 as preconditioner if the diagonal's inverse is given. */
  inline int conjugate_gradients(const device::DeviceMatrix<double> &A,
                                 DeviceVector<double>               &x,
                                 const DeviceVector<double>         &b,
                                 const DeviceVector<double>         *inverse_diagonal,
                                 double                              tolerance)
  {
    return conjugate_gradients([&](DeviceVector<double> &q, const DeviceVector<double> &p) { A.multiply(q.data(), p.data()); },
                               [&](DeviceVector<double> &z, const DeviceVector<double> &r) {
                                 z = r;
                                 if (inverse_diagonal != nullptr)
                                   z.scale(*inverse_diagonal);
                               },
                               x,
                               b,
                               tolerance);
  }
} // namespace leopard
