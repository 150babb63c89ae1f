// SPDX-License-Identifier: Apache-2.0
#include "refinement_judge.h"
#include "published.h"
#include "sample_statistics.h"

#include <solvers/base/norms.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace leopard::studies
{
  double Curve::iterations_to(double residual) const
  {
    for (std::size_t i = 0; i < at.size(); ++i)
      if (residuals[i] <= residual)
        return i == 0 || !(residuals[i] > 0.)
                 ? at[i]
                 : at[i - 1] + (at[i] - at[i - 1]) * std::log(residuals[i - 1] / residual) / std::log(residuals[i - 1] / residuals[i]);
    return std::numeric_limits<double>::infinity();
  }

  double Curve::time() const
  {
    return converged ? median(seconds) : std::numeric_limits<double>::quiet_NaN();
  }

  double Curve::inner_accuracy() const
  {
    if (n_corrections < 2 || residuals.size() < 3)
      return std::numeric_limits<double>::quiet_NaN();
    double result = 0.;
    for (std::size_t i = 1; i + 1 < residuals.size(); ++i)
      result = larger_or_nan(result, residuals[i] / residuals[i - 1]);
    return result;
  }

  std::array<double, 2> extremes(const std::vector<double> &samples)
  {
    return {*std::min_element(samples.begin(), samples.end()), *std::max_element(samples.begin(), samples.end())};
  }

  int corrections_for(double accuracy, double inner_accuracy)
  {
    const bool are_accuracies = accuracy > 0. && accuracy < 1. && inner_accuracy > 0. && inner_accuracy < 1.;
    // a quotient that is a whole number but for rounding is one
    return are_accuracies ? static_cast<int>(std::min(1e9, std::ceil(std::log(accuracy) / std::log(inner_accuracy) - 1e-9))) : 0;
  }

  ChoiceVerdict verdict_of(const PrecisionChoice &choice)
  {
    const std::vector<double> &chosen = choice.is_mixed ? choice.mixed : choice.in_double, &other = choice.is_mixed ? choice.in_double : choice.mixed;
    if (chosen.empty())
      return other.empty() ? ChoiceVerdict::none_converges : ChoiceVerdict::wrong;
    if (other.empty())
      return ChoiceVerdict::right;
    const auto is_right = [](double of_chosen, double of_other) { return reached(of_chosen, (1. + precision_tolerance) * of_other); };
    const bool right    = is_right(median(chosen), median(other));
    if (is_right(quantile(chosen, 0.25), quantile(other, 0.75)) != right || is_right(quantile(chosen, 0.75), quantile(other, 0.25)) != right)
      return ChoiceVerdict::runs_differ;
    return right ? ChoiceVerdict::right : ChoiceVerdict::wrong;
  }

  std::string to_string(ChoiceVerdict verdict)
  {
    switch (verdict)
      {
        case ChoiceVerdict::right:
          return "yes";
        case ChoiceVerdict::wrong:
          return "no";
        case ChoiceVerdict::runs_differ:
          return "runs differ";
        case ChoiceVerdict::none_converges:
          break;
      }
    return "none converges";
  }

  namespace
  {
    /** Of the matrices that decide something. */
    struct Count
    {
      int         n = 0, n_right = 0;
      std::string wrong;

      void add(const std::string &matrix, ChoiceVerdict verdict)
      {
        n += verdict == ChoiceVerdict::right || verdict == ChoiceVerdict::wrong ? 1 : 0;
        n_right += verdict == ChoiceVerdict::right ? 1 : 0;
        if (verdict == ChoiceVerdict::wrong)
          wrong += (wrong.empty() ? ", not of " : ", ") + matrix;
      }

      std::string text(std::size_t n_in_all) const
      {
        return cell(n_right) + " of " + cell(n) + wrong + "; " + cell(static_cast<int>(n_in_all) - n) +
               " more decide nothing, as runs differ or none converges";
      }
    };

    /** Wrong where refinement in double is the fastest of the three. */
    ChoiceVerdict without_refined(const PrecisionChoice &choice)
    {
      const bool mixed_is_faster = choice.in_double.empty() || (!choice.mixed.empty() && median(choice.mixed) < median(choice.in_double));
      return verdict_of({choice.matrix, false, mixed_is_faster ? choice.mixed : choice.in_double, choice.refined});
    }
  } // namespace

  void judge_choices(const std::vector<PrecisionChoice> &choices, Report &report)
  {
    constexpr double enough = 0.9;
    const auto       source = "R section 5, an open question";
    const auto       why    = [](const Count &count) { return count.n > 0 ? "" : "there is no matrix whose runs agree"; };
    Count            right, unmissed;
    for (const PrecisionChoice &choice : choices)
      {
        right.add(choice.matrix, verdict_of(choice));
        unmissed.add(choice.matrix, without_refined(choice));
      }
    const std::string within = cell(100. * precision_tolerance, "%.0f") + " percent";
    report.decide(source,
                  "the precision chosen a priori is the faster one, or within " + within + " of it, for nine of ten matrices at least",
                  right.n_right >= enough * right.n,
                  "right for " + right.text(choices.size()),
                  why(right));
    report.decide(source,
                  "refinement in double, which is never chosen, is nowhere faster than both by more than " + within,
                  unmissed.n_right == unmissed.n,
                  "so it is for " + unmissed.text(choices.size()),
                  why(unmissed));
  }

  namespace
  {
    const Limits to_10_percent{0.9, 1.1};

    std::string text(const Curve &c)
    {
      return c.name + " " + cell(c.iterations(), "%.0f") + (c.n_corrections > 0 ? " in " + cell(c.n_corrections) + " corrections" : "");
    }

    /** Finds what claims need, and where it is not there says why. */
    class Judge
    {
    public:
      Judge(const std::string &matrix, double tolerance_, const Curves &curves_, Report &report_)
        : tolerance(tolerance_)
        , name(matrix)
        , curves(curves_)
        , report(report_)
      {
      }

      void all() const
      {
        if (published::refinement(name).axis_iterations == 0.)
          return;
        iterations();
        times();
        block_iterations();
        block_times();
      }

    private:
      /**
       * Decides on the ratio of two solvers' times or iterations to the tolerance. Not where one has not come to it,
       * nor where another pair of runs says the contrary, nor where 5 percent of the time would.
       */
      void ratio(const std::string &source, const std::string &claim, const Curve &one, const Curve &other, bool of_times, const Limits &limits) const
      {
        const auto samples = [&](const Curve &c) { return of_times ? c.seconds : c.needed; };
        const auto unit    = [&](const Curve &c) {
          return c.name + " " + (of_times ? cell(1e3 * median(samples(c)), "%.3f") + " ms" : cell(median(samples(c)), "%.1f") + " iterations");
        };
        const double        found     = median(samples(one)) / median(samples(other));
        const Curve        *missing   = !one.converged ? &one : !other.converged ? &other : nullptr;
        std::string         why_not   = missing != nullptr ? missing->name + " has not come to " + cell(tolerance, "%.0e") : "";
        std::vector<double> otherwise = {found};
        for (const double a : samples(one))
          for (const double b : samples(other))
            otherwise.push_back(a / b);
        if (why_not.empty() &&
            std::any_of(otherwise.begin(), otherwise.end(), [&](double value) { return limits.hold(value) != limits.hold(found); }))
          why_not = "a ratio of " + cell(found, "%.3f") + " of medians, and of single runs from " + cell(extremes(otherwise)[0], "%.3f") + " to " +
                    cell(extremes(otherwise)[1], "%.3f");
        const std::string measured = "a ratio of " + cell(found, "%.3f") + " (" + unit(one) + ", " + unit(other) + ")";
        if (of_times)
          report.decide_times(source, name + ": " + claim, limits, {found}, measured, why_not);
        else
          report.decide(source,
                        name + ": " + claim,
                        limits.hold(found),
                        measured,
                        why_not.empty() && !std::isfinite(found) ? "no finite number was measured" : why_not);
      }

      void iterations() const
      {
        const bool hard = name == "fv3";
        ratio("T Figure 4.31, R Figure 4",
              hard ? "corrections in single precision need more iterations (10 percent at least)"
                   : "single precision hardly changes the number of iterations (10 percent at most)",
              curves.mixed,
              curves.in_double,
              false,
              hard ? Limits{1.1} : to_10_percent);
        report.decide("T section 4.13.4",
                      name + ": mixed precision refinement never needs more than 5 corrections",
                      curves.mixed.most_corrections > 0 && curves.mixed.most_corrections <= 5,
                      text(curves.mixed),
                      curves.mixed.converged ? "" : curves.mixed.name + " has not come to " + cell(tolerance, "%.0e"));
        if (hard)
          {
            const Curve &c     = curves.in_double;
            const bool   known = c.converged && c.n_corrections >= 4;
            report.decide("T section 4.12.1, R section 4",
                          "fv3: refinement in double takes 4 corrections, and is nearly done after 3 (10 times the tolerance at most)",
                          c.n_corrections == 4 && known && reached(c.residuals[3], 10. * tolerance),
                          text(c) + (known ? ", " + cell(c.residuals[3], "%.1e") + " after 3" : ""),
                          c.converged ? "" : c.name + " has not come to " + cell(tolerance, "%.0e"));
          }
        const auto why_not = [](const Curve &c) {
          return !c.converged ? "it has not come to the tolerance" : c.n_corrections > 1 ? "" : "the first correction was enough";
        };
        const Curve &in_double = curves.in_double, &mixed = curves.mixed;
        const double each = in_double.inner_accuracy();
        const int    due  = corrections_for(tolerance, each);
        report.decide("T equations 2.10, 2.11",
                      name + ", " + in_double.name +
                        ": the corrections are ceil(log(eps) / log(eps_inner)), where eps_inner is the most that a "
                        "correction has left of the residual, but for the last, which does what is wanted only",
                      due > 0 && in_double.n_corrections == due,
                      cell(in_double.n_corrections) + ", due are " + cell(due) + " with eps_inner = " + cell(each, "%.1e"),
                      why_not(in_double));
        const int more = mixed.n_corrections - mixed.n_predicted;
        report.decide("T equations 2.10, 2.11",
                      name + ", " + mixed.name + ": the corrections are those predicted, or one more (g = 0 or 1)",
                      more >= 0 && more <= 1,
                      cell(mixed.n_corrections) + ", predicted " + cell(mixed.n_predicted),
                      why_not(mixed));
      }

      void times() const
      {
        const char *source = "T Figure 4.32, R Figure 5";
        ratio(
          source, "refinement in double costs next to nothing (10 percent at most)", curves.in_double, curves.plain, true, Limits{-INFINITY, 1.1});
        if (name == "fv1")
          ratio(source,
                "mixed precision takes almost half the time of double (0.6 at most)",
                curves.mixed,
                curves.in_double,
                true,
                Limits{-INFINITY, 0.6});
        else if (name == "fv3")
          {
            ratio(source, "mixed precision is faster than double", curves.mixed, curves.in_double, true, Limits{-INFINITY, 1.});
            ratio("T Table 5.6",
                  "mixed precision refinement takes half the time of plain async-(5) (printed: 67.69 s, 133.09 s; 0.6 at most)",
                  curves.mixed,
                  curves.plain,
                  true,
                  Limits{-INFINITY, 0.6});
          }
        else
          ratio(source, "mixed precision gains nothing over double (0.9 at least)", curves.mixed, curves.in_double, true, Limits{0.9});
      }

      void block_iterations() const
      {
        const char *source = "T Figure 4.34";
        for (const Curve *c : {&curves.block_double, &curves.block_mixed})
          report.finding(source, name + ", " + c->name + ": converges", c->converged, text(*c) + ", " + cell(c->residuals.back(), "%.1e"));
        if (name == "fv1" || name == "fv3")
          ratio(source,
                "block-asynchronous refinement: single precision changes the iterations little (10 percent at most)",
                curves.block_mixed,
                curves.block_double,
                false,
                to_10_percent);
        else
          ratio(source,
                name == "trefethen" ? "block-asynchronous refinement: single precision takes three times the iterations (2 at least)"
                                    : "block-asynchronous refinement: single precision takes more iterations (10 percent at least)",
                curves.block_mixed,
                curves.block_double,
                false,
                Limits{name == "trefethen" ? 2. : 1.1});
        const Curve &block = curves.block_mixed, &synchronous = curves.mixed;
        report.decide("T Figure 4.36",
                      name + ": block-asynchronous refinement takes at least three times the outer iterations of the synchronous one",
                      block.iterations_to(tolerance) >= 3. * synchronous.n_corrections,
                      cell(block.iterations_to(tolerance), "%.1f") + " global iterations of 15 sweeps, and " + cell(synchronous.n_corrections) +
                        " corrections of " + cell(synchronous.iterations() / std::max(1, synchronous.n_corrections), "%.0f") +
                        " iterations of 5 in the mean: what is called an outer iteration is another amount of work",
                      block.converged && synchronous.converged ? "" : "one of them has not come to the tolerance");
      }

      void block_times() const
      {
        ratio("T Figure 4.35",
              "block-asynchronous refinement is faster in mixed precision than in double",
              curves.block_mixed,
              curves.block_double,
              true,
              Limits{-INFINITY, 1.});
        const char *source = "T Figure 4.37";
        for (const auto &[block, synchronous] : {std::pair(&curves.block_double, &curves.in_double), {&curves.block_mixed, &curves.mixed}})
          ratio(source, block->name + " refinement is not faster than the synchronous one", *block, *synchronous, true, Limits{1.});
        if (name == "fv3")
          ratio(source,
                "block-asynchronous refinement in mixed precision is faster than plain async-(5)",
                curves.block_mixed,
                curves.plain,
                true,
                Limits{-INFINITY, 1.});
      }

      const double      tolerance;
      const std::string name;
      const Curves     &curves;
      Report           &report;
    };
  } // namespace

  void judge_refinement(const std::string &matrix, double tolerance, const Curves &curves, Report &report)
  {
    Judge(matrix, tolerance, curves, report).all();
  }
} // namespace leopard::studies
