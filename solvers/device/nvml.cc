// SPDX-License-Identifier: Apache-2.0
#include "nvml.h"

#include <dlfcn.h>

#include <fstream>
#include <limits>

namespace leopard::device
{
  namespace
  {
    constexpr double not_told = std::numeric_limits<double>::quiet_NaN();

    // as in nvml.h, which a machine without CUDA does not have
    using Handle               = void *;
    constexpr int power_now    = 186; // NVML_FI_DEV_POWER_INSTANT
    constexpr int clock_of_sms = 1;   // NVML_CLOCK_SM
    struct FieldValue
    {
      unsigned int field_id, scope_id;
      long long    timestamp, latency_us;
      int          value_type, code;
      union
      {
        double       as_double;
        unsigned int as_unsigned;
        long long    as_long;
      } value;
    };

    /** The library, opened and initialized. */
    class Nvml
    {
    public:
      explicit Nvml(const char *name)
        : library(dlopen(name, RTLD_NOW))
      {
        if (library == nullptr)
          why_not = std::string(name) + ", which comes with the driver of NVIDIA's GPUs, is not there";
        else
          is_open = succeeds("nvmlInit_v2");
      }
      Nvml(const Nvml &) = delete;
      ~Nvml()
      {
        if (is_open)
          succeeds("nvmlShutdown");
        if (library != nullptr)
          dlclose(library);
      }

      /** Calls a function of NVML; false: it is not there or has failed, and why_not says so. */
      template <typename... Arguments>
      bool succeeds(const char *name, Arguments... arguments)
      {
        const auto function = reinterpret_cast<int (*)(Arguments...)>(dlsym(library, name));
        return function == nullptr ? refuse(name, "is not in this driver's NVML") : was_success(name, function(arguments...));
      }

      /** The same for a code that it has returned. */
      bool was_success(const char *name, int code)
      {
        if (code == 0)
          return true;
        const auto text = reinterpret_cast<const char *(*)(int)>(dlsym(library, "nvmlErrorString"));
        return refuse(name, text != nullptr ? text(code) : "error " + std::to_string(code));
      }

      bool        is_open = false;
      std::string why_not;

    private:
      bool refuse(const char *name, const std::string &reason)
      {
        why_not = std::string(name) + ": " + reason;
        return false;
      }

      void *library;
    };

    class NvmlGpu : public GpuPower
    {
    public:
      NvmlGpu(const std::string &pci_bus_id, const char *library)
        : nvml(library)
        , is_found(nvml.is_open && nvml.succeeds("nvmlDeviceGetHandleByPciBusId_v2", pci_bus_id.c_str(), &gpu))
      {
      }

      bool        found() const { return is_found; }
      std::string why_not() const override { return nvml.why_not; }

      double counted_joules() override
      {
        unsigned long long millijoules = 0;
        return nvml.succeeds("nvmlDeviceGetTotalEnergyConsumption", gpu, &millijoules) ? 1e-3 * static_cast<double>(millijoules) : not_told;
      }

      double watts() override
      {
        FieldValue now = {};
        now.field_id   = power_now;
        if (tells_power_now && nvml.succeeds("nvmlDeviceGetFieldValues", gpu, 1, &now) && nvml.was_success("power now", now.code))
          return 1e-3 * now.value.as_unsigned;
        tells_power_now = false;
        return of_unsigned("nvmlDeviceGetPowerUsage", 1e-3);
      }

      double clock_megahertz() override
      {
        unsigned int value = 0;
        return nvml.succeeds("nvmlDeviceGetClockInfo", gpu, clock_of_sms, &value) ? value : not_told;
      }

      double power_limit_watts() override { return of_unsigned("nvmlDeviceGetEnforcedPowerLimit", 1e-3); }

    private:
      double of_unsigned(const char *name, double unit)
      {
        unsigned int value = 0;
        return nvml.succeeds(name, gpu, &value) ? unit * value : not_told;
      }

      Nvml   nvml;
      Handle gpu = nullptr;
      bool   is_found, tells_power_now = true;
    };
  } // namespace

  std::unique_ptr<GpuPower> find_gpu_power(const std::string &pci_bus_id, std::string &why_not, const char *library)
  {
    auto gpu = std::make_unique<NvmlGpu>(pci_bus_id, library);
    if (gpu->found())
      return gpu;
    why_not = gpu->why_not();
    return nullptr;
  }

  std::string driver_version()
  {
    std::string of_module; // the same, without NVML, whose start takes 20 ms
    if (std::ifstream("/sys/module/nvidia/version") >> of_module)
      return of_module;
    Nvml nvml("libnvidia-ml.so.1");
    char text[96] = "";
    return nvml.is_open && nvml.succeeds("nvmlSystemGetDriverVersion", static_cast<char *>(text), static_cast<unsigned int>(sizeof(text))) ? text
                                                                                                                                           : "";
  }
} // namespace leopard::device
