// SPDX-License-Identifier: Apache-2.0
#include "line_modes.h"

#include <cmath>

namespace leopard::reaction_diffusion
{
  namespace
  {
    constexpr double pi = 3.14159265358979323846;

    /** The angle of step / period turns; exact reduction keeps large products exact. */
    double angle(long step, long period)
    {
      return 2. * pi * static_cast<double>(step % period) / static_cast<double>(period);
    }
  } // namespace

  std::vector<double> mode_eigenvalues(const NodeGrid &grid)
  {
    std::vector<double> of_axis[3];
    for (int d = 0; d < 3; ++d)
      for (int k = 0; k < grid.n[d]; ++k)
        {
          const double half = grid.periodic[d] ? pi * k / grid.n[d] : grid.n[d] > 1 ? 0.5 * pi * k / (grid.n[d] - 1) : 0.;
          const double sine = 2. * std::sin(half) / grid.spacing[d];
          of_axis[d].push_back(sine * sine);
        }
    std::vector<double> result;
    result.reserve(grid.n_nodes());
    for (const double z : of_axis[2])
      for (const double y : of_axis[1])
        for (const double x : of_axis[0])
          result.push_back(x + y + z);
    return result;
  }

  LineModes::LineModes(int n, bool periodic)
  {
    const auto end = [n](long i) { return i == 0 || i == n - 1 ? 0.5 : 1.; };
    for (long k = 0; k < n; ++k)
      for (long i = 0; i < n; ++i)
        from_modes.push_back(n == 1       ? 1.
                             : !periodic  ? std::cos(angle(i * k, 2l * (n - 1)))
                             : 2 * k <= n ? std::cos(angle(i * k, n))
                                          : std::sin(angle(i * (n - k), n)));
    // cosines and sines are orthogonal, with symmetric ends with the weights of the trapezoidal rule
    for (long i = 0; i < n; ++i)
      for (long k = 0; k < n; ++k)
        {
          const double scale = n == 1 ? 1. : periodic ? (k == 0 || 2 * k == n ? 1. : 2.) / n : 2. / (n - 1) * end(i) * end(k);
          to_modes.push_back(scale * from_modes[k * n + i]);
        }
  }
} // namespace leopard::reaction_diffusion
