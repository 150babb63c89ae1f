// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../base/energy.h"
#include "../base/stopwatch.h"
#include "nvml.h"

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace leopard::device
{
  /** Whose energy is counted, and why somebody's is not. */
  struct EnergySources
  {
    std::unique_ptr<GpuPower>      gpu;
    std::string                    why_no_gpu; ///< where there is none
    std::unique_ptr<EnergyCounter> cpu;
    std::string                    why_no_cpu;
  };

  /** The processors, and the current device if a GPU is used. Never throws: what cannot be read is said. */
  EnergySources energy_sources(bool uses_gpu);

  /** What was taken over a time. */
  struct EnergyUse
  {
    double seconds = 0.;
    Energy gpu;         ///< by its counter, or where it has none by samples
    Energy gpu_sampled; ///< by samples of its power
    Energy cpu;         ///< of the packages: all that runs on them

    /** What was taken since an earlier reading of the same meter. */
    EnergyUse since(const EnergyUse &earlier) const;
    /** J of GPU and CPU together; not a number if one of them is not known. */
    double joules() const { return gpu.joules + cpu.joules; }
    /** "GPU 345.6 J, 48.1 W (NVML's counter); CPU not known: ...", for a report. */
    std::string text() const;
  };

  /** Power of a moment, W; not a number where it is not known. */
  struct PowerSample
  {
    double seconds; ///< since the meter was made
    double gpu;     ///< by the GPU's word
    double cpu;     ///< in the mean since the sample before
  };

  /**
   * Counts joules from when it is made. A thread of its own reads all sources again and again: RAPL's counters wrap,
   * and the power of a GPU is sampled (trapezoidal rule).
   */
  class EnergyMeter
  {
  public:
    /**
     * @param period s between two samples; 0: as seldom as will do, 0.1 s where the power of a GPU without counter must
     * be sampled. With 0, EnergyUse::gpu_sampled is known only then. @param keeps_samples for take_samples().
     */
    explicit EnergyMeter(EnergySources sources, double period = 0., bool keeps_samples = false);
    ~EnergyMeter();
    EnergyMeter(const EnergyMeter &) = delete;

    /** Since the meter was made. To be called by any thread. */
    EnergyUse read();
    /** The samples since the last call. */
    std::vector<PowerSample> take_samples();
    /** What the GPU says of its clock and power limit; null: there is none, or it is not asked. */
    const EnergySources &all_sources() const { return sources; }

  private:
    void   sample();     ///< with the mutex held
    double cpu_joules(); ///< not a number where they are not known any more

    const Stopwatch          watch;
    EnergySources            sources;
    bool                     samples_power = false, keeps_samples;
    double                   period, first_gpu = 0., first_cpu = 0., last_watts = 0., last_time = 0.;
    EnergyUse                total;
    std::vector<PowerSample> kept;
    std::mutex               mutex;
    std::condition_variable  end;
    bool                     is_over = false;
    std::thread              sampler;
  };
} // namespace leopard::device
