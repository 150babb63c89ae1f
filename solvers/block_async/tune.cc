// SPDX-License-Identifier: Apache-2.0
#include "tune.h"

#include "../base/errors.h"
#include "../base/stopwatch.h"
#include "../base/words.h"
#include "../device/device.h"
#include "../device/device_vector.h"
#include "../matrix/analysis.h"
#include "../matrix/eigenvalues.h"
#include "../matrix/row_sums.h"
#include "prediction.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

namespace leopard
{
  Partition TunedChoice::partition(const CrsMatrix<double> &A) const
  {
    return shaped_partition(A, shape, options.block_size);
  }

  namespace
  {
    constexpr double reduction = 1e-4; ///< of the residual, at which a candidate's run ends

    /** Of all rows, but for rounding. */
    bool has_zero_row_sums(const CrsMatrix<double> &A)
    {
      for (int i = 0; i < A.n_rows; ++i)
        if (kind_of_row_sum(A, i) != RowSum::zero)
          return false;
      return true;
    }

    /** x and b where the relaxation wants them. */
    class Vectors
    {
    public:
      Vectors(const Relaxation<double> &relaxation, const std::vector<double> &b_)
        : x(b_.size(), 0.)
        , b(b_)
      {
        if (relaxation.memory_space() == MemorySpace::host)
          return;
        device_x.emplace(b.size());
        device_b.emplace(b.size());
        device_b->copy_from_host(b.data());
      }

      double *zero_x()
      {
        std::fill(x.begin(), x.end(), 0.);
        if (!device_x)
          return x.data();
        *device_x = 0.;
        return device_x->data();
      }

      const double *right_hand_side() const { return device_b ? device_b->data() : b.data(); }

    private:
      std::vector<double>                 x;
      const std::vector<double>          &b;
      std::optional<DeviceVector<double>> device_x, device_b;
    };

    /** The search: the best choice so far, and what is tried next. */
    class Tuner
    {
    public:
      Tuner(const CrsMatrix<double> &A_, const TuneRequest &request_)
        : A(A_)
        , request(request_)
        , start(now())
        , maps_ones_to_zero(has_zero_row_sums(A_))
      {
        base.options.backend    = request.backend;
        base.options.n_threads  = request.n_threads;
        base.options.storage    = request.storage;
        base.options.block_size = std::max(1, std::min(256, A.n_rows));
      }

      TunedChoice search()
      {
        find_eigenvalues();
        try_blocks(0.4);
        try_local_iterations(0.52);
        try_momentum(0.75);
        try_omega(0.8);
        try_execution(0.88);
        confirm();
        if (!found)
          throw ConvergenceFailure("tuning: none of the " + std::to_string(n_tried) + " candidates converges in " + short_text(now() - start, 3) +
                                   " s for this matrix\n  expected: a matrix for which a block-asynchronous iteration converges, or more time");
        report("chosen: " + describe(best) + ": " + short_text(best.seconds_a_digit, 3) + " s a digit");
        return best;
      }

    private:
      /** What is common to all candidates with the same blocks. */
      struct System
      {
        BlockShape          shape;
        int                 block_size;
        std::vector<int>    block_offsets;
        CrsMatrix<double>   matrix;
        std::vector<double> b;
      };

      void report(const std::string &line) const
      {
        if (request.report)
          request.report(line);
      }

      double time_left(double until) const { return start + until * request.seconds - now(); }

      std::string describe(const TunedChoice &choice) const
      {
        const BlockAsyncOptions &o    = choice.options;
        std::string              text = (request.partition ? "" : to_string(choice.shape) + " ") + "blocks of " + std::to_string(o.block_size) +
                           ", k = " + std::to_string(o.local_iterations) + ", omega = " + short_text(o.omega, 4) +
                           ", momentum = " + short_text(o.momentum, 4);
        return o.backend == Backend::cuda ? text + ", " + to_string(o.execution) : text;
      }

      void find_eigenvalues()
      {
        if (!request.weights)
          return;
        if (spectrum::row_without_positive_diagonal(A) >= 0 || spectrum::find_asymmetry(A).found)
          {
            report("not symmetric with positive diagonal: no momentum, no tau scaling");
            return;
          }
        const ExtremeEigenvalues e = spectrum::estimate_extreme(A, 0.01, 0.15 * request.seconds).eigenvalues;
        if (!(e.smallest > 0.))
          {
            report("smallest eigenvalue " + short_text(e.smallest, 3) + ", not positive definite: no momentum, no tau scaling");
            return;
          }
        eigenvalues = e;
        report("eigenvalues of D^-1 A: " + short_text(e.smallest, 4) + " to " + short_text(e.largest, 4));
        if (e.largest >= 2.)
          {
            base.options.omega = tau_scaling(e);
            report("Jacobi diverges: beginning with omega = tau = " + short_text(base.options.omega, 4));
          }
      }

      const System &system_of(const TunedChoice &choice)
      {
        for (std::optional<System> *system : {&best_system, &last_system})
          if (*system && (*system)->shape == choice.shape && (*system)->block_size == choice.options.block_size)
            return **system;
        Partition partition = request.partition ? request.partition(choice.options.block_size) : choice.partition(A);
        System    system{choice.shape, choice.options.block_size, {}, permute(A, partition), std::vector<double>(A.n_rows)};
        system.block_offsets = std::move(partition.block_offsets);
        std::vector<double> solution(A.n_rows, 1.);
        for (int i = 0; i < A.n_rows && maps_ones_to_zero; ++i)
          solution[i] = static_cast<double>(partition.old_row[i]) / A.n_rows;
        multiply(system.matrix, solution.data(), system.b.data());
        last_system = std::move(system);
        return *last_system;
      }

      /**
       * The result of the quickest of a few runs, as one run may be disturbed; but of one that diverges or stagnates,
       * if there is any.
       */
      static SolveResult run(BlockAsync<double> &relaxation, const std::vector<double> &b, double max_seconds, double longest)
      {
        Vectors          vectors(relaxation, b);
        StoppingCriteria criteria;
        criteria.max_iterations   = 10; // first of all to warm up, and for the time of an iteration
        const SolveResult warm_up = solve(relaxation, vectors.zero_x(), vectors.right_hand_side(), criteria);

        const double digits = std::log10(warm_up.initial_residual / std::max(1e-300, warm_up.final_residual));
        if (digits > -std::log10(reduction)) // tests in time
          criteria.test_every = std::max(1, static_cast<int>(-10. * std::log10(reduction) / digits));
        criteria.relative_tolerance = reduction;
        const double an_iteration   = std::max(1e-9, warm_up.seconds / criteria.max_iterations);
        criteria.max_seconds        = std::max(max_seconds, std::min(60. * an_iteration, longest)); // divergence takes a while to be seen
        criteria.max_iterations     = static_cast<int>(std::clamp(2. * criteria.max_seconds / an_iteration, 10., 1e8));
        SolveResult  quickest;
        const double begin = now();
        for (int repetition = 0; repetition < 5; ++repetition)
          {
            SolveResult result = solve(relaxation, vectors.zero_x(), vectors.right_hand_side(), criteria);
            if (result.status == SolveStatus::diverged || result.status == SolveStatus::stagnated)
              return result;
            if (repetition == 0 || result.seconds < quickest.seconds)
              quickest = result;
            if (result.status != SolveStatus::converged || now() - begin > 0.5 * max_seconds)
              break;
          }
        return quickest;
      }

      /**
       * Time for a tenfold reduction; infinite for what does not converge. A run is judged by its second half too, as
       * what is rough in an error goes quickly and what is smooth remains.
       */
      static double seconds_a_digit(const SolveResult &result)
      {
        const double digits = std::log10(result.initial_residual / result.final_residual);
        if (result.status == SolveStatus::diverged || !(digits > 1e-6))
          return result.final_residual == 0. && result.initial_residual > 0. ? result.seconds / 16. : HUGE_VAL;
        const double on_the_whole        = result.seconds / digits;
        const double digits_an_iteration = -std::log10(result.convergence_factor());
        const bool   has_rate            = digits_an_iteration > 0. && std::isfinite(digits_an_iteration) && result.n_iterations > 0;
        if (result.status == SolveStatus::converged && (!has_rate || result.history_residuals.size() < 6))
          return on_the_whole;
        if (!has_rate)
          return HUGE_VAL;
        return std::max(on_the_whole, result.seconds / result.n_iterations / digits_an_iteration);
      }

      void measure(TunedChoice choice, double max_seconds)
      {
        const std::string name = describe(choice) + ": ";
        ++n_tried;
        try
          {
            const System     &system  = system_of(choice);
            BlockAsyncOptions options = choice.options;
            options.block_offsets     = system.block_offsets;
            BlockAsync<double> relaxation(system.matrix, options);
            const SolveResult  result = run(relaxation, system.b, std::max(1e-3, max_seconds), 0.05 * request.seconds);
            choice.seconds_a_digit    = seconds_a_digit(result);
            if (!std::isfinite(choice.seconds_a_digit))
              {
                report(name + to_string(result.status) + " after " + std::to_string(result.n_iterations) + " iterations, dropped");
                return;
              }
            report(name + short_text(choice.seconds_a_digit, 3) + " s a digit (" + std::to_string(result.n_iterations) + " iterations, factor " +
                   short_text(result.final_residual / result.initial_residual, 3) + ", " + short_text(result.seconds, 3) + " s)");
            converging.push_back(choice);
            if (found && choice.seconds_a_digit >= best.seconds_a_digit)
              return;
            found                 = true;
            best_came_to_the_goal = result.status == SolveStatus::converged;
            best                  = choice;
            if (last_system && &system == &*last_system)
              best_system.swap(last_system);
          }
        catch (const InvalidInput &problem)
          {
            report(name + "not possible: " + problem.what());
          }
        catch (const DeviceError &problem)
          {
            report(name + "not possible: " + problem.what());
          }
      }

      /**
       * The best one so far once more, with the share of time that each of the next candidates will have: a longer run
       * sees more of the slow rest of the error.
       */
      void measure_best_again(double until, int n_candidates)
      {
        if (!found || best_came_to_the_goal || time_left(until) <= 0.)
          return;
        const TunedChoice old = best;
        found                 = false;
        measure(old, time_left(until) / (n_candidates + 1));
        if (!found)
          best = old;
        found = true;
      }

      /**
       * Measures candidates, each with its share of the time until a part of all the time is spent; later ones fall
       * away if it is.
       */
      void measure_all(const std::vector<TunedChoice> &candidates, double until)
      {
        for (std::size_t i = 0; i < candidates.size(); ++i)
          {
            const double left = time_left(until);
            // METIS cannot be interrupted; it takes about half a microsecond an entry
            const bool too_slow = candidates[i].shape == BlockShape::metis && 5e-7 * A.n_entries() > left;
            if (n_tried > 0 && (left <= 0. || (too_slow && candidates[i].shape != best.shape)))
              report(describe(candidates[i]) + ": not tried, no time left");
            else
              measure(candidates[i], left / static_cast<double>(candidates.size() - i));
          }
      }

      const TunedChoice &origin() const { return found ? best : base; }

      void try_blocks(double until)
      {
        std::vector<int> sizes = {256, 128, 512, 64}; // in this order, for when time runs out
        if (request.backend == Backend::cuda)
          sizes.push_back(1024);
        const std::vector<BlockShape> shapes = request.partition
                                                 ? std::vector<BlockShape>{BlockShape::contiguous}
                                                 : std::vector<BlockShape>{BlockShape::contiguous, BlockShape::rcm, BlockShape::metis};
        std::vector<TunedChoice>      candidates;
        for (const int size : sizes)
          for (const BlockShape shape : shapes)
            {
              const bool is_one_block = size >= A.n_rows;
              if (is_one_block && (shape != BlockShape::contiguous || (size / 2 >= A.n_rows && size > 64)))
                continue; // no other than one before
              TunedChoice choice        = base;
              choice.shape              = shape;
              choice.options.block_size = size;
              candidates.push_back(choice);
            }
        measure_all(candidates, until);
      }

      void try_local_iterations(double until)
      {
        measure_best_again(until, 6);
        std::vector<TunedChoice> candidates;
        for (const int k : {1, 2, 3, 4, 7, 9})
          {
            TunedChoice choice              = origin();
            choice.options.local_iterations = k;
            candidates.push_back(choice);
          }
        measure_all(candidates, until);
      }

      void try_momentum(double until)
      {
        if (!eigenvalues)
          return;
        measure_best_again(until, 18);
        const double      from    = (now() - start) / request.seconds;
        const TunedChoice without = origin();
        int               level   = 0;
        std::size_t       n_safe  = converging.size(); ///< before the last level that converged
        for (const double caution : {0.7, 0.5, 0.3, 0.2, 0.1, 0.})
          {
            const MomentumParameters parameters = momentum_parameters(*eigenvalues, caution);
            const std::size_t        n_before   = converging.size();
            std::vector<TunedChoice> candidates;
            for (const int k : {1, 2, 3})
              {
                candidates.push_back(without);
                candidates.back().options.local_iterations = k;
                candidates.back().options.omega            = parameters.omega;
                candidates.back().options.momentum         = parameters.momentum;
              }
            measure_all(candidates, from + (until - from) * ++level / 6.);
            if (converging.size() == n_before)
              {
                if (n_safe < n_before)
                  report("with more momentum neither; the last that converged is left out, since how stale values are varies from run to run");
                leave_out_from(n_safe);
                return;
              }
            n_safe = n_before;
          }
      }

      /** Forgets what was measured from the n-th converging choice on. */
      void leave_out_from(std::size_t n)
      {
        converging.erase(converging.begin() + static_cast<std::ptrdiff_t>(n), converging.end());
        const auto fastest = std::min_element(
          converging.begin(), converging.end(), [](const TunedChoice &a, const TunedChoice &b) { return a.seconds_a_digit < b.seconds_a_digit; });
        found                 = fastest != converging.end();
        best_came_to_the_goal = false;
        if (found)
          best = *fastest;
      }

      /** With momentum omega belongs to it. */
      void try_omega(double until)
      {
        if (!request.weights || origin().options.momentum > 0.)
          return;
        measure_best_again(until, 2);
        std::vector<double> omegas = {1., 1.1};
        if (eigenvalues)
          omegas.push_back(tau_scaling(*eigenvalues));
        std::vector<TunedChoice> candidates;
        for (const double omega : omegas)
          if (std::abs(omega - origin().options.omega) > 0.01)
            {
              candidates.push_back(origin());
              candidates.back().options.omega = omega;
            }
        measure_all(candidates, until);
      }

      void try_execution(double until)
      {
        if (request.backend != Backend::cuda)
          return;
        measure_best_again(until, 2);
        std::vector<TunedChoice> candidates;
        for (const Execution execution : {Execution::launch, Execution::persistent})
          {
            candidates.push_back(origin());
            candidates.back().options.execution = execution;
          }
        measure_all(candidates, until);
      }

      /** With momentum one run may converge and the next diverge, as threads come in another order. */
      bool can_be_repeated(const TunedChoice &choice, double max_seconds)
      {
        if (choice.options.momentum == 0.)
          return true;
        const System     &system  = system_of(choice);
        BlockAsyncOptions options = choice.options;
        options.block_offsets     = system.block_offsets;
        if (converges_in_all_schedules(system.matrix, options, std::max(max_seconds, 0.1 * request.seconds)))
          return true;
        report(describe(choice) + ": converged, but need not in every run (in the synchronous schedule, in sequence or replayed it does not, as far "
                                  "as the time let see), dropped");
        return false;
      }

      /** Measures the three best anew, longer and alike; further ones if those were good for a short time only. */
      void confirm()
      {
        std::vector<TunedChoice> candidates = converging;
        std::stable_sort(
          candidates.begin(), candidates.end(), [](const TunedChoice &a, const TunedChoice &b) { return a.seconds_a_digit < b.seconds_a_digit; });
        const double          share = std::max(time_left(1.) / 3., 0.03 * request.seconds);
        std::set<std::string> names;
        found = false;
        for (const TunedChoice &choice : candidates)
          {
            if (found && names.size() >= 3)
              break;
            if (names.insert(describe(choice)).second && can_be_repeated(choice, share))
              measure(choice, share);
          }
      }

      const CrsMatrix<double>          &A;
      const TuneRequest                &request;
      const double                      start;
      const bool                        maps_ones_to_zero; ///< then the right-hand side is that of another solution
      TunedChoice                       base, best;
      bool                              found = false, best_came_to_the_goal = false;
      int                               n_tried = 0;
      std::vector<TunedChoice>          converging;  ///< all that were measured, with their times
      std::optional<ExtremeEigenvalues> eigenvalues; ///< of D^-1 A, if it is symmetric positive definite
      std::optional<System>             best_system, last_system;
    };
  } // namespace

  TunedChoice tune(const CrsMatrix<double> &A, const TuneRequest &request)
  {
    A.validate();
    if (A.n_rows == 0 || A.n_columns != A.n_rows)
      throw InvalidInput("tuning: the matrix has " + std::to_string(A.n_rows) + " rows and " + std::to_string(A.n_columns) +
                         " columns\n  expected: a square matrix with rows and without ghost columns");
    if (!(request.seconds > 0. && request.seconds < HUGE_VAL))
      throw InvalidInput("tuning: the time to spend is " + short_text(request.seconds) + " s\n  expected: a positive number of seconds");
    if (request.n_threads < 0)
      throw InvalidInput("tuning: n_threads is " + std::to_string(request.n_threads) + "\n  expected: a number >= 0");
    if (request.backend == Backend::cuda)
      device::n_multiprocessors(); // says what is wrong if there is no GPU
    return Tuner(A, request).search();
  }
} // namespace leopard
