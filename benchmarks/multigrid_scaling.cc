// SPDX-License-Identifier: Apache-2.0
// Weak and strong scaling of the distributed multigrid cycle for stencils, one GPU a rank: mpirun -n 1, 2, 4 ... multigrid_scaling
#include <solvers/base/errors.h>
#include <solvers/device/device.h>
#include <solvers/device/device_vector.h>
#include <solvers/distributed/stencil/distributed_stencil_multigrid.h>
#include <solvers/distributed/stencil/slab_exchange.h>
#include <solvers/distributed/stencil/slab_exchange_cuda.h>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <vector>

namespace
{
  using namespace leopard;

  int rank = 0, n_ranks = 1;

  double now()
  {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  }

  double largest(double value)
  {
    double result = 0.;
    MPI_Allreduce(&value, &result, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return result;
  }

  template <typename... Arguments>
  void print(const char *format, Arguments... arguments)
  {
    if (rank == 0)
      {
        std::printf(format, arguments...);
        std::fflush(stdout);
      }
  }

  struct Times
  {
    double median, smallest, largest;
  };

  /** Seconds of one of n calls, over the samples; of the slowest rank. */
  Times measure(int samples, int n, const std::function<void()> &call, bool on_device)
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

  struct Settings
  {
    std::string      backend = "cuda";
    std::vector<int> weak = {4096, 8192}, weak_3d = {320}, strong = {4096, 8192, 16384};
    std::string      modes = "waiting,loose";
    int              samples = 9, cycles = 10, gather_below = 1 << 18, local_iterations = 5;
  };

  /** Reproducible values between -1 and 1 that depend on the node and not on the ranks. */
  std::vector<double> random_part(long begin, long n)
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

  DistributedStencilOptions options_for(const Settings &settings, const std::string &mode)
  {
    DistributedStencilOptions options;
    options.multigrid.backend                               = settings.backend == "cuda" ? Backend::cuda : Backend::host;
    options.multigrid.n_threads                             = 1;
    options.multigrid.smoother.block_async.n_threads        = 1;
    options.multigrid.smoother.block_async.local_iterations = settings.local_iterations;
    options.gather_below                                    = settings.gather_below;
    options.wait_for_ghosts                                 = mode != "loose";
    options.staged                                          = mode == "staged";
    return options;
  }

  void time_problem(const std::string &kind, const Stencil &whole, const Settings &settings, const std::string &mode)
  {
    const DistributedStencilOptions options   = options_for(settings, mode);
    const bool                      on_device = options.multigrid.backend == Backend::cuda;
    const double                    start     = now();
    DistributedStencilMultigrid     solver(whole, MPI_COMM_WORLD, options);
    const double                    set_up = largest(now() - start);
    const long                      plane = whole.plane(), n = plane * solver.n_own_planes();
    std::vector<double>             host_b = random_part(plane * solver.first_plane(), n), host_x(n, 0.);
    DeviceVector<double>            device_b, device_x;
    double                         *x = host_x.data(), *b = host_b.data();
    if (on_device)
      {
        device_b.reinit(n, true);
        device_b.copy_from_host(b);
        device_x.reinit(n);
        x = device_x.data();
        b = device_b.data();
      }
    const auto zero = [&] {
      std::fill(host_x.begin(), host_x.end(), 0.);
      if (on_device)
        device_x = 0.;
    };
    StoppingCriteria criteria;
    criteria.relative_tolerance = 1e-10;
    criteria.max_iterations     = 60;
    solver.multigrid().solve(x, b, criteria); // warms up: the graph is recorded
    double                   best = 1e300;
    int                      most = 0;
    std::vector<std::string> failures;
    for (int i = 0; i < 5; ++i)
      {
        zero();
        if (on_device)
          device::synchronize();
        MPI_Barrier(MPI_COMM_WORLD);
        const SolveResult result = solver.multigrid().solve(x, b, criteria);
        best                     = std::min(best, largest(result.seconds));
        most                     = std::max(most, result.n_iterations);
        if (result.status != SolveStatus::converged)
          failures.push_back(to_string(result.status));
      }
    // cycles between two tests of a solve: nothing but the graph
    StoppingCriteria many;
    many.max_iterations  = settings.cycles;
    const Times one      = measure(settings.samples, 1, [&] { solver.multigrid().vmult(x, b); }, on_device);
    const Times several  = measure(settings.samples, 1, [&] {
      for (int i = 0; i < settings.cycles; ++i)
        solver.multigrid().vmult(x, b);
    }, on_device);
    const double cycle = several.median / settings.cycles;
    print("%-8s %5d x %5d x %5d  %d ranks  %-8s cycle %9.1f us (%.1f .. %.1f; one alone %.1f)  %2d cycles  solve %9.3f ms  set-up %.2f s%s\n",
          kind.c_str(),
          whole.n_x,
          whole.n_y,
          whole.n_z,
          n_ranks,
          mode.c_str(),
          cycle * 1e6,
          several.smallest / settings.cycles * 1e6,
          several.largest / settings.cycles * 1e6,
          one.median * 1e6,
          most,
          best * 1e3,
          set_up,
          failures.empty() ? "" : ("  NOT CONVERGED: " + failures.front()).c_str());
    if (kind == "traffic")
      print("%s\n", solver.description().c_str());
  }

  /** Calls and bytes of one cycle, which is queued piece by piece. */
  void count_traffic(const Stencil &whole, const Settings &settings)
  {
    DistributedStencilOptions options = options_for(settings, "waiting");
    options.multigrid.use_graph       = false;
    DistributedStencilMultigrid solver(whole, MPI_COMM_WORLD, options);
    const long                  n = static_cast<long>(whole.plane()) * solver.n_own_planes();
    std::vector<double>         host(n, 0.);
    DeviceVector<double>        x, b;
    double                     *to = host.data(), *from = host.data();
    if (options.multigrid.backend == Backend::cuda)
      {
        x.reinit(n);
        b.reinit(n);
        to   = x.data();
        from = b.data();
      }
    solver.multigrid().vmult(to, from);
    print("traffic  %5d x %5d x %5d  %d ranks  %ld exchanges and gathers a cycle, at most %.3f MB sent by a rank\n",
          whole.n_x,
          whole.n_y,
          whole.n_z,
          n_ranks,
          solver.exchange().n_calls(),
          largest(static_cast<double>(solver.exchange().bytes_sent())) / 1e6);
    print("%s\n", solver.description().c_str());
  }

  /** Ceilings: copies on a GPU, and exchanges alone. */
  void measure_machine(const Settings &settings)
  {
    const std::size_t    n = std::size_t(1) << 28;
    DeviceVector<double> from(n), to(n);
    const Times          copy = measure(settings.samples, 10, [&] { device::copy_on_device(to.data(), from.data(), n * sizeof(double)); }, true);
    print("copy on a GPU: %.3f TB/s\n", 2. * n * sizeof(double) / copy.median / 1e12);
    if (n_ranks == 1)
      return;
    const AllGather all_gather = [](const void *own, std::size_t n_bytes, void *all) {
      MPI_Allgather(own, static_cast<int>(n_bytes), MPI_BYTE, all, static_cast<int>(n_bytes), MPI_BYTE, MPI_COMM_WORLD);
    };
    std::string why_not;
    for (const int plane : {512, 4096, 16384, 102400, 1 << 22})
      {
        const std::unique_ptr<SlabExchange> exchange = make_cuda_slab_exchange(rank, n_ranks, plane, 1 << 18, all_gather, why_not);
        if (exchange == nullptr)
          {
            print("no direct exchange: %s\n", why_not.c_str());
            return;
          }
        const SlabVector x    = {from.data() + plane, plane, 2};
        const Times      wait = measure(settings.samples, 200, [&] { exchange->exchange(x); }, true);
        const Times      all  = measure(settings.samples, 200, [&] { exchange->exchange(x, to.data()); }, true);
        const Times      lax  = measure(settings.samples, 200, [&] { exchange->exchange_loosely(x, true); }, true);
        std::vector<int> offsets(n_ranks + 1);
        for (int r = 0; r <= n_ranks; ++r)
          offsets[r] = (1 << 18) / n_ranks * r;
        const Times gather = measure(settings.samples, 200, [&] { exchange->gather(to.data(), offsets); }, true);
        print("exchange of planes of %7d values: waiting %8.2f us (%.1f GB/s to a neighbour), for a restriction %8.2f us, loose %8.2f us; gather of 2^18 values %.2f us\n",
              plane,
              wait.median * 1e6,
              plane * sizeof(double) / wait.median / 1e9,
              all.median * 1e6,
              lax.median * 1e6,
              gather.median * 1e6);
      }
  }

  std::vector<std::string> split(const std::string &list)
  {
    std::vector<std::string> result;
    for (std::size_t begin = 0; begin <= list.size();)
      {
        const std::size_t end = std::min(list.find(',', begin), list.size());
        if (end > begin)
          result.push_back(list.substr(begin, end - begin));
        begin = end + 1;
      }
    return result;
  }

  void run(const Settings &settings)
  {
    if (settings.backend == "cuda")
      {
        const device::DeviceInfo info = device::info(rank % device::n_devices());
        print("%s, driver %s, %d GPUs seen, %d ranks\n", info.name.c_str(), info.driver.c_str(), device::n_devices(), n_ranks);
        measure_machine(settings);
      }
    for (const int n : settings.weak)
      count_traffic(five_point_stencil(n, n * n_ranks, 0.), settings);
    for (const int n : settings.weak_3d)
      count_traffic(seven_point_stencil(n, n, n * n_ranks, 0.), settings);
    for (const std::string &mode : split(n_ranks == 1 ? "waiting" : settings.modes))
      {
        for (const int n : settings.weak)
          time_problem("weak", five_point_stencil(n, n * n_ranks, 0.), settings, mode);
        for (const int n : settings.weak_3d)
          time_problem("weak 3D", seven_point_stencil(n, n, n * n_ranks, 0.), settings, mode);
        for (const int n : settings.strong)
          time_problem("strong", five_point_stencil(n, n, 0.), settings, mode);
      }
  }
} // namespace

int main(int argc, char **argv)
{
  Settings settings;
  CLI::App app{"Weak and strong scaling of the distributed multigrid cycle for stencils"};
  app.add_option("--backend", settings.backend, "cuda or host")->check(CLI::IsMember({"cuda", "host"}));
  app.add_option("--weak", settings.weak, "nodes n: n x (n ranks) in two dimensions")->delimiter(',');
  app.add_option("--weak-3d", settings.weak_3d, "nodes n: n x n x (n ranks)")->delimiter(',');
  app.add_option("--strong", settings.strong, "nodes n: n x n on all ranks together")->delimiter(',');
  app.add_option("--modes", settings.modes, "of waiting, loose, staged");
  app.add_option("--samples", settings.samples, "repetitions of each measurement");
  app.add_option("--cycles", settings.cycles, "cycles in one measurement");
  app.add_option("--gather-below", settings.gather_below, "unknowns: levels of at most so many are whole on each rank");
  app.add_option("-k,--local-iterations", settings.local_iterations, "of async-(k)");
  CLI11_PARSE(app, argc, argv);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
  try
    {
      if (settings.backend == "cuda")
        {
          if (device::n_devices() == 0)
            throw DeviceError("there is no GPU\n  expected: one for each rank, or --backend host");
          device::select(rank % device::n_devices());
        }
      run(settings);
    }
  catch (const std::exception &error)
    {
      std::fprintf(stderr, "multigrid_scaling: rank %d: %s\n", rank, error.what());
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
  MPI_Finalize();
  return 0;
}
