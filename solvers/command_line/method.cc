// SPDX-License-Identifier: Apache-2.0
#include "method.h"

#include "../base/errors.h"
#include "../base/stopwatch.h"
#include "../base/words.h"
#include "../block_async/prediction.h"
#include "../device/device.h"
#include "../distributed/gpus/unlike_gpus.h"
#include "../matrix/analysis.h"
#include "../matrix/eigenvalues.h"
#include "../refinement/precision_choice.h"
#include "advice.h"
#include "memory.h"
#include "option_names.h"
#include "strong_methods.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <utility>

namespace leopard::command_line
{
  namespace
  {
    void check_device(const std::string &who, const std::string &instead = "--backend host or automatic")
    {
      if (device::n_devices() == 0)
        device::throw_no_device(who, instead);
    }

    bool is_parallel(const Arguments &a)
    {
      return a.is_relaxation() ? a.method().has_blocks && a.async.schedule != Schedule::replay : a.method_name != "direct";
    }

    std::string host_threads(const Arguments &a)
    {
      return is_parallel(a) ? "host threads" : "one host thread";
    }

    bool runs_on_gpu(const Arguments &a)
    {
      return a.method_name == "automatic" || a.runs_on(Backend::cuda);
    }

    void check_for_backend(const Arguments &a, Backend backend);

    bool suits(const Arguments &a, Backend backend)
    {
      try
        {
          check_for_backend(a, backend);
          return true;
        }
      catch (const std::runtime_error &)
        {
          return false;
        }
    }

    /** Whether the machine has a driver of GPUs, which is not asked, as its answer takes long. */
    bool has_driver()
    {
      std::error_code no_permission;
      return std::filesystem::exists("/dev/nvidiactl", no_permission) || std::filesystem::exists("/dev/dxg", no_permission);
    }

    /**
     * Whether host threads solve it before a GPU has started, which takes 0.3 s, unless very many iterations are
     * needed: a file of less than 4 MB (.gz: 1 MB), as of some 200,000 entries, and nothing is asked for that is a
     * GPU's.
     */
    bool is_small(const Arguments &a)
    {
      const std::uintmax_t most = std::filesystem::path(a.matrix).extension() == ".gz" ? 1000000 : 4000000; // bytes
      std::error_code      problem;
      const std::uintmax_t size = std::filesystem::file_size(a.matrix, problem);
      return !problem && size < most && a.backend == "automatic" && !a.is_relaxation() && a.n_gpus == 0 && !a.has("--waiting") &&
             suits(a, Backend::host) && has_driver();
    }

    /** What is chosen whether a GPU answers or not; nothing where that decides. */
    std::optional<ChosenBackend> chosen_without_gpu(const Arguments &a)
    {
      if (a.backend == "reference")
        return ChosenBackend{Backend::reference, "reference, as asked for: one thread, in sequence"};
      if (a.backend == "host")
        return ChosenBackend{Backend::host, "host, as asked for: " + host_threads(a)};
      if (a.backend == "automatic" && a.method().has_blocks && a.async.schedule == Schedule::replay)
        return ChosenBackend{Backend::host, "host: a replay does not run on a GPU: " + host_threads(a)};
      if (is_small(a))
        return ChosenBackend{Backend::host, "host: a small matrix, solved before a GPU has started (--backend cuda takes one): " + host_threads(a)};
      if (!runs_on_gpu(a))
        return ChosenBackend{Backend::host, "host: " + a.method_name + " does not run on a GPU: " + host_threads(a)};
      return {};
    }

    ChosenBackend choose(const Arguments &a)
    {
      if (a.backend == "cuda" && !runs_on_gpu(a))
        throw UsageError(
          "--backend cuda is given with --method " + a.method_name +
          (a.is_relaxation()
             ? "\n  expected: one of " + joined(method_names(as_solver, Backend::cuda))
             : ", which does not run there as it is asked for\n  expected: for cg and gmres the preconditioner multigrid, ic, ilu or one of " +
                 joined(method_names(as_preconditioner, Backend::cuda)) + "; as smoothers one of " +
                 joined(method_names(as_smoother, Backend::cuda))) +
          ", or the backend host");
      if (a.backend == "cuda")
        a.n_gpus > 0 ? check_device("--gpus", "no --gpus") : check_device("--backend cuda");
      if (const auto chosen = chosen_without_gpu(a))
        return *chosen;
      if (device::n_devices() == 0)
        return {Backend::host, "host: " + device::why_no_devices() + ": " + host_threads(a)};
      const std::string name = device::info(0).name;
      return {Backend::cuda, a.backend == "cuda" ? "cuda, as asked for: " + name : "cuda: a GPU answers: " + name};
    }

    void check_options_of_backend(const Arguments &a, Backend backend)
    {
      const auto refuse = [&](const char *option, const char *expected) {
        throw UsageError(std::string(option) + " is given, and the backend is " + to_string(backend) + "\n  expected: " + expected);
      };
      if (backend != Backend::cuda && a.async.execution != Execution::automatic)
        refuse("--execution", "it with the backend cuda only");
      if (backend != Backend::cuda && a.async.storage != Storage::automatic && a.async.storage != Storage::double_precision)
        refuse("--storage", "it with the backend cuda only; the others store doubles");
      if (backend != Backend::host && a.has("--threads"))
        refuse("--threads", "it with the backend host only");
      if (a.has("--threads") && a.has("--method") && !is_parallel(a))
        throw UsageError("--threads is given with --method " + a.method_name + ", which works in one thread\n  expected: it with another method");
    }

    /** @throws Error where what is asked for is not to be had with a backend. */
    void check_for_backend(const Arguments &a, Backend backend)
    {
      if (!a.choice.empty() && !a.tune)
        return;
      check_options_of_backend(a, backend);
      if (a.method().has_blocks)
        {
          BlockAsyncOptions options = a.async;
          options.backend           = backend;
          options.validate();
        }
    }

    /**
     * Estimates where they take long. @param max_seconds of all that is done; 0: no limit. They take half of it at
     * most, but for 40 products.
     */
    ExtremeEigenvalues eigenvalues_in_time(const CrsMatrix<double> &A, double max_seconds, const Log &log)
    {
      constexpr double tolerance = 1e-3, margin = 0.01, of_exact = 0.3, of_estimate = 0.5, share = 0.25;
      constexpr int    many_rows = 200000; // with which nothing is found in that time
      const double     most      = max_seconds > 0. ? share * max_seconds : of_estimate;
      const double     patience  = std::min(of_exact, most);
      std::string      why       = "of as many rows as these";
      if (A.n_rows <= many_rows)
        try
          {
            return extreme_eigenvalues(A, tolerance, patience);
          }
        catch (const ConvergenceFailure &)
          {
            why = "as they take longer than " + short_text(patience, 2) + " s";
          }
      const spectrum::Estimate found = spectrum::estimate_extreme(A, tolerance, std::min(of_estimate, most));
      log("eigenvalues", "estimated from inside the spectrum, " + why + ": " + found.what_is_known());
      // one that is too small would make iterations diverge
      return {found.eigenvalues.smallest, (1. + margin) * found.eigenvalues.largest};
    }

    const std::string of_tau = "--omega tau";

    /** @param max_seconds 0: no limit. */
    ExtremeEigenvalues eigenvalues_of(const CrsMatrix<double> &A, const std::string &what_for, double max_seconds, const Log &log)
    {
      log("eigenvalues", "of D^-1 A, for " + what_for + " ...");
      try
        {
          const ExtremeEigenvalues e = eigenvalues_in_time(A, max_seconds, log);
          log("eigenvalues", short_text(e.smallest, 5) + " to " + short_text(e.largest, 5));
          if (!(e.smallest > 0.))
            throw InvalidInput("the smallest eigenvalue of D^-1 A is " + short_text(e.smallest, 5) + "\n  expected: a positive definite matrix");
          return e;
        }
      catch (const InvalidInput &problem)
        {
          throw InvalidInput(what_for + ": " + problem.what());
        }
    }

    /** Of a method without blocks. */
    std::unique_ptr<Solver> make_plain(const CrsMatrix<double> &A, const Arguments &a, Backend backend, const Log &log)
    {
      MethodOptions options;
      options.backend             = backend;
      options.omega               = a.omega_is_tau ? tau_scaling(eigenvalues_of(A, of_tau, a.criteria.max_seconds, log)) : a.async.omega;
      options.chebyshev.n_threads = a.async.n_threads;
      if (a.method().has_interval)
        {
          constexpr double         margin = 1e-3; // of the interval around the eigenvalues as computed
          const ExtremeEigenvalues e      = eigenvalues_of(A, "--method " + a.method_name, a.criteria.max_seconds, log);
          options.chebyshev.lambda_min    = (1. - margin) * e.smallest;
          options.chebyshev.lambda_max    = (1. + margin) * e.largest;
        }
      const auto make = [&](const auto &matrix) { return a.method().make(matrix, options); };
      return make_solver(A, a.precision, backend, a.async.n_threads, {make, make}, a.inner_iterations);
    }

    /** omega and momentum from the eigenvalues of the matrix. */
    void complete_weights(const CrsMatrix<double> &A, const Arguments &a, BlockAsyncOptions &options, const Log &log)
    {
      if (a.omega_is_tau)
        options.omega = tau_scaling(eigenvalues_of(A, of_tau, a.criteria.max_seconds, log));
      if (!a.momentum_from_matrix)
        return;
      if (options.has_asynchronous_inner_iteration())
        throw UsageError("--momentum automatic is given with --two-stage " + to_string(options.two_stage) +
                         "\n  expected: no momentum, or --two-stage synchronous or block");
      const ExtremeEigenvalues eigenvalues = eigenvalues_of(A, "--momentum automatic", a.criteria.max_seconds, log);
      const auto               take        = [&](double caution) {
        const MomentumParameters parameters = momentum_parameters(eigenvalues, caution);
        options.omega                       = parameters.omega;
        options.momentum                    = parameters.momentum;
      };
      if (options.schedule == Schedule::synchronous && options.local_iterations == 1)
        return take(0.);
      // asynchronous iterations bear less: as much as converges in whatever order the blocks come
      constexpr double most        = 2.; // seconds of all: who iterates so long that one is not decided gains little from the next
      const double     max_seconds = a.criteria.max_seconds > 0. ? std::min(most, 0.25 * a.criteria.max_seconds) : most;
      constexpr double of_entry = 0.2e-9, least_iterations = 900.; // in three schedules, as converges_in_all_schedules() has it
      const bool       is_large = of_entry * least_iterations * options.local_iterations * A.n_entries() > max_seconds;
      const Stopwatch  stopwatch;
      for (const double caution : {0.5, 0.6, 0.7, 0.8, 0.9})
        {
          take(caution);
          const double left = is_large ? 0. : max_seconds - stopwatch.seconds();
          if (left > 0. && converges_in_all_schedules(A, options, left))
            return;
        }
      take(1.);
      const bool is_late = is_large || stopwatch.seconds() > max_seconds;
      log("warning",
          std::string("no momentum was found ") + (is_late ? "in " + short_text(max_seconds, 2) + " s " : "") + "that converges in every schedule" +
            (is_large ? ", as none can be tried out on so large a matrix in that time" : "") + ": none is taken, and omega = tau" +
            (is_late ? "\n            to do: --momentum with a number, or --schedule synchronous --local-iterations 1 --momentum" : ""));
    }

    std::string weights(const BlockAsyncOptions &options)
    {
      std::string text = "omega = " + short_text(options.omega, 5);
      if (options.momentum > 0.)
        text += ", momentum = " + short_text(options.momentum, 5);
      if (options.block_omega != 1.)
        text += ", block omega = " + short_text(options.block_omega, 5);
      return options.l1_weights ? text + ", l1 weights" : text;
    }

    std::string text(const PredictedConvergence &p)
    {
      return std::isfinite(p.iterations_a_digit) ? (p.settled ? "" : "more than (not settled in time) ") + short_text(p.iterations_a_digit, 5) +
                                                     " global iterations and " + short_text(p.sweeps_a_digit, 5) + " sweeps over the matrix a digit"
                                                 : "no convergence" + (std::isfinite(p.factor) ? " (factor " + short_text(p.factor, 5) + ")" : "");
    }

    /** Local iterations as theta says, and whether that is expected to pay. */
    void depend_on_theta(const CrsMatrix<double> &A, BlockAsyncOptions &options, const Log &log)
    {
      const PredictedConvergence without = predicted_convergence(A, options);
      const Blocks               blocks  = options.blocks(A.n_rows);
      options.local_iterations_per_block = theta_dependent_local_iterations(theta(A, blocks), blocks, options.local_iterations);
      const auto n_of                    = [&](int k) {
        const auto &all = options.local_iterations_per_block;
        return std::to_string(std::count(all.begin(), all.end(), k)) + " blocks";
      };
      const int k = options.local_iterations, fewer = std::max(1, k - 1);
      log("theta", std::to_string(k) + " local iterations in " + n_of(k) + (fewer < k ? ", " + std::to_string(fewer) + " in " + n_of(fewer) : ""));
      const PredictedConvergence with = predicted_convergence(A, options);
      log("theta", "predicted for the synchronous schedule: " + text(with) + "; without --theta " + text(without));
      constexpr double as_good = 1.02; // a prediction is not exact
      if (!std::isfinite(with.iterations_a_digit) && !std::isfinite(without.iterations_a_digit))
        log("warning",
            "no convergence is predicted, with --theta or without it\n            to do: --analyze says which options converge for this matrix");
      else if (!(with.sweeps_a_digit <= as_good * without.sweeps_a_digit) || !(with.iterations_a_digit <= 1.25 * without.iterations_a_digit))
        log("warning",
            "--theta is predicted to lose: " + text(with) + ", without it " + text(without) +
              "\n            to do: leave it out; or try other blocks (--blocks, --block-size)");
    }

    /**
     * Whether B = I - D^-1 A has no negative entry; then rho(|B|) = rho(B), and Jacobi's iteration has no wider bound.
     */
    bool has_no_negative_coupling(const CrsMatrix<double> &A)
    {
      for (int i = 0; i < A.n_rows; ++i)
        {
          double diagonal = 0., smallest = 0., largest = 0.;
          for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
            if (A.columns[p] == i)
              diagonal = A.values[p];
            else
              {
                smallest = std::min(smallest, A.values[p]);
                largest  = std::max(largest, A.values[p]);
              }
          if (diagonal > 0. ? largest > 0. : smallest < 0.)
            return false;
        }
      return true;
    }

    /** The largest row sum of |B|, B = I - D^-1 A, above which rho(|B|) is not. */
    double bound_of_radius_abs(const CrsMatrix<double> &A)
    {
      double bound = 0.;
      for (int i = 0; i < A.n_rows; ++i)
        {
          double sum = 0., diagonal = 0.;
          for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
            (A.columns[p] == i ? diagonal : sum) += std::abs(A.values[p]);
          bound = std::max(bound, sum / diagonal);
        }
      return bound;
    }

    /** Of options for which there is no bound to compare omega with: they are tried out. */
    void check_omega_by_trial(const CrsMatrix<double> &A, const BlockAsyncOptions &options, const std::string &omega, const Log &log)
    {
      constexpr double           max_seconds = 2.;
      const PredictedConvergence predicted   = predicted_convergence(A, options, max_seconds);
      if (!(predicted.factor < 1.))
        log("warning",
            omega + " is too large: tried out in the synchronous schedule, the error grows by the factor " + short_text(predicted.factor, 5) +
              " in each iteration\n            to do: a smaller omega; --analyze says which bounds there are");
    }

    /**
     * Above 2 / (1 + rho(|B|)) an asynchronous schedule need not converge (thesis, theorem 3.2.5), nor the synchronous
     * one with several local iterations; up to omega = 1 that bound is no narrower than what omega = 1 itself needs.
     */
    void check_omega(const CrsMatrix<double> &A, const BlockAsyncOptions &options, const Log &log)
    {
      constexpr double  max_seconds    = 1.; // for a warning
      const bool        is_omega       = options.omega >= options.block_omega;
      const double      omega          = is_omega ? options.omega : options.block_omega;
      const bool        is_synchronous = options.schedule == Schedule::synchronous;
      const std::string what           = (is_omega ? "omega = " : "block omega = ") + short_text(omega, 5);
      if (options.momentum > 0. || (omega <= 1. && (options.omega == 1. || options.l1_weights)))
        return;
      if (options.is_jacobi() || options.l1_weights)
        {
          if (omega > 1.)
            check_omega_by_trial(A, options, what, log);
          return;
        }
      if (reached(omega * (1. + bound_of_radius_abs(A)), 2.)) // safe, whatever the eigenvalues are
        return;
      try
        {
          const double radius      = spectrum::radius_abs(A, !spectrum::find_asymmetry(A).found, 1e-4, max_seconds),
                       bound       = largest_asynchronous_omega(radius);
          const std::string jacobi = has_no_negative_coupling(A) ? "" : ", or --schedule synchronous --local-iterations 1, whose bound may be wider";
          if (bound > 0. && omega >= bound)
            log("warning",
                what + " is not below 2 / (1 + rho(|B|)) = " + short_text(bound, 5) + " with rho(|B|) = " + short_text(radius, 5) + ", up to which " +
                  (is_synchronous ? "any number of local iterations" : "every asynchronous schedule") +
                  " converges: it may diverge\n            to do: an omega below " + short_text(bound, 5) + jacobi);
          else if (bound == 0.)
            log("warning",
                "rho(|B|) = " + short_text(radius, 5) + " >= 1: no omega makes every asynchronous schedule converge (rho(|I - omega D^-1 A|) = " +
                  short_text(spectral_radius_abs_with(options.omega, radius), 5) + "); it may diverge\n            to do: " +
                  (jacobi.empty() ? "--method gauss-seidel, if the matrix is symmetric positive definite; --analyze says more"
                                  : "--schedule synchronous --local-iterations 1, if rho(B) < 1: --analyze says"));
        }
      catch (const ConvergenceFailure &)
        {
          log("warning",
              "whether omega = " + short_text(omega, 5) +
                " is below 2 / (1 + rho(|B|)), up to which every asynchronous schedule converges, was not found out in " +
                short_text(max_seconds, 5) + " s");
        }
    }

    /** Of the solver around the method: block-asynchronous refinement is in mixed precision by itself. */
    Precision precision_around(const Arguments &a)
    {
      return a.method().corrects && a.precision == Precision::mixed ? Precision::double_precision : a.precision;
    }

    /** Double or mixed, and why. @param is_permuted the matrix, see as_in_file(). */
    Precision choose_precision(const CrsMatrix<double> &matrix, bool is_permuted, const BlockAsyncOptions &options, double tolerance, const Log &log)
    {
      const PredictedPrecision predicted = predict_precision(matrix, options, tolerance);
      log("precision", as_in_file(predicted.reason, is_permuted));
      return predicted.is_mixed() ? Precision::mixed : Precision::double_precision;
    }

    /** Does what may complain of a row: of a permuted matrix it is none of the file. */
    template <typename F>
    void with_rows_of_file(bool is_permuted, const F &f)
    {
      try
        {
          f();
        }
      catch (const InvalidInput &problem)
        {
          const std::string text = as_in_file(problem.what(), is_permuted);
          if (!is_permuted || text == problem.what())
            throw;
          throw InvalidInput(text);
        }
    }

    /** Completes options with what only the matrix, in the order of its blocks, can tell. */
    using Complete = std::function<void(const CrsMatrix<double> &matrix, BlockAsyncOptions &options)>;

    Iteration make_async(const CrsMatrix<double> &A, const Arguments &a, const TunedChoice &choice, const Complete &complete, const Log &log)
    {
      BlockAsyncOptions options = choice.options;
      Iteration         result;
      result.is_replay = options.schedule == Schedule::replay;
      result.partition = choose_partition(A, choice.shape, options.block_size);
      CrsMatrix<double> permuted;
      if (result.partition)
        {
          permuted = permute(A, *result.partition);
          if (choice.shape == BlockShape::metis)
            options.block_offsets = result.partition->block_offsets;
        }
      const bool               is_permuted = result.partition.has_value();
      const CrsMatrix<double> &matrix      = is_permuted ? permuted : A;
      if (complete)
        with_rows_of_file(is_permuted, [&] { complete(matrix, options); });
      log("blocks",
          to_string(choice.shape) + (options.overlap == Overlap::none
                                       ? ""
                                       : ", overlap of " + (options.overlap_level > 0 ? "level " + std::to_string(options.overlap_level)
                                                                                      : short_text(options.overlap_percent, 5) + " percent")));
      log("weights", weights(options));
      check_omega(matrix, options, log);
      const Precision precision = a.precision == Precision::automatic
                                    ? choose_precision(matrix, is_permuted, options, a.criteria.relative_tolerance, log)
                                    : precision_around(a);
      const auto      make      = [&](const auto &B) -> std::unique_ptr<Relaxation<std::decay_t<decltype(B.values.front())>>> {
        using Number = std::decay_t<decltype(B.values.front())>;
        if (a.n_gpus > 0)
          return make_several_gpus(B, options, a.gpus);
        return std::make_unique<BlockAsync<Number>>(B, options);
      };
      if (a.n_gpus == 0)
        say_memory("the matrix in blocks", bytes_of_blocks(matrix, options.backend), options.backend, "--method cg --preconditioner none", log);
      // what refines several GPUs' solution has its vectors where theirs begin and end
      const Backend around = a.n_gpus > 0 ? Backend::host : options.backend;
      with_rows_of_file(is_permuted, [&] {
        result.solver = make_solver(matrix, precision, around, options.n_threads, {make, make}, a.inner_iterations);
      });
      return result;
    }

    TunedChoice tuned(const CrsMatrix<double> &A, const Arguments &a, Backend backend, const Log &log)
    {
      constexpr double of_all = 0.5; // the rest is the solution's
      TuneRequest      request;
      request.backend = backend;
      request.seconds = a.tune_seconds;
      if (a.criteria.max_seconds > 0. && !a.has("--tune-seconds") && of_all * a.criteria.max_seconds < request.seconds)
        {
          request.seconds = of_all * a.criteria.max_seconds;
          log("tuning", "takes half of --max-seconds, " + short_text(request.seconds, 3) + " s, as no --tune-seconds are given");
        }
      request.n_threads = a.async.n_threads;
      request.report    = [&](const std::string &line) { log("tuning", line); };
      TunedChoice choice;
      try
        {
          choice = tune(A, request);
        }
      catch (const ConvergenceFailure &failure)
        {
          const std::string what = failure.what();
          log("tuning", "has failed: looking at the matrix ...");
          throw ConvergenceFailure(what.substr(0, what.find('\n')) + "\n  what remains: " + advice_for(A, a, nullptr) +
                                   "; or more time for the search (--tune-seconds, now " + short_text(request.seconds, 5) + ")");
        }
      if (!a.choice.empty())
        {
          write_choice(choice, A, a.choice);
          log("choice", "written to " + a.choice);
        }
      return choice;
    }

    TunedChoice choice_from_file(const CrsMatrix<double> &A, const Arguments &a, const Log &log)
    {
      TunedChoice   choice  = read_choice(a.choice, A);
      const Backend backend = choice.options.backend;
      if (a.backend != "automatic" && a.backend != to_string(backend))
        throw UsageError("--backend is " + a.backend + ", and the choice in " + a.choice + " is for the backend " + to_string(backend) +
                         "\n  expected: the same, or --tune anew");
      if (backend == Backend::cuda)
        check_device("the choice in " + a.choice + " is for the backend cuda");
      if (a.has("--threads"))
        {
          if (backend != Backend::host)
            throw UsageError("--threads is given, and the choice in " + a.choice + " is for the backend " + to_string(backend) +
                             "\n  expected: it with the backend host only");
          choice.options.n_threads = a.async.n_threads;
        }
      log("choice", "of " + a.choice + ", for the backend " + to_string(backend));
      return choice;
    }
    /** A method that is no relaxation, with its blocks if something in it has blocks in the numbering of A. */
    Iteration make_strong(const CrsMatrix<double> &A, const Arguments &a, Backend backend, const Log &log)
    {
      Iteration result;
      if (a.is_krylov() && !a.has_multigrid() && a.method().has_blocks) // multigrid orders its levels by itself
        result.partition = choose_partition(A, a.shape, a.async.block_size);
      if (!result.partition)
        {
          result.solver = make_strong_method(A, a, backend, log);
          return result;
        }
      log("blocks", to_string(a.shape) + ", the matrix is permuted for them");
      Arguments with_blocks = a;
      if (a.shape == BlockShape::metis)
        with_blocks.async.block_offsets = result.partition->block_offsets;
      with_rows_of_file(true, [&] { result.solver = make_strong_method(permute(A, *result.partition), with_blocks, backend, log); });
      return result;
    }
  } // namespace

  ChosenBackend choose_backend(const Arguments &arguments)
  {
    ChosenBackend result = choose(arguments);
    check_for_backend(arguments, result.backend);
    return result;
  }

  bool may_take_gpu(const Arguments &arguments)
  {
    return !chosen_without_gpu(arguments);
  }

  bool suits_all_backends(const Arguments &arguments)
  {
    return suits(arguments, Backend::host) && suits(arguments, Backend::cuda);
  }

  std::optional<Partition> choose_partition(const CrsMatrix<double> &A, BlockShape shape, int block_size)
  {
    if (shape == BlockShape::contiguous)
      return {};
    return shaped_partition(A, shape, block_size);
  }

  Iteration make_iteration(const CrsMatrix<double> &A, const Arguments &a, const ChosenBackend &backend, const Log &log)
  {
    const bool reads_choice = !a.choice.empty() && !a.tune;
    if (!reads_choice)
      log("backend", backend.text);
    if (a.n_gpus > 1 && a.gpus.shares.empty() && a.n_gpus <= device::n_devices())
      if (const std::string unlike = unlike_gpus(a.gpus.devices); !unlike.empty())
        log("GPUs", "not alike: " + unlike + "; equal shares are as fast as the slowest, --shares gives each its own");
    Iteration result;
    if (!a.is_relaxation())
      result = make_strong(A, a, backend.backend, log);
    else if (!a.method().has_blocks)
      result.solver = make_plain(A, a, backend.backend, log);
    else if (a.tune)
      result = make_async(A, a, tuned(A, a, backend.backend, log), nullptr, log);
    else if (reads_choice)
      result = make_async(A, a, choice_from_file(A, a, log), nullptr, log);
    else
      {
        TunedChoice choice;
        choice.shape           = a.shape;
        choice.options         = a.async;
        choice.options.backend = backend.backend;
        const auto complete    = [&](const CrsMatrix<double> &matrix, BlockAsyncOptions &options) {
          complete_weights(matrix, a, options, log);
          if (a.theta)
            depend_on_theta(matrix, options, log);
        };
        result = make_async(A, a, choice, complete, log);
      }
    return result;
  }
} // namespace leopard::command_line
