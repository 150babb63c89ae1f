// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../krylov/preconditioner.h"

#include <memory>

namespace leopard
{
  /**
   * A preconditioner in the precision of Number for a Krylov method in double: z = weight M fl(f r) / f, with a power
   * of two f that brings the largest |r_i| near 1, so that residuals of any size keep their digits (see
   * MixedVectors::to_low()). An application moves half the bytes; z differs from that of M in double by some roundings
   * of Number, which conjugate gradients bear. A map that is fixed or symmetric is called so though it is one up to
   * these roundings only. On the device it is queued if M is.
   * @param low made for weight A. @param n_threads of the host. @throws InvalidInput if there is none.
   */
  template <typename Number>
  std::shared_ptr<Preconditioner<double>>
  make_rounded_preconditioner(std::shared_ptr<Preconditioner<Number>> low, double weight = 1., int n_threads = 0);
} // namespace leopard
