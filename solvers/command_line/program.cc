// SPDX-License-Identifier: Apache-2.0
#include "program.h"

#include "../base/errors.h"
#include "../base/norms.h"
#include "../base/whole_file.h"
#include "../matrix/analysis.h"
#include "../matrix/eigenvalues.h"
#include "../matrix/matrix_market.h"
#include "advice.h"
#include "automatic.h"
#include "method.h"
#include "report.h"

#include <leopard/version.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <vector>

namespace leopard::command_line
{
  namespace
  {
    class Stopwatch
    {
    public:
      double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); }

    private:
      const std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
    };

    void log_line(const std::string &label, const std::string &text)
    {
      std::printf("%-12s%s\n", label.c_str(), text.c_str());
      std::fflush(stdout);
    }

    void print(const std::string &text)
    {
      std::fputs(text.c_str(), stdout);
      std::fflush(stdout);
    }

    /**
     * What CrsMatrix::validate() finds, for a matrix just read, with numbers that count from 1 as in the file.
     * @param divides whether the method divides by the diagonal.
     */
    void check_matrix(const CrsMatrix<double> &A, const std::string &path, bool divides_by_diagonal)
    {
      const auto refuse = [&](const std::string &what, const std::string &expected) {
        throw InvalidInput(path + ": " + what + "\n  expected: " + expected);
      };
      if (A.n_rows == 0)
        refuse("the matrix has no rows", "at least one");
      for (int i = 0; i < A.n_rows; ++i)
        {
          const std::string row     = "row " + std::to_string(i + 1);
          const auto        begin   = A.columns.begin() + A.row_offsets[i];
          const auto        end     = A.columns.begin() + A.row_offsets[i + 1];
          const auto        found   = std::find(begin, end, i);
          const char       *divides = "a diagonal entry that is not zero in each row; relaxation divides by it";
          if (begin == end)
            refuse(row + " is empty", divides_by_diagonal ? divides : "an entry in each row; the matrix is singular");
          if (!divides_by_diagonal)
            continue;
          if (found == end)
            refuse("the diagonal entry of " + row + " is missing", divides);
          if (A.values[found - A.columns.begin()] == 0.)
            refuse("the diagonal entry of " + row + " is zero", divides);
        }
      if (divides_by_diagonal)
        A.validate();
      else
        A.validate_entries();
    }

    struct ReadMatrix
    {
      CrsMatrix<double> A;
      bool              is_symmetric = false;
    };

    ReadMatrix read_matrix(const std::string &path, bool divides_by_diagonal)
    {
      CrsMatrix<double> A = read_matrix_market(path);
      check_matrix(A, path, divides_by_diagonal);
      const spectrum::Asymmetry asymmetry = spectrum::find_asymmetry(A);
      log_line("matrix",
               path + ": " + std::to_string(A.n_rows) + " rows, " + std::to_string(A.n_entries()) + " entries, " +
                 (asymmetry.found
                    ? "not symmetric (row " + std::to_string(asymmetry.row + 1) + ", column " + std::to_string(asymmetry.column + 1) + ")"
                    : "symmetric"));
      return {std::move(A), !asymmetry.found};
    }

    std::vector<double> right_hand_side(const CrsMatrix<double> &A, const std::string &path)
    {
      if (!path.empty())
        {
          std::vector<double> b = read_matrix_market_vector(path, A.n_rows);
          log_line("rhs", path);
          return b;
        }
      std::vector<double> b(A.n_rows);
      multiply(A, std::vector<double>(A.n_columns, 1.).data(), b.data());
      log_line("rhs", "b = A 1, as there is no --rhs: the solution is all ones");
      return b;
    }

    /** "1. cg preconditioned by multigrid: symmetric ...; where it fails 2. ..." */
    std::string plan_for(const CrsMatrix<double> &A, bool is_symmetric, Arguments arguments)
    {
      arguments.method_name = "automatic";
      std::string text;
      for (const Attempt &attempt : attempts_for(look_at(A, is_symmetric), arguments))
        text += (text.empty() ? "" : "; where it fails, ") + text_of(attempt) + " (" + attempt.why + ")";
      return text;
    }

    void analyze_matrix(const Arguments &arguments, const CrsMatrix<double> &A, bool is_symmetric)
    {
      const std::optional<Partition> partition = choose_partition(A, arguments.shape, arguments.async.block_size);
      BlockAsyncOptions              options   = arguments.async;
      if (arguments.shape == BlockShape::metis)
        options.block_offsets = partition->block_offsets;
      log_line("blocks", to_string(arguments.shape) + ", of up to " + std::to_string(options.block_size) + " rows");
      const Blocks         blocks = options.blocks(A.n_rows);
      const MatrixAnalysis found  = partition ? analyze(permute(A, *partition), blocks) : analyze(A, blocks);
      print(found.text());
      print("as a relaxation:         " + what_helps(found, arguments) + "\n");
      print("--method automatic:      " + plan_for(A, is_symmetric, arguments) + "\n");
    }

    double norm(const std::vector<double> &v)
    {
      SafeNorm result;
      for (const double value : v)
        result.add(value);
      return result.value();
    }

    /** Of a solution, in the numbering of the file. */
    struct Quality
    {
      double residual = 0.; ///< ||b - A x||, computed anew
      double scale    = 1.; ///< ||b||, or 1 for b = 0
      double relative() const { return residual / scale; }
    };

    Quality quality_of(const CrsMatrix<double> &A, const std::vector<double> &x, const std::vector<double> &b)
    {
      Quality quality;
      if (const double norm_b = norm(b); norm_b > 0.)
        quality.scale = norm_b;
      quality.residual = residual_norm(A, x.data(), b.data());
      return quality;
    }

    void say_how_it_varies(const Iteration &iteration)
    {
      if (iteration.is_replay)
        log_line("", "replayed: this seed gives the same result in every run");
      else if (!iteration.solver->is_fixed_linear_map())
        log_line("", "asynchronous: results vary from run to run, within the tolerance; --schedule replay gives the same ones in every run");
    }

    void write_files(const Arguments &arguments, const SolveResult &result, const std::vector<double> &x, double scale)
    {
      if (!arguments.history.empty())
        {
          write_whole(arguments.history, history_csv(result, scale));
          log_line("written", arguments.history);
        }
      if (arguments.solution.empty())
        return;
      if (result.status == SolveStatus::diverged)
        log_line("not written", arguments.solution + ", as the iteration diverged");
      else
        {
          write_matrix_market_vector(x, arguments.solution);
          log_line("written", arguments.solution);
        }
    }

    /** "max |x - 1|" where the solution is all ones, a number that is none if an entry is. */
    double distance_from_ones(const std::vector<double> &x)
    {
      double error = 0.;
      for (const double value : x)
        error = std::isnan(value) ? value : std::max(error, std::abs(value - 1.));
      return error;
    }

    double largest_entry(const std::vector<double> &x)
    {
      double largest = 0.;
      for (const double value : x)
        largest = std::max(largest, std::abs(value));
      return largest;
    }

    void report_result(const SolveResult &result, const Quality &quality, bool has_blocks, const std::string &unit, double other_seconds)
    {
      log_line("result", outcome(result, has_blocks, unit));
      log_line("residual", "||b - A x|| / ||b|| = " + number(quality.relative(), 4) + ", computed anew for the matrix of the file");
      log_line("time", number(result.seconds) + " s solving, " + number(other_seconds) + " s reading and preparing");
    }

    /** The error, known or estimated; and a warning where a small residual hides a large one. */
    void report_error(const Arguments           &arguments,
                      const CrsMatrix<double>   &A,
                      const SolveResult         &result,
                      const std::vector<double> &x,
                      const std::vector<double> &b,
                      bool                       is_scaled)
    {
      const bool   is_known = arguments.rhs.empty();
      const double error    = is_known ? distance_from_ones(x) : estimated_error(A, x, b, result.convergence_factor());
      if (is_known)
        log_line("error", "max |x - 1| = " + number(error, 4));
      const double expected = std::max(1e-3, 100. * arguments.criteria.relative_tolerance);
      if (result.status == SolveStatus::converged && !(error <= expected))
        log_line("warning",
                 "the residual is small enough, but the solution is not: " +
                   (is_known ? "its largest relative error is " + number(error, 4)
                             : "by an estimate entries are wrong by " + number(error, 4) + " of the largest entry found, which is " +
                                 number(largest_entry(x), 4) + " and may be wrong itself") +
                   "; rows of very different size or a large condition number make it so\n            to do: " +
                   what_helps_against_error(A, result, arguments.criteria.relative_tolerance, error, expected, is_scaled));
    }

    /**
     * Of a solution that was not reached in time: the part of its error that falls slowest, which the residuals of some
     * right-hand sides show late. Iterations for b = A 1 find it, three times as many as were done and 1000 at least,
     * in up to 30 s.
     */
    std::optional<SlowPart> slow_part_of(const Arguments           &arguments,
                                         const CrsMatrix<double>   &A,
                                         const Iteration           &iteration,
                                         const SolveResult         &result,
                                         const std::vector<double> &x,
                                         const std::vector<double> &b)
    {
      const bool is_unfinished = result.status == SolveStatus::iteration_limit || result.status == SolveStatus::time_limit;
      // with an interval all parts fall at one rate; refinement in mixed precision is not asked to solve twice
      if (!is_unfinished || arguments.precision != Precision::double_precision || arguments.criteria.relative_tolerance == 0. ||
          arguments.method().has_interval || spectrum::find_asymmetry(A).found)
        return std::nullopt;
      constexpr int    least = 1000, multiple = 3; // by then the slowest part is mostly alone
      StoppingCriteria probing;
      probing.relative_tolerance = 1e-10; // below it rounding errors would be taken for what converges slowly
      probing.max_iterations     = std::max(static_cast<int>(std::min(1e9, 1. * multiple * result.n_iterations)), least);
      probing.test_every         = arguments.criteria.test_every;
      probing.max_seconds        = arguments.criteria.max_seconds > 0. ? std::min(30., arguments.criteria.max_seconds) : 30.;
      log_line("slow", "looking for the slowest part of the error, for up to " + number(probing.max_seconds) + " s ...");
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
        log_line("slow", rest + " (" + number(result.seconds) + " s until here)");
      else if (result.status == SolveStatus::time_limit && factor == 0.)
        log_line("slow", "the time was over before a test of the residual: a larger --max-seconds, or a smaller --test-every");
      else if (result.status != SolveStatus::converged && result.status != SolveStatus::diverged && tolerance > 0. && rest.empty() &&
               result.history_residuals.size() > 2) // from two residuals nothing can be told
        log_line("slow", "the residual does not fall any more: more iterations will not help");
    }

    /** A result that is not what the solver says it is: nothing is written. */
    void check_result(const SolveResult &result, const Quality &quality, double tolerance)
    {
      if (result.status == SolveStatus::converged && !reached(quality.relative(), 1.1 * tolerance) && quality.residual != 0.)
        throw ConvergenceFailure("the solver says that it converged, but the residual computed anew is " + number(quality.relative(), 4) +
                                 "\n  expected: at most " + number(tolerance, 4) + "; a tolerance far above the rounding level");
    }

    /** @return the exit code. */
    int conclude(const Arguments &arguments, const CrsMatrix<double> &A, const SolveResult &result)
    {
      const double tolerance = arguments.criteria.relative_tolerance;
      const bool   did_all   = tolerance == 0. && (result.status == SolveStatus::iteration_limit || result.status == SolveStatus::time_limit);
      if (did_all)
        return 0;
      if (result.status == SolveStatus::converged)
        return 0;
      log_line("advice", "looking at the matrix ...");
      print(advice_for(A, arguments, &result) + "\n");
      if (arguments.tune || !arguments.choice.empty())
        print(
          "The choice converged when it was measured. Asynchronous runs vary, and with much momentum one of them may fail: --tune anew, with more "
          "--tune-seconds, or --momentum automatic, which takes less.\n");
      return 1;
    }

    /** What one method has done. */
    struct Solution
    {
      Iteration           iteration;
      SolveResult         result;
      std::vector<double> x;
      Quality             quality;
      double              seconds_before = 0.;    ///< of the solution itself
      bool                is_scaled      = false; ///< of S A S y = S b
    };

    Solution solve_by(
      const Arguments &arguments, const ChosenBackend &backend, const CrsMatrix<double> &A, const std::vector<double> &b, const Stopwatch &stopwatch)
    {
      Solution found;
      found.iteration             = make_iteration(A, arguments, backend, log_line);
      Solver           &solver    = *found.iteration.solver;
      const auto       &partition = found.iteration.partition;
      const std::string about     = solver.description();
      log_line("method", solver.name() + (about.empty() ? "" : ": " + about));
      say_how_it_varies(found.iteration);
      found.seconds_before = stopwatch.seconds();
      found.result         = solver.solve(partition ? permute(b, *partition) : b, arguments.criteria, found.x, log_line);
      if (partition)
        found.x = permute_back(found.x, *partition);
      found.quality = quality_of(A, found.x, b);
      return found;
    }

    /** Of one method, with the log and the files. @return the exit code. */
    int conclude_with(const Arguments &arguments, const CrsMatrix<double> &A, const std::vector<double> &b, const Solution &found)
    {
      const SolveResult &result = found.result;
      const Solver      &solver = *found.iteration.solver;
      print(convergence_table(result, found.quality.scale, solver.history_note()));
      report_result(result, found.quality, arguments.is_relaxation() && arguments.method().has_blocks, solver.unit(), found.seconds_before);
      report_error(arguments, A, result, found.x, b, found.is_scaled);
      check_result(result, found.quality, arguments.criteria.relative_tolerance);
      write_files(arguments, result, found.x, found.quality.scale); // before anything that takes time
      if (arguments.is_relaxation())
        report_slowness(result,
                        arguments.criteria.relative_tolerance * found.quality.scale,
                        arguments.criteria.relative_tolerance,
                        slow_part_of(arguments, A, found.iteration, result, found.x, b));
      return conclude(arguments, A, result);
    }

    /** Of a symmetric matrix whose rows sum to zero. */
    void check_range(const std::vector<double> &b, double tolerance, bool is_given)
    {
      if (!is_given)
        throw InvalidInput(
          "the matrix is singular, as its rows sum to zero, and b = A 1, which is taken where there is no --rhs, is zero but for rounding"
          "\n  expected: a --rhs whose entries sum to zero");
      double sum = 0., absolute = 0.;
      for (const double value : b)
        {
          sum += value;
          absolute += std::abs(value);
        }
      const double outside = std::abs(sum) / std::sqrt(static_cast<double>(b.size())); // the norm of the part that no x reaches
      if (!reached(outside, tolerance * norm(b)) && !reached(std::abs(sum), 1e-14 * absolute))
        throw InvalidInput("the matrix is singular, symmetric with rows that sum to zero, and the entries of the right-hand side sum to " +
                           number(sum) + ": there is no solution\n  expected: a --rhs whose entries sum to zero; its part outside the range is " +
                           number(outside / norm(b)) + " of its norm, more than the tolerance");
    }

    std::vector<double> times(const std::vector<double> &s, std::vector<double> v)
    {
      for (std::size_t i = 0; i < v.size(); ++i)
        v[i] *= s[i];
      return v;
    }

    /** One method after the other, as far as needed. */
    int solve_system(const Arguments &arguments, const CrsMatrix<double> &A, bool is_symmetric, const Stopwatch &stopwatch)
    {
      const std::vector<double> b = right_hand_side(A, arguments.rhs);
      if (arguments.is_relaxation())
        {
          return conclude_with(arguments, A, b, solve_by(arguments, choose_backend(arguments), A, b, stopwatch));
        }
      MatrixTraits traits = look_at(A, is_symmetric);
      if (traits.is_singular && is_symmetric)
        check_range(b, arguments.criteria.relative_tolerance, !arguments.rhs.empty());
      const std::vector<double> scale = arguments.method_name == "automatic" ? equilibration(A, traits) : std::vector<double>();
      CrsMatrix<double>         scaled_A;
      std::vector<double>       scaled_b;
      if (!scale.empty())
        {
          log_line("scaled",
                   "entries of the diagonal differ by the factor " + number(traits.diagonal_range, 2) +
                     ": S A S y = S b with a diagonal near 1 is solved, x = S y");
          scaled_A = scaled(A, scale);
          scaled_b = times(scale, b);
          traits   = look_at(scaled_A, is_symmetric);
        }
      const std::vector<Attempt> attempts = attempts_for(traits, arguments);
      for (std::size_t i = 0;; ++i)
        {
          const bool is_last = i + 1 == attempts.size();
          Arguments  now     = with_attempt(arguments, attempts[i]);
          if (attempts[i].why != "as asked for")
            log_line(i == 0 ? "automatic" : "next", text_of(attempts[i]) + ": " + attempts[i].why);
          if (arguments.criteria.max_seconds > 0.)
            now.criteria.max_seconds = std::max(1e-3, arguments.criteria.max_seconds - stopwatch.seconds());
          std::string failure;
          try
            {
              Solution found = solve_by(now, choose_backend(now), scale.empty() ? A : scaled_A, scale.empty() ? b : scaled_b, stopwatch);
              if (!scale.empty())
                {
                  found.is_scaled = true;
                  found.x         = times(scale, found.x);
                  found.quality   = quality_of(A, found.x, b);
                }
              const bool holds = reached(found.quality.relative(), 1.1 * now.criteria.relative_tolerance);
              if (is_last || found.result.status == SolveStatus::time_limit || (found.result.status == SolveStatus::converged && holds))
                return conclude_with(now, A, b, found);
              failure = to_string(found.result.status) + " after " + std::to_string(found.result.n_iterations) + " " +
                        found.iteration.solver->unit() + ", relative residual " + number(found.quality.relative(), 3);
            }
          catch (const InvalidInput &problem)
            {
              if (is_last)
                throw;
              failure = problem.what();
              failure = failure.substr(0, failure.find('\n'));
            }
          catch (const ConvergenceFailure &problem)
            {
              if (is_last)
                throw;
              failure = problem.what();
              failure = failure.substr(0, failure.find('\n'));
            }
          log_line("failed", text_of(attempts[i]) + ": " + failure);
        }
    }
  } // namespace

  int run(const Arguments &arguments)
  {
    const Stopwatch stopwatch;
    for (const std::string &path : {arguments.solution, arguments.history, arguments.tune ? arguments.choice : std::string()})
      if (!path.empty())
        check_can_be_written(path);
    choose_backend(arguments); // what cannot be is said before the matrix is read
    log_line("leopard-solve", std::string(" ") + version() + " (" + git_commit() + ")");
    const bool       may_have_zeros = arguments.method_name == "automatic" || arguments.method_name == "direct" || arguments.is_krylov();
    const ReadMatrix read           = read_matrix(arguments.matrix, !may_have_zeros);
    if (!arguments.analyze)
      return solve_system(arguments, read.A, read.is_symmetric, stopwatch);
    analyze_matrix(arguments, read.A, read.is_symmetric);
    return 0;
  }
} // namespace leopard::command_line
