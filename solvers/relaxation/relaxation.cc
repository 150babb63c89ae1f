// SPDX-License-Identifier: Apache-2.0
#include "relaxation.h"

#include "../base/errors.h"
#include "../base/norms.h"
#include "../base/stopwatch.h"
#include "../base/words.h"
#include "../device/device.h"
#include "stagnation.h"
#include "with_ghosts.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace leopard
{
  std::string to_string(SolveStatus status)
  {
    switch (status)
      {
        case SolveStatus::converged:
          return "converged";
        case SolveStatus::iteration_limit:
          return "iteration limit";
        case SolveStatus::diverged:
          return "diverged";
        case SolveStatus::stagnated:
          return "stagnated";
        case SolveStatus::time_limit:
          return "time limit";
        case SolveStatus::stopped:
          return "stopped";
      }
    return "unknown";
  }

  double SolveResult::convergence_factor() const
  {
    const std::size_t n = history_residuals.size();
    for (std::size_t i = n / 2; i + 1 < n; ++i)
      if (const int steps = history_iterations.back() - history_iterations[i]; steps > 0 && history_residuals[i] > 0.)
        return std::pow(history_residuals.back() / history_residuals[i], 1. / steps);
    return 0.;
  }

  void StoppingCriteria::validate() const
  {
    const auto require = [](bool holds, const std::string &name, double found, const char *expected) {
      if (!holds)
        throw InvalidInput("stopping criterion " + name + " is " + short_text(found) + "\n  expected: " + expected);
    };
    require(max_iterations >= 0, "max_iterations", max_iterations, "a number >= 0");
    require(relative_tolerance == 0. || (relative_tolerance >= 1e-15 && relative_tolerance < HUGE_VAL),
            "relative_tolerance",
            relative_tolerance,
            "0, or a number >= 1e-15: double precision does not resolve smaller residuals");
    require(absolute_tolerance == 0. || (absolute_tolerance >= 1e-145 && absolute_tolerance < HUGE_VAL),
            "absolute_tolerance",
            absolute_tolerance,
            "0, or a number >= 1e-145, whose square is in the range of double");
    require(test_every >= 1, "test_every", test_every, "a number >= 1");
    require(divergence_factor > 1., "divergence_factor", divergence_factor, "a number > 1");
    require(stagnation_tests >= 0, "stagnation_tests", stagnation_tests, "a number >= 0");
    require(slowest_factor > 0. && slowest_factor < 1., "slowest_factor", slowest_factor, "a number between 0 and 1");
    require(max_seconds >= 0., "max_seconds", max_seconds, "a number of seconds >= 0");
  }

  double ResidualTest::goal() const
  {
    return std::max(absolute_tolerance, relative_tolerance * (norm_b > 0. ? norm_b : initial_residual));
  }

  double ResidualTest::limit() const
  {
    return divergence_factor * std::max({initial_residual, goal(), 1e-300});
  }

  template <typename Number>
  IterationReport Relaxation<Number>::iterate_until(Number * /*x*/, const Number * /*b*/, int /*n_iterations*/, const ResidualTest & /*test*/)
  {
    throw InvalidInput(name() + " does not test residuals by itself\n  expected: solve(), which asks before");
  }

  template <typename Number>
  void Relaxation<Number>::iterate_from_zero(Number *x, const Number *b, int n_iterations)
  {
    if (memory_space() == MemorySpace::host)
      std::fill_n(x, n_columns(), Number(0));
    else if (n_columns() > 0)
      device::set_zero(x, static_cast<std::size_t>(n_columns()) * sizeof(Number));
    iterate(x, b, n_iterations);
  }

  template <typename Number>
  void Relaxation<Number>::set_omega(double omega)
  {
    throw InvalidInput(name() + " is to take the relaxation factor " + short_text(omega) +
                       "\n  expected: a method that takes another one, or a new object");
  }

  namespace
  {
    /** Norms over all ranks. */
    template <typename Number>
    class Residual
    {
    public:
      /** @param free_ null, or whose next visit begins before ghosts are brought up to date. */
      Residual(Relaxation<Number> &relaxation_, const Communication<Number> &communication_, FreeExchange<Number> *free_)
        : relaxation(relaxation_)
        , communication(communication_)
        , free(free_)
      {
      }

      double norm(Number *x, const Number *b) const
      {
        if (free != nullptr)
          free->begin();
        if (communication.has_ghosts())
          communication.update_ghosts(x, relaxation.memory_space());
        return std::sqrt(communication.sum(relaxation.residual_norm_squared(x, b)));
      }

      double norm_of(const Number *b) const { return std::sqrt(communication.sum(relaxation.norm_squared(b))); }

    private:
      Relaxation<Number>          &relaxation;
      const Communication<Number> &communication;
      FreeExchange<Number> *const  free;
    };

    /**
     * Sums of squares of norms between these neither under- nor overflow, and neither do the squares of what is made of
     * them: the goal for the smallest tolerance, the limit for the usual divergence_factor.
     */
    constexpr double smallest_norm = 1e-130, largest_norm = 1e145;

    [[noreturn]] void refuse_norm(const std::string &of_what, bool too_small)
    {
      throw InvalidInput("the norm of " + of_what + " is " +
                         (too_small ? "below " + short_text(smallest_norm) : "above " + short_text(largest_norm)) + "\n  expected: a norm between " +
                         short_text(smallest_norm) + " and " + short_text(largest_norm) +
                         ", whose square is in the range of double; scale b and x by the same power of ten");
    }

    /** @throws InvalidInput if ||b||, or the first residual where that stands for it, cannot be squared. */
    void check_norms(double initial_residual, double norm_b, const StoppingCriteria &criteria)
    {
      const double      reference = norm_b > 0. ? norm_b : initial_residual;
      const std::string of_what   = norm_b > 0. ? "the right-hand side" : "the first residual";
      if (criteria.relative_tolerance > 0. && criteria.absolute_tolerance == 0. && reference > 0. && reference < smallest_norm)
        refuse_norm(of_what, true);
      if (criteria.relative_tolerance > 0. && reference > largest_norm)
        refuse_norm(of_what, false);
      if (std::isinf(initial_residual))
        refuse_norm("the first residual", false);
    }

    /** n global iterations, fewer if it is asked to stop, and the residual afterwards. */
    template <typename Number>
    IterationReport iterate(Relaxation<Number>          &relaxation,
                            Number                      *x,
                            const Number                *b,
                            int                          n,
                            const StoppingCriteria      &criteria,
                            const Residual<Number>      &residual,
                            const Communication<Number> &communication,
                            FreeExchange<Number>        *free)
    {
      const int       together = criteria.asked_to_stop ? criteria.test_every : n;
      IterationReport report;
      do
        {
          const int      now  = std::min(together, n - report.minimum);
          FreeIterations done = {now, now, static_cast<double>(now)};
          if (free == nullptr)
            iterate_with_ghosts(relaxation, x, b, now, communication);
          else
            {
              if (report.minimum > 0)
                {
                  free->begin();
                  communication.update_ghosts(x, relaxation.memory_space());
                }
              done = iterate_freely(relaxation, x, b, now, communication, *free);
            }
          report.minimum += done.minimum;
          report.maximum += done.maximum;
          report.mean += done.mean;
        }
      while (report.minimum < n && !(criteria.asked_to_stop && criteria.asked_to_stop()));
      report.final_residual = residual.norm(x, b);
      return report;
    }

    /** What the history says of the iteration's chances. */
    bool grows_steadily(const std::vector<double> &residuals)
    {
      constexpr std::size_t tests = 6;
      const std::size_t     n     = residuals.size();
      if (n < tests || residuals.back() < 10. * residuals.front())
        return false;
      return std::is_sorted(residuals.end() - tests, residuals.end());
    }

    /** Both ways to solve. @param free null: ranks wait for ghosts. */
    template <typename Number>
    SolveResult solve_by(Relaxation<Number>          &relaxation,
                         Number                      *x,
                         const Number                *b,
                         const StoppingCriteria      &criteria,
                         const Communication<Number> &communication,
                         FreeExchange<Number>        *free)
    {
      criteria.validate();
      const Stopwatch stopwatch;
      const Residual  residual(relaxation, communication, free);
      StagnationTest  stagnation(criteria.stagnation_tests, criteria.slowest_factor);
      SolveResult     result;
      const auto      record = [&](double norm, double seconds) {
        result.final_residual = norm;
        result.history_iterations.push_back(result.n_iterations);
        result.history_residuals.push_back(norm);
        result.history_seconds.push_back(seconds);
      };
      const auto add = [&](const IterationReport &report, double seconds_before) {
        for (std::size_t i = 0; i < report.estimates.size(); ++i)
          {
            result.history_iterations.push_back(result.n_iterations + report.estimate_iterations[i]);
            result.history_residuals.push_back(report.estimates[i]);
            result.history_seconds.push_back(report.estimate_seconds.empty() ? std::numeric_limits<double>::quiet_NaN()
                                                                             : seconds_before + report.estimate_seconds[i]);
          }
        result.n_iterations += report.maximum;
        result.min_iterations += report.minimum;
        result.mean_iterations += report.mean;
      };

      const auto counted = [&] { return free != nullptr ? result.min_iterations : result.n_iterations; };

      relaxation.restart();
      const bool   has_goal  = criteria.relative_tolerance > 0. || criteria.absolute_tolerance > 0.;
      const bool   tests     = has_goal || criteria.max_seconds > 0. || criteria.keep_history;
      const bool   by_itself = tests && relaxation.tests_itself() && !communication.is_distributed();
      ResidualTest test;
      test.relative_tolerance = criteria.relative_tolerance;
      test.absolute_tolerance = criteria.absolute_tolerance;
      test.divergence_factor  = criteria.divergence_factor;
      test.every              = criteria.test_every;
      const auto begin        = [&](double initial_residual, double norm_b) {
        check_norms(initial_residual, norm_b, criteria);
        test.initial_residual   = initial_residual;
        test.norm_b             = norm_b;
        result.initial_residual = initial_residual;
        record(initial_residual, by_itself ? 0. : stopwatch.seconds());
      };
      if (!by_itself || criteria.max_iterations == 0)
        begin(residual.norm(x, b), criteria.relative_tolerance > 0. ? residual.norm_of(b) : 0.);

      while (true)
        {
          if (test.initial_residual >= 0. || std::isnan(test.initial_residual))
            {
              result.status = has_goal && reached(result.final_residual, test.goal())                                      ? SolveStatus::converged
                              : !std::isfinite(result.final_residual) || result.final_residual > test.limit()              ? SolveStatus::diverged
                              : has_goal && grows_steadily(result.history_residuals)                                       ? SolveStatus::diverged
                              : criteria.asked_to_stop && criteria.asked_to_stop()                                         ? SolveStatus::stopped
                              : criteria.max_seconds > 0. && communication.max(stopwatch.seconds()) > criteria.max_seconds ? SolveStatus::time_limit
                              : has_goal && stagnation.stagnates(result.history_iterations, result.history_residuals)      ? SolveStatus::stagnated
                                                                                                                      : SolveStatus::iteration_limit;
              if (result.status != SolveStatus::iteration_limit || counted() >= criteria.max_iterations)
                break;
            }
          const double          seconds_before = stopwatch.seconds();
          const int             n              = criteria.max_iterations - counted();
          const IterationReport report         = by_itself
                                                   ? relaxation.iterate_until(x, b, n, test)
                                                   : iterate(relaxation, x, b, tests ? std::min(n, test.every) : n, criteria, residual, communication, free);
          if (test.initial_residual < 0.)
            begin(report.initial_residual, report.norm_b);
          add(report, seconds_before);
          record(report.final_residual, stopwatch.seconds());
        }
      result.seconds = stopwatch.seconds();
      return result;
    }
  } // namespace

  template <typename Number>
  SolveResult
  solve(Relaxation<Number> &relaxation, Number *x, const Number *b, const StoppingCriteria &criteria, const Communication<Number> &communication)
  {
    return solve_by<Number>(relaxation, x, b, criteria, communication, nullptr);
  }

  template <typename Number>
  SolveResult solve(Relaxation<Number>          &relaxation,
                    Number                      *x,
                    const Number                *b,
                    const StoppingCriteria      &criteria,
                    const Communication<Number> &communication,
                    FreeExchange<Number>        &exchange)
  {
    return solve_by(relaxation, x, b, criteria, communication, communication.has_ghosts() ? &exchange : nullptr);
  }

#define INSTANTIATE(Number)                                                                                                                    \
  template class Relaxation<Number>;                                                                                                           \
  template SolveResult solve(                                                                                                                  \
    Relaxation<Number> &relaxation, Number *x, const Number *b, const StoppingCriteria &criteria, const Communication<Number> &communication); \
  template SolveResult solve(Relaxation<Number>          &relaxation,                                                                          \
                             Number                      *x,                                                                                   \
                             const Number                *b,                                                                                   \
                             const StoppingCriteria      &criteria,                                                                            \
                             const Communication<Number> &communication,                                                                       \
                             FreeExchange<Number>        &exchange);
  LEOPARD_FOR_EACH_NUMBER(INSTANTIATE)
#undef INSTANTIATE
} // namespace leopard
