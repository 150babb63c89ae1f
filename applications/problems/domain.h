// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
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

  /**
   * How many spots a lattice has on a domain: hexagons in two dimensions, whose spots stand 2 wavelengths / sqrt(3)
   * apart, a body-centred cubic lattice in three, where they stand sqrt(3/2) wavelengths apart. Dimensionless.
   * @param measure area or volume of the domain. @param dimension 2 or 3. @param wavelength > 0, in the same unit.
   */
  inline double spots_of_lattice(double measure, int dimension, double wavelength)
  {
    return dimension == 2 ? std::sqrt(3.) / 2. * measure / std::pow(wavelength, 2) : measure / (std::sqrt(2.) * std::pow(wavelength, 3));
  }

  /** What linear theory expects of small disturbances, see Problem::analyze(). Dimensionless. */
  struct Forecast
  {
    bool                                   pattern    = false; ///< whether one is expected
    double                                 wavelength = 0.;    ///< of it, if there is one
    std::vector<std::pair<double, double>> bands;              ///< intervals of the wave numbers that grow
  };
} // namespace leopard
