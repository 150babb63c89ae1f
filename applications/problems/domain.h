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
    double              radius  = 0.; ///< of a sphere (the surface), 0 for other domains
    double              measure = 1.; ///< area or volume

    /** Whether the eigenvalues of its Laplacian (no flux) are known: of boxes and spheres. */
    bool has_known_modes() const { return !lengths.empty() || radius > 0.; }
  };
} // namespace leopard
