// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../../device/device.h"

#include <string>
#include <vector>

namespace leopard
{
  /** "NVIDIA H200, 132 multiprocessors": GPUs of which it is the same are equally fast, as far as CUDA tells. */
  std::string kind_of(const device::DeviceInfo &gpu);

  /**
   * Names GPUs that are not alike: "GPUs 0 to 2: NVIDIA H200, 132 multiprocessors; GPU 3: ..."; empty if all are.
   * @param kinds of each. @param who "GPU", or who has one, numbered from `first`.
   */
  std::string unlike_gpus(const std::vector<std::string> &kinds, const std::string &who, int first = 0);
  /** The same of devices with numbers in a row. @throws DeviceError. */
  std::string unlike_gpus(const std::vector<int> &devices);
} // namespace leopard
