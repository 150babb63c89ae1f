// SPDX-License-Identifier: Apache-2.0
#include "correction_momentum.h"

#include <algorithm>
#include <cmath>

namespace leopard
{
  namespace
  {
    constexpr double caution      = 1.3;  ///< first rate against what a plain correction leaves
    constexpr double largest_rate = 0.95; ///< of a first guess
    constexpr double no_rate      = 0.97; ///< modes that seem to be so slow say that the eigenvalues are others
  }                                       // namespace

  MomentumParameters CorrectionMomentum::parameters() const
  {
    return momentum_parameters({1. - rate, 1.});
  }

  void CorrectionMomentum::set_rate(double new_rate)
  {
    rate  = new_rate;
    since = 0;
  }

  void CorrectionMomentum::give_up()
  {
    set_rate(0.);
    is_over = true;
    ++n_given_up;
  }

  void CorrectionMomentum::begin_solve()
  {
    n_seen = 0;
    since  = 0;
    if (!is_over || n_given_up > 1 || !(plain < largest_rate))
      return;
    is_over   = false;
    corrected = false;
    set_rate(std::min(caution * plain, largest_rate));
  }

  void CorrectionMomentum::learn(double contraction, int n, bool ends)
  {
    const double each = n > 1 ? std::pow(contraction, 1. / n) : contraction;
    const double two  = n > 1 ? each : std::sqrt(each * last); // an iteration, in the mean of two
    last              = each;
    since += n;
    ++n_seen;
    if (is_over && since >= 2)
      plain = std::max(plain, two);
    if (is_over || (n_seen == 1 && !is_on())) // what the first guess leaves says little
      return;
    if (!is_on())
      {
        plain = each;
        if (each < largest_rate && !ends)
          set_rate(std::min(caution * each, largest_rate));
        return;
      }
    if (since < 2)
      return;
    const double slower = two / std::sqrt(momentum());                                         // than by theory
    const double mode   = slower > 1. ? 0.5 * rate * (0.5 * (slower + 1. / slower) + 1.) : 0.; // eigenvalue that falls by that
    if (mode <= 1.1 * rate)
      return;
    if (!(mode < no_rate) || (corrected && two > 1.2 * plain))
      return give_up();
    set_rate(mode);
    corrected = true;
  }
} // namespace leopard
