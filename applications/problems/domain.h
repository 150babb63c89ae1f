// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace leopard
{
  /** What a problem may know of the domain that it is solved on; lengths are dimensionless. */
  struct Domain
  {
    std::string         name; ///< of the entry 'Mesh/Domain'
    int                 dimension = 2;
    std::vector<double> lengths;      ///< of the edges of a hypercube or box, empty for other domains
    double              measure = 1.; ///< area or volume
  };
} // namespace leopard
