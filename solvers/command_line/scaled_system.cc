// SPDX-License-Identifier: Apache-2.0
#include "scaled_system.h"

#include "../base/errors.h"
#include "../base/norms.h"
#include "../base/words.h"
#include "nodes.h"
#include "report.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

namespace leopard::command_line
{
  namespace
  {
    std::vector<double> times(const std::vector<double> &s, std::vector<double> v)
    {
      for (std::size_t i = 0; i < v.size(); ++i)
        v[i] *= s[i];
      return v;
    }

    constexpr double digit = 0.1;

    /**
     * One more solution, of what is left. @param is_hidden see return_from_scaled(): then a digit is asked for, which
     * shows whether there is more to gain. @return whether the residual of A x = b is smaller.
     */
    bool correct(Solution                  &found,
                 std::vector<double>       &y,
                 const ScaledSystem        &system,
                 const CrsMatrix<double>   &A,
                 const std::vector<double> &b,
                 StoppingCriteria           criteria,
                 bool                       is_hidden)
    {
      constexpr double margin     = 0.3; // norms in different weights need not fall alike
      const auto      &partition  = found.iteration.partition;
      criteria.relative_tolerance = std::max(criteria.relative_tolerance, margin * criteria.relative_tolerance / found.quality.relative());
      if (is_hidden)
        criteria.relative_tolerance = std::max(criteria.relative_tolerance, digit);
      criteria.max_iterations -= found.result.n_iterations;
      if (criteria.max_seconds > 0.)
        criteria.max_seconds -= found.result.seconds;
      if (criteria.max_iterations <= 0 || criteria.max_seconds < 0.)
        return false;
      const std::vector<double> r = times(system.scaling.rows, residual_of(A, found.x, b));
      std::vector<double>       d;
      const SolveResult         more =
        found.iteration.solver->solve(partition ? permute(r, *partition) : r, criteria, d, [](const std::string &, const std::string &) {});
      if (partition)
        d = permute_back(d, *partition);
      for (std::size_t i = 0; i < d.size(); ++i)
        d[i] += y[i];
      std::vector<double> x       = times(system.scaling.columns, d);
      const Quality       quality = quality_of(A, x, b), solved = quality_of(system.A, d, system.b);
      found.result.seconds += more.seconds;
      const double noise = std::max(2. * found.solved.residual, found.solved.rounding); // below, luck decides which is smaller
      if (!(quality.residual < found.quality.residual) || !reached(solved.residual, noise))
        return false;
      y             = std::move(d);
      found.x       = std::move(x);
      found.quality = quality;
      found.solved  = solved;
      found.result.n_iterations += more.n_iterations;
      found.result.min_iterations += more.min_iterations;
      found.result.mean_iterations += more.mean_iterations;
      found.result.final_residual = solved.residual;
      found.result.history_iterations.push_back(found.result.n_iterations);
      found.result.history_residuals.push_back(solved.residual);
      found.result.history_seconds.push_back(found.result.seconds);
      return true;
    }
  } // namespace

  ScaledSystem equilibrated(const Arguments &arguments, const CrsMatrix<double> &A, const std::vector<double> &b, const MatrixTraits &traits)
  {
    ScaledSystem system;
    system.scaling = equilibration(A, traits);
    if (!system.is_scaled())
      return system;
    try
      {
        system.A = scaled(A, system.scaling);
        system.b = times(system.scaling.rows, b);
        if (!std::isfinite(norm(system.b)))
          throw InvalidInput("the right-hand side");
        system.arguments = arguments;
        if (traits.is_symmetric && traits.is_like_diffusion() && arguments.near_null_space_vectors == nullptr && !arguments.has_nodes())
          system.arguments.near_null_space_vectors =
            std::make_shared<const std::vector<std::vector<double>>>(1, std::vector<double>(A.n_rows, 1.)); // in A's units
        if (arguments.block_unknowns > 1 && arguments.near_null_space_vectors == nullptr)
          system.arguments.near_null_space_vectors =
            std::make_shared<const std::vector<std::vector<double>>>(constants_of_nodes(A.n_rows, arguments.block_unknowns));
        system.arguments = with_scaled_nodes(std::move(system.arguments), system.scaling.columns);
        log_line("scaled", system.scaling.why + ": solved is " + system.scaling.text);
      }
    catch (const InvalidInput &)
      {
        log_line("not scaled", system.scaling.why + ", but with a diagonal near 1 others would overflow");
        system = {};
      }
    return system;
  }

  void return_from_scaled(
    Solution &found, const ScaledSystem &system, const CrsMatrix<double> &A, const std::vector<double> &b, const StoppingCriteria &criteria)
  {
    constexpr int       few = 3, most = 30; // corrections: any, and while each gains a digit
    constexpr double    last_place = 4e-16; // of each equation's terms: better is none
    std::vector<double> y          = found.x;
    found.is_scaled                = true;
    found.x                        = times(system.scaling.columns, y);
    found.quality                  = quality_of(A, found.x, b);
    const double before            = found.quality.relative();
    const int    n_before          = found.result.n_iterations;
    const double tolerance         = criteria.relative_tolerance;
    // what counts is A x = b: its norm, or where rounding errors of large rows hide that, each of its equations
    const auto is_hidden = [&] {
      return found.quality.is_rounding() && reached(found.quality.of_each_row, tolerance) &&
             (reached(found.solved.relative_rounding(), 10. * tolerance) || reached(found.quality.of_each_row, last_place));
    };
    int        n_done    = 0;
    bool       gains     = true; // a digit
    const bool is_solved = found.result.status == SolveStatus::converged ||
                           (found.result.status == SolveStatus::stagnated && found.solved.is_rounding()); // which those of the file need not be
    // one is tried where the scaled system will decide, too: its residual may have met the tolerance long before
    while (is_solved && !found.quality.meets(tolerance) && (gains || (n_done < few && !is_hidden())) && n_done < most)
      {
        const double residual = found.quality.residual;
        if (!correct(found, y, system, A, b, criteria, is_hidden()))
          break;
        gains = reached(found.quality.residual, digit * residual);
        ++n_done;
      }
    if (found.result.status == SolveStatus::converged && tolerance > 0. && !found.quality.meets(tolerance) && !is_hidden())
      found.result.status = SolveStatus::stagnated;
    else if (found.result.status == SolveStatus::stagnated && found.solved.meets(tolerance) && is_hidden()) // as good as it gets
      found.result.status = SolveStatus::converged;
    if (n_done > 0)
      log_line("corrected",
               "the residual of A x = b, in the units of the file, from " + short_text(before, 3) + " to " + short_text(found.quality.relative(), 3) +
                 " of b by " + std::to_string(found.result.n_iterations - n_before) + " more " + found.iteration.solver->unit());
  }
} // namespace leopard::command_line
