// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "energy_run.h"

#include <map>
#include <string>
#include <vector>

namespace leopard::studies
{
  /** Energy of a method over the digits of the residual: its power times the time to each. */
  struct EnergyCurve
  {
    std::string         name;
    std::vector<int>    digits;  ///< 2, 4, ...: relative residuals 1e-2, 1e-4, ...
    std::vector<double> seconds; ///< to these; not a number: not reached
    device::EnergyUse   use;     ///< while it was repeated

    double gpu(std::size_t i) const { return use.gpu.joules / use.seconds * seconds[i]; } ///< J; so the next
    double cpu(std::size_t i) const { return use.cpu.joules / use.seconds * seconds[i]; }
  };

  /** By the name of the method; of each way to wait one. */
  using EnergyRows = std::map<std::string, std::vector<EnergyRow>>;

  /**
   * Decides on the findings of chapter 5. What needs joules that cannot be read here is not decided, with the reason;
   * where those of the GPU are known, the same of the GPU alone is decided beside it, as no paper's.
   */
  class EnergyJudge
  {
  public:
    /** @param idle what is known there is known at all. */
    EnergyJudge(bool on_device, device::EnergyUse idle, Report &report);

    /**
     * Several measurements of one solve: those of each meter are within 5 percent of one another, and both of the GPU's
     * meters agree to 10 percent over all of them.
     */
    void meters(const std::string &what, const std::vector<EnergyRow> &rows);
    /** Tables 5.1 to 5.3: the GPU, which is last if there is one, against threads. */
    void hardware(const std::string &source, const std::vector<EnergyRow> &rows);
    /** Spin and block of a solve: time, power, energy. @param source of the claim on energy; empty: no paper's. */
    void waiting(const std::string &source, const std::string &what, const std::vector<EnergyRow> &rows);
    /** The CPU's power of the same, Figures 5.4 and 5.5. @param limit of what is left of it, when the host sleeps. */
    void power(const std::string &source, const std::string &claim, double limit, const std::vector<EnergyRow> &rows);
    /** Table 5.6. */
    void relaxations(const EnergyRows &rows);
    /** Figure 5.6, of the thesis' matrices. */
    void accuracies(const std::string &matrix, const std::vector<EnergyCurve> &curves);

  private:
    /** J of two, of CPU and GPU. */
    struct Pair
    {
      double gpu, cpu, other_gpu, other_cpu;
    };
    /** Whether the first is at most limit times the other, in sum. Within 5 percent of that nothing is decided. */
    void at_most(const std::string &source, const std::string &claim, double limit, const Pair &pair);
    void ratio(const std::string &source, const std::string &claim, double limit, double one, double other, const std::string &why_not);

    const bool              on_device;
    const device::EnergyUse idle;
    Report                 &report;
  };
} // namespace leopard::studies
