// SPDX-License-Identifier: Apache-2.0
#include "refinement.h"

#include "../base/errors.h"
#include "../base/norms.h"
#include "../base/stopwatch.h"
#include "../base/words.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace leopard
{
  namespace
  {
    constexpr double slow      = 0.5; ///< a correction that leaves more of the residual is looked at
    constexpr int    patience  = 4;   ///< times that the iterations are doubled without a smaller residual before an inner solver is given up
    constexpr int    few_slow  = 3;   ///< slow corrections in sequence after which it is asked whether the goal can be reached
    constexpr int    n_growing = 3;   ///< first corrections of given iterations that may make the residual larger, each by less than `growth`
    constexpr double growth    = 10.;

    void require(bool holds, const std::string &option, double found, const char *expected)
    {
      if (!holds)
        throw InvalidInput("refinement: " + option + " is " + short_text(found) + "\n  expected: " + expected);
    }

    /**
     * Whether the residual reaches its goal within the limits if it goes on falling as in the last few_slow
     * corrections. @param result has that many corrections.
     */
    bool arrives(const RefinementResult &result, double goal, const RefinementOptions &options)
    {
      const double norm = result.history.back(), before = result.history[result.history.size() - 1 - few_slow];
      const double more = std::ceil(few_slow * std::log(goal / norm) / std::log(norm / before)); // infinite for goal = 0
      return norm < before && result.n_corrections + more <= options.max_corrections &&
             result.n_iterations + more * result.inner_iterations.back() <= options.max_iterations;
    }
  } // namespace

  void RefinementOptions::validate() const
  {
    const bool in_range = tolerance >= 0. && tolerance < 1.;
    require(in_range, "tolerance", tolerance, "a number >= 0 and < 1");
    require(absolute_tolerance >= 0. && std::isfinite(absolute_tolerance), "absolute_tolerance", absolute_tolerance, "a finite number >= 0");
    require(max_corrections >= 1, "max_corrections", max_corrections, "a number >= 1");
    require(inner_iterations >= 0, "inner_iterations", inner_iterations, "a number >= 0, where 0 stands for measured");
    require(first_iterations >= 1, "first_iterations", first_iterations, "a number >= 1");
    require(max_iterations >= 1, "max_iterations", max_iterations, "a number >= 1");
    const bool is_gain = digits > 0. && digits <= 15.;
    require(is_gain, "digits", digits, "a number > 0, at most 15");
  }

  std::string to_string(RefinementReason reason)
  {
    switch (reason)
      {
        case RefinementReason::converged:
          return "converged";
        case RefinementReason::maximum:
          return "limit of corrections or iterations";
        case RefinementReason::rounding:
          return "as accurate as double precision allows";
        case RefinementReason::ill_conditioned:
          return "too ill-conditioned for the lower precision";
        case RefinementReason::no_progress:
          return "the inner solver does not converge";
        case RefinementReason::not_finite:
          return "not finite";
        case RefinementReason::stopped:
          return "stopped";
      }
    return "unknown";
  }

  template <typename Number>
  struct Refinement<Number>::Progress
  {
    double unit     = 1.;    ///< what residuals are multiplied with before they are squared: the size of b
    double factor   = 1.;    ///< and before they are rounded
    double norm     = 0.;    ///< ||b - A x||_2 of the present x
    double scaled   = 0.;    ///< ||S (b - A x)||_2, which the inner solver makes smaller
    double norm_b   = 0.;    ///< ||b||_2
    double goal     = 0.;    ///< for norm
    double own      = 1.;    ///< what the inner solver has left of its own residual
    bool   is_exact = false; ///< whether that is some roundings of Number
    double rate     = 0.;    ///< factor an inner iteration; 0: not yet measured
    double digits   = 0.;    ///< that a correction gains at most
    int    n        = 1;     ///< inner iterations of the next correction
    int    most     = 1;     ///< that are left for all further ones
    int    n_slow   = 0;     ///< corrections in sequence that have left more than half of the residual

    bool   had_momentum = false;
    double step_factor  = 0.; ///< of the equation whose step is in last_step; 0: there is none

    Stopwatch stopwatch;

    void record(RefinementResult &result) const
    {
      result.history.push_back(norm);
      result.history_seconds.push_back(stopwatch.seconds());
    }
  };

  template <typename Number>
  Refinement<Number>::Refinement(std::unique_ptr<OuterSystem<Number>> system_,
                                 std::unique_ptr<InnerSolver<Number>> inner_,
                                 const RefinementOptions             &options_)
    : system(std::move(system_))
    , inner(std::move(inner_))
    , options(options_)
    , takes_own(system != nullptr && inner != nullptr && inner->n_rows() == system->n_rows() &&
                (inner->own_order() == nullptr || system->take_order(inner->own_order())))
    , own_r(system == nullptr || (takes_own && inner->own_residual() != nullptr) ? nullptr : system->vector())
    , own_c(system == nullptr || (takes_own && inner->own_correction() != nullptr) ? nullptr : system->vector())
    , r(own_r == nullptr && takes_own ? inner->own_residual() : own_r.get())
    , c(own_c == nullptr && takes_own ? inner->own_correction() : own_c.get())
    , second_x(system == nullptr ? nullptr : system->double_vector())
  {
    options.validate();
    if (system == nullptr || inner == nullptr)
      throw InvalidInput("refinement: the system or the inner solver is missing\n  expected: both");
    if (inner->n_rows() != system->n_rows() || inner->memory_space() != system->memory_space())
      throw InvalidInput("refinement: the inner solver " + inner->name() + " has " + std::to_string(inner->n_rows()) +
                         " rows\n  expected: the system's, " + std::to_string(system->n_rows()) + ", and the same backend");
    set_options(options);
  }

  template <typename Number>
  void Refinement<Number>::set_options(const RefinementOptions &new_options)
  {
    new_options.validate();
    options = new_options;
    if (has_momentum() && last_step == nullptr)
      last_step = system->vector();
  }

  template <typename Number>
  std::string Refinement<Number>::name() const
  {
    return "refinement with " + inner->name();
  }

  template <typename Number>
  void Refinement<Number>::residual(const double *x, const double *b, Progress &p)
  {
    fitted_residual(system->residual(r, x, b, p.unit, p.factor), x, b, p);
  }

  template <typename Number>
  void Refinement<Number>::fitted_residual(const RoundedNorms &norms, const double *x, const double *b, Progress &p)
  {
    const RoundedNorms found = round_to_fit(norms, p.unit, p.factor, [&](double factor) { return system->residual(r, x, b, p.unit, factor); });
    p.norm                   = found.vector;
    p.scaled                 = found.low;
  }

  template <typename Number>
  int Refinement<Number>::iterate(int n, bool from_zero)
  {
    const bool may_stop = options.asked_to_stop != nullptr;
    const int  at_once  = may_stop && inner->counts() ? 100 : n;
    int        done     = from_zero ? inner->solve(c, r, std::min(n, at_once)) : 0;
    while (inner->counts() && done < n && !(may_stop && options.asked_to_stop()))
      {
        const int next = std::min(n - done, at_once);
        inner->go_on(c, r, next);
        done += next;
      }
    return done;
  }

  template <typename Number>
  int Refinement<Number>::measure(int done, Progress &p)
  {
    if (done == 0)
      {
        done = iterate(p.n, true);
        look(p);
      }
    struct Look
    {
      int    done;
      double own;
    };
    std::vector<Look> bests       = {{0, 1.}}; // each better than those before
    int               looks_since = 0;
    const auto        take        = [&] {
      bests.push_back({done, p.own});
      // since a third of the iterations at least: a few tell little where residuals go up and down
      const auto since = std::find_if(bests.rbegin(), bests.rend(), [&](const Look &l) { return 3l * (done - l.done) >= done; });
      p.rate           = std::pow(p.own / since->own, 1. / (done - since->done));
    };
    take();
    while (p.own > std::pow(10., -p.digits) && p.own < 1e3 && !p.is_exact && done < p.most)
      {
        // as many again, since residuals fall faster in the beginning than later; fewer where that is enough
        const double needed = p.rate < 1. ? (p.digits + std::log10(p.own)) / -std::log10(p.rate) : done;
        const int    n      = static_cast<int>(std::clamp(std::ceil(needed), 1., 1. * std::min(done, p.most - done)));
        const int    more   = iterate(n, false);
        done += more;
        look(p);
        if (p.own < bests.back().own)
          {
            take();
            looks_since = 0;
          }
        else if (++looks_since == patience) // until then it may be scatter, or a residual that grows before it falls
          break;
        if (more < n)
          break;
      }
    return done;
  }

  template <typename Number>
  void Refinement<Number>::plan(double contraction, int done, bool is_first, Progress &p) const
  {
    const double gained = -std::log10(contraction);
    if (reached(p.own, 0.3 * contraction)) // the inner solver has done better: more iterations would be wasted
      p.digits = std::max(0.5, gained + 0.3);
    else if (!is_first)
      p.rate = std::pow(contraction, 1. / done);
    const double remaining = std::log10(p.norm / p.goal) + 0.3; // infinite for goal = 0
    const double wanted    = std::min(p.digits, remaining) / -std::log10(p.rate);
    p.n                    = wanted >= 1. ? static_cast<int>(std::min(std::ceil(wanted), 1. * options.max_iterations)) : 1; // also if it is no number
  }

  template <typename Number>
  int Refinement<Number>::enough_to_end(double contraction, int done, const Progress &p) const
  {
    const double remaining = std::log10(p.norm / p.goal) + 0.3; // infinite for goal = 0
    const double wanted    = std::ceil(remaining * done / -std::log10(contraction));
    return wanted >= 1. && wanted < options.inner_iterations ? static_cast<int>(wanted) : options.inner_iterations;
  }

  template <typename Number>
  bool Refinement<Number>::is_at_rounding(const double *x, const Progress &p)
  {
    const double size = system->largest(x), to_one = to_about_one(size);
    const double norm_x = size > 0. ? system->norm(x, to_one) / to_one : 0.;
    return reached(p.norm, 16. * std::numeric_limits<double>::epsilon() * (system->norm_of_matrix() * norm_x + p.norm_b));
  }

  template <typename Number>
  void Refinement<Number>::look(Progress &p)
  {
    const double norm_r = system->norm(r), rounding = 64. * static_cast<double>(std::numeric_limits<Number>::epsilon());
    p.own      = inner->relative_residual(c, r);
    p.is_exact = reached(p.own * norm_r, rounding * (system->norm_of_scaled_matrix() * system->norm(c) + norm_r));
  }

  template <typename Number>
  int Refinement<Number>::iterate_with_momentum(Progress &p)
  {
    const double weight = momentum.weight(), again = momentum.momentum();
    p.had_momentum = p.had_momentum || momentum.is_on();
    inner->solve(c, r, 1);
    system->take_step(c, last_step.get(), weight, p.step_factor > 0. ? again * (p.factor / p.step_factor) : 0., false);
    if (p.n > 1)
      {
        inner->go_on(c, r, 1);
        system->take_step(c, last_step.get(), weight, again, true);
      }
    p.step_factor = p.factor;
    return p.n;
  }

  template <typename Number>
  bool Refinement<Number>::correct(const double *x, double *other, const double *b, Progress &p, RefinementResult &result)
  {
    const double before = p.norm, scaled_before = p.scaled;
    const bool   is_first = result.n_corrections == 0, measures = is_first && !is_fixed();
    int          done = measures ? measure(0, p) : has_momentum() ? iterate_with_momentum(p) : iterate(p.n, true);
    if (!measures && (!is_fixed() || p.n_slow > 0))
      look(p);
    const double factor  = p.factor;
    const auto   correct = [&] {
      fitted_residual(system->corrected_residual(r, other, x, {c, factor}, b, p.unit, factor), other, b, p);
      return std::isfinite(p.norm) && (p.norm < before || p.scaled < scaled_before);
    };
    const auto take_back = [&] {
      p.factor = factor;
      residual(x, b, p);
      look(p);
    };
    bool smaller = correct(), may_grow = false;
    if (!smaller && !measures && inner->counts())
      {
        const bool by_little = p.norm < growth * before || p.scaled < growth * scaled_before;
        take_back();
        if (p.own > slow) // the inner solver has not solved its own system
          {
            may_grow = is_fixed() && by_little && result.n_corrections < n_growing && result.n_corrections + 1 < options.max_corrections &&
                       !(has_momentum() && momentum.is_on()); // which is done once more without
            if (!is_fixed())                                  // fewer iterations than it takes were planned
              done = measure(done, p);
            smaller = correct();
          }
      }
    result.n_iterations += done;
    result.inner_iterations.push_back(done);
    ++result.n_corrections;
    if (!smaller && !may_grow)
      {
        take_back();
        p.record(result);
        return false;
      }
    p.record(result);
    const double contraction = std::min(p.norm / before, p.scaled / scaled_before);
    p.n_slow                 = contraction > slow ? p.n_slow + 1 : 0;
    if (has_momentum())
      momentum.learn(contraction, done, reached(p.norm * contraction, p.goal));
    if (!is_fixed())
      plan(contraction, done, is_first, p);
    else if (inner->counts())
      p.n = enough_to_end(contraction, done, p);
    return true;
  }

  template <typename Number>
  RefinementResult Refinement<Number>::solve(double *given_x, const double *b)
  {
    RefinementResult result;
    Progress         p;
    double          *x = given_x, *other = second_x.get();
    p.norm_b = system->norm(b, 1.);
    if (p.norm_b > 1e-140 && p.norm_b < 1e140) // squares are in range
      p.unit = p.factor = to_about_one(p.norm_b);
    else
      {
        const double largest = system->largest(b);
        const double size    = largest > 0. ? largest : system->norm_of_matrix() * system->largest(x);
        p.unit = p.factor = to_about_one(size);
        p.norm_b          = system->norm(b, p.unit) / p.unit;
      }
    residual(x, b, p);
    p.goal             = std::max(options.absolute_tolerance, options.tolerance * (p.norm_b > 0. ? p.norm_b : p.norm));
    p.digits           = std::min(options.digits, std::max(0.5, std::log10(p.norm / p.goal) + 0.3)); // no more than is wanted
    p.n                = options.inner_iterations > 0 ? options.inner_iterations : options.first_iterations;
    const double first = p.norm, first_scaled = p.scaled;
    p.record(result);
    momentum.begin_solve();
    const auto end = [&](RefinementReason reason) {
      if (x != given_x)
        system->copy(given_x, x);
      result.reason            = reason;
      result.has_momentum      = p.had_momentum;
      result.residual          = p.norm;
      result.relative_residual = p.norm == 0. ? 0. : p.norm / (p.norm_b > 0. ? p.norm_b : first);
      return result;
    };
    if (!std::isfinite(p.norm) || !std::isfinite(p.norm_b))
      return end(RefinementReason::not_finite);
    while (!reached(p.norm, p.goal))
      {
        if (options.asked_to_stop && options.asked_to_stop())
          return end(RefinementReason::stopped);
        p.most = options.max_iterations - result.n_iterations;
        if (result.n_corrections == options.max_corrections || p.most <= 0)
          return end(RefinementReason::maximum);
        p.n                      = inner->counts() ? std::min(p.n, p.most) : p.most;
        const bool is_better     = correct(x, other, b, p, result);
        const bool was_cut_short = !inner->counts() && result.n_iterations >= options.max_iterations;
        if (!is_better && has_momentum() && momentum.is_on() && !is_at_rounding(x, p))
          {
            momentum.give_up();
            continue;
          }
        if (!is_better)
          return end(options.asked_to_stop && options.asked_to_stop() ? RefinementReason::stopped
                     : is_at_rounding(x, p)                           ? RefinementReason::rounding
                     : (p.is_exact || reached(p.own, slow))           ? RefinementReason::ill_conditioned
                     : was_cut_short                                  ? RefinementReason::maximum
                                                                      : RefinementReason::no_progress);
        std::swap(x, other);
        if (result.n_corrections == 1)
          predict(first, p.scaled / first_scaled, p, result);
        if (p.n_slow < few_slow || reached(p.norm, p.goal))
          continue;
        if (is_at_rounding(x, p))
          return end(RefinementReason::rounding);
        if ((p.is_exact || reached(p.own, 0.5 * slow)) && !(options.goes_on_if_slow && arrives(result, p.goal, options)))
          return end(RefinementReason::ill_conditioned);
      }
    return end(RefinementReason::converged);
  }

  template <typename Number>
  void Refinement<Number>::predict(double first, double contraction, const Progress &p, RefinementResult &result) const
  {
    result.inner_residual = contraction;
    const double each = is_fixed() ? result.inner_residual : std::pow(10., -options.digits), from = is_fixed() ? first : p.norm;
    const double further = p.goal > 0. ? std::log(p.goal / from) / std::log(each) : 0.;
    result.predicted     = (is_fixed() ? 0 : 1) + (further > 0. ? static_cast<int>(std::min(std::ceil(further), 1e6)) : 0);
  }

  template <typename Number>
  std::unique_ptr<Refinement<Number>>
  make_refinement(const CrsMatrix<double>                                                              &A,
                  const std::function<std::unique_ptr<InnerSolver<Number>>(const CrsMatrix<Number> &)> &make_inner,
                  const RefinementOptions                                                              &options,
                  Backend                                                                               backend,
                  int                                                                                   n_threads)
  {
    if (A.n_columns != A.n_rows)
      throw InvalidInput("refinement: the matrix has " + std::to_string(A.n_columns - A.n_rows) +
                         " ghost columns\n  expected: the whole matrix, on one rank");
    const ScaledMatrix<Number> low = scaled_to<Number>(A);
    return std::make_unique<Refinement<Number>>(make_outer_system<Number>(A, low.scale, backend, n_threads), make_inner(low.matrix), options);
  }

#define INSTANTIATE(Number)                                                                            \
  template class Refinement<Number>;                                                                   \
  template std::unique_ptr<Refinement<Number>> make_refinement(                                        \
    const CrsMatrix<double>                                                               &A,          \
    const std::function<std::unique_ptr<InnerSolver<Number>>(const CrsMatrix<Number> &A)> &make_inner, \
    const RefinementOptions                                                               &options,    \
    Backend                                                                                backend,    \
    int                                                                                    n_threads);
  LEOPARD_FOR_EACH_NUMBER(INSTANTIATE)
#undef INSTANTIATE
} // namespace leopard
