// SPDX-License-Identifier: Apache-2.0
#include "advice.h"

#include "../base/errors.h"
#include "../base/norms.h"
#include "../base/words.h"
#include "../matrix/analysis.h"
#include "../matrix/crs_matrix.h"
#include "../matrix/eigenvalues.h"
#include "../matrix/matrix_entries.h"
#include "report.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace leopard::command_line
{
  namespace
  {
    constexpr double rounding     = 1e-10; ///< an eigenvalue or a distance from 1 below it cannot be told from zero
    constexpr double many_a_digit = 1000.; ///< global iterations

    const char *const way_out =
      "what it needs is a Krylov method with a strong preconditioner, multigrid or direct factors: --method automatic chooses among "
      "these";

    double a_digit(double factor)
    {
      return -1. / std::log10(factor);
    }

    std::string count(double n)
    {
      return short_text(std::ceil(n), n < 1e6 ? 7 : 3);
    }

    bool below_one(double radius)
    {
      return radius < 1. - rounding;
    }

    std::string options_for_more_a_block(const Arguments &a)
    {
      return std::string(a.tune ? "without --tune" : "--tune; or") +
             " larger or more compact blocks (--blocks metis --block-size 1024) and more --local-iterations";
    }

    std::string for_positive_definite(const MatrixAnalysis &found, const Arguments &a)
    {
      const ExtremeEigenvalues eigenvalues = {found.smallest_eigenvalue, found.largest_eigenvalue};
      const double             chebyshev   = a_digit(std::sqrt(momentum_parameters(eigenvalues).momentum));
      std::string              text;
      if (!a.method().has_interval)
        text += "--method chebyshev, about " + count(chebyshev) + " iterations a digit for the eigenvalues " +
                short_text(found.smallest_eigenvalue, 4) + " to " + short_text(found.largest_eigenvalue, 4) + " of D^-1 A; ";
      if (below_one(found.spectral_radius_abs))
        text += options_for_more_a_block(a) + (a.method().has_blocks && !a.momentum_from_matrix ? "; or --momentum automatic" : "");
      else
        text +=
          "asynchronous schedules need not converge for it, --method gauss-seidel and --schedule synchronous --local-iterations 1 --omega tau do";
      if (!(chebyshev < many_a_digit))
        return text + ". All of this is slow for such a matrix: " + way_out;
      return text + ". Where that is too slow, " + way_out;
    }
  } // namespace

  std::string duration(double seconds)
  {
    struct Unit
    {
      double      seconds;
      const char *name;
    };
    constexpr std::array<Unit, 4> units = {{{365.25 * 86400., "years"}, {86400., "days"}, {3600., "hours"}, {60., "minutes"}}};
    for (const Unit &unit : units)
      if (seconds >= 2. * unit.seconds)
        return short_text(seconds / unit.seconds, 2) + " " + unit.name;
    return short_text(seconds, 3) + " s";
  }

  std::string rate_text(double factor)
  {
    return "the factor " + short_text(factor, 6) + " an iteration (" + count(std::max(1., a_digit(factor))) + " iterations a digit)";
  }

  double iterations_to_come(const SolveResult &run, double goal)
  {
    constexpr double  unknown = std::numeric_limits<double>::infinity();
    const std::size_t n       = run.history_residuals.size();
    if (n < 9 || run.history_iterations.size() != n)
      return unknown;
    const auto pace = [&run](std::size_t from, std::size_t to) {
      return std::log(run.history_residuals[from] / run.history_residuals[to]) / (run.history_iterations[to] - run.history_iterations[from]);
    };
    const double slower = std::min(pace(n / 2, n - 1), pace(3 * n / 4, n - 1));
    return slower > 0. && goal > 0. ? larger_or_nan(std::log(run.final_residual / goal) / slower, 0.) : unknown;
  }

  double SlowPart::iterations_to(double goal) const
  {
    return reached(residual, goal) ? 0. : std::log(goal / residual) / std::log(factor);
  }

  namespace
  {
    /** Whether the rate of convergence has been the same in the last two quarters of a run. */
    bool has_settled(const SolveResult &run)
    {
      const std::size_t n = run.history_residuals.size();
      if (n < 9)
        return false;
      const auto rate = [&run](std::size_t from, std::size_t to) {
        return std::log(run.history_residuals[from] / run.history_residuals[to]) / (run.history_iterations[to] - run.history_iterations[from]);
      };
      return rate(3 * n / 4, n - 1) >= 0.9 * rate(n / 2, 3 * n / 4);
    }
  } // namespace

  std::optional<SlowPart> find_slow_part(const CrsMatrix<double>   &A,
                                         const std::vector<double> &y,
                                         const SolveResult         &result_of_y,
                                         const std::vector<double> &x,
                                         const std::vector<double> &b)
  {
    std::vector<double> e(y), Ae(y.size()), r(y.size());
    for (double &value : e)
      value -= 1.;
    multiply(A, e.data(), Ae.data());
    multiply(A, x.data(), r.data());
    double   e_r = 0., e_Ae = 0.;
    SafeNorm norm;
    for (std::size_t i = 0; i < e.size(); ++i)
      {
        e_r += e[i] * (b[i] - r[i]);
        e_Ae += e[i] * Ae[i];
        norm.add(Ae[i]);
      }
    const SlowPart slow = {result_of_y.convergence_factor(), std::abs(e_r / e_Ae) * norm.value(), has_settled(result_of_y)};
    if (!(slow.factor > 0. && slow.factor < 1.) || !(e_Ae > 0.) || !std::isfinite(slow.residual))
      return std::nullopt;
    return slow;
  }

  std::string time_to_come(const SolveResult &result, double factor, double goal, double tolerance, const std::optional<SlowPart> &slow)
  {
    if (!(factor > 0. && factor < 1.) || !(goal > 0.) || reached(result.final_residual, goal) || !std::isfinite(result.final_residual) ||
        result.n_iterations == 0)
      return "";
    const double at_this_rate = std::log(goal / result.final_residual) / std::log(factor), of_slow_part = slow ? slow->iterations_to(goal) : 0.;
    const bool   is_slow = of_slow_part > at_this_rate;
    const double in_all  = result.n_iterations + std::max(at_this_rate, of_slow_part);
    return "at " + rate_text(is_slow ? slow->factor : factor) + (is_slow ? " of the slowest part of the error" : "") + " the tolerance " +
           short_text(tolerance, 3) + " takes " + (is_slow && slow->settled ? "about " : "at least ") + count(in_all) +
           " global iterations in all, " + duration(result.seconds * in_all / result.n_iterations);
  }

  std::string what_helps(const MatrixAnalysis &found, const Arguments &a)
  {
    if (found.has_eigenvalues && found.smallest_eigenvalue > rounding)
      return for_positive_definite(found, a);
    if (found.has_eigenvalues && found.smallest_eigenvalue > -rounding)
      return "the matrix is singular up to rounding, or nearly so (lambda_1 = " + short_text(found.smallest_eigenvalue, 6) +
             " of D^-1 A), and no relaxation converges but for a --rhs in its range: where it is singular, fix a value in it, as a Dirichlet "
             "condition "
             "does; where it is not, --method direct solves it; --method automatic tries what does more";
    if (found.has_eigenvalues)
      return "the matrix is not positive definite (lambda_1 = " + short_text(found.smallest_eigenvalue, 6) +
             " of D^-1 A), and no relaxation converges for it: " + way_out;
    if (below_one(found.spectral_radius_abs) || found.is_open)
      return options_for_more_a_block(a) + (a.method().omega == OmegaRange::one ? "" : "; or --method gauss-seidel") + ". Where that is too slow, " +
             way_out;
    if (below_one(found.spectral_radius))
      return "--schedule synchronous --local-iterations 1 with no --omega and no --momentum converges, by " + rate_text(found.spectral_radius) +
             "; fewer --local-iterations, other --blocks or --method gauss-seidel may. Where that is too slow, " + way_out;
    return "an --omega far enough below 1, as 0.5 or 0.1, with --schedule synchronous --local-iterations 1 helps if all eigenvalues of D^-1 A have "
           "positive real parts, --l1 if the entries outside the blocks are too large, --method gauss-seidel for some matrices. Where none of these "
           "does, " +
           std::string(way_out);
  }

  namespace
  {
    /** What to take back first: options that were given and that the matrix does not bear. */
    std::string options_to_leave_out(const MatrixAnalysis &found, const Arguments &a)
    {
      std::string given;
      for (const char *option : {"--omega", "--block-omega", "--momentum"})
        if (a.has(option))
          given += (given.empty() ? "" : ", ") + std::string(option);
      if (!given.empty() && !a.method().has_blocks && a.method().omega == OmegaRange::damping && below_one(found.spectral_radius))
        return "without " + given + " it converges for this matrix; ";
      if (given.empty() || !a.method().has_blocks || found.is_open || !below_one(found.spectral_radius_abs))
        return "";
      return "without " + given + " every schedule converges for this matrix (without momentum for every omega below " +
             short_text(largest_asynchronous_omega(found.spectral_radius_abs), 5) + "); ";
    }
  } // namespace

  std::string advice_for(const CrsMatrix<double> &A, const Arguments &arguments, const SolveResult *result)
  {
    const MatrixAnalysis found = spectrum::analyze_in_time(A, contiguous_blocks(A.n_rows, A.n_rows));
    const bool           fails = result != nullptr && (result->status == SolveStatus::diverged || result->status == SolveStatus::stagnated);
    return "rho(B) = " + radius_text(found.spectral_radius) + ", rho(|B|) = " + radius_text(found.spectral_radius_abs) +
           (found.is_open                          ? ": whether schedules converge with omega = 1 these bounds do not tell"
            : below_one(found.spectral_radius_abs) ? ": every schedule converges with omega = 1 and no momentum"
            : below_one(found.spectral_radius)     ? ": Jacobi converges, not every asynchronous schedule need"
                                                   : ": with omega = 1 Jacobi diverges, and so may every schedule") +
           (found.estimated.empty() ? "" : "\n  estimated: " + found.estimated) +
           "\n  to do: " + (fails && arguments.precision != Precision::double_precision ? "--precision double, which every method has; " : "") +
           (fails ? options_to_leave_out(found, arguments) : "") + what_helps(found, arguments);
  }

  std::string advice_after_failure(const Arguments &a, SolveStatus status)
  {
    const bool  is_late    = status == SolveStatus::time_limit;
    const bool  is_limited = is_late || (status == SolveStatus::iteration_limit && a.has("--max-iterations"));
    std::string text       = is_late ? "more --max-seconds; " : is_limited ? "more --max-iterations; " : "";
    if (a.has("--inner-iterations"))
      text += "more --inner-iterations, or none of them given: then each correction ends by a tolerance; ";
    if (!a.is_automatic && a.method_name == "cg")
      text += "--method gmres where the matrix is not symmetric positive definite; ";
    if (a.is_krylov() && !a.is_automatic)
      text += "another --preconditioner; ";
    if (a.n_gpus > 0)
      text += "no --gpus: multigrid and sparse factors, which are stronger, have one GPU or the host; ";
    if (a.is_automatic && is_limited)
      text += "--analyze says which methods are tried, and what time they may take";
    else if (a.is_automatic)
      text +=
        "see whether the matrix is what it should be: it may be singular and the right-hand side not in its range, or nearly singular, or indefinite "
        "and too large for direct factors";
    else
      text += "--method automatic, which goes on with a stronger method where one fails";
    return "to do: " + text;
  }

  bool has_even_diagonal(const CrsMatrix<double> &A)
  {
    constexpr double little = 10.;
    double           least = HUGE_VAL, most = 0.;
    for (int i = 0; i < A.n_rows; ++i)
      {
        const double size = std::abs(entry(A, i, i));
        least             = std::min(least, size);
        most              = std::max(most, size);
      }
    return most < little * least;
  }

  std::string what_helps_against_error(
    const CrsMatrix<double> &A, const Arguments &arguments, const SolveResult &result, double residual, double error, double expected, bool is_scaled)
  {
    constexpr double resolved = 1e-15; // of a residual in double precision
    const double     needed   = std::min(arguments.criteria.relative_tolerance, residual) * expected / error;
    const double     factor   = result.convergence_factor();
    std::string      digits, rows;
    if (needed >= resolved)
      digits = "--tolerance " + short_text(needed, 1) + ", since the error falls with the residual";
    else if (factor > 0. && factor < 1. && arguments.is_relaxation())
      digits = "--tolerance 0 --max-iterations " + count(1.5 * (result.n_iterations + std::log(expected / error) / std::log(factor))) +
               ", since the error goes on to fall when the residual cannot any more";
    if (!is_scaled && arguments.is_relaxation() && !has_even_diagonal(A))
      rows = !spectrum::find_asymmetry(A).found ? "solve S A S y = S b with S = D^-1/2 and x = S y, which keeps A symmetric, so that all rows count"
                                                : "divide each row of A and b by its diagonal entry, so that all rows count";
    else if (!is_scaled && !arguments.is_relaxation() && !arguments.is_automatic)
      rows = "--method automatic, which scales rows of different size";
    if (digits.empty() && rows.empty())
      return arguments.method_name == "direct" || is_scaled
               ? "nothing: the matrix is too ill-conditioned for double precision"
               : "--method direct, which leaves a residual of rounding only; where its error is large, too, the matrix is too ill-conditioned for "
                 "double precision";
    return digits + (digits.empty() || rows.empty() ? "" : "; or ") + rows;
  }

  double estimated_error(const CrsMatrix<double> &A, const std::vector<double> &x, const std::vector<double> &b, double factor)
  {
    double correction = 0., largest = 0.;
    for (int i = 0; i < A.n_rows; ++i)
      {
        double residual = b[i], diagonal = 0., size = 0.;
        for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
          {
            residual -= A.values[p] * x[A.columns[p]];
            size = std::max(size, std::abs(A.values[p]));
            if (A.columns[p] == i)
              diagonal = A.values[p];
          }
        constexpr double small = 1e-3;
        diagonal               = std::abs(diagonal) < small * size ? size : diagonal; // what is left is an estimate, too
        const double next      = std::abs(residual / diagonal);
        correction             = std::isnan(next) || next > correction ? next : correction;
        largest                = std::max(largest, std::abs(x[i]));
      }
    if (correction == 0.)
      return 0.;
    return correction / largest / (factor > 0. && factor < 1. ? 1. - factor : 1.);
  }
} // namespace leopard::command_line
