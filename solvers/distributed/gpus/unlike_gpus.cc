// SPDX-License-Identifier: Apache-2.0
#include "unlike_gpus.h"

namespace leopard
{
  std::string kind_of(const device::DeviceInfo &gpu)
  {
    return gpu.name + ", " + std::to_string(gpu.n_multiprocessors) + " multiprocessors";
  }

  std::string unlike_gpus(const std::vector<std::string> &kinds, const std::string &who, int first)
  {
    std::string result;
    for (std::size_t begin = 0, end = 0; begin < kinds.size(); begin = end)
      {
        while (end < kinds.size() && kinds[end] == kinds[begin])
          ++end;
        if (begin == 0 && end == kinds.size())
          break;
        result += (begin == 0 ? "" : "; ") + who + (end - begin == 1 ? " " : "s ") + std::to_string(first + begin) +
                  (end - begin == 1 ? "" : " to " + std::to_string(first + end - 1)) + ": " + kinds[begin];
      }
    return result;
  }

  std::string unlike_gpus(const std::vector<int> &devices)
  {
    std::vector<std::string> kinds;
    for (const int device : devices)
      kinds.push_back(kind_of(device::info(device)));
    return unlike_gpus(kinds, "GPU", devices.empty() ? 0 : devices[0]);
  }
} // namespace leopard
