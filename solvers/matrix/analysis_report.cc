// SPDX-License-Identifier: Apache-2.0
// What an analysis has to say to a user.
#include "crs_matrix.h"

#include "../base/words.h"
#include "eigenvalues.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace leopard
{
  namespace
  {
    constexpr double rounding = 1e-10; ///< an eigenvalue below it cannot be told from zero

    bool below_one(double radius)
    {
      return radius < 1. - rounding;
    }

    /** "0.854 (about 15 iterations a digit)" */
    std::string rate(double factor)
    {
      return radius_text(factor) +
             (factor > 0. && factor < 1. ? " (" + short_text(std::max(1., std::ceil(-1. / std::log10(factor)))) + " iterations a digit)" : "");
    }

    bool is_positive_definite(const MatrixAnalysis &found)
    {
      return found.has_eigenvalues && found.smallest_eigenvalue > rounding;
    }

    /** What omega means for other schedules. */
    std::string of_asynchronous_schedules(const MatrixAnalysis &found, double omega)
    {
      const double radius = spectral_radius_abs_with(omega, found.spectral_radius_abs);
      return below_one(radius)
               ? "; with this omega and without momentum asynchronous schedules converge, too"
               : "; asynchronous schedules need not converge with them: rho(|I - omega D^-1 A|) = " + short_text(radius) +
                   " >= 1 for omega = " + short_text(omega) + (below_one(found.spectral_radius_abs) ? "" : ", and no omega brings it below 1");
    }

    /** For positive definite matrices: omega = tau, and momentum. */
    std::string weights_for(const MatrixAnalysis &found)
    {
      const ExtremeEigenvalues eigenvalues = {found.smallest_eigenvalue, found.largest_eigenvalue};
      const double             l_1 = eigenvalues.smallest, l_n = eigenvalues.largest;
      const MomentumParameters parameters = momentum_parameters(eigenvalues);
      return "omega = tau = 2 / (lambda_1 + lambda_n) = " + short_text(tau_scaling(eigenvalues)) +
             ", with which damped Jacobi converges by the factor " + rate((l_n - l_1) / (l_n + l_1)) +
             "; or omega = " + short_text(parameters.omega) + " with momentum = " + short_text(parameters.momentum) + ", by the factor " +
             rate(std::sqrt(parameters.momentum)) + ". Both are for the synchronous schedule with one local iteration" +
             of_asynchronous_schedules(found, tau_scaling(eigenvalues));
    }

    /** What to do where omega = 1 converges in no schedule. */
    std::string remedy(const MatrixAnalysis &found)
    {
      if (is_positive_definite(found))
        return "take the synchronous schedule with one local iteration and set " + weights_for(found);
      if (found.has_eigenvalues && found.smallest_eigenvalue > -rounding)
        return "the matrix is singular up to rounding (lambda_1 = " + short_text(found.smallest_eigenvalue) +
               "): fix a value, for example by a Dirichlet condition, or take a Krylov method";
      if (found.has_eigenvalues)
        return "the matrix is not positive definite (lambda_1 = " + short_text(found.smallest_eigenvalue) +
               "), so that no omega converges: take a Krylov method, GMRES or MINRES";
      return "an omega far enough below 1 helps if all eigenvalues of D^-1 A have positive real parts, l1_weights if the off-block entries are too "
             "large; otherwise take a Krylov method (GMRES) with this relaxation as its preconditioner";
    }
  } // namespace

  namespace
  {
    std::string ratios_of_blocks(const Theta &theta)
    {
      const std::string n = std::to_string(theta.block_ratios.size());
      if (theta.block_ratios.empty())
        return "0 blocks";
      const auto [least, most] = std::minmax_element(theta.block_ratios.begin(), theta.block_ratios.end());
      return short_text(*least, 4) + " to " + short_text(*most, 4) + " over " + n + " blocks";
    }
  } // namespace

  std::string MatrixAnalysis::verdict() const
  {
    if (is_open)
      return "not known, as the bounds of rho(|B|) are on both sides of 1: a run shows whether it converges; the schedule synchronous with one local "
             "iteration does if rho(B) < 1, about " +
             radius_text(spectral_radius) + " by its estimate";
    if (below_one(spectral_radius_abs))
      return "converges for every schedule: rho(|B|) = " + radius_text(spectral_radius_abs) +
             " < 1; Jacobi by the factor rho(B) = " + rate(spectral_radius);
    if (below_one(spectral_radius))
      return "Jacobi converges, not every schedule need: rho(B) = " + rate(spectral_radius) +
             " < 1 <= rho(|B|) = " + radius_text(spectral_radius_abs) +
             "; the schedule synchronous with one local iteration converges, and where the chaotic one does not, smaller blocks or fewer local "
             "iterations may help" +
             (is_positive_definite(*this) ? "; faster: " + weights_for(*this) : "");
    return "neither: rho(B) = " + radius_text(spectral_radius) + " and rho(|B|) = " + radius_text(spectral_radius_abs) + "; " + remedy(*this);
  }

  std::string MatrixAnalysis::text() const
  {
    std::string result = "rows, entries:           " + std::to_string(n_rows) + ", " + std::to_string(n_entries) + "\n" +
                         "symmetric:               " + (symmetric ? "yes" : "no") + "\n" +
                         "rho(B), B = I - D^-1 A:  " + radius_text(spectral_radius) + "\n" +
                         "rho(|B|):                " + radius_text(spectral_radius_abs) + "\n";
    if (has_eigenvalues)
      result += "eigenvalues of D^-1 A:   " + short_text(smallest_eigenvalue) + " to " + short_text(largest_eigenvalue) +
                (is_positive_definite(*this) ? ", ratio " + short_text(largest_eigenvalue / smallest_eigenvalue, 4) : "") + "\n";
    const double bound = largest_asynchronous_omega(spectral_radius_abs);
    result += "omega, asynchronous:     " +
              (is_open      ? std::string("not known, as the bounds of rho(|B|) are on both sides of 1")
               : bound > 0. ? "every schedule converges below 2 / (1 + rho(|B|)) = " + short_text(bound)
                            : std::string("no omega makes every schedule converge, as rho(|B|) >= 1")) +
              "\n";
    result += "theta (diagonal / rest): " + short_text(theta.minimum, 4) + " to " + short_text(theta.maximum, 4) +
              " over the rows; block / off-block part " + short_text(theta.ratio, 4) + " in all, " + ratios_of_blocks(theta) + "\n";
    if (!estimated.empty())
      result += "estimated:               " + estimated + "\n";
    return result + "verdict:                 " + verdict() + "\n";
  }
} // namespace leopard
