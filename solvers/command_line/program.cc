// SPDX-License-Identifier: Apache-2.0
#include "program.h"

#include "../base/errors.h"
#include "../base/stopwatch.h"
#include "../base/thread_pool.h"
#include "../base/whole_file.h"
#include "../base/words.h"
#include "../device/device.h"
#include "../matrix/analysis.h"
#include "../matrix/eigenvalues.h"
#include "../matrix/matrix_entries.h"
#include "../multigrid/aggregation.h"
#include "advice.h"
#include "automatic.h"
#include "conclusion.h"
#include "contradictions.h"
#include "going_on.h"
#include "gpus.h"
#include "method.h"
#include "nodes.h"
#include "option_names.h"
#include "quality.h"
#include "read_system.h"
#include "report.h"
#include "scaled_system.h"
#include "singular.h"

#include <leopard/version.h>

#include <algorithm>
#include <cmath>
#include <future>
#include <limits>
#include <system_error>
#include <vector>

namespace leopard::command_line
{
  namespace
  {
    std::string first_line(const std::string &text)
    {
      return text.substr(0, text.find('\n'));
    }

    /** Since the program began. */
    struct Times
    {
      Stopwatch stopwatch;
      double    reading = 0.; ///< seconds until the matrix was there
    };

    /**
     * Makes the GPU ready, if there is one, which takes some tenths of a second, while something else is done. What
     * goes wrong there goes wrong again where it is used; without a thread for it, it is made ready later.
     */
    std::future<void> wake_gpu()
    {
      try
        {
          return std::async(std::launch::async, [] {
            try
              {
                if (device::n_devices() > 0)
                  device::synchronize();
              }
            catch (const DeviceError &)
              {
              }
          });
        }
      catch (const std::system_error &)
        {
          return {};
        }
    }

    /**
     * How long the methods take together until one of them has solved it, for a right-hand side of moderate size:
     * tried, for a second in all; where that is not enough for the last of them, from what it has reached. Sparse
     * factors, which no time interrupts, are tried where they are the first only.
     */
    std::string predicted_time(const CrsMatrix<double> &A, const std::vector<Attempt> &attempts, const Arguments &arguments)
    {
      constexpr double trial_seconds = 1., enough = 0.5; // enough: what a trial must reach to tell anything
      const Log        quiet = [](const std::string        &/*what*/, const std::string        &/*text*/) {};
      const Stopwatch  stopwatch;
      std::string      in_vain, last_failure;
      for (std::size_t k = 0; k < attempts.size(); ++k)
        {
          const double before = stopwatch.seconds(); // of methods in vain
          Arguments    now    = with_attempt(arguments, at_its_turn(attempts[k], A, arguments.criteria.relative_tolerance, trial_seconds - before));
          now.criteria.max_seconds = trial_seconds - before;
          if (!(now.criteria.max_seconds > 0.) || (k > 0 && now.method_name == "direct"))
            return "more than " + duration(before) + ", the time of what fails (" + in_vain + "); that of " + text_of(attempts[k]) + " is not told";
          std::vector<double> b(A.n_rows), x(A.n_rows);
          for (int i = 0; i < A.n_rows; ++i)
            x[i] = 1. + 0.5 * std::sin(10. * i / A.n_rows);
          multiply(A, x.data(), b.data());
          try
            {
              const ChosenBackend backend   = choose_backend(now);
              const Iteration     iteration = make_iteration(A, now, backend, quiet);
              const double        set_up    = stopwatch.seconds() - before;
              const SolveResult result = iteration.solver->solve(iteration.partition ? permute(b, *iteration.partition) : b, now.criteria, x, quiet);
              const std::string of_set_up = ", " + short_text(set_up, 2) + " s of them set-up, on the backend " + to_string(backend.backend) +
                                            (in_vain.empty() ? "" : ", and " + short_text(before, 2) + " s of what fails (" + in_vain + ")");
              const double reached_so_far = result.final_residual / norm(b);
              if (result.status == SolveStatus::converged)
                return "about " + duration(before + set_up + result.seconds) + of_set_up + ": measured, " + std::to_string(result.n_iterations) +
                       " " + iteration.solver->unit();
              if (result.status == SolveStatus::time_limit && !(reached_so_far > 0. && reached_so_far < enough))
                return "not told by a trial of " + short_text(trial_seconds, 3) + " s, in which the residual only fell to " +
                       short_text(reached_so_far, 2) + " of the right-hand side";
              const double n_expected = std::log(now.criteria.relative_tolerance) / std::log(reached_so_far) * result.n_iterations;
              const int    limit      = attempts[k].max_iterations > 0 ? now.criteria.max_iterations + now.more_iterations : 0;
              if (result.status == SolveStatus::time_limit && limit > 0 && n_expected > limit && k + 1 < attempts.size() &&
                  !patient(attempts[k], reached_so_far, attempts[k + 1], A))
                return "not told: at the pace of the first " + std::to_string(result.n_iterations) + " " + iteration.solver->unit() +
                       ", more would be needed than the " + std::to_string(limit) + " after which the next method is tried";
              if (result.status == SolveStatus::time_limit)
                return "about " + duration(before + set_up + std::log(now.criteria.relative_tolerance) / std::log(reached_so_far) * result.seconds) +
                       of_set_up + ": from a trial of " + std::to_string(result.n_iterations) + " " + iteration.solver->unit() + ", which reached " +
                       short_text(reached_so_far, 2) + " of the right-hand side in " + short_text(result.seconds, 2) + " s";
              last_failure = to_string(result.status) + " at " + short_text(reached_so_far, 2) + " of the right-hand side";
            }
          catch (const Error &problem)
            {
              last_failure = first_line(problem.what());
            }
          in_vain += (in_vain.empty() ? "" : ", ") + text_of(attempts[k]);
        }
      return "not told, as trials failed (" + in_vain + "): " + last_failure;
    }

    /** -A x = -b for a symmetric matrix whose diagonal is negative, so that it may be positive definite. */
    void negate_if_negative(CrsMatrix<double> &A, std::vector<double> &b, bool is_symmetric)
    {
      for (int i = 0; i < A.n_rows && is_symmetric; ++i)
        is_symmetric = entry(A, i, i) < 0.;
      if (!is_symmetric)
        return;
      log_line("negated", "the matrix is symmetric, and its diagonal negative: -A x = -b is solved");
      for (std::vector<double> *values : {&A.values, &b})
        for (double &value : *values)
          value = -value;
    }

    /**
     * What is done to a system before methods are chosen. @param b_is_product see complete_zero_rows(). @throws
     * InvalidInput where that shows that it has no solution. @return why_structurally_singular(), where rows have no
     * diagonal entry.
     */
    std::string prepare(CrsMatrix<double> &A, std::vector<double> &b, bool is_symmetric, bool b_is_product)
    {
      const ZeroRows zero = complete_zero_rows(A, b, b_is_product);
      if (const int n = zero.n - zero.n_paired - zero.n_alone; n > 0)
        log_line("zero rows", std::to_string(n) + " rows and columns are zero, and so is b there: x = 0 is taken in these");
      if (zero.n_paired > 0)
        log_line("zero rows",
                 std::to_string(zero.n_paired) + " rows are zero, and so is b there, and as many other columns, of which x may be any number: " +
                   (b_is_product ? "1" : "0") + " is taken");
      if (zero.n_alone > 0)
        log_line("zero rows",
                 std::to_string(zero.n_alone) + " rows are zero, and so is b there, and their columns are not: the matrix is singular, and of its " +
                   "solutions one with x = 0 in these is looked for" + (b_is_product ? "; b = A x for such an x" : ""));
      if (zero.first_column >= 0)
        log_line("zero rows",
                 "column " + std::to_string(zero.first_column + 1) +
                   " is empty or zero, and its row is not: the matrix is singular, and there is a solution for some right-hand sides only");
      negate_if_negative(A, b, is_symmetric);
      std::string singular = !zero.had_whole_diagonal && zero.first_column < 0 && row_without_diagonal(A) >= 0 ? why_structurally_singular(A) : "";
      if (!singular.empty())
        log_line("singular", singular + "; there is a solution for some right-hand sides only");
      return singular;
    }

    /**
     * Some steps of the Lanczos method, in about 0.1 seconds, for MatrixTraits::why_indefinite of a symmetric matrix
     * with positive diagonal of which entries alone do not tell that it is definite or not.
     */
    void look_for_negative_eigenvalues(const CrsMatrix<double> &A, MatrixTraits &traits)
    {
      constexpr double seconds = 0.1;
      if (traits.is_symmetric && traits.has_positive_diagonal && !traits.is_dominant && traits.why_indefinite.empty() &&
          spectrum::finds_negative_eigenvalue(A, seconds))
        traits.why_indefinite = "some steps of the Lanczos method find an eigenvalue below zero";
    }

    /**
     * What --method automatic would do, "cg preconditioned by multigrid (symmetric ...); where it fails, ...", and how
     * long that takes.
     */
    struct Plan
    {
      std::string methods, seconds;
    };

    Plan plan_for(CrsMatrix<double> A, bool is_symmetric, Arguments arguments)
    {
      arguments.method_name = "automatic";
      std::vector<double> b(A.n_rows, 0.);
      prepare(A, b, is_symmetric, false);
      MatrixTraits traits = look_at(A, is_symmetric);
      arguments           = with_found_nodes(with_units_of_unknowns(std::move(arguments), A, traits), A, traits);
      Plan plan;
      if (ScaledSystem system = equilibrated(arguments, A, b, traits); system.is_scaled())
        {
          traits       = look_at(system.A, is_symmetric);
          A            = std::move(system.A);
          arguments    = std::move(system.arguments);
          plan.methods = "for " + system.scaling.text + ": ";
        }
      look_for_negative_eigenvalues(A, traits);
      const std::vector<Attempt> attempts = attempts_for(A, traits, arguments);
      for (std::size_t i = 0; i < attempts.size(); ++i)
        plan.methods += (i == 0 ? "" : "; where it fails, ") + text_of(attempts[i]) + " (" + attempts[i].why + ")";
      plan.seconds = predicted_time(A, attempts, arguments);
      return plan;
    }

    void analyze_relaxation(const Arguments &arguments, const CrsMatrix<double> &A)
    {
      const std::optional<Partition> partition = choose_partition(A, arguments.shape, arguments.async.block_size);
      BlockAsyncOptions              options   = arguments.async;
      if (arguments.shape == BlockShape::metis)
        options.block_offsets = partition->block_offsets;
      log_line("blocks", to_string(arguments.shape) + ", of up to " + std::to_string(options.block_size) + " rows");
      const Blocks         blocks = options.blocks(A.n_rows);
      const MatrixAnalysis found  = partition ? spectrum::analyze_in_time(permute(A, *partition), blocks) : spectrum::analyze_in_time(A, blocks);
      print(found.text());
      print("as a relaxation:         " + what_helps(found, arguments) + "\n");
    }

    void try_to_analyze_relaxation(const Arguments &arguments, const CrsMatrix<double> &A)
    {
      try
        {
          analyze_relaxation(arguments, A);
        }
      catch (const ConvergenceFailure &failure)
        {
          print("as a relaxation:         not found out: " + first_line(failure.what()) + "\n");
        }
    }

    void analyze_matrix(const Arguments &given, CrsMatrix<double> A, bool is_symmetric)
    {
      const Arguments arguments = with_nodes(given, A);
      if (const int row = row_without_diagonal(A); row >= 0)
        print("as a relaxation:         none, as the diagonal entry of row " + std::to_string(row + 1) +
              " is zero or missing, and relaxation divides by it\n");
      else
        try_to_analyze_relaxation(arguments, A);
      try
        {
          const Plan plan = plan_for(std::move(A), is_symmetric, arguments);
          print("--method automatic:      " + plan.methods + "\npredicted time:          " + plan.seconds + "\n");
        }
      catch (const InvalidInput &problem)
        {
          print("--method automatic:      none: " + first_line(problem.what()) + "\n");
        }
    }

    void say_how_it_varies(const Arguments &arguments, Backend backend, const Iteration &iteration)
    {
      if (iteration.is_replay || (arguments.async.uses_seed(backend) && !iteration.solver->is_fixed_linear_map()))
        log_line("", "replayed: this seed gives the same result in every run");
      else if (!iteration.solver->is_fixed_linear_map())
        log_line("",
                 std::string("asynchronous: results vary from run to run, within the tolerance; ") +
                   (arguments.has_factors() && arguments.triangular_solves == "automatic" ? "--triangular exact"
                    : arguments.async.two_stage == TwoStage::inner                        ? "--backend host"
                                                                                          : "--schedule replay") +
                   " gives the same ones in every run");
    }

    Solution
    solve_by(const Arguments &arguments, const ChosenBackend &backend, const CrsMatrix<double> &A, const std::vector<double> &b, const Times &times)
    {
      Solution        found;
      const Stopwatch of_this; // the set-up takes of max_seconds, too
      found.iteration = make_iteration(A, arguments, backend, log_line);
      device::EnergyMeter meter(device::energy_sources(backend.backend == Backend::cuda));
      Solver             &solver    = *found.iteration.solver;
      const auto         &partition = found.iteration.partition;
      const std::string   about     = solver.description();
      log_line("method", solver.name() + (about.empty() ? "" : ": " + about));
      say_how_it_varies(arguments, backend.backend, found.iteration);
      found.seconds_reading            = times.reading;
      found.seconds_preparing          = times.stopwatch.seconds() - times.reading;
      const device::EnergyUse before   = meter.read();
      StoppingCriteria        criteria = arguments.criteria;
      if (criteria.max_seconds > 0.)
        criteria.max_seconds = std::max(1e-9, criteria.max_seconds - of_this.seconds());
      found.result = solver.solve(partition ? permute(b, *partition) : b, criteria, found.x, log_line);
      if (found.result.status == SolveStatus::iteration_limit && arguments.more_iterations > 0)
        go_on(found, A, b, arguments.more_iterations, criteria);
      found.energy = meter.read().since(before);
      if (partition)
        found.x = permute_back(found.x, *partition);
      found.quality = found.solved = quality_of(A, found.x, b);
      if (arguments.criteria.relative_tolerance > 0.)
        judge(found, arguments.criteria.relative_tolerance);
      return found;
    }

    /** Before the GPU is used for anything. @throws UsageError where none is. */
    void choose_waiting(const Arguments &arguments)
    {
      if (!arguments.has("--waiting"))
        return;
      if (device::n_devices() > 0)
        device::set_waiting(arguments.waiting);
      if (const Backend backend = choose_backend(arguments).backend; backend != Backend::cuda)
        throw UsageError("--waiting is given, and the backend is " + to_string(backend) +
                         "\n  expected: it with the backend cuda only, which is waited for");
    }

    /** The system of the file by one method. */
    Solution
    attempt_by(const Arguments &arguments, const CrsMatrix<double> &A, const std::vector<double> &b, const ScaledSystem &system, const Times &times)
    {
      say_what_is_unused(arguments);
      const ChosenBackend backend = choose_backend(arguments);
      Solution found = system.is_scaled() ? solve_by(arguments, backend, system.A, system.b, times) : solve_by(arguments, backend, A, b, times);
      if (system.is_scaled())
        return_from_scaled(found, system, A, b, arguments.criteria);
      acknowledge(found, arguments.criteria.relative_tolerance);
      return found;
    }

    /** Of an x so large that rounding errors of A x are no small part of b. */
    bool is_useless(const Solution &found)
    {
      return !reached(found.quality.relative(), 1e-3) || !found.quality.is_known(1e-3);
    }

    /**
     * Whether no other method is to be tried. @param is_singular of which another x may have smaller rounding errors.
     */
    bool is_settled(const Solution &found, double tolerance, bool is_singular)
    {
      constexpr double of_rounding = 1e-8; // of an equation's own terms; above, another method may satisfy it better
      switch (found.result.status)
        {
          case SolveStatus::converged:
            return true;
          case SolveStatus::stagnated: // where rounding errors are in the way
            return !is_singular && !is_useless(found) && reached(found.quality.of_each_row, of_rounding) &&
                   (found.quality.is_rounding() ||
                    (!found.is_scaled && found.solved.is_rounding() && !reached(found.solved.relative_rounding(), tolerance)));
          default:
            return found.result.status == SolveStatus::time_limit;
        }
    }

    /** Of a matrix that is not definite, after attempt i. @return whether that was the last one, then. */
    bool leave_out_cg(std::vector<Attempt> &attempts, std::size_t i)
    {
      attempts.erase(std::remove_if(attempts.begin() + static_cast<long>(i) + 1, attempts.end(), [](const Attempt &a) { return a.method == "cg"; }),
                     attempts.end());
      return i + 1 == attempts.size();
    }

    /** Before a solve with --gpus. */
    void say_whether_one_gpu_suits(const Arguments &arguments, const CrsMatrix<double> &A, const MatrixTraits &traits)
    {
      if (arguments.n_gpus > 0)
        if (const std::string why = why_one_gpu(A, traits); !why.empty())
          log_line("GPUs", why);
    }

    /** Of a matrix that factors have called singular, after what was tried for it then. */
    class SingularInVain : public InvalidInput
    {
    public:
      SingularInVain(const std::string &singular, const std::string &what_was_tried)
        : InvalidInput(first_line(singular) + "; " + what_was_tried + "\n  expected: a regular matrix, or a right-hand side in its range")
      {
      }
    };

    /** After an attempt for a matrix that factors have called singular. @throws SingularInVain. */
    void say_what_is_singular(const Attempt &attempt, const Solution &found, bool is_last, const std::string &singular)
    {
      const SolveStatus status = found.result.status;
      if (status == SolveStatus::converged)
        return log_line("singular", "the matrix is singular: x is determined up to its null space");
      if (!is_last)
        return;
      if (status != SolveStatus::iteration_limit && status != SolveStatus::time_limit)
        throw SingularInVain(singular, text_of(attempt) + " ends at the relative residual " + short_text(found.quality.relative(), 3));
      log_line("singular",
               "the matrix is singular, and " + text_of(attempt) + " has not found out whether b is in its range" +
                 "\n            to do: where the residual still falls, a larger --max-iterations or --max-seconds");
    }

    /** Before attempt i. @param is_free whether the precision was its to choose. */
    void say_what_is_tried(const Attempt &attempt, bool is_first, const Arguments &now, bool is_free)
    {
      if (attempt.why != "as asked for")
        log_line(is_first ? "automatic" : "next", text_of(attempt) + ": " + attempt.why);
      if (attempt.triangular && !attempt.is_exact_next)
        log_line("triangular", attempt.triangular->text + (attempt.triangular->is_asynchronous() ? "; should they fail, exact ones" : ""));
      if (is_free && now.precision == Precision::double_precision)
        log_line("precision",
                 now.method_name != "direct" ? "double, as single does not do for this matrix"
                                             : "double, as " + text_of(attempt) + " has nothing in single precision");
    }

    /** Where the time ends with a worse one; what ended that attempt is no reason any more. */
    void keep(Solution &best, const Solution &last)
    {
      best.result.status = SolveStatus::time_limit;
      log_line("kept",
               "the solution of an earlier attempt, whose residual is smaller: " + short_text(best.quality.relative(), 3) + " for " +
                 short_text(last.quality.relative(), 3));
    }

    /** One method after the other, as far as needed. @param singular why the matrix is; empty: that is not known. */
    int solve_by_attempts(const Arguments           &arguments,
                          const CrsMatrix<double>   &A,
                          const std::vector<double> &b,
                          const ScaledSystem        &system,
                          const MatrixTraits        &traits,
                          std::string                singular,
                          const Stopwatch           &since_read,
                          const Times               &times)
    {
      const auto              seconds_left = [&] { return arguments.criteria.max_seconds - since_read.seconds(); };
      std::vector<Attempt>    attempts     = attempts_for(A, traits, arguments);
      const double            tolerance    = arguments.criteria.relative_tolerance;
      std::optional<Solution> best; // of those that are not good enough, and what it was found with
      Arguments               of_best;
      for (std::size_t i = 0;; ++i)
        {
          const Stopwatch of_this;
          const double    rest              = arguments.criteria.max_seconds > 0. ? seconds_left() : std::numeric_limits<double>::infinity();
          Arguments       now               = with_attempt(arguments, at_its_turn(attempts[i], A, tolerance, rest));
          const bool      is_free_multigrid = arguments.precision == Precision::automatic && now.method_name == "multigrid";
          const bool      is_free_krylov    = now.is_krylov() && (now.is_automatic || arguments.precision != Precision::mixed);
          const bool      chose_single =
            (is_free_multigrid && now.precision == Precision::automatic) || (is_free_krylov && now.precision == Precision::mixed);
          now.double_follows            = chose_single;
          bool       is_last            = i + 1 == attempts.size();
          const auto try_in_double_next = [&] {
            attempts.insert(attempts.begin() + static_cast<long>(i) + 1, attempts[i]);
            attempts[i + 1].in_double = true;
            attempts[i + 1].why       = "the same with cycles in double precision";
            is_last                   = false;
          };
          say_what_is_tried(attempts[i], i == 0, now, arguments.precision == Precision::mixed || is_free_multigrid);
          if (arguments.criteria.max_seconds > 0.)
            now.criteria.max_seconds = std::max(1e-9, seconds_left());
          std::string failure;
          try
            {
              Solution   found         = attempt_by(now, A, b, system, times);
              const bool is_indefinite = !traits.is_singular && found.iteration.solver->has_found_indefinite();
              if (is_indefinite)
                is_last = leave_out_cg(attempts, i);
              if (found.result.status == SolveStatus::iteration_limit && arguments.method_name != "automatic" && arguments.has("--max-iterations"))
                is_last = leave_out_exact_solves(attempts, i);
              if (chose_single && !is_indefinite && !found.iteration.solver->stands_still() &&
                  (found.result.status == SolveStatus::diverged || found.result.status == SolveStatus::stagnated))
                try_in_double_next();
              if (found.result.status == SolveStatus::iteration_limit && !is_last && !arguments.has("--max-iterations"))
                if (const auto more = patient(attempts[i], found.quality.relative(), attempts[i + 1], A))
                  attempts.insert(attempts.begin() + static_cast<long>(i) + 1, *more);
              if (attempts[i].is_for_singular && !singular.empty())
                say_what_is_singular(attempts[i], found, is_last, singular);
              const bool is_late   = arguments.criteria.max_seconds > 0. && !(seconds_left() > 0.);
              const bool is_better = !best || found.quality.residual < best->quality.residual;
              const bool tells_why = is_last && best && is_useless(*best) && is_useless(found) && found.solved.is_rounding(); // singular
              if ((is_late || found.result.status == SolveStatus::time_limit) && found.result.status != SolveStatus::converged && !is_better)
                {
                  keep(*best, found);
                  return conclude(of_best, A, b, *best);
                }
              if (is_settled(found, tolerance, traits.is_singular) || is_late || (is_last && is_better) || tells_why)
                return conclude(now, A, b, found);
              failure = to_string(found.result.status) + " after " + std::to_string(found.result.n_iterations) + " " +
                        found.iteration.solver->unit() + ", relative residual " + text_of_residual(found.quality.relative(), 3);
              if (is_better && std::isfinite(found.quality.residual))
                {
                  best    = std::move(found);
                  of_best = now;
                }
            }
          catch (const SingularInVain &)
            {
              throw;
            }
          catch (const Error &problem)
            {
              const bool is_of_matrix =
                dynamic_cast<const InvalidInput *>(&problem) != nullptr || dynamic_cast<const ConvergenceFailure *>(&problem) != nullptr;
              if (dynamic_cast<const InvalidInput *>(&problem) != nullptr)
                is_last = leave_out_exact_solves(attempts, i); // it is the factors that are not to be had
              if (dynamic_cast<const LevelsFillUp *>(&problem) != nullptr)
                is_last = leave_out_levels(attempts, i);
              else if (is_of_matrix && chose_single)
                try_in_double_next();
              if (is_of_matrix && attempts[i].is_for_singular && !singular.empty())
                throw SingularInVain(singular, text_of(attempts[i]) + ": " + first_line(as_in_file(problem.what())));
              if (!is_of_matrix || (is_last && !best))
                throw;
              if (now.method_name == "direct" && singular.empty()) // else it is known why
                singular = problem.what();
              failure = first_line(as_in_file(problem.what()));
            }
          log_line("failed", text_of(attempts[i]) + ": " + failure + " (" + short_text(of_this.seconds(), 2) + " s)");
          if (is_last)
            return conclude(of_best, A, b, *best);
        }
    }

    int solve_system(const Arguments &given, CrsMatrix<double> A, bool is_symmetric, const Times &times)
    {
      Arguments           arguments = with_nodes(given, A);
      std::vector<double> b         = right_hand_side(A, arguments.rhs);
      const Stopwatch     since_read; // of which --max-seconds is a limit
      check_size_of_solution(A, b);
      if (arguments.is_relaxation())
        {
          if (arguments.rhs.empty())
            check_range(A, is_symmetric, b, arguments.criteria.relative_tolerance, false);
          if (arguments.n_gpus > 0)
            say_whether_one_gpu_suits(arguments, A, look_at(A, is_symmetric));
          return conclude(arguments, A, b, attempt_by(arguments, A, b, ScaledSystem(), times));
        }
      if (arguments.method_name == "cg" && !is_symmetric)
        log_line("warning", "the matrix is not symmetric, as CG needs it: iterations may be in vain\n            to do: --method gmres or automatic");
      const std::string singular = prepare(A, b, is_symmetric, arguments.rhs.empty());
      if (arguments.method_name == "multigrid" ||
          (arguments.is_krylov() && arguments.preconditioner != "none" && arguments.preconditioner != "automatic"))
        check_diagonal(A, arguments.matrix);
      check_range(A, is_symmetric, b, arguments.criteria.relative_tolerance, !arguments.rhs.empty());
      MatrixTraits traits       = look_at(A, is_symmetric);
      arguments                 = with_found_nodes(with_units_of_unknowns(std::move(arguments), A, traits), A, traits);
      const bool         scales = arguments.method_name == "automatic" || (arguments.precision == Precision::mixed && !is_symmetric);
      const ScaledSystem system = scales ? equilibrated(arguments, A, b, traits) : ScaledSystem();
      if (system.is_scaled())
        traits = look_at(system.A, is_symmetric);
      if (arguments.method_name == "automatic")
        look_for_negative_eigenvalues(system.is_scaled() ? system.A : A, traits);
      say_whether_one_gpu_suits(arguments, system.is_scaled() ? system.A : A, traits);
      return solve_by_attempts(system.is_scaled() ? system.arguments : arguments, A, b, system, traits, singular, since_read, times);
    }
  } // namespace

  int run(const Arguments &arguments)
  {
    Times times;
    check_names_of_vectors(arguments);
    for (const std::string &path : {arguments.solution, arguments.history, arguments.tune ? arguments.choice : std::string()})
      if (!path.empty())
        check_can_be_written(path);
    choose_waiting(arguments);
    std::future<void> waking; // ends where this function does
    if (may_take_gpu(arguments))
      waking = wake_gpu();
    if (arguments.backend != "automatic" || !suits_all_backends(arguments)) // what cannot be is said before the matrix is read
      choose_backend(arguments);
    const auto threads = shared_thread_pool(0); // for all that is done, so that they are made once
    log_line("leopard-solve", std::string(" ") + version() + " (" + git_commit() + ")");
    if (!arguments.asks_for_async.empty())
      log_line("chosen", "--method async, as " + arguments.asks_for_async + " is given, which only relaxations know");
    // of others zero rows are completed first
    ReadMatrix read = read_matrix(arguments.matrix, arguments.is_relaxation() && !arguments.analyze);
    times.reading   = times.stopwatch.seconds();
    if (!arguments.analyze)
      return solve_system(arguments, std::move(read.A), read.is_symmetric, times);
    analyze_matrix(arguments, std::move(read.A), read.is_symmetric);
    return 0;
  }
} // namespace leopard::command_line
