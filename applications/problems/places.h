// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace leopard
{
  /** Where and when a reaction is evaluated. */
  struct Places
  {
    const double *coordinates = nullptr; ///< host, `dimension` numbers a node; null: all at the origin
    unsigned int  dimension   = 0;
    double        time        = 0.;
  };
} // namespace leopard
