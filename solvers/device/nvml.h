// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

namespace leopard::device
{
  /**
   * What a GPU says of its power. Made by find_gpu_power(), and by tests. Numbers that are not told are NaN; the first
   * reason why stands in why_not().
   */
  class GpuPower
  {
  public:
    virtual ~GpuPower()                     = default;
    virtual std::string why_not() const     = 0; ///< the last reason why something was not told, empty: all was
    virtual double      counted_joules()    = 0; ///< J since the driver was loaded
    virtual double      watts()             = 0; ///< W, now where the GPU tells that, else the mean of the last second
    virtual double      clock_megahertz()   = 0; ///< MHz of the multiprocessors, now
    virtual double      power_limit_watts() = 0; ///< W that the driver keeps it below
  };

  /**
   * A GPU as NVML knows it, which comes with the driver and is opened with dlopen(): nothing is linked, and a build
   * without CUDA has it, too. @param pci_bus_id as of pci_bus_id(), since NVML and CUDA number GPUs differently.
   * @param why_not receives the reason where it does not answer. @param library another one, for tests. @return null:
   * it does not answer.
   */
  std::unique_ptr<GpuPower> find_gpu_power(const std::string &pci_bus_id, std::string &why_not, const char *library = "libnvidia-ml.so.1");

  /** The driver's version, "580.159.04"; empty if NVML does not tell. */
  std::string driver_version();
} // namespace leopard::device
