// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <solvers/base/host_device.h>

#include <cmath>

namespace leopard::reaction_diffusion
{
  /**
   * The functions of exponential integrators at an N x N matrix Z, phi_0(Z) = exp(Z) and
   *
   *   phi_k(Z) = sum over j of Z^j / (j + k)!  = (phi_k-1(Z) - 1/(k-1)!) Z^-1,   k = 1, 2, 3:
   *
   * Hochbruck, Ostermann, Exponential integrators, Acta Numerica 19 (2010) 209, section 2.1. Exact to rounding of the
   * largest function value for N = 1, and for N = 2 with real eigenvalues; else doublings may magnify rounding by the
   * norm of Z where another eigenvalue is small: 1e-9 at a norm of 1e7. Not a number where Z is not finite. Matrices by
   * rows, host and GPU.
   */
  template <int N>
  struct PhiFunctions
  {
    double of[4][N * N];

    LEOPARD_HOST_DEVICE static PhiFunctions at(const double *z)
    {
      PhiFunctions result;
      if constexpr (N == 1)
        scalar(z[0], result.of[0], 1);
      else if (N != 2 || !result.by_eigenvalues(z))
        result.by_doubling(z);
      return result;
    }

    /** Those at 2 Z from those at Z (the same, section 2.1, and Skaflestad, Wright 2009, equation (10)). */
    LEOPARD_HOST_DEVICE void double_argument()
    {
      double half_sum[N * N]; // of phi_3, phi_2 and phi_1 / 2
      double product[N * N];
      multiply(of[0], of[3], product);
      for (int e = 0; e < N * N; ++e)
        half_sum[e] = (product[e] + of[3][e] + of[2][e] + 0.5 * of[1][e]) / 8.;
      multiply(of[0], of[2], product);
      for (int e = 0; e < N * N; ++e)
        {
          of[3][e] = half_sum[e];
          of[2][e] = (product[e] + of[2][e] + of[1][e]) / 4.;
        }
      multiply(of[0], of[1], product);
      for (int e = 0; e < N * N; ++e)
        of[1][e] = (product[e] + of[1][e]) / 2.;
      multiply(of[0], of[0], product);
      for (int e = 0; e < N * N; ++e)
        of[0][e] = product[e];
    }

  private:
    /** values[k stride] = phi_k(z). */
    LEOPARD_HOST_DEVICE static void scalar(double z, double *values, int stride)
    {
      double phi[4];
      if (std::fabs(z) < 1.)
        {
          double term = 1. / 6.; // z^j / (j + 3)!
          phi[3]      = 0.;
          for (int j = 1; j <= 16; ++j)
            {
              phi[3] += term;
              term *= z / (j + 3);
            }
          phi[2] = z * phi[3] + 0.5;
          phi[1] = z * phi[2] + 1.;
          phi[0] = z * phi[1] + 1.;
        }
      else
        {
          phi[0] = std::exp(z);
          phi[1] = (phi[0] - 1.) / z;
          phi[2] = (phi[1] - 1.) / z;
          phi[3] = (phi[2] - 0.5) / z;
        }
      for (int k = 0; k < 4; ++k)
        values[k * stride] = phi[k];
    }

    /**
     * f(Z) = (f(a) + f(b)) / 2 + (f(a) - f(b)) / (a - b) (Z - (a + b) / 2), a and b the eigenvalues: for real ones that
     * are not close. @return whether they are.
     */
    LEOPARD_HOST_DEVICE bool by_eigenvalues(const double *z)
    {
      const double mean = 0.5 * (z[0] + z[N * N - 1]), half = 0.5 * (z[0] - z[N * N - 1]), square = half * half + z[1] * z[N];
      if (!(square > 0.04))
        return false;
      const double distance = std::sqrt(square);
      double       a[4], b[4];
      scalar(mean + distance, a, 1);
      scalar(mean - distance, b, 1);
      for (int k = 0; k < 4; ++k)
        {
          const double centre = 0.5 * (a[k] + b[k]), slope = 0.5 * (a[k] - b[k]) / distance;
          of[k][0]         = centre + slope * half;
          of[k][1]         = slope * z[1];
          of[k][N]         = slope * z[N];
          of[k][N * N - 1] = centre - slope * half;
        }
      return true;
    }

    /** Taylor's series at Z / 2^s, whose norm is at most 1/2, and s times double_argument(). */
    LEOPARD_HOST_DEVICE void by_doubling(const double *z)
    {
      double norm = 0.;
      for (int c = 0; c < N; ++c)
        {
          double sum = 0.;
          for (int d = 0; d < N; ++d)
            sum += std::fabs(z[c * N + d]);
          norm = sum > norm || sum != sum ? sum : norm;
        }
      int n_doublings = 0;
      if (norm < 1e300)
        for (; norm > 0.5; norm *= 0.5)
          ++n_doublings;
      double       small[N * N];
      const double factor = std::ldexp(1., -n_doublings);
      for (int e = 0; e < N * N; ++e)
        small[e] = factor * z[e];
      // phi_3 by Horner's rule, the others from it
      constexpr int degree         = 13;
      double        inverse_of_fac = 1. / 20922789888000.; // 1 / (degree + 3)!
      for (int e = 0; e < N * N; ++e)
        of[3][e] = e % (N + 1) == 0 ? inverse_of_fac : 0.;
      for (int j = degree; j >= 1; --j)
        {
          inverse_of_fac *= j + 3; // 1 / (j + 2)!
          times_plus(small, of[3], inverse_of_fac, of[3]);
        }
      times_plus(small, of[3], 0.5, of[2]);
      times_plus(small, of[2], 1., of[1]);
      times_plus(small, of[1], 1., of[0]);
      for (int s = 0; s < n_doublings; ++s)
        double_argument();
    }

    LEOPARD_HOST_DEVICE static void multiply(const double *a, const double *b, double *result)
    {
      for (int c = 0; c < N; ++c)
        for (int d = 0; d < N; ++d)
          {
            double sum = 0.;
            for (int e = 0; e < N; ++e)
              sum += a[c * N + e] * b[e * N + d];
            result[c * N + d] = sum;
          }
    }

    /** result = a b + s; b and result may be the same. */
    LEOPARD_HOST_DEVICE static void times_plus(const double *a, const double *b, double s, double *result)
    {
      double product[N * N];
      multiply(a, b, product);
      for (int e = 0; e < N * N; ++e)
        result[e] = product[e] + (e % (N + 1) == 0 ? s : 0.);
    }
  };
} // namespace leopard::reaction_diffusion
