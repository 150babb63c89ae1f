// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
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
    std::vector<bool>   periodic;     ///< in which directions; may be empty: in none
    std::vector<double> lower, upper; ///< opposite corners of a box around the domain; of a hypercube or box, its own

    // of the mesh that a run begins with
    double                    n_cells   = 0.; ///< 0: not known
    double                    cell_size = 0.; ///< longest edge of a cell of a hypercube or box, of other domains (measure / n_cells)^(1/dimension)
    std::vector<unsigned int> cells;          ///< of a hypercube or box, in each direction

    /** Whether the eigenvalues of its Laplacian (no flux, or periodic) are known: of boxes and spheres. */
    bool has_known_modes() const { return !lengths.empty() || radius > 0.; }
    bool is_periodic(unsigned int d) const { return d < periodic.size() && periodic[d]; }
  };

  /** What linear theory expects of small disturbances, see Problem::analyze(). Dimensionless. */
  struct Forecast
  {
    bool                                   pattern    = false; ///< whether one is expected
    double                                 wavelength = 0.;    ///< of it, if there is one
    std::vector<std::pair<double, double>> bands;              ///< intervals of the wave numbers that grow
  };
} // namespace leopard
