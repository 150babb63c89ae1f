// SPDX-License-Identifier: Apache-2.0
#include "judgement.h"

#include "linear_solver.h"

#include <applications/base/log.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace leopard
{
  namespace
  {
    constexpr double at_rounding_level = 1e-10; ///< of the first residual, below which rounding errors may be all that is left

    /** With two digits, "24000". */
    std::string about(double n)
    {
      const double unit = n > 100. ? std::pow(10., std::floor(std::log10(n)) - 1.) : 1.;
      return format("%.0f", std::max(1., std::ceil(n / unit) * unit));
    }
  } // namespace

  double recent_rate(const std::vector<double> &residuals, double iterations_between)
  {
    const std::size_t n = residuals.size();
    if (n < 2 || !std::isfinite(residuals.back()))
      return 0.;
    if (n < 8)
      {
        const double rate = std::pow(residuals.back() / residuals.front(), 1. / (static_cast<double>(n - 1) * iterations_between));
        return rate > 0. ? rate : 0.;
      }
    // the least of the four eighths at the end, each against the next but one
    const std::size_t length = n / 8;
    double            least[4];
    for (std::size_t k = 0; k < 4; ++k)
      {
        const auto end = residuals.end() - static_cast<std::ptrdiff_t>((3 - k) * length);
        least[k]       = *std::min_element(end - static_cast<std::ptrdiff_t>(length), end);
      }
    const double before = std::min(least[0], least[1]), now = std::min(least[2], least[3]);
    const bool   falls  = now < 0.9 * before || (least[1] < least[0] && least[2] < least[1] && least[3] < least[2]); // and not by chance
    const double growth = std::pow(now / before, 1. / (2. * static_cast<double>(length) * iterations_between));
    return falls ? growth : std::max(1., growth);
  }

  double missing_iterations(const Progress &progress)
  {
    const double n = progress.rate > 0. && progress.rate < 1. && progress.goal > 0.
                       ? std::log(progress.goal / progress.last) / std::log(progress.rate)
                       : std::numeric_limits<double>::infinity();
    return n > 0. ? n : 0.;
  }

  Verdict judge(const Progress &progress)
  {
    constexpr double hopeless = 1e9; // iterations
    if (!std::isfinite(progress.last) || progress.last > 1e3 * progress.first || (progress.rate > 1. && progress.last > 10. * progress.first))
      return Verdict::diverging;
    return progress.stagnated || !(missing_iterations(progress) < hopeless) ? Verdict::stagnating : Verdict::slow;
  }

  std::string judgement(const Progress &progress)
  {
    const double      more = missing_iterations(progress), part = progress.last / progress.first;
    const std::string met =
      progress.negative_curvature ? ", and has met negative curvature: the matrix is not positive definite, as cg needs it" : "";
    if (progress.ill_conditioned)
      return "the matrix is too ill-conditioned for single precision: corrections that solve their own system bring the residual down no more";
    if (progress.at_rounding)
      return format("it has come to the level of rounding errors, at %.1e of the first residual", part);
    switch (judge(progress))
      {
        case Verdict::diverging:
          return "it diverges" + met;
        case Verdict::stagnating:
          return format("it stagnates at %.1e of the first residual", part) +
                 (part < at_rounding_level ? ", where rounding errors may be all that is left" : "") + met;
        default:
          return (more > progress.n_iterations ? "it is slow: about " : "it is nearly there: about ") + about(more) +
                 " more iterations at the rate of the last ones" + met;
      }
  }

  std::string advice(const Progress &progress, const LinearSolverParameters &parameters, const std::string &more)
  {
    std::string text;
    const auto  add = [&](const std::string &what) { text += (text.empty() || what.empty() ? "" : "; ") + what; };

    const Verdict verdict = judge(progress);
    const double  needed  = missing_iterations(progress);
    if (progress.ill_conditioned)
      add("'Linear solver/Precision' = double");
    if (progress.at_rounding || (verdict == Verdict::stagnating && progress.last < at_rounding_level * progress.first))
      add("a larger 'Linear solver/Relative tolerance'");
    if (verdict == Verdict::slow && needed <= progress.n_iterations)
      add("a larger 'Linear solver/Max iterations'");

    const SolverChoice &suited = parameters.suited;
    const auto          is     = [&](const std::string &method, const std::string &preconditioner) {
      return parameters.method == method && parameters.preconditioner == preconditioner;
    };
    const auto take = [&](const std::string &method, const std::string &preconditioner) {
      const bool refines = parameters.precision == "mixed" && method != "multigrid"; // what is taken here are no relaxations
      if (!is(method, preconditioner))
        add("'Linear solver/Method' = " + method + (preconditioner == "none" ? "" : " with 'Preconditioner' = " + preconditioner) +
            (refines ? " and 'Precision' = double" : ""));
    };
    const bool is_indefinite = progress.negative_curvature && progress.last > at_rounding_level * progress.first;
    if (is_indefinite)
      take("gmres", parameters.backend == "cuda" ? parameters.preconditioner : "amg");
    if (!suited.method.empty() && !(is_indefinite && suited.method == "cg"))
      take(suited.method, suited.preconditioner);
    const std::string krylov = suited.method == "cg" ? "cg" : "gmres";
    if (!is_indefinite && (suited.method.empty() || is(suited.method, suited.preconditioner)))
      {
        const bool        on_device = parameters.backend == "cuda";
        const std::string strong    = parameters.n_gpus > 1 ? (krylov == "cg" ? "ic" : "ilu") : on_device ? "aggregation" : "amg";
        if (on_device && parameters.uses_aggregation())
          add("'Linear solver/Backend' = host, with 'Preconditioner' = amg");
        take(krylov, parameters.preconditioner != strong ? strong : on_device ? "chebyshev" : "ssor");
      }
    if ((verdict != Verdict::slow || is_indefinite) && suited.method != "direct" && parameters.backend != "cuda")
      take("direct", "none");
    if (parameters.has_tau() && verdict == Verdict::diverging && parameters.relaxation()->has_blocks && !parameters.block_async.is_jacobi())
      add("'Linear solver/Schedule' = synchronous with 'Local iterations' = 1, for which tau is");
    if (parameters.is_relaxation() && parameters.omega > 1.)
      add("'Linear solver/Omega' = 1");
    if (parameters.has_async_factors() && verdict != Verdict::slow)
      add("'Linear solver/Triangular solves' = exact");
    if (parameters.n_gpus > 1)
      add("'Linear solver/GPUs' = 1, or mpirun with a rank for each GPU, which have multigrid");
    add(more);
    if (verdict == Verdict::slow && needed > progress.n_iterations && std::isfinite(needed))
      add("a larger 'Linear solver/Max iterations', if you can wait");
    return text;
  }
} // namespace leopard
