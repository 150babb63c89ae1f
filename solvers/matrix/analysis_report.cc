// SPDX-License-Identifier: Apache-2.0
// What an analysis and an iteration that failed have to say to a user.
#include "../base/errors.h"
#include "../relaxation/relaxation.h"
#include "crs_matrix.h"
#include "eigenvalues.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

namespace leopard
{
  namespace
  {
    constexpr double seconds_for_advice = 30.;
    constexpr double rounding           = 1e-10; ///< an eigenvalue below it cannot be told from zero

    std::string number(double value, int digits = 6)
    {
      char text[40];
      std::snprintf(text, sizeof(text), "%.*g", digits, value);
      return text;
    }

    bool below_one(double radius)
    {
      return radius < 1. - rounding;
    }

    /** "0.854 (about 15 iterations a digit)" */
    std::string rate(double factor)
    {
      return number(factor) +
             (factor > 0. && factor < 1. ? " (" + number(std::max(1., std::ceil(-1. / std::log10(factor)))) + " iterations a digit)" : "");
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
               : "; asynchronous schedules need not converge with them: rho(|I - omega D^-1 A|) = " + number(radius) +
                   " >= 1 for omega = " + number(omega) + (below_one(found.spectral_radius_abs) ? "" : ", and no omega brings it below 1");
    }

    /** For positive definite matrices: omega = tau, and momentum. */
    std::string weights_for(const MatrixAnalysis &found)
    {
      const ExtremeEigenvalues eigenvalues = {found.smallest_eigenvalue, found.largest_eigenvalue};
      const double             l_1 = eigenvalues.smallest, l_n = eigenvalues.largest;
      const MomentumParameters parameters = momentum_parameters(eigenvalues);
      return "omega = tau = 2 / (lambda_1 + lambda_n) = " + number(tau_scaling(eigenvalues)) + ", with which damped Jacobi converges by the factor " +
             rate((l_n - l_1) / (l_n + l_1)) + "; or omega = " + number(parameters.omega) + " with momentum = " + number(parameters.momentum) +
             ", by the factor " + rate(std::sqrt(parameters.momentum)) + ". Both are for the synchronous schedule with one local iteration" +
             of_asynchronous_schedules(found, tau_scaling(eigenvalues));
    }

    /** What to do where omega = 1 converges in no schedule. */
    std::string remedy(const MatrixAnalysis &found)
    {
      if (is_positive_definite(found))
        return "take the synchronous schedule with one local iteration and set " + weights_for(found);
      if (found.has_eigenvalues && found.smallest_eigenvalue > -rounding)
        return "the matrix is singular up to rounding (lambda_1 = " + number(found.smallest_eigenvalue) +
               "): fix a value, for example by a Dirichlet condition, or take a Krylov method";
      if (found.has_eigenvalues)
        return "the matrix is not positive definite (lambda_1 = " + number(found.smallest_eigenvalue) +
               "), so that no omega converges: take a Krylov method, GMRES or MINRES";
      return "an omega below 1 helps if all eigenvalues of D^-1 A have positive real parts, l1_weights if the off-block entries are too large; "
             "otherwise take a Krylov method (GMRES) with this relaxation as its preconditioner";
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
      return number(*least, 4) + " to " + number(*most, 4) + " over " + n + " blocks";
    }
  } // namespace

  std::string MatrixAnalysis::verdict() const
  {
    if (below_one(spectral_radius_abs))
      return "converges for every schedule: rho(|B|) = " + number(spectral_radius_abs) +
             " < 1; Jacobi by the factor rho(B) = " + rate(spectral_radius);
    if (below_one(spectral_radius))
      return "Jacobi converges, not every schedule need: rho(B) = " + rate(spectral_radius) + " < 1 <= rho(|B|) = " + number(spectral_radius_abs) +
             "; the schedule synchronous with one local iteration converges, and where the chaotic one does not, smaller blocks or fewer local "
             "iterations may help" +
             (is_positive_definite(*this) ? "; faster: " + weights_for(*this) : "");
    return "neither: rho(B) = " + number(spectral_radius) + " and rho(|B|) = " + number(spectral_radius_abs) + "; " + remedy(*this);
  }

  std::string MatrixAnalysis::text() const
  {
    std::string result = "rows, entries:           " + std::to_string(n_rows) + ", " + std::to_string(n_entries) + "\n" +
                         "symmetric:               " + (symmetric ? "yes" : "no") + "\n" + "rho(B), B = I - D^-1 A:  " + number(spectral_radius) +
                         "\n" + "rho(|B|):                " + number(spectral_radius_abs) + "\n";
    if (has_eigenvalues)
      result += "eigenvalues of D^-1 A:   " + number(smallest_eigenvalue) + " to " + number(largest_eigenvalue) +
                (is_positive_definite(*this) ? ", ratio " + number(largest_eigenvalue / smallest_eigenvalue, 4) : "") + "\n";
    const double bound = largest_asynchronous_omega(spectral_radius_abs);
    result += "omega, asynchronous:     " +
              (bound > 0. ? "every schedule converges below 2 / (1 + rho(|B|)) = " + number(bound)
                          : std::string("no omega makes every schedule converge, as rho(|B|) >= 1")) +
              "\n";
    result += "theta (diagonal / rest): " + number(theta.minimum, 4) + " to " + number(theta.maximum, 4) + " over the rows; block / off-block part " +
              number(theta.ratio, 4) + " in all, " + ratios_of_blocks(theta) + "\n";
    return result + "verdict:                 " + verdict() + "\n";
  }

  namespace
  {
    std::string iterations(double n)
    {
      return number(std::ceil(n), n < 1e6 ? 7 : 3) + " global iterations";
    }

    /** What happened, with the factor that was seen. */
    std::string observed(const SolveResult &result, double factor)
    {
      std::string text = "The residual went from " + number(result.initial_residual, 4) + " to " + number(result.final_residual, 4) + " in " +
                         std::to_string(result.n_iterations) + " global iterations";
      if (result.seconds > 0.)
        text += " and " + number(result.seconds, 3) + " s";
      return text + (factor > 0. && std::isfinite(factor) ? ", towards the end by the factor " + rate(factor) + " each.\n" : ".\n");
    }

    /** How far the iteration still has to go, supposing that it goes on like this. */
    std::string extrapolated(const SolveResult &result, double factor)
    {
      if (!(factor > 0. && factor < 1.) || !(result.final_residual > 0.) || !(result.initial_residual > 0.))
        return "It does not converge as it is: more iterations will not help.\n";
      std::string text;
      for (const double goal : {1e-3, 1e-6, 1e-9, 1e-12})
        if (const double missing = std::log(goal * result.initial_residual / result.final_residual) / std::log(factor); missing > 0.)
          {
            text += (text.empty() ? "At this rate " : ", ") + iterations(result.n_iterations + missing);
            if (result.seconds > 0. && result.n_iterations > 0)
              text += " (" + number(result.seconds * (1. + missing / result.n_iterations), 3) + " s)";
            text += " in all bring it to " + number(goal) + " of the first";
          }
      return text.empty() ? text : text + ".\n";
    }

    /** ||r|| that double precision can attain, as a part of the first residual, where x began with zero. */
    double attainable(const MatrixAnalysis &found)
    {
      const double condition = is_positive_definite(found)             ? found.largest_eigenvalue / found.smallest_eigenvalue
                               : found.spectral_radius < 1. - rounding ? 1. / (1. - found.spectral_radius)
                                                                       : 1.;
      return std::min(1e-8, 10. * std::numeric_limits<double>::epsilon() * std::max(10., condition));
    }

    bool at_rounding_level(const SolveResult &result, const MatrixAnalysis &found)
    {
      return result.final_residual <= attainable(found) * result.initial_residual;
    }

    std::string why_stagnated(const SolveResult &result, const MatrixAnalysis &found)
    {
      if (at_rounding_level(result, found))
        return "This is the rounding level of double precision (" + number(attainable(found), 2) +
               " of the first residual for this matrix): the solution is as good as it gets. Ask for a tolerance above it.\n";
      if (found.has_eigenvalues && std::abs(found.smallest_eigenvalue) <= rounding)
        return "The matrix is singular up to rounding: what remains of the residual lies in its null space, or b does. Fix a value, or make b "
               "compatible.\n";
      return "This is far above the rounding level. Either the iteration converges too slowly to be seen, or part of the rows is not updated.\n";
    }

    /** What the matrix says of the iteration and what to change. */
    std::string conclusion(const MatrixAnalysis &found, const SolveResult &result)
    {
      const bool        slow  = result.status == SolveStatus::iteration_limit || result.status == SolveStatus::time_limit;
      const std::string radii = "rho(B) = " + number(found.spectral_radius) + ", rho(|B|) = " + number(found.spectral_radius_abs) + ": ";
      if (!below_one(found.spectral_radius))
        return radii + "Jacobi diverges for this matrix, and so may every schedule. What to do: " + remedy(found) + ".\n";
      if (!below_one(found.spectral_radius_abs))
        return radii +
               "Jacobi converges, but not every asynchronous schedule need. What to do: the schedule synchronous with one local iteration, "
               "omega = 1 and no momentum converges" +
               (is_positive_definite(found) ? ", and so it does with " + weights_for(found) : "; or fewer local iterations, or other blocks") + ".\n";
      std::string text = radii + "every schedule converges with omega = 1 and without momentum. ";
      if (!slow)
        return text + "What to do: " +
               (result.status == SolveStatus::diverged ? "if omega, block_omega or momentum were set, set them back or nearer to 1, 1 and 0 (without "
                                                         "momentum every schedule converges for omega below 2 / (1 + rho(|B|)) = " +
                                                           number(largest_asynchronous_omega(found.spectral_radius_abs)) + ")"
                                                       : "if omega or momentum were set, try without them, and look for faults") +
               ".\n";
      text += "What to do: larger or more compact blocks (METIS), more local iterations";
      if (is_positive_definite(found))
        text += "; or " + weights_for(found) + ", and asynchronous iterations bear less momentum (caution in momentum_parameters())";
      if (found.spectral_radius > 0.99)
        text += "; best, use the iteration as a multigrid smoother or as a preconditioner";
      return text + ".\n";
    }

    std::string advice_of_matrix(const CrsMatrix &A, const SolveResult &result)
    {
      try
        {
          const MatrixAnalysis found = spectrum::analyze_within(A, contiguous_blocks(A.n_rows, A.n_rows), seconds_for_advice);
          if (result.status != SolveStatus::stagnated)
            return conclusion(found, result);
          return why_stagnated(result, found) + (at_rounding_level(result, found) ? "" : conclusion(found, result));
        }
      catch (const ConvergenceFailure &)
        {
          return "Power iteration finds rho(B) >= " + number(estimate_spectral_radius(A, 100)) +
                 " and rho(|B|) >= " + number(estimate_spectral_radius_abs(A, 100)) + "; better was not found in " + number(seconds_for_advice) +
                 " s. What to do: below 1 every schedule converges, but slowly near it: use the iteration as a smoother or preconditioner; above 1 "
                 "take the synchronous schedule with one local iteration and omega = tau for a symmetric positive definite matrix, or a Krylov "
                 "method.\n";
        }
    }

    CrsMatrix without_ghosts(const CrsMatrix &A)
    {
      CrsMatrix own;
      own.n_rows = own.n_columns = A.n_rows;
      for (int i = 0; i < A.n_rows; ++i)
        {
          for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
            if (A.columns[p] < A.n_rows)
              {
                own.columns.push_back(A.columns[p]);
                own.values.push_back(A.values[p]);
              }
          own.row_offsets.push_back(own.n_entries());
        }
      return own;
    }
  } // namespace

  std::string advice(const CrsMatrix &A, const SolveResult &result)
  {
    A.validate();
    const double factor = result.convergence_factor();
    std::string  text   = "The iteration ended: " + to_string(result.status) + ". " + observed(result, factor);
    if (result.status == SolveStatus::converged || A.n_rows == 0)
      return text;
    if (result.status == SolveStatus::iteration_limit || result.status == SolveStatus::time_limit)
      text += extrapolated(result, factor);
    if (A.n_columns > A.n_rows)
      {
        text += "Of this part of a distributed matrix, ghost columns left out, so that the whole has larger radii:\n";
        return text + advice_of_matrix(without_ghosts(A), result);
      }
    return text + advice_of_matrix(A, result);
  }
} // namespace leopard
