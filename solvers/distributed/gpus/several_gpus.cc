// SPDX-License-Identifier: Apache-2.0
#include "several_gpus.h"

#include "../../base/errors.h"
#include "../../base/words.h"

#include <cmath>

namespace leopard
{
  std::string to_string(GpuExchange exchange)
  {
    return exchange == GpuExchange::amc ? "amc" : exchange == GpuExchange::dc ? "dc" : exchange == GpuExchange::dk ? "dk" : "halo";
  }

  void SeveralGpusOptions::validate(const BlockAsyncOptions &options) const
  {
    const auto require = [](bool holds, const std::string &option, const std::string &found, const std::string &expected) {
      if (!holds)
        throw InvalidInput("several GPUs: " + option + " is " + found + "\n  expected: " + expected);
    };
    options.validate();
    require(!devices.empty(), "devices", "empty", "a GPU for each part");
    for (const int device : devices)
      require(device >= 0, "devices", "a list with " + std::to_string(device), "numbers from 0");
    require(shares.empty() || shares.size() == devices.size(),
            "shares",
            "a list of " + std::to_string(shares.size()) + " for " + std::to_string(devices.size()) + " GPUs",
            "one for each, or none for equal ones");
    for (const double share : shares)
      require(share > 0. && std::isfinite(share), "shares", "a list with " + short_text(share), "positive numbers");
    require(options.backend == Backend::cuda, "backend", to_string(options.backend), "cuda");
    require(options.overlap == Overlap::none, "overlap", "given", "none: blocks overlap on one GPU only");
    require(!options.last_block_first, "last_block_first", "true", "false: parts are in the order of the rows");
    require(options.corrections == Corrections::none, "corrections", "given", "none: they run on one GPU only");
    require(!waits || exchange == GpuExchange::halo, "waits", "true for the exchange " + to_string(exchange), "false, or the exchange halo");
    require(waits || options.schedule == Schedule::chaotic, "schedule", "synchronous", "chaotic, or GPUs that wait for one another");
    require(
      !waits || options.execution != Execution::persistent, "execution", "persistent with GPUs that wait for one another", "automatic or launch");
  }
} // namespace leopard
