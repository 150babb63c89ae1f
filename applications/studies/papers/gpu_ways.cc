// SPDX-License-Identifier: Apache-2.0
#include "gpu_ways.h"

#include <solvers/base/errors.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace leopard::studies
{
  std::string GpuWay::text() const
  {
    std::string result = to_string(exchange) + (waits ? ", waiting" : "");
    for (std::size_t part = 0; part < shares.size(); ++part)
      result += (part == 0 ? ", shares " : " : ") + cell(shares[part], "%.0f");
    return result + (taken > 0. ? ", GPU " + std::to_string(n_gpus - 1) + " without " + cell(100. * taken, "%.0f") + " percent of itself" : "");
  }

  std::vector<int> gpu_counts(const Settings &settings, int n_devices)
  {
    std::vector<int> result = settings.gpu_counts;
    if (result.empty())
      {
        result.resize(settings.gpus > 0 ? std::min(settings.gpus, n_devices) : n_devices);
        std::iota(result.begin(), result.end(), 1);
        return result;
      }
    if (settings.gpus > 0)
      throw InvalidInput("--gpus and --gpu-counts are given\n  expected: one of them");
    std::sort(result.begin(), result.end());
    result.erase(std::unique(result.begin(), result.end()), result.end());
    for (const int n : result)
      if (n < 1 || n > n_devices)
        throw InvalidInput("--gpu-counts has " + std::to_string(n) + "\n  expected: numbers from 1 to " + std::to_string(n_devices) +
                           ", the GPUs there are");
    return result;
  }

  std::vector<GpuExchange> exchanges_of(const Settings &settings)
  {
    const std::vector<GpuExchange> all = {GpuExchange::halo, GpuExchange::amc, GpuExchange::dc, GpuExchange::dk};
    std::vector<GpuExchange>       result;
    for (const std::string &word : settings.exchanges)
      if (std::none_of(all.begin(), all.end(), [&](GpuExchange exchange) { return to_string(exchange) == word; }))
        throw InvalidInput("--exchange has '" + word + "'\n  expected: halo, amc, dc, dk, with commas");
    for (const GpuExchange exchange : all)
      if (settings.exchanges.empty() || std::count(settings.exchanges.begin(), settings.exchanges.end(), to_string(exchange)) > 0)
        result.push_back(exchange);
    return result;
  }

  std::vector<GpuWay> ways_of(const std::vector<int> &counts, const std::vector<GpuExchange> &exchanges, bool also_disturbed)
  {
    const bool          has_halo = std::count(exchanges.begin(), exchanges.end(), GpuExchange::halo) > 0;
    std::vector<GpuWay> result;
    for (const int n : counts)
      {
        for (const GpuExchange exchange : exchanges)
          result.push_back({exchange, false, n});
        if (has_halo && n > 1)
          result.push_back({GpuExchange::halo, true, n});
      }
    const int most = counts.back();
    if (!has_halo || most < 2 || !also_disturbed)
      return result;
    std::vector<double> shares(most, 40. / (most - 1));
    shares[0] = 60.;
    for (const bool waits : {true, false})
      {
        result.push_back({GpuExchange::halo, waits, most, {}, 0.5});
        result.push_back({GpuExchange::halo, waits, most, shares});
      }
    return result;
  }

  double iterations_of_slow_gpu(int n_gpus, double slow_down, double eps)
  {
    double low = eps, high = 1.; // the left side grows with s
    for (int i = 0; i < 200; ++i)
      {
        const double s = std::sqrt(low * high), all = s * s / n_gpus + (1. - 1. / n_gpus) * std::pow(s, 2. * slow_down);
        (all < eps * eps ? low : high) = s;
      }
    return slow_down >= 1. ? std::log(low) / std::log(eps) : std::numeric_limits<double>::quiet_NaN();
  }
} // namespace leopard::studies
