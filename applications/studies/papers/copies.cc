// SPDX-License-Identifier: Apache-2.0
// How fast host and GPUs copy (thesis, Table C.3).
#include "copies.h"

#include "published.h"
#include "sample_statistics.h"
#include "study.h"

#include <solvers/base/stopwatch.h>
#include <solvers/base/thread_pool.h>
#include <solvers/device/device_array.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace leopard::studies
{
  namespace
  {
    constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

    /** The median of several runs after one that warms up. */
    template <typename Copy>
    double speed(std::size_t n_bytes, int runs, const Copy &copy)
    {
      std::vector<double> seconds;
      for (int run = -1; run < runs; ++run)
        {
          const double start = now();
          copy();
          if (run >= 0)
            seconds.push_back(now() - start);
        }
      return 1e-9 * static_cast<double>(n_bytes) / median(seconds);
    }

    /** Each thread copies its part, whose memory it has touched first, as in STREAM. */
    double speed_on_host(std::size_t n, int runs, int threads)
    {
      const std::shared_ptr<ThreadPool> pool = shared_thread_pool(threads);
      const std::size_t                 size = pool->size();
      const std::unique_ptr<double[]>   from(new double[n]), to(new double[n]); // not touched yet
      const auto on_parts = [&](const auto &what) { pool->run([&](int thread) { what(n * thread / size, n * (thread + 1) / size); }); };
      on_parts([&](std::size_t begin, std::size_t end) {
        std::fill(from.get() + begin, from.get() + end, 1.);
        std::fill(to.get() + begin, to.get() + end, 0.);
      });
      return speed(n * sizeof(double), runs, [&] {
        on_parts([&](std::size_t begin, std::size_t end) { std::memcpy(to.get() + begin, from.get() + begin, (end - begin) * sizeof(double)); });
      });
    }

    CopySpeeds measure(std::size_t n, int runs, const Settings &settings)
    {
      CopySpeeds result;
      result.on_host = speed_on_host(n, runs, settings.threads);
      if (settings.resolved_backend() != Backend::cuda)
        return result;
      const int                          n_gpus  = settings.gpus > 0 ? std::min(settings.gpus, device::n_devices()) : device::n_devices();
      const std::size_t                  n_bytes = n * sizeof(double);
      std::vector<double>                host(n, 1.);
      std::vector<device::Array<double>> sources, destinations;
      for (int gpu = 0; gpu < n_gpus; ++gpu)
        {
          device::select(gpu);
          sources.emplace_back(host);
          destinations.emplace_back(n);
          result.to_gpu.push_back(speed(n_bytes, runs, [&] {
            device::copy_to_device(sources[gpu].data(), host.data(), n_bytes);
            device::synchronize();
          }));
          result.from_gpu.push_back(speed(n_bytes, runs, [&] { device::copy_to_host(host.data(), sources[gpu].data(), n_bytes); }));
        }
      for (int from = 0; from < n_gpus; ++from)
        {
          device::select(from);
          result.between.emplace_back();
          for (int to = 0; to < n_gpus; ++to)
            result.between.back().push_back(speed(n_bytes, runs, [&] {
              device::copy_on_device(destinations[to].data(), sources[from].data(), n_bytes);
              device::synchronize();
            }));
        }
      device::select(0);
      return result;
    }

    /** Rows and columns of Table C.3: the host and four GPUs; more rows with more GPUs. */
    Table tabulate(const CopySpeeds &speeds)
    {
      const int  n_gpus = static_cast<int>(speeds.to_gpu.size()), n = 1 + std::max(4, n_gpus);
      const auto name = [](int place) { return place == 0 ? std::string("host") : "GPU" + std::to_string(place - 1); };
      const auto ours = [&](int from, int to) {
        if (from == 0 && to == 0)
          return speeds.on_host;
        if (std::max(from, to) > n_gpus)
          return unknown;
        return from == 0 ? speeds.to_gpu[to - 1] : to == 0 ? speeds.from_gpu[from - 1] : speeds.between[from - 1][to - 1];
      };
      Table table("Copies, 10^9 bytes a second (T Table C.3)", {"from", "to", "ours", "published"});
      for (int from = 0; from < n; ++from)
        for (int to = 0; to < n; ++to)
          {
            const double printed = from < 5 && to < 5 ? published::copies[from][to] : unknown;
            if (printed == printed || ours(from, to) == ours(from, to))
              table.add_row({name(from), name(to), cell(ours(from, to), "%.2f"), cell(printed, "%.2f")});
          }
      return table;
    }

    double smallest(const std::vector<double> &values)
    {
      double result = std::numeric_limits<double>::infinity();
      for (const double value : values)
        result = value < result || value != value ? value : result;
      return result;
    }
  } // namespace

  void judge_copies(const CopySpeeds &speeds, Report &report)
  {
    const std::string source = "T Table C.3", no_gpu = speeds.to_gpu.empty() ? "there is no GPU" : "";
    report.undecided(source,
                     "between the memories of two processors: " + cell(published::copies[0][0], "%.1f") + " GB/s",
                     "a statement on the machine of 2010; here within one memory " + cell(speeds.on_host, "%.1f") + " GB/s");
    std::vector<double> to_over_from;
    std::string         text;
    for (std::size_t gpu = 0; gpu < speeds.to_gpu.size(); ++gpu)
      {
        to_over_from.push_back(speeds.to_gpu[gpu] / speeds.from_gpu[gpu]);
        text += (gpu > 0 ? ", " : "") + cell(speeds.to_gpu[gpu], "%.2f") + " and " + cell(speeds.from_gpu[gpu], "%.2f");
      }
    report.decide_times(
      source, "a GPU gets data from the host slower than the host gets it back, on each", {-INFINITY, 1.}, to_over_from, text + " GB/s", no_gpu);
    std::vector<double> between;
    for (std::size_t from = 0; from < speeds.between.size(); ++from)
      for (std::size_t to = 0; to < speeds.between.size(); ++to)
        if (from != to)
          between.push_back(speeds.between[from][to]);
    double fastest = 0.;
    for (const double value : between)
      fastest = larger_or_nan(fastest, value);
    const double with_host = std::min(smallest(speeds.to_gpu), smallest(speeds.from_gpu));
    report.decide_times(source,
                        "GPUs exchange data with each other slower than with the host",
                        {-INFINITY, 1.},
                        {fastest / with_host},
                        "up to " + cell(fastest, "%.2f") + " GB/s, with the host at least " + cell(with_host, "%.2f"),
                        !no_gpu.empty()   ? no_gpu
                        : between.empty() ? "there is one GPU"
                                          : "");
  }

  void study_copies(const Settings &settings, Report &report)
  {
    refuse_unused("copies", settings, {false, true}, {}); // threads copy on the host
    const int         side = settings.size_or(318, 318), runs = settings.runs_or(11, 31);
    const std::size_t n = static_cast<std::size_t>(side) * side * side;
    report.say("copies: " + machine(settings) + ", " + std::to_string(side) + "^3 doubles (a vector of A318), medians of " + std::to_string(runs) +
               "; memory of the host as programs get it: several threads carry it to a GPU through pinned memory, the driver carries it back;\n"
               "bytes that arrive are counted once, where STREAM counts what is read and what is written");
    const CopySpeeds speeds = measure(n, runs, settings);
    report.add(tabulate(speeds));
    judge_copies(speeds, report);
  }
} // namespace leopard::studies
