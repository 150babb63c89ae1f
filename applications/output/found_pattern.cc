// SPDX-License-Identifier: Apache-2.0
#include "found_pattern.h"

#include "field_measures.h"

#include <applications/base/log.h>
#include <applications/problems/domain.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace leopard
{
  bool FoundPattern::is_homogeneous() const
  {
    return leopard::is_homogeneous(minimum, maximum, scale, least_pattern);
  }

  std::string FoundPattern::kind() const
  {
    if (is_homogeneous())
      return "none";
    if (!(std::pow(measure, 1. / dimension) >= 3. * wavelength))
      // the boundary cuts off much here; but stripes have about as many parts as there are between them
      return n_spots >= 4 && n_holes <= n_spots / 4 ? "spots" : n_holes >= 4 && n_spots <= n_holes / 4 ? "holes" : "spots or stripes";
    // stripes have one part for each wavelength of the domain's length, or one in all; half a lattice is more than
    // either
    const double many = 0.5 * spots_of_lattice(measure, dimension, wavelength);
    if (static_cast<double>(n_spots) >= many && n_spots >= n_holes)
      return "spots";
    return static_cast<double>(n_holes) >= many ? "holes" : "stripes";
  }

  std::string FoundPattern::text(double predicted) const
  {
    const std::string range = field + format(" is between %.5g and %.5g", minimum, maximum);
    if (is_homogeneous())
      return format("no pattern at t = %g: ", time) + range +
             (predicted > 0. ? format("; wavelength predicted for small disturbances: %.4g", predicted) : "");
    const std::string what = kind();
    std::string       line = "pattern of " + field + format(" at t = %g: ", time);
    if (what == "spots" || what == "holes")
      line += format("%llu %s", what == "spots" ? n_spots : n_holes, what.c_str());
    else if (what == "stripes")
      line += format("stripes (%llu connected parts)", n_spots);
    else
      line += format("%llu spot%s and %llu hole%s, or stripes (the domain has few wavelengths)",
                     n_spots,
                     n_spots == 1 ? "" : "s",
                     n_holes,
                     n_holes == 1 ? "" : "s");
    if (!reaches_boundary)
      return line + ", in a patch that has not reached the boundary, so that no wavelength can be told" +
             (predicted > 0. ? format(" (predicted for small disturbances: %.4g)", predicted) : "") + "; " + range;
    line += format(", wavelength %.4g", wavelength);
    if (by_quotient)
      line += " by the field's gradients, which is too short where the pattern is sharp" +
              (predicted > 0. ? format(" (predicted for small disturbances: %.4g)", predicted) : "");
    else if (predicted > 0.)
      line += format(" (predicted for small disturbances: %.4g, %+.0f %%)", predicted, 100. * (wavelength / predicted - 1.));
    return line + "; " + range;
  }

  nlohmann::json FoundPattern::report(double predicted) const
  {
    nlohmann::json result = {{"field", field}, {"time", time}, {"kind", kind()}, {"minimum", minimum}, {"maximum", maximum}};
    if (!is_homogeneous())
      result.update({{"spots", n_spots},
                     {"holes", n_holes},
                     {"reaches_boundary", reaches_boundary},
                     {"wavelength", wavelength},
                     {"wavelength_by", by_quotient ? "Rayleigh quotient" : "spectrum"}});
    if (predicted > 0.)
      result["predicted_wavelength"] = predicted;
    return result;
  }
} // namespace leopard
