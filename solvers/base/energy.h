// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <limits>
#include <memory>
#include <string>

namespace leopard
{
  /** Energy that something has taken over a time, or why it is not known. */
  struct Energy
  {
    double      joules     = std::numeric_limits<double>::quiet_NaN(); ///< J; not a number: not known
    double      resolution = 0.;                                       ///< s after which what is read has changed for sure
    std::string how;                                                   ///< "NVML's counter", "RAPL, 2 packages"
    std::string why_not;                                               ///< why the joules are not known; empty: they are

    bool is_known() const { return why_not.empty() && std::isfinite(joules); }
    /**
     * What was taken between an earlier reading of the same meter and this one, seconds before. Not known where one of
     * the two is not, or the time is below 10 resolutions: what is told is right to about 10 percent.
     */
    Energy since(const Energy &earlier, double seconds) const;
  };

  /** Counts the joules of somebody. Not for two threads at once. */
  class EnergyCounter
  {
  public:
    virtual ~EnergyCounter()               = default;
    virtual std::string how() const        = 0; ///< as Energy::how
    virtual double      resolution() const = 0; ///< as Energy::resolution
    /** J since some time in the past, always the same. @throws Error where it cannot be read any more. */
    virtual double joules() = 0;
  };

  /**
   * The processors' own counters (RAPL, running average power limit), of all packages together: all that runs on them,
   * not this program alone; without the memory, but where a processor counts that, too. Their files count up to
   * max_energy_range_uj and begin anew; a wrap is seen if joules() is called before the next (at 262 kJ and 300 W:
   * every 14 minutes).
   * @param folder null: $LEOPARD_POWERCAP, else /sys/class/powercap. @param why_not receives the reason where there is
   * no counter. @return null: it cannot be read.
   * Source: Linux, Documentation/power/powercap/powercap.rst.
   */
  std::unique_ptr<EnergyCounter> make_rapl(std::string &why_not, const char *folder = nullptr);

  /** "345.6 J, 48.1 W (NVML's counter)" or "cannot be read here: ...". @param seconds in which it was taken. */
  std::string to_string(const Energy &energy, double seconds);
} // namespace leopard
