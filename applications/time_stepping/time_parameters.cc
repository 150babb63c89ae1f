// SPDX-License-Identifier: Apache-2.0
#include "time_parameters.h"

#include <applications/base/log.h>
#include <applications/base/number_or_word.h>
#include <solvers/base/errors.h>
#include <solvers/base/words.h>

#include <deal.II/base/parameter_handler.h>
#include <deal.II/base/utilities.h>

#include <algorithm>

namespace leopard
{
  namespace
  {
    void declare_step_sizes(dealii::ParameterHandler &prm)
    {
      using namespace dealii::Patterns;
      prm.declare_entry("Step size",
                        "1e-4",
                        Double(1e-300),
                        "The step (fixed), or the first one (error-controlled: or less, see doc/time_stepping.md). Dimensionless time.");
      prm.declare_entry("Step factor", "0.1", Double(1e-300), "Step over h^2. Dimensionless.");
      prm.declare_entry("Bound fraction", "0.9", Double(1e-6, 1.), "Step over the asynchronous bound; near 1 the iteration is slow. Dimensionless.");
      prm.declare_entry(
        "Error tolerance", "1e-3", Double(1e-14, 1.), "Local error that a step may have, relative to the size of the fields. Dimensionless.");
      prm.declare_entry("Smallest step",
                        "automatic",
                        NumberOrWord("automatic", 0.),
                        "Error-controlled: step size below which the run is given up, a hundredth of 'End time' at most; automatic: 1e-12 times 'End "
                        "time', and no more than a thousandth of 'Step size'. Dimensionless time.");
      prm.declare_entry("Largest step",
                        "1e30",
                        Double(1e-300),
                        "Error-controlled and asynchronous bound: limit of the step size; the default is none. Dimensionless time.");
    }
  } // namespace

  void TimeParameters::declare(dealii::ParameterHandler &prm)
  {
    using namespace dealii::Patterns;
    std::vector<std::string> names    = {"automatic"},
                             meanings = {"automatic: BDF2, and implicit Euler with noise; for patterns BDF3 has a smaller error, but waves of "
                                         "excitable kinetics it can spoil"};
    for (const reaction_diffusion::SchemeName &row : reaction_diffusion::schemes)
      {
        names.push_back(row.name);
        meanings.push_back(names.back() + ": " + row.meaning);
      }
    prm.enter_subsection("Time stepping");
    prm.declare_entry(
      "Scheme", "automatic", Selection(joined(names, "|")), joined(meanings, "; ") + ". Those of order 2 start with one step of order 1.");
    prm.declare_entry("Step control",
                      "error-controlled",
                      Selection("fixed|multiple of h^2|error-controlled|asynchronous bound"),
                      "fixed: 'Step size'; multiple of h^2: 'Step factor' times the square of the shortest cell edge; error-controlled: from an "
                      "estimate of the local error; asynchronous bound: 'Bound fraction' times the largest step for which every asynchronous "
                      "iteration converges, computed in each step.");
    declare_step_sizes(prm);
    prm.declare_entry("End time", "1", Double(1e-300), "Where the run ends; with fixed steps at the step nearest to it. Dimensionless time.");
    prm.declare_entry(
      "Steady tolerance", "0", Double(0.), "The run ends when the root mean square of du/dt falls below this; 0: never. Dimensionless.");
    prm.declare_entry("Estimate error",
                      "false",
                      Bool(),
                      "Whether the run is done a second time at its end, without output, to say how far the fields are off because of the steps in "
                      "time: with ten times the error tolerance, twice the fixed step, or half the bound fraction (doc/time_stepping.md). It takes "
                      "about half as long again, with the bound fraction twice as long.");
    prm.declare_entry("Negative values",
                      "ignore",
                      Selection("stop|clip|ignore"),
                      "What to do when a concentration becomes negative: stop the run; clip: set it to zero and count; ignore: a warning, and "
                      "another one when it begins to matter.");
    prm.declare_entry(
      "Engine",
      "automatic",
      Selection("automatic|fused|general"),
      "Who does the steps. fused: a time loop of its own, on the GPU (backend cuda) without the host, for built-in kinetics or "
      "expressions of one to six species, of the place and of the time, every scheme (ETDRK4: on rectangles and boxes of one rank, see Scheme) and "
      "step control, with block-asynchronous sweeps, blocks and "
      "tolerances of linear systems of "
      "its own; finite differences on a rectangle or a box, and every other mesh with a lumped mass matrix and no hanging nodes, on any number of "
      "ranks, one a GPU (doc/time_stepping.md); "
      "general: everything else; automatic: fused where it can. The log says which and why.");
    prm.declare_entry(
      "GPU exchange",
      "automatic",
      Selection("automatic|messages"),
      "Several ranks with a GPU, fused time loop: how they get one another's values. automatic: kernels write them into the other GPU's "
      "memory, where all ranks are on one host whose GPUs can do that, one for each rank; by MPI messages otherwise, also where ranks share "
      "a GPU, as the log says; messages: in any case, as between hosts (doc/scaling.md).");
    prm.declare_entry("Blow-up factor",
                      "1e8",
                      Double(1.),
                      "The run is stopped as a blow-up when the largest |u| is this many times that at the start (or 1, if that is larger). "
                      "Dimensionless.");
    prm.leave_subsection();
  }

  void TimeParameters::check_fixed_step(double step) const
  {
    constexpr double  most = 1e15; // steps that double precision tells apart in time
    const std::string found =
      (step_control == "fixed" ? "'Time stepping/Step size' is " : "'Time stepping/Step factor' times h^2 makes a step of ") + format("%g", step);
    if (!(step <= end_time))
      throw Error(found + ", longer than the whole run, 'End time' = " + format("%g", end_time) + "\n  expected: a step that is not longer");
    if (!(end_time / step <= most))
      throw Error(found + ", and 'End time' = " + format("%g", end_time) + " takes " + format("%.1g", end_time / step) +
                  " of them: long before, steps are too short to advance the time\n  expected: at most " + format("%g", most) + " steps");
  }

  void TimeParameters::read_limits(const std::string &smallest, double largest)
  {
    constexpr double unlimited = 1e30; // the default, also where a run is longer
    stepping.largest_step      = largest == unlimited ? std::max(largest, end_time) : largest;
    if (smallest == "automatic")
      {
        stepping.smallest_step = std::min({1e-12 * end_time, 1e-3 * stepping.step_size, stepping.largest_step});
        return;
      }
    stepping.smallest_step = dealii::Utilities::string_to_double(smallest);
    if (adaptive() && !(stepping.smallest_step <= part_of_first_step * end_time))
      throw Error("'Time stepping/Smallest step' is " + format("%g", stepping.smallest_step) + ", and the whole run, 'End time' = " +
                  format("%g", end_time) + ", is not much longer: its errors could not be controlled\n  expected: a number up to " +
                  format("%g", part_of_first_step * end_time) + ", or automatic");
  }

  void TimeParameters::read(dealii::ParameterHandler &prm, bool has_noise)
  {
    prm.enter_subsection("Time stepping");
    scheme         = prm.get("Scheme");
    step_control   = prm.get("Step control");
    chooses_scheme = scheme == "automatic";
    if (chooses_scheme)
      scheme = has_noise ? "implicit Euler" : "BDF2";
    step_factor               = prm.get_double("Step factor");
    end_time                  = prm.get_double("End time");
    estimate_error            = prm.get_bool("Estimate error");
    negative_values           = prm.get("Negative values");
    engine                    = prm.get("Engine");
    gpu_exchange              = prm.get("GPU exchange");
    blow_up_factor            = prm.get_double("Blow-up factor");
    stepping.scheme           = reaction_diffusion::find_scheme(scheme);
    stepping.error_controlled = step_control == "error-controlled";
    stepping.step_size        = prm.get_double("Step size");
    stepping.bound_fraction   = step_control == "asynchronous bound" ? prm.get_double("Bound fraction") : 0.;
    stepping.error_tolerance  = prm.get_double("Error tolerance");
    stepping.steady_tolerance = prm.get_double("Steady tolerance");
    read_limits(prm.get("Smallest step"), prm.get_double("Largest step"));
    prm.leave_subsection();
    if (adaptive() && !(stepping.smallest_step <= stepping.step_size && stepping.step_size <= stepping.largest_step))
      throw Error("'Time stepping/Step size' is " + format("%g", stepping.step_size) + "\n  expected: a number between 'Smallest step' = " +
                  format("%g", stepping.smallest_step) + " and 'Largest step' = " + format("%g", stepping.largest_step));
    if (step_control == "fixed")
      check_fixed_step(stepping.step_size);
    if (!adaptive() && stepping.scheme == reaction_diffusion::Scheme::bdf3)
      throw Error(
        "'Time stepping/Scheme' is " + scheme + ", and 'Step control' is " + step_control +
        ": the first steps of this scheme are of lower order, and their errors would remain\n  expected: 'Step control' = error-controlled, or BDF2");
    if (follows_bound() && explicit_reaction())
      throw Error("'Time stepping/Step control' is asynchronous bound, but with the scheme " + scheme +
                  " every step size has a convergent iteration\n  expected: another step control, or a scheme with implicit reaction");
    if (follows_bound() && exponential())
      throw Error("'Time stepping/Step control' is asynchronous bound, but the scheme " + scheme +
                  " iterates nothing\n  expected: another step control, or an implicit scheme");
    if (exponential() && engine == "general")
      throw Error("'Time stepping/Scheme' is " + scheme +
                  ", which the fused time loop has, and 'Engine' is general\n  expected: 'Engine' = automatic or fused, or another scheme");
  }
} // namespace leopard
