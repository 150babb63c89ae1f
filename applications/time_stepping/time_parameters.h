// SPDX-License-Identifier: Apache-2.0
#pragma once

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
    std::string scheme           = "BDF2";
    std::string step_control     = "error-controlled";
    double      step_size        = 1e-4; ///< fixed: the step; error-controlled: the first one
    double      step_factor      = 0.1;  ///< "multiple of h^2": the step is this times h^2
    double      bound_fraction   = 0.9;  ///< "asynchronous bound": the step is this times the bound
    double      error_tolerance  = 1e-3; ///< of the estimated local error, relative to the fields
    double      smallest_step    = 1e-12;
    double      largest_step     = 1e30;
    double      end_time         = 1.;
    double      steady_tolerance = 0.; ///< stop when the RMS of du/dt falls below; 0: never
    std::string negative_values  = "ignore";
    std::string engine           = "automatic";
    double      blow_up_factor   = 1e8; ///< of the largest |u| against that at the start (or 1, if that is larger)

    void declare(dealii::ParameterHandler &prm);
    void read(dealii::ParameterHandler &prm);

    /**
     * @throws Error if a fixed step is longer than the whole run, which would then do no step at all or go far beyond
     * its end.
     */
    void check_fixed_step(double step) const;

    bool adaptive() const { return step_control == "error-controlled"; }
    bool follows_bound() const { return step_control == "asynchronous bound"; }
    /** Whether the step size may change from step to step, so that output times can be hit. */
    bool variable_steps() const { return adaptive() || follows_bound(); }
    int  order() const { return scheme == "implicit Euler" ? 1 : 2; }
    /**
     * Whether the reaction is taken from the old solutions, so that a step is a linear solve with a symmetric matrix.
     */
    bool explicit_reaction() const { return scheme == "SBDF2"; }
  };
} // namespace leopard
