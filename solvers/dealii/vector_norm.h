// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trilinos_matrix.h"

namespace leopard
{
  /**
   * ||v||_2, also where squares of entries leave the range of double, which v.l2_norm() takes for infinity or zero; then entries are divided by the largest one
   * first. Not finite if an entry is not. Collective.
   */
  double l2_norm(const HostVector &v);
} // namespace leopard
