// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace leopard
{
  struct Domain;
  struct Forecast;
  struct Parameters;

  /**
   * What of mesh and initial values will not give the pattern that is meant, in sentences: a mesh of one cell, cells so
   * short that rounding changes fields, fewer than 8 nodes a predicted wavelength, initial values that are the same
   * everywhere, or a small disturbance without a part in the unstable band. The last is found by a cosine transform of
   * the initial values on the nodes of a hypercube or box (at most 257 in each direction in 2D, 65 in 3D); homogeneous
   * values on other domains by 20000 points of the box around it.
   * @param starts_anew whether the run begins with the initial values
   */
  std::vector<std::string> start_warnings(const Parameters &parameters, const Domain &domain, const Forecast &forecast, bool starts_anew);

  /**
   * Where the equations depend on t and only the error limits the steps: that these may pass over what is shorter. A
   * sentence, or nothing.
   */
  std::string note_on_changes_in_time(const Parameters &parameters);
} // namespace leopard
