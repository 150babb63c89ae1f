// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <solvers/base/errors.h>
#include <solvers/base/norms.h>
#include <solvers/base/words.h>
#include <solvers/device/device.h>
#include <solvers/device/device_vector.h>
#include <solvers/matrix/device_matrix.h>

#include <cmath>
#include <string>

namespace leopard
{
  /**
   * Conjugate gradients from x = 0 until ||r|| <= tolerance ||b||, the host waiting for each inner product,
   * which is one over ranks if the vectors have RankSums. Returns the iterations.
   * @param multiply q = A p. @param precondition z = C r.
   * @throws ConvergenceFailure where the norm of r is not finite or is above its goal after 100000 iterations: there is
   * no time to a solution then.
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
    double       norm = r.l2_norm();
    int          n    = 0;
    for (; !reached(norm, goal); ++n)
      {
        if (n == 100000 || !std::isfinite(norm))
          throw ConvergenceFailure("conjugate gradients have a residual of " + short_text(norm) + " after " + std::to_string(n) +
                                   " iterations\n  expected: " + short_text(goal) + " within 100000, as with a symmetric positive definite matrix");
        multiply(q, p);
        const double alpha = rho / (p * q);
        x.add(alpha, p);
        r.add(-alpha, q);
        precondition(z, r);
        const double new_rho = r * z;
        p.sadd(new_rho / rho, 1., z);
        rho  = new_rho;
        norm = r.l2_norm();
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
