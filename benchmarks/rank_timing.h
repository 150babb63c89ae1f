// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <solvers/base/stopwatch.h>
#include <solvers/device/device.h>
#include <solvers/distributed/mpi/error_reporter.h>

#include <CLI/CLI.hpp>
#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

// What programs that measure ranks have in common.
namespace leopard
{
  inline int rank = 0, n_ranks = 1; ///< set by run_on_ranks()

  /**
   * What main() of a program does on each rank; an error on one ends all.
   * @param program its name, with which its messages begin.
   * @param run     after its options are parsed.
   */
  inline int run_on_ranks(const std::string &program, CLI::App &app, int argc, char **argv, const std::function<void()> &run)
  {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    int code = 0;
    try
      {
        app.parse(argc, argv);
        code = run_on_ranks(program, MPI_COMM_WORLD, run);
      }
    catch (const CLI::ParseError &error)
      {
        code = rank == 0 ? app.exit(error) : error.get_exit_code();
      }
    MPI_Finalize();
    return code;
  }

  /** printf() on the first rank. */
  template <typename... Arguments>
  void print(const char *format, Arguments... arguments)
  {
    if (rank == 0)
      {
        std::printf(format, arguments...);
        std::fflush(stdout);
      }
  }

  /** One for each rank of a host, in turns, which the first rank says. @throws DeviceError if there is none. */
  inline void select_gpu()
  {
    MPI_Comm host;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &host);
    int n_on_host = 1, on_host = 0;
    MPI_Comm_size(host, &n_on_host);
    MPI_Comm_rank(host, &on_host);
    MPI_Comm_free(&host);
    const int n_gpus = device::n_devices();
    device::select(n_gpus > 0 ? on_host % n_gpus : 0);
    const device::DeviceInfo info = device::info(0);
    print("%d GPUs, %s, driver %s, %d ranks%s\n",
          n_gpus,
          info.name.c_str(),
          info.driver.c_str(),
          n_ranks,
          n_on_host > n_gpus ? "; ranks SHARE GPUs, which times them in turns" : "");
  }

  inline double largest(double value)
  {
    double result = 0.;
    MPI_Allreduce(&value, &result, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return result;
  }

  struct Times
  {
    double median, smallest, largest;
  };

  /** Seconds of one of n calls, over the samples; of the slowest rank. */
  inline Times measure(int samples, int n, const std::function<void()> &call, bool on_device)
  {
    std::vector<double> times;
    for (int i = -1; i < samples; ++i) // the first warms up
      {
        if (on_device)
          device::synchronize();
        MPI_Barrier(MPI_COMM_WORLD);
        const double start = now();
        for (int j = 0; j < n; ++j)
          call();
        if (on_device)
          device::synchronize();
        const double seconds = largest((now() - start) / n);
        if (i >= 0)
          times.push_back(seconds);
      }
    std::sort(times.begin(), times.end());
    return {times[times.size() / 2], times.front(), times.back()};
  }

  /** Reproducible values between -1 and 1 that depend on the node and not on the ranks. */
  inline std::vector<double> random_part(long begin, long n)
  {
    std::vector<double> result(n);
    for (long i = 0; i < n; ++i)
      {
        std::uint64_t h = static_cast<std::uint64_t>(begin + i) * 0x9e3779b97f4a7c15ull;
        h               = (h ^ (h >> 29)) * 0xbf58476d1ce4e5b9ull;
        result[i]       = static_cast<double>(h >> 11) * 0x1p-52 - 1.;
      }
    return result;
  }
} // namespace leopard
