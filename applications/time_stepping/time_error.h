// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "time_parameters.h"

#include <solvers/dealii/trilinos_matrix.h>

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

namespace leopard
{
  /**
   * The same run with other steps, to which a run is compared: ten times the tolerance where the error controls the
   * steps (and 'Largest step' as much longer as the others become), steps twice as long where they are fixed, half as
   * long where they follow the asynchronous bound (longer ones need not converge). Both end at the same time.
   * @param end_time, n_steps where the run has ended, and in how many steps; @return with no steps to compare (a single
   * fixed one) the parameters have a step that is not longer than the run's.
   */
  TimeParameters comparison_run(const TimeParameters &run, double end_time, unsigned int n_steps);

  /** What decides on the steps: "the tolerance 0.001". */
  std::string text_of_steps(const TimeParameters &run);

  /** How far a field is off at the end of a run, as far as steps in time are the reason. */
  struct TimeError
  {
    double largest     = 0.; ///< at a node
    double rms         = 0.; ///< root of the mean square, weighted by the lumped mass
    double span        = 0.; ///< largest less smallest value of the field during the run, to compare with
    double span_at_end = 0.; ///< the same at its end

    /** Whether the estimate is more than an order of magnitude: the error is small beside the field. */
    bool is_reliable() const { return largest <= 0.1 * span; }
  };

  /**
   * The errors of a run of N steps from the difference to one of M: with errors that go like the power p of the step,
   * p the order of the scheme, and r = (N/M)^p, the error of the run is |difference| / |r - 1| (Richardson; Hairer,
   * Norsett, Wanner, Solving Ordinary Differential Equations I, II.4). All dimensionless.
   */
  class TimeErrorEstimate
  {
  public:
    /**
     * @param run, n_steps the fields at the end of the run, interleaved, and its steps; @param comparison,
     * n_comparison_steps likewise; @param spans of the fields during the run; @param lumped_mass of the assembled
     * system, zero in constrained unknowns. Collective.
     */
    TimeErrorEstimate(const std::vector<std::string> &fields,
                      int                             order,
                      const HostVector               &run,
                      unsigned int                    n_steps,
                      const HostVector               &comparison,
                      unsigned int                    n_comparison_steps,
                      const std::vector<double>      &spans,
                      const HostVector               &lumped_mass);

    /** Empty if there is an estimate, otherwise why there is none. */
    std::string why_none() const;
    /** Lines for the log. */
    std::string    text() const;
    nlohmann::json report() const;

    const std::vector<TimeError> &errors() const { return of_field; } ///< one a field

  private:
    std::vector<std::string> fields;
    int                      order;
    unsigned int             n_steps, n_comparison_steps;
    std::vector<TimeError>   of_field;
  };
} // namespace leopard
