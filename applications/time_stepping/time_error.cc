// SPDX-License-Identifier: Apache-2.0
#include "time_error.h"

#include <applications/base/log.h>
#include <applications/reaction_diffusion/rules/schemes.h>

#include <deal.II/base/mpi.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace leopard
{
  using dealii::Utilities::MPI::max;
  using dealii::Utilities::MPI::min;
  using dealii::Utilities::MPI::sum;

  namespace
  {
    constexpr double tolerance_ratio = 10., least_ratio_of_steps = 1.2;
  }

  TimeParameters comparison_run(const TimeParameters &run, double end_time, unsigned int n_steps)
  {
    TimeParameters other            = run;
    other.end_time                  = end_time;
    other.stepping.steady_tolerance = 0.;
    if (run.adaptive())
      {
        other.stepping.error_tolerance *= tolerance_ratio;
        // estimated errors go like a power of the step; all steps are to grow alike, those that are limited, too
        other.stepping.largest_step *= std::pow(
          tolerance_ratio, 1. / reaction_diffusion::order_of_estimate(run.stepping.scheme, reaction_diffusion::order_of(run.stepping.scheme)));
      }
    else if (run.follows_bound())
      other.stepping.bound_fraction *= 0.5;
    else
      {
        other.step_control       = "fixed"; // also where it was a multiple of h^2
        other.stepping.step_size = end_time / ((n_steps + 1) / 2);
      }
    return other;
  }

  std::string text_of_steps(const TimeParameters &run)
  {
    return run.adaptive()        ? format("the tolerance %g", run.stepping.error_tolerance)
           : run.follows_bound() ? format("%g times the asynchronous bound", run.stepping.bound_fraction)
                                 : format("dt = %.6g", run.stepping.step_size);
  }

  TimeErrorEstimate::TimeErrorEstimate(const std::vector<std::string> &fields_,
                                       int                             order_,
                                       const HostVector               &run,
                                       unsigned int                    n_steps_,
                                       const HostVector               &comparison,
                                       unsigned int                    n_comparison_steps_,
                                       const std::vector<double>      &spans,
                                       const HostVector               &lumped_mass)
    : fields(fields_)
    , order(order_)
    , n_steps(n_steps_)
    , n_comparison_steps(n_comparison_steps_)
    , of_field(fields_.size())
  {
    constexpr double    infinity = std::numeric_limits<double>::infinity();
    const std::size_t   n        = fields.size();
    const double        factor   = 1. / std::abs(std::pow(static_cast<double>(n_steps) / n_comparison_steps, order) - 1.);
    std::vector<double> largest(n, 0.), squares(n, 0.), total(n, 0.), top(n, -infinity), bottom(n, infinity);
    for (std::size_t i = 0; i < static_cast<std::size_t>(run.locally_owned_size()); ++i)
      {
        const std::size_t c    = i % n; // fields of a node stand together
        const double      mass = lumped_mass.begin()[i];
        if (mass == 0.)
          continue; // constrained
        const double value = run.begin()[i], difference = std::abs(comparison.begin()[i] - value);
        if (!(difference <= largest[c]))
          largest[c] = difference;
        squares[c] += mass * difference * difference;
        total[c] += mass;
        top[c]    = std::max(top[c], value);
        bottom[c] = std::min(bottom[c], value);
      }
    const MPI_Comm comm = run.get_mpi_communicator();
    for (std::size_t c = 0; c < n; ++c)
      of_field[c] = {factor * max(largest[c], comm),
                     factor * std::sqrt(sum(squares[c], comm) / sum(total[c], comm)),
                     spans[c],
                     max(top[c], comm) - min(bottom[c], comm)};
  }

  std::string TimeErrorEstimate::why_none() const
  {
    const double ratio = static_cast<double>(n_steps) / n_comparison_steps;
    if (ratio >= least_ratio_of_steps || ratio <= 1. / least_ratio_of_steps)
      return "";
    return format("the run has %u steps and the one beside it %u, too few more or less to tell", n_steps, n_comparison_steps) +
           "\n  to try: a smaller first 'Time stepping/Step size', tolerance or fixed step";
  }

  std::string TimeErrorEstimate::text() const
  {
    std::string text =
      format("error at the end, as far as steps in time make it (estimated from %u steps beside %u, order %d):", n_steps, n_comparison_steps, order);
    bool reliable = true;
    for (std::size_t c = 0; c < fields.size(); ++c)
      {
        const TimeError &e = of_field[c];
        text += format("\n  %s: about %.2g at a node, %.2g in the mean (root of the mean square); its values span %.3g in the run, %.3g at the end",
                       fields[c].c_str(),
                       e.largest,
                       e.rms,
                       e.span,
                       e.span_at_end);
        reliable = reliable && e.is_reliable();
      }
    if (!reliable)
      text +=
        "\n  that is more than a tenth of what values span in the run, so no more than an order of magnitude: a smaller tolerance or step tells more";
    return text;
  }

  nlohmann::json TimeErrorEstimate::report() const
  {
    nlohmann::json report = {{"steps", n_steps}, {"steps_beside", n_comparison_steps}, {"order", order}};
    for (std::size_t c = 0; c < fields.size(); ++c)
      report["fields"][fields[c]] = {{"largest", of_field[c].largest},
                                     {"rms", of_field[c].rms},
                                     {"span", of_field[c].span},
                                     {"span_at_end", of_field[c].span_at_end},
                                     {"reliable", of_field[c].is_reliable()}};
    return report;
  }
} // namespace leopard
