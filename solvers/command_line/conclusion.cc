// SPDX-License-Identifier: Apache-2.0
#include "conclusion.h"

#include "../base/compressed_file.h"
#include "../base/errors.h"
#include "../base/norms.h"
#include "../base/thread_pool.h"
#include "../base/words.h"
#include "../matrix/eigenvalues.h"
#include "../matrix/matrix_market.h"
#include "../matrix/npy.h"
#include "advice.h"
#include "report.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>

namespace leopard::command_line
{
  namespace
  {
    const char *const of_scaled = "of the scaled system";

    void write_files(const Arguments &arguments, const Solution &found)
    {
      if (!arguments.history.empty())
        {
          CompressedFile file(arguments.history);
          file.write(history_csv(found.result, found.solved.scale));
          file.commit();
          log_line("written", arguments.history + (found.is_scaled ? std::string(", residuals ") + of_scaled : ""));
        }
      if (arguments.solution.empty())
        return;
      if (found.result.status == SolveStatus::diverged)
        log_line("not written", arguments.solution + ", as the iteration diverged");
      else if (!(found.solved.relative() <= 1.) || (found.result.status != SolveStatus::converged && !(found.quality.relative() <= 1.)))
        log_line("not written", arguments.solution + ", as x = 0 has a smaller residual");
      else
        {
          if (std::filesystem::path(arguments.solution).extension() == ".npy")
            write_npy_vector(found.x, arguments.solution);
          else
            write_matrix_market_vector(found.x, arguments.solution);
          log_line("written", arguments.solution);
        }
    }

    /** Whether a row was zero, so that x_i = 0 was taken: complete_zero_rows(). */
    bool was_zero(const CrsMatrix<double> &A, const std::vector<double> &x, const std::vector<double> &b, int i)
    {
      return A.row_offsets[i + 1] - A.row_offsets[i] == 1 && b[i] == 0. && x[i] == 0.;
    }

    /**
     * x - 1 where the solution is all ones; zero in rows that were zero, where x = 0 is taken: b = A 1 is zero there.
     */
    std::vector<double> difference_from_ones(const CrsMatrix<double> &A, const std::vector<double> &x, const std::vector<double> &b)
    {
      std::vector<double> result(x);
      parallel_for(A.n_rows, 1 << 16, [&](long begin, long end) {
        for (int i = static_cast<int>(begin); i < static_cast<int>(end); ++i)
          result[i] = was_zero(A, x, b, i) ? 0. : x[i] - 1.;
      });
      return result;
    }

    /** A number that is none if an entry is. */
    double largest_size(const std::vector<double> &v)
    {
      double largest = 0.;
      for (const double value : v)
        largest = larger_or_nan(largest, std::abs(value));
      return largest;
    }

    double largest_entry(const std::vector<double> &x)
    {
      double largest = 0.;
      for (const double value : x)
        largest = std::max(largest, std::abs(value));
      return largest;
    }

    /** The scaled system is solved, and that of the file is not, for rounding errors. */
    bool is_scaled_alone(const Solution &found, double tolerance)
    {
      return found.is_scaled && found.result.status == SolveStatus::stagnated && found.solved.meets(tolerance) && found.quality.is_rounding();
    }

    /**
     * "at most --tolerance 3e-09 can be reached in double precision", of rounding errors. Of a scaled system the number
     * that return_from_scaled() takes, and what that is in the file's, or that alone where it is smaller.
     */
    std::string tolerance_to_reach(const Solution &found)
    {
      const auto   text    = [](double least) { return "at most --tolerance " + short_text(least, 1) + " can be reached in double precision"; };
      const double of_file = 2. * found.quality.relative();
      if (!found.is_scaled)
        return text(of_file);
      const double of_solved = std::max({2. * found.solved.relative(), 0.2 * found.solved.relative_rounding(), 2. * found.quality.of_each_row});
      if (reached(of_file, of_solved))
        return text(of_file) + ", in the units of the file";
      return text(of_solved) + ", " + of_scaled + "; that is " + short_text(of_file, 1) + " of A x = b";
    }

    /** Where rounding errors are as large as the tolerance. */
    void report_rounding(const Arguments &arguments, const Solution &found)
    {
      constexpr double useless   = 1e-3;
      const double     tolerance = arguments.criteria.relative_tolerance;
      const double     smallest  = found.quality.relative_rounding();
      if (is_scaled_alone(found, tolerance))
        log_line("rounding",
                 std::string("the residual ") + of_scaled +
                   " is within the tolerance; that of A x = b is not, and rounding errors alone make it about " + short_text(smallest, 2) +
                   (found.quality.relative() > useless
                      ? "\n            the matrix is singular, or nearly so, or its rows differ so much that no x solves all of them"
                      : "\n            to do: at most --tolerance " + short_text(2. * found.quality.relative(), 1) +
                          " can be reached in double precision, in the units of the file"));
      else if (found.result.status == SolveStatus::stagnated && found.solved.is_rounding() && !found.quality.is_rounding())
        log_line("rounding",
                 std::string("the residual ") + of_scaled +
                   " is what rounding errors leave; that of A x = b is not, of which large rows or columns hide the rest"
                   "\n            to do: --method direct, which does not scale, or a larger --tolerance in the units of the file");
      else if (found.result.status == SolveStatus::stagnated && found.solved.is_rounding())
        log_line("rounding",
                 std::string("the residual ") + (found.is_scaled ? of_scaled + std::string(" ") : "") +
                   "is what rounding errors leave: if every entry changed in its last place, it would change by " +
                   short_text(found.solved.relative_rounding(), 2) +
                   (found.solved.relative_rounding() > useless
                      ? "\n            the matrix is singular, or nearly so, and the right-hand side perhaps not in its range" +
                          std::string(arguments.is_automatic ? "" : "; or its rows differ much in size: --method automatic scales them")
                      : "\n            to do: " + tolerance_to_reach(found)));
      else if (found.result.status == SolveStatus::converged && !found.quality.meets(tolerance))
        log_line("warning",
                 std::string("the residual ") + of_scaled +
                   " is within the tolerance; that of A x = b is not, and rounding errors alone make it about " + short_text(smallest, 2) +
                   "\n            each equation of A x = b is satisfied to " + short_text(found.quality.of_each_row, 2) + " of its own terms");
      else if (found.result.status == SolveStatus::converged && found.is_scaled && !found.solved.meets(tolerance))
        log_line("warning",
                 std::string("the residual is within the tolerance; ") + of_scaled + ", where small rows count as much as large ones, it is " +
                   short_text(found.solved.relative(), 2) + "\n            each equation of A x = b is satisfied to " +
                   short_text(found.quality.of_each_row, 2) + " of its own terms");
      else if (found.result.status == SolveStatus::converged && !reached(smallest, 10. * tolerance))
        log_line("warning",
                 "the residual is within the tolerance by luck: if every entry changed in its last place, it would change by " +
                   short_text(smallest, 2) +
                   "\n            to do: trust x as far as a residual of this size lets; the condition number may be large");
    }

    void report_result(const Arguments &arguments, const Solution &found)
    {
      const Solver &solver = *found.iteration.solver;
      log_line("result", outcome(found.result, arguments.is_relaxation() && arguments.method().has_blocks, solver.unit()));
      log_line("residual", "||b - A x|| / ||b|| = " + text_of_residual(found.quality.relative(), 4) + ", computed anew for the matrix of the file");
      if (found.is_scaled)
        log_line("", short_text(found.solved.relative(), 4) + " " + of_scaled);
      log_line("time",
               short_text(found.result.seconds, 3) + " s solving, " + short_text(found.seconds_reading, 3) + " s reading, " +
                 short_text(found.seconds_preparing, 3) + " s preparing");
      log_line("energy", found.energy.text() + (found.energy.cpu.is_known() ? ", of all that runs on it" : ""));
      report_rounding(arguments, found);
    }

    /** The error, known or estimated; and a warning where a small residual hides a large one. */
    void report_error(const Arguments &arguments, const CrsMatrix<double> &A, const std::vector<double> &b, const Solution &found)
    {
      const SolveResult         &result   = found.result;
      const std::vector<double> &x        = found.x;
      const bool                 is_known = arguments.rhs.empty();
      int                        n_zero   = 0;
      for (int i = 0; i < A.n_rows; ++i)
        n_zero += is_known && was_zero(A, x, b, i) ? 1 : 0;
      const double error = is_known ? largest_size(difference_from_ones(A, x, b)) : estimated_error(A, x, b, result.convergence_factor());
      if (is_known)
        log_line("error",
                 "max |x - 1| = " + short_text(error, 4) + (n_zero > 0 ? ", but in " + std::to_string(n_zero) + " zero rows, where x = 0" : ""));
      const double expected = std::max(1e-3, 100. * arguments.criteria.relative_tolerance);
      if (result.status == SolveStatus::converged && !(error <= expected) && is_known &&
          quality_of(A, difference_from_ones(A, x, b), std::vector<double>(x.size(), 0.)).is_rounding())
        return log_line("warning",
                        "the solution is not all ones, and A maps the difference to zero but for rounding: the matrix is singular, or so nearly that "
                        "double precision does not tell, and x is determined up to its null space");
      if (result.status == SolveStatus::converged && !(error <= expected))
        log_line(
          "warning",
          "the residual is small enough, but the solution is not: " +
            (is_known ? "its largest relative error is " + short_text(error, 4)
                      : "by an estimate entries are wrong by " + short_text(error, 4) + " of the largest entry found, which is " +
                          short_text(largest_entry(x), 4) + " and may be wrong itself") +
            (has_even_diagonal(A) ? "; a large condition number makes it so"
                                  : "; rows of very different size or a large condition number make it so") +
            "\n            to do: " + what_helps_against_error(A, arguments, result, found.quality.relative(), error, expected, found.is_scaled));
    }

    /**
     * Of a solution that was not reached in time: the part of its error that falls slowest, which the residuals of some
     * right-hand sides show late. Iterations for b = A 1 find it, three times as many as were done and 1000 at least,
     * in up to half a second; where that is not enough it is a part that falls faster, and the time is one at least.
     */
    std::optional<SlowPart> slow_part_of(const Arguments           &arguments,
                                         const CrsMatrix<double>   &A,
                                         const Iteration           &iteration,
                                         const SolveResult         &result,
                                         const std::vector<double> &x,
                                         const std::vector<double> &b)
    {
      const bool is_unfinished = result.status == SolveStatus::iteration_limit; // or the time is over, and no more is taken
      // with an interval all parts fall at one rate; refinement in mixed precision is not asked to solve twice
      if (!is_unfinished || arguments.precision != Precision::double_precision || arguments.criteria.relative_tolerance == 0. ||
          arguments.method().has_interval || spectrum::find_asymmetry(A).found)
        return std::nullopt;
      constexpr int    least = 1000, multiple = 3; // by then the slowest part is mostly alone
      constexpr double most_seconds = 0.5;
      StoppingCriteria probing;
      probing.relative_tolerance = 1e-10; // below it rounding errors would be taken for what converges slowly
      probing.max_iterations     = std::max(static_cast<int>(std::min(1e9, 1. * multiple * result.n_iterations)), least);
      probing.test_every         = arguments.criteria.test_every;
      probing.max_seconds        = arguments.criteria.max_seconds > 0. ? std::min(most_seconds, arguments.criteria.max_seconds) : most_seconds;
      std::vector<double> probe(A.n_rows), y;
      multiply(A, std::vector<double>(A.n_columns, 1.).data(), probe.data());
      const SolveResult of_y = iteration.solver->solve(
        iteration.partition ? permute(probe, *iteration.partition) : probe, probing, y, [](const std::string &, const std::string &) {});
      return find_slow_part(A, iteration.partition ? permute_back(y, *iteration.partition) : y, of_y, x, b);
    }

    /** A solution that took many iterations, or would, is called slow. */
    void report_slowness(const SolveResult &result, double goal, double tolerance, const std::optional<SlowPart> &slow_part)
    {
      constexpr double  slow   = 0.9977; // 1000 iterations a digit
      const double      factor = result.convergence_factor();
      const std::string rest   = time_to_come(result, factor, goal, tolerance, slow_part);
      if (result.status == SolveStatus::converged && factor > slow && factor < 1.)
        log_line("slow", rate_text(factor) + "; --analyze says what is faster");
      else if ((result.status == SolveStatus::iteration_limit || result.status == SolveStatus::time_limit) && !rest.empty())
        log_line("slow", rest + " (" + short_text(result.seconds, 3) + " s until here)");
      else if (result.status == SolveStatus::time_limit && factor == 0.)
        log_line("slow", "the time was over before a test of the residual: a larger --max-seconds, or a smaller --test-every");
      else if (result.status != SolveStatus::converged && result.status != SolveStatus::diverged && tolerance > 0. && rest.empty() &&
               result.history_residuals.size() > 2) // from two residuals nothing can be told
        log_line("slow", "the residual does not fall any more: more iterations will not help");
    }

    void print_advice(const Arguments &arguments, const CrsMatrix<double> &A, const std::vector<double> &b, const Solution &found)
    {
      constexpr double large = 1e250; // an x whose other entries, or what methods make of them, may overflow
      if (arguments.criteria.relative_tolerance == 0. && found.result.status == SolveStatus::time_limit)
        return log_line("advice",
                        "the time was over after " + std::to_string(found.result.n_iterations) + " of the " +
                          std::to_string(arguments.criteria.max_iterations) +
                          " iterations, all of which --tolerance 0 asks for\n            to do: more --max-seconds, or fewer --max-iterations");
      if (found.solved.is_rounding() || is_scaled_alone(found, arguments.criteria.relative_tolerance))
        return; // that has been said, and nothing else helps
      if (const SizeOfSolution size = least_size_of_solution(A, b); !std::isfinite(found.quality.residual) && size.least > large)
        return log_line("advice",
                        "x has entries of " + size.text() + " at least, by row " + std::to_string(size.row + 1) +
                          ", and others may be beyond what double holds\n            to do: divide b by a power of ten, and x is divided by it, too");
      if (!arguments.is_relaxation())
        return log_line("advice", advice_after_failure(arguments, found.result.status));
      if (found.result.status == SolveStatus::time_limit)
        return log_line("advice",
                        "to do: more --max-seconds" + (arguments.tune
                                                         ? ", or fewer --tune-seconds: tuning took most of the " +
                                                             short_text(found.seconds_preparing, 2) + " s before the solution, which count"
                                                         : std::string("; --analyze says which options suit the matrix")));
      log_line("advice", "looking at the matrix ...");
      print(advice_for(A, arguments, &found.result) + "\n");
      if (arguments.tune || !arguments.choice.empty())
        print(
          "The choice converged when it was measured. Asynchronous runs vary, and with much momentum one of them may fail: --tune anew, with more "
          "--tune-seconds, or --momentum automatic, which takes less.\n");
    }
  } // namespace

  void judge(Solution &found, double tolerance)
  {
    if (found.result.status != SolveStatus::converged || found.solved.meets(tolerance))
      return;
    if (!found.solved.is_rounding())
      throw ConvergenceFailure("the solver says that it converged, but the residual computed anew is " + short_text(found.solved.relative(), 4) +
                               "\n  expected: at most " + short_text(tolerance, 4));
    found.result.status = SolveStatus::stagnated;
  }

  void acknowledge(Solution &found, double tolerance)
  {
    if (tolerance > 0. && found.quality.is_known(tolerance) && reached(found.quality.relative(), tolerance))
      found.result.status = SolveStatus::converged;
    else if (found.result.status == SolveStatus::converged && reached(found.quality.relative(), tolerance)) // is not known to be that small
      found.result.status = SolveStatus::stagnated;
  }

  int conclude(const Arguments &arguments, const CrsMatrix<double> &A, const std::vector<double> &b, const Solution &found)
  {
    const SolveResult &result    = found.result;
    const double       tolerance = arguments.criteria.relative_tolerance;
    const std::string  note      = found.iteration.solver->history_note();
    print(convergence_table(result, found.solved.scale, (found.is_scaled ? of_scaled + std::string(note.empty() ? "" : "; ") : "") + note));
    report_result(arguments, found);
    report_error(arguments, A, b, found);
    write_files(arguments, found); // before anything that takes time
    if (arguments.is_relaxation() && !(result.status == SolveStatus::stagnated && found.solved.is_rounding()))
      report_slowness(result, tolerance * found.solved.scale, tolerance, slow_part_of(arguments, A, found.iteration, result, found.x, b));
    const bool did_all = tolerance == 0. && result.status == SolveStatus::iteration_limit;
    if (did_all || result.status == SolveStatus::converged)
      return 0;
    print_advice(arguments, A, b, found);
    return 1;
  }
} // namespace leopard::command_line
