// SPDX-License-Identifier: Apache-2.0
#include "precision.h"

#include "../base/norms.h"
#include "../base/stopwatch.h"
#include "report.h"
#include "vectors.h"
#include "watched.h"

#include <cmath>
#include <utility>

namespace leopard::command_line
{
  namespace
  {
    template <typename Number>
    SolveResult watched_solve(
      Relaxation<Number> &relaxation, const std::vector<Number> &b, const StoppingCriteria &criteria, std::vector<Number> &x, const Log &log)
    {
      Watched<Number> watched(relaxation, criteria.relative_tolerance, [&](const std::string &text) { log("solving", text); });
      return with_vectors(relaxation.memory_space(), b, x, [&](Number *x_, const Number *b_) { return leopard::solve(watched, x_, b_, criteria); });
    }

    /** What the precisions have in common: what is said of the method. */
    template <typename Number>
    class SolverOf : public Solver
    {
    public:
      explicit SolverOf(std::shared_ptr<Relaxation<Number>> relaxation_)
        : relaxation(std::move(relaxation_))
      {
      }

      std::string name() const override { return relaxation->name(); }
      std::string description() const override { return relaxation->description(); }
      bool        is_fixed_linear_map() const override { return relaxation->is_fixed_linear_map(); }
      std::string history_note() const override
      {
        const bool is_persistent = relaxation->tests_itself() && relaxation->memory_space() == MemorySpace::device; // several GPUs stop for a test
        return is_persistent ? "estimates but for the first and the last, as nothing stops for a test" : "";
      }

    protected:
      const std::shared_ptr<Relaxation<Number>> relaxation;
    };

    class InDouble : public SolverOf<double>
    {
    public:
      using SolverOf<double>::SolverOf;

      SolveResult solve(const std::vector<double> &b, const StoppingCriteria &criteria, std::vector<double> &x, const Log &log) override
      {
        x.assign(b.size(), 0.);
        return watched_solve(*relaxation, b, criteria, x, log);
      }
    };

    /** All in single precision: S A S y = S b / |b|, x = S y |b|. */
    class InSingle : public SolverOf<float>
    {
    public:
      InSingle(std::shared_ptr<Relaxation<float>> relaxation_, std::vector<double> scale_)
        : SolverOf<float>(std::move(relaxation_))
        , scale(std::move(scale_))
      {
      }

      std::string name() const override { return relaxation->name() + " in single precision"; }

      SolveResult solve(const std::vector<double> &b, const StoppingCriteria &criteria, std::vector<double> &x, const Log &log) override
      {
        double largest = 0.;
        for (std::size_t i = 0; i < b.size(); ++i)
          largest = std::max(largest, std::abs(b[i] * scale_of(i)));
        const double       unit = 1. / to_about_one(largest);
        std::vector<float> low_b(b.size()), low_x(b.size(), 0.f);
        for (std::size_t i = 0; i < b.size(); ++i)
          low_b[i] = static_cast<float>(scale_of(i) * b[i] / unit);
        SolveResult result = watched_solve(*relaxation, low_b, criteria, low_x, log);
        for (double *norm : {&result.initial_residual, &result.final_residual})
          *norm *= unit;
        for (double &norm : result.history_residuals)
          norm *= unit;
        x.resize(b.size());
        for (std::size_t i = 0; i < b.size(); ++i)
          x[i] = scale_of(i) * unit * static_cast<double>(low_x[i]);
        return result;
      }

    private:
      double scale_of(std::size_t i) const { return scale.empty() ? 1. : scale[i]; }

      const std::vector<double> scale;
    };

    SolveStatus status_of(RefinementReason reason)
    {
      switch (reason)
        {
          case RefinementReason::converged:
            return SolveStatus::converged;
          case RefinementReason::maximum:
            return SolveStatus::iteration_limit;
          case RefinementReason::stopped:
            return SolveStatus::time_limit;
          case RefinementReason::not_finite:
          case RefinementReason::no_progress:
            return SolveStatus::diverged;
          case RefinementReason::rounding:
          case RefinementReason::ill_conditioned:
            return SolveStatus::stagnated;
        }
      return SolveStatus::diverged;
    }

    /** Residual and solution in double, corrections in single precision. */
    class Mixed : public Solver
    {
    public:
      Mixed(std::unique_ptr<OuterSystem<float>> system, std::unique_ptr<InnerSolver<float>> inner, MethodInSingle about_)
        : about(std::move(about_))
        , refinement(std::move(system), std::move(inner), RefinementOptions())
      {
      }

      std::string name() const override { return "refinement with " + about.name + " in single precision"; }
      std::string description() const override { return about.description; }
      bool        is_fixed_linear_map() const override { return about.is_fixed_linear_map; }
      std::string unit() const override { return about.unit; }

      SolveResult solve(const std::vector<double> &b, const StoppingCriteria &criteria, std::vector<double> &x, const Log &log) override
      {
        const Stopwatch   stopwatch;
        RefinementOptions options;
        options.tolerance        = criteria.relative_tolerance;
        options.inner_iterations = about.inner_iterations;
        options.goes_on_if_slow  = about.goes_on_if_slow;
        options.max_iterations   = criteria.max_iterations;
        options.max_corrections  = criteria.max_iterations;
        if (criteria.max_seconds > 0.)
          options.asked_to_stop = [&] { return stopwatch.seconds() > criteria.max_seconds; };
        refinement.set_options(options);
        x.assign(b.size(), 0.);
        const RefinementResult found =
          with_vectors(refinement.memory_space(), b, x, [&](double *x_, const double *b_) { return refinement.solve(x_, b_); });
        take_out(about.null_space, x);
        std::string text = std::to_string(found.n_corrections) + " corrections" + (found.inner_iterations.empty() ? "" : " of ");
        SolveResult result;
        result.status = status_of(found.reason);
        if (found.reason == RefinementReason::no_progress && found.relative_residual < 1.) // smaller than at first
          result.status = SolveStatus::stagnated;
        result.seconds            = stopwatch.seconds();
        result.initial_residual   = found.history.front();
        result.final_residual     = found.residual;
        result.history_residuals  = found.history;
        result.history_seconds    = found.history_seconds;
        result.history_iterations = {0};
        for (std::size_t i = 0; i < found.inner_iterations.size(); ++i)
          {
            text += (i > 0 ? ", " : "") + std::to_string(found.inner_iterations[i]);
            result.history_iterations.push_back(result.history_iterations.back() + found.inner_iterations[i]);
          }
        result.n_iterations = result.min_iterations = found.n_iterations;
        result.mean_iterations                      = found.n_iterations;
        log("refinement",
            to_string(found.reason) + " after " + text +
              (found.inner_iterations.empty() ? ""
                                              : " " + about.unit.substr(about.unit.rfind(' ') + 1) + (found.has_momentum ? ", with momentum" : "") +
                                                  "; predicted after the first: " + std::to_string(found.predicted) + " corrections"));
        return result;
      }

    private:
      const MethodInSingle about;
      Refinement<float>    refinement;
    };
  } // namespace

  std::unique_ptr<Solver>
  make_solver(const CrsMatrix<double> &A, Precision precision, Backend backend, int n_threads, const MakeMethod &make_method, int inner_iterations)
  {
    if (precision == Precision::double_precision)
      return std::make_unique<InDouble>(make_method.in_double(A));
    ScaledMatrix<float>                low        = scaled_to<float>(A);
    std::shared_ptr<Relaxation<float>> relaxation = make_method.in_single(low.matrix);
    if (precision == Precision::single)
      return std::make_unique<InSingle>(std::move(relaxation), std::move(low.scale));
    const MethodInSingle about = {
      relaxation->name(), relaxation->description(), relaxation->is_fixed_linear_map(), "global iterations", inner_iterations};
    return make_mixed(make_outer_system<float>(A, low.scale, backend, n_threads), make_inner_solver(std::move(relaxation)), about);
  }

  std::unique_ptr<Solver>
  make_mixed(std::unique_ptr<OuterSystem<float>> system, std::unique_ptr<InnerSolver<float>> inner, const MethodInSingle &about)
  {
    return std::make_unique<Mixed>(std::move(system), std::move(inner), about);
  }
} // namespace leopard::command_line
