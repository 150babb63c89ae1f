// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <applications/reaction_diffusion/rules/stepping.h>

#include <string>

namespace dealii
{
  class ParameterHandler;
}

namespace leopard
{
  /** Section "Time stepping" of the parameter file. Times are dimensionless. */
  struct TimeParameters
  {
    std::string scheme         = "BDF2"; ///< one of reaction_diffusion::schemes, also where it is chosen
    bool        chooses_scheme = true;   ///< the file leaves the scheme to the program
    std::string step_control   = "error-controlled";
    double      step_factor    = 0.1; ///< "multiple of h^2": the step is this times h^2
    /** What the rules of step sizes are to know; with "multiple of h^2" its step_size is not the one. */
    reaction_diffusion::SteppingOptions stepping;
    double                              end_time        = 1.;
    std::string                         negative_values = "ignore";
    std::string                         engine          = "automatic";
    std::string                         gpu_exchange    = "automatic"; ///< of the fused time loop on several ranks
    bool                                estimate_error  = false;       ///< at the end, by a second run; see TimeErrorEstimate
    double                              blow_up_factor  = 1e8;         ///< of the largest |u| against that at the start (or 1, if that is larger)

    void declare(dealii::ParameterHandler &prm);
    /**
     * Where the file has `automatic`, BDF2: BDF3 has a smaller error at the same cost for patterns, but fails for waves
     * of excitable kinetics (benchmarks/results/2026-12-01_gallery_bdf3.md); implicit Euler
     * @param has_noise with noise, whose order is known for that scheme.
     */
    void read(dealii::ParameterHandler &prm, bool has_noise);

    /**
     * @throws Error if a fixed step is longer than the whole run, which would then do no step at all or go far beyond
     * its end.
     */
    void check_fixed_step(double step) const;

    /** An error-controlled run is to have so many steps that their error can be told. */
    static constexpr double part_of_first_step = 0.01;

    bool adaptive() const { return stepping.error_controlled; }
    bool follows_bound() const { return stepping.bound_fraction > 0.; }
    /** Whether the step size may change from step to step, so that a time can be hit. */
    bool variable_steps() const { return adaptive() || follows_bound(); }
    /**
     * Whether steps do not care about output times, and fields there are interpolated (TimeIntegrator::solution_at()).
     */
    bool interpolates_output() const { return variable_steps(); }
    /** Options of steps that know where the run ends. */
    reaction_diffusion::SteppingOptions stepping_to_end() const
    {
      reaction_diffusion::SteppingOptions result = stepping;
      result.end_time                            = interpolates_output() ? end_time : 0.;
      return result;
    }
    /**
     * Whether the reaction is taken from the old solutions, so that a step is a linear solve with a symmetric matrix.
     */
    bool explicit_reaction() const { return has_explicit_reaction(stepping.scheme); }
    /** Whether a step solves no system of equations; of the fused time loop on a grid only. */
    bool exponential() const { return is_exponential(stepping.scheme); }

  private:
    /** @param smallest "automatic", or a number. @throws Error if that is not far below the end time. */
    void read_limits(const std::string &smallest, double largest);
  };
} // namespace leopard
