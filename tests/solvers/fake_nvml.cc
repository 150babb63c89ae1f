// SPDX-License-Identifier: Apache-2.0
// A library with the functions of NVML that Leopard calls, for energy_test.cc: two GPUs, the second without an energy
// counter.
#include <chrono>
#include <cstring>

namespace
{
  constexpr int success = 0, not_supported = 3, not_found = 6;
  int           numbers[2] = {0, 1};
  int           n_inits    = 0;

  double seconds()
  {
    static const auto start = std::chrono::steady_clock::now();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
} // namespace

extern "C"
{
  struct FieldValue
  {
    unsigned int field_id, scope_id;
    long long    timestamp, latency_us;
    int          value_type, code;
    unsigned int value, more;
  };

  int nvmlInit_v2()
  {
    ++n_inits;
    return success;
  }
  int nvmlShutdown()
  {
    --n_inits;
    return success;
  }
  const char *nvmlErrorString(int code)
  {
    return code == not_supported ? "Not Supported" : code == not_found ? "Not Found" : "Unknown";
  }
  int nvmlDeviceGetHandleByPciBusId_v2(const char *id, void **gpu)
  {
    for (int i = 0; i < 2; ++i)
      if (std::strcmp(id, i == 0 ? "0000:01:00.0" : "0000:02:00.0") == 0)
        {
          *gpu = &numbers[i];
          return success;
        }
    return not_found;
  }
  int nvmlDeviceGetTotalEnergyConsumption(void *gpu, unsigned long long *millijoules)
  {
    if (gpu == &numbers[1])
      return not_supported;
    *millijoules = 5000000000ull + static_cast<unsigned long long>(100e3 * seconds()); // 100 W
    return success;
  }
  int nvmlDeviceGetFieldValues(void *gpu, int n, FieldValue *values)
  {
    if (n != 1 || values[0].field_id != 186)
      return not_supported;
    values[0].code  = gpu == &numbers[0] ? success : not_supported;
    values[0].value = 80000;
    return success;
  }
  int nvmlDeviceGetPowerUsage(void * /*gpu*/, unsigned int *milliwatts)
  {
    *milliwatts = 50000;
    return success;
  }
  int nvmlDeviceGetClockInfo(void * /*gpu*/, int type, unsigned int *megahertz)
  {
    *megahertz = type == 1 ? 1980 : 0;
    return success;
  }
  int nvmlDeviceGetEnforcedPowerLimit(void * /*gpu*/, unsigned int *milliwatts)
  {
    *milliwatts = 700000;
    return success;
  }
}
