// SPDX-License-Identifier: Apache-2.0
#include "energy_meter.h"

#include "../base/errors.h"
#include "waiting.h"

#include <chrono>
#include <cmath>
#include <limits>
#include <utility>

namespace leopard::device
{
  namespace
  {
    constexpr double      seldom       = 30.; // s: before RAPL wraps
    constexpr double      often        = 0.1; // s
    constexpr double      counts_every = 0.1; // s: NVML's counter and power move every 10 to 100 ms
    constexpr std::size_t most_samples = 1000000;

    Energy not_known(const std::string &why)
    {
      Energy result;
      result.why_not = why;
      return result;
    }
  } // namespace

  EnergySources energy_sources(bool uses_gpu)
  {
    EnergySources result;
    result.why_no_gpu = "no GPU is used";
    if (uses_gpu)
      try
        {
          result.gpu = find_gpu_power(pci_bus_id(), result.why_no_gpu);
        }
      catch (const DeviceError &error)
        {
          result.why_no_gpu = error.what();
        }
    result.cpu = make_rapl(result.why_no_cpu);
    return result;
  }

  EnergyUse EnergyUse::since(const EnergyUse &earlier) const
  {
    EnergyUse result;
    result.seconds     = seconds - earlier.seconds;
    result.gpu         = gpu.since(earlier.gpu, result.seconds);
    result.gpu_sampled = gpu_sampled.since(earlier.gpu_sampled, result.seconds);
    result.cpu         = cpu.since(earlier.cpu, result.seconds);
    return result;
  }

  std::string EnergyUse::text() const
  {
    return "GPU " + leopard::to_string(gpu, seconds) + "; CPU " + leopard::to_string(cpu, seconds);
  }

  EnergyMeter::EnergyMeter(EnergySources sources_, double period_, bool keeps_samples_)
    : sources(std::move(sources_))
    , keeps_samples(keeps_samples_)
  {
    total.gpu = total.gpu_sampled = not_known(sources.why_no_gpu);
    total.cpu                     = not_known(sources.why_no_cpu);
    bool has_counter              = false;
    if (sources.gpu != nullptr)
      {
        first_gpu     = sources.gpu->counted_joules();
        has_counter   = std::isfinite(first_gpu);
        samples_power = period_ > 0. || !has_counter;
        total.gpu     = has_counter ? Energy{0., counts_every, "NVML's counter", ""} : not_known(sources.gpu->why_not());
        total.gpu_sampled =
          samples_power ? Energy{0., counts_every, "NVML's power, sampled", ""} : not_known("the power is not sampled, as there is a counter");
      }
    period = period_ > 0. ? period_ : samples_power ? often : seldom;
    if (samples_power)
      total.gpu_sampled.how += " every " + std::to_string(static_cast<int>(std::lround(1e3 * period))) + " ms";
    if (sources.cpu != nullptr)
      {
        total.cpu = {0., sources.cpu->resolution(), sources.cpu->how(), ""};
        first_cpu = cpu_joules();
      }
    if (sources.gpu == nullptr && sources.cpu == nullptr)
      return;
    last_watts = samples_power ? sources.gpu->watts() : 0.;
    last_time  = watch.seconds();
    sampler    = std::thread([this] {
      std::unique_lock<std::mutex> lock(mutex);
      while (!end.wait_for(lock, std::chrono::duration<double>(period), [this] { return is_over; }))
        sample();
    });
  }

  EnergyMeter::~EnergyMeter()
  {
    {
      const std::lock_guard<std::mutex> lock(mutex);
      is_over = true;
    }
    end.notify_all();
    if (sampler.joinable())
      sampler.join();
  }

  double EnergyMeter::cpu_joules()
  {
    try
      {
        return sources.cpu->joules();
      }
    catch (const Error &error)
      {
        total.cpu = not_known(error.what());
        return total.cpu.joules;
      }
  }

  void EnergyMeter::sample()
  {
    const double time = watch.seconds(), cpu_before = total.cpu.joules;
    double       watts = std::numeric_limits<double>::quiet_NaN();
    if (total.cpu.is_known())
      total.cpu.joules = cpu_joules() - first_cpu;
    if (total.gpu.is_known())
      {
        total.gpu.joules = sources.gpu->counted_joules() - first_gpu;
        if (!std::isfinite(total.gpu.joules))
          total.gpu = not_known(sources.gpu->why_not());
      }
    if (samples_power && total.gpu_sampled.is_known())
      {
        watts = sources.gpu->watts();
        total.gpu_sampled.joules += 0.5 * (last_watts + watts) * (time - last_time);
        last_watts = watts;
        if (!std::isfinite(total.gpu_sampled.joules))
          total.gpu_sampled = not_known(sources.gpu->why_not());
      }
    if (keeps_samples && time > last_time && kept.size() < most_samples)
      kept.push_back({time, watts, (total.cpu.joules - cpu_before) / (time - last_time)});
    last_time = total.seconds = time;
  }

  EnergyUse EnergyMeter::read()
  {
    const std::lock_guard<std::mutex> lock(mutex);
    if (sampler.joinable())
      sample();
    else
      total.seconds = watch.seconds(); // nothing is known but the time
    EnergyUse result = total;
    if (!result.gpu.is_known() && result.gpu_sampled.is_known())
      result.gpu = result.gpu_sampled;
    return result;
  }

  std::vector<PowerSample> EnergyMeter::take_samples()
  {
    const std::lock_guard<std::mutex> lock(mutex);
    return std::exchange(kept, {});
  }
} // namespace leopard::device
