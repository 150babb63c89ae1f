// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace leopard
{
  /** The pattern of a field at one time, in few numbers. Lengths are dimensionless. */
  struct FoundPattern
  {
    std::string field;
    double      time        = 0.;
    int         dimension   = 2;  ///< of the domain; 2 for a surface
    double      measure     = 0.; ///< area or volume of the domain
    double      minimum     = 0.;
    double      maximum     = 0.;
    double      scale       = 0.;    ///< the largest absolute value of all fields, against which some values are rounding errors of zero
    double      wavelength  = 0.;    ///< of the strongest structure
    bool        by_quotient = false; ///< the wavelength comes from a Rayleigh quotient: too short where spots or stripes are sharp
    /**
     * false: on the boundary the field is the same to one percent of its range. The wavelength is that of the patch in
     * the domain then, not of the pattern in it.
     */
    bool reaches_boundary = true;
    /**
     * Connected parts above 'Output/Spot threshold', or, where that is not given, above the middle of mean and maximum.
     * kind() compares them with a lattice in both cases, so that a threshold far from the middle may change it.
     */
    unsigned long long n_spots = 0;
    unsigned long long n_holes = 0; ///< connected parts below the middle of mean and minimum

    /**
     * Whether the field is constant to one percent of its largest value (least_pattern), or to rounding errors of the
     * others. The columns of `statistics` follow what is smaller, down to left_by_solvers.
     */
    bool is_homogeneous() const;

    /**
     * "spots" (or "holes") where the parts are at least half of spots_of_lattice(), "stripes" where both are fewer,
     * "spots or stripes" on a domain of less than three wavelengths, where their numbers do not tell; "none" for a
     * homogeneous field.
     */
    std::string kind() const;

    /** A line for the log. @param predicted wavelength of the linear theory, 0: none. */
    std::string text(double predicted) const;
    /** The same for run.json. */
    nlohmann::json report(double predicted) const;
  };
} // namespace leopard
