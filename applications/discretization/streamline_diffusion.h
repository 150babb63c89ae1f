// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deal.II/base/symmetric_tensor.h>

#include <cmath>

namespace leopard
{
  // What TransportTerms adds to the diffusion along a velocity v, at a quadrature point. Arrays have spacedim entries,
  // gradients so many for each of the n_nodes shape functions; host.

  /** a . b */
  template <int spacedim>
  double product(const double *a, const double *b)
  {
    double sum = 0.;
    for (int e = 0; e < spacedim; ++e)
      sum += a[e] * b[e];
    return sum;
  }

  /** 2 |v| / h at a quadrature point (Tezduyar, Adv. Appl. Mech. 28 (1992) 1, section 3.3). */
  template <int spacedim>
  double sum_along(const double *v, const double *gradients, unsigned int n_nodes)
  {
    double sum = 0.;
    for (unsigned int i = 0; i < n_nodes; ++i)
      sum += std::abs(product<spacedim>(v, gradients + i * spacedim));
    return sum;
  }

  /** v . a v / |v|^2; v is not zero. */
  template <int spacedim>
  double diffusion_in_direction(const double *v, const dealii::SymmetricTensor<2, 3> &own)
  {
    double a = 0.;
    for (int e = 0; e < spacedim; ++e)
      for (int f = 0; f < spacedim; ++f)
        a += v[e] * own[e][f] * v[f];
    return a / product<spacedim>(v, v);
  }

  /** A over v v^T at a quadrature point, see TransportTerms. @param gradients of the shape functions there. */
  template <int spacedim>
  double diffusion_along(const double *v, const double *gradients, unsigned int n_nodes, const dealii::SymmetricTensor<2, 3> &own)
  {
    const double speed_squared = product<spacedim>(v, v), sum = sum_along<spacedim>(v, gradients, n_nodes);
    if (speed_squared == 0. || sum == 0.)
      return 0.;
    const double a = diffusion_in_direction<spacedim>(v, own);
    if (a == 0.) // upwind
      return 1. / sum;
    const double xi = speed_squared / (sum * a), excess = xi < 0.02 ? xi * xi / 3. * (1. - xi * xi / 15.) : xi / std::tanh(xi) - 1.;
    return a * excess / speed_squared;
  }
} // namespace leopard
