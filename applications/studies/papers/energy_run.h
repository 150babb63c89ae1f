// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "study.h"

#include <solvers/device/energy_meter.h>
#include <solvers/device/waiting.h>

#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace leopard::studies
{
  /** What one solve has done. */
  struct SolveOutcome
  {
    bool converged  = false;
    int  iterations = 0; ///< global iterations, steps, cycles; of a refinement all inner ones
  };

  /** A solve from x = 0 that is done when it returns, and can be repeated. */
  struct EnergySolver
  {
    std::string                   name;
    std::function<SolveOutcome()> solve;
  };

  /** Jacobi, async-(k), mixed precision refinement with it, CG, CG with Jacobi, multigrid. */
  inline const std::vector<std::string> energy_methods = {"Jacobi", "async-(5)", "MPIR async-(5)", "CG", "CG, Jacobi", "multigrid"};

  /**
   * One of energy_methods, to ||b - A x|| <= tolerance ||b||, without its set-up in solve(). @param threads of the
   * backend host. @throws InvalidInput, DeviceError.
   */
  EnergySolver make_energy_solver(const std::string &method, const Problem &problem, double tolerance, const Settings &settings, int threads = 0);

  /** A solver repeated for some time. */
  struct EnergyRow
  {
    std::string                      name, waiting; ///< "-" where nobody waits for a GPU
    SolveOutcome                     outcome;       ///< of the last solve
    int                              repetitions = 0;
    double                           seconds     = std::numeric_limits<double>::quiet_NaN(); ///< a solve, in the mean
    double                           cores       = std::numeric_limits<double>::quiet_NaN(); ///< of the host that this process keeps busy
    device::EnergyUse                use;                                                    ///< of all repetitions
    std::vector<device::PowerSample> samples;

    /** J of a solve; not a number where it is not known. */
    double joules(const Energy &energy) const { return repetitions > 0 ? energy.joules / repetitions : std::numeric_limits<double>::quiet_NaN(); }
    double joules() const { return joules(use.gpu) + joules(use.cpu); }
  };

  /** Measures on one backend, and before that what the hardware takes when idle. */
  class EnergyLab
  {
  public:
    /** @param seconds that a measurement takes at least. */
    EnergyLab(bool on_device, double seconds);

    /**
     * Not repeated where it does not converge. Begins and ends where the GPU's counter moves, so that of solves shorter
     * than its 0.1 s each joule is counted. Waiting is of GPUs only.
     */
    EnergyRow measure(const EnergySolver &solver, device::Waiting waiting = device::Waiting::spin);
    /** The median of at least three solves; not a number without convergence. */
    double seconds_of(const EnergySolver &solver) const;

    /** While nothing is done. */
    const device::EnergyUse &idle() const { return at_rest; }
    /** J of a solve beyond what its time takes when idle. @param part gpu or cpu, the same of both. */
    double above_idle(const EnergyRow &row, Energy device::EnergyUse::*part) const;
    /** The lines that say what can be read, and what frequencies are set; these are read only. */
    std::string text();

    const bool on_device;

  private:
    /** Solves until the GPU's counter has moved. @return how often. */
    int solve_until_counted(const EnergySolver &solver);

    const double        least_seconds;
    device::EnergyMeter meter;
    device::EnergyUse   at_rest;
  };
} // namespace leopard::studies
