// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <applications/discretization/discretization.h>

namespace leopard
{
  struct RunContext;

  /**
   * Looks at cross-diffusion and advection where a run begins. Warns where a cell is too long for the advection on it
   * (a cell Peclet number above 1), so that the diffusion that is added smears fields, and where a diffusion matrix
   * that depends on the fields makes the problem ill-posed at their first values. Collective.
   * @param u at the time t; @param warns whether a warning has not been given yet.
   * @throws Error, on all ranks, for coefficients that are not finite there, for a diffusion matrix that depends on the
   * place only and makes the problem ill-posed somewhere, and for elements that the scheme cannot have.
   */
  template <int dim, int spacedim>
  void check_transport(const RunContext                    &context,
                       const Discretization<dim, spacedim> &discretization,
                       TransportTerms                      &transport,
                       const HostVector                    &u,
                       double                               t,
                       bool                                 warns);
} // namespace leopard
