// SPDX-License-Identifier: Apache-2.0
// Weak and strong scaling of the distributed multigrid cycle for stencils, one GPU a rank: mpirun -n 1, 2, 4 ...
// multigrid_scaling
#include "rank_timing.h"

#include <solvers/base/errors.h>
#include <solvers/base/stopwatch.h>
#include <solvers/device/device.h>
#include <solvers/device/device_vector.h>
#include <solvers/distributed/mpi/mpi_transport.h>
#include <solvers/distributed/stencil/distributed_stencil_multigrid.h>
#include <solvers/exchange/peer_transport.h>
#include <solvers/exchange/slab_pattern.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <vector>

namespace
{
  using namespace leopard;

  struct Settings
  {
    std::string      backend = "cuda";
    std::vector<int> weak = {4096, 8192}, weak_3d = {320}, strong = {4096, 8192, 16384};
    std::string      modes   = "waiting,loose";
    bool             machine = false, describe = false;
    int              samples = 9, cycles = 10, gather_below = 1 << 18, local_iterations = 5;
  };

  DistributedStencilOptions options_for(const Settings &settings, const std::string &mode)
  {
    DistributedStencilOptions options;
    options.multigrid.backend                               = settings.backend == "cuda" ? Backend::cuda : Backend::host;
    options.multigrid.n_threads                             = 1;
    options.multigrid.smoother.block_async.n_threads        = 1;
    options.multigrid.smoother.block_async.local_iterations = settings.local_iterations;
    options.gather_below                                    = settings.gather_below;
    options.multigrid.wait_for_ghosts                       = mode != "loose";
    options.staged                                          = mode == "staged";
    return options;
  }

  void time_problem(const std::string &kind, const Stencil<double> &whole, const Settings &settings, const std::string &mode)
  {
    const DistributedStencilOptions options   = options_for(settings, mode);
    const bool                      on_device = options.multigrid.backend == Backend::cuda;
    const double                    start     = now();
    DistributedStencilMultigrid     solver(whole, MPI_COMM_WORLD, options);
    const double                    set_up = largest(now() - start);
    const long                      plane = whole.plane(), n = plane * solver.n_own_planes();
    std::vector<double>             host_b = random_part(plane * solver.first_plane(), n), host_x(on_device ? 0 : n);
    DeviceVector<double>            device_b, device_x;
    if (on_device)
      {
        device_b.reinit(n, true);
        device_b.copy_from_host(host_b.data());
        device_x.reinit(n);
      }
    double    *x = on_device ? device_x.data() : host_x.data(), *b = on_device ? device_b.data() : host_b.data();
    const auto zero = [&] {
      std::fill(host_x.begin(), host_x.end(), 0.);
      if (on_device)
        {
          device_x = 0.;
          device::synchronize();
        }
    };

    solver.multigrid().vmult(x, b); // queued piece by piece: each exchange is counted
    const long   n_exchanges = solver.transport().traffic().calls;
    const double megabytes   = largest(static_cast<double>(solver.transport().traffic().bytes)) / 1e6;

    StoppingCriteria criteria;
    criteria.relative_tolerance = 1e-10;
    criteria.max_iterations     = 60;
    double      best            = 1e300;
    int         most            = 0;
    std::string failure;
    for (int i = -1; i < 5; ++i) // the first warms up: the graph is recorded
      {
        zero();
        MPI_Barrier(MPI_COMM_WORLD);
        const SolveResult result = solver.multigrid().solve(x, b, criteria);
        if (i >= 0)
          best = std::min(best, largest(result.seconds));
        most = std::max(most, result.n_iterations);
        if (result.status != SolveStatus::converged)
          failure = "  NOT CONVERGED: " + to_string(result.status);
      }

    // nothing is tested between the cycles; what a solve does beside them is in both numbers
    const auto time_of = [&](int n_cycles) {
      StoppingCriteria fixed;
      fixed.max_iterations = n_cycles;
      return measure(
        settings.samples, 1, [&] { solver.multigrid().solve(x, b, fixed); }, on_device);
    };
    const Times  few = time_of(settings.cycles), many = time_of(3 * settings.cycles);
    const double cycle = (many.median - few.median) / (2. * settings.cycles), spread = (many.largest - many.smallest) / (3. * settings.cycles);
    print("%-8s %5d x %5d x %5d  %d ranks  %-8s cycle %9.1f us (spread %.1f)  %2d cycles  solve %9.3f ms  set-up %.2f s  a cycle has %ld exchanges, "
          "%.3f MB sent%s\n",
          kind.c_str(),
          whole.n_x,
          whole.n_y,
          whole.n_z,
          n_ranks,
          mode.c_str(),
          cycle * 1e6,
          spread * 1e6,
          most,
          best * 1e3,
          set_up,
          n_exchanges,
          megabytes,
          failure.c_str());
    if (settings.describe)
      print("%s\n", solver.description().c_str());
  }

  /** Ceilings: copies on a GPU, and exchanges alone. */
  void measure_machine(const Settings &settings)
  {
    const std::size_t    n = std::size_t(1) << 28;
    DeviceVector<double> from(n), to(n);
    const Times          copy = measure(
      settings.samples, 10, [&] { device::copy_on_device(to.data(), from.data(), n * sizeof(double)); }, true);
    print("copy on a GPU: %.3f TB/s\n", 2. * n * sizeof(double) / copy.median / 1e12);
    if (n_ranks == 1)
      return;
    std::string why_not;
    for (const int plane : {512, 4096, 16384, 102400, 1 << 22})
      {
        const std::unique_ptr<Transport> transport = make_peer_transport(rank, n_ranks, 1 << 18, all_gather_in(MPI_COMM_WORLD), why_not);
        if (transport == nullptr)
          {
            print("no direct exchange: %s\n", why_not.c_str());
            return;
          }
        const Slab                      slab = {rank, n_ranks, 1, 2};
        const std::unique_ptr<Exchange> one  = transport->connect(slab_pattern(slab), plane);
        const std::unique_ptr<Exchange> two  = transport->connect(slab_pattern_for_restriction(slab), plane);
        const Times                     wait = measure(
          settings.samples, 200, [&] { one->update(from.data()); }, true);
        const Times all = measure(
          settings.samples, 200, [&] { two->update(from.data(), to.data()); }, true);
        const Times lax = measure(
          settings.samples,
          200,
          [&] {
            one->update(from.data()); // a visit ends
            one->begin();
            one->update_loosely(from.data());
          },
          true);
        std::vector<int> offsets(n_ranks + 1);
        for (int r = 0; r <= n_ranks; ++r)
          offsets[r] = (1 << 18) / n_ranks * r;
        const Times gather = measure(
          settings.samples, 200, [&] { transport->gather(to.data(), offsets); }, true);
        print("exchange of planes of %7d values: waiting %8.2f us (%.1f GB/s to a neighbour), for a restriction %8.2f us, waiting and loose %8.2f "
              "us; gather of "
              "2^18 values %.2f us\n",
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

  std::vector<int> positive(std::vector<int> sizes)
  {
    sizes.erase(std::remove_if(sizes.begin(), sizes.end(), [](int n) { return n <= 0; }), sizes.end());
    return sizes;
  }

  void run(const Settings &settings)
  {
    if (settings.backend == "cuda")
      {
        const device::DeviceInfo info = device::info(rank % device::n_devices());
        print("%s, driver %s, %d GPUs seen, %d ranks\n", info.name.c_str(), info.driver.c_str(), device::n_devices(), n_ranks);
        if (settings.machine)
          measure_machine(settings);
      }
    for (const std::string &mode : split(n_ranks == 1 ? "waiting" : settings.modes))
      {
        for (const int n : positive(settings.weak))
          time_problem("weak", five_point_stencil(n, n * n_ranks, 0.), settings, mode);
        for (const int n : positive(settings.weak_3d))
          time_problem("weak 3D", seven_point_stencil(n, n, n * n_ranks, 0.), settings, mode);
        for (const int n : positive(settings.strong))
          time_problem("strong", five_point_stencil(n, n, 0.), settings, mode);
      }
  }
} // namespace

int main(int argc, char **argv)
{
  Settings settings;
  CLI::App app{"Weak and strong scaling of the distributed multigrid cycle for stencils"};
  app.add_option("--backend", settings.backend, "cuda or host")->check(CLI::IsMember({"cuda", "host"}));
  app.add_option("--weak", settings.weak, "nodes n: n x (n ranks) in two dimensions; 0: none")->delimiter(',');
  app.add_option("--weak-3d", settings.weak_3d, "nodes n: n x n x (n ranks); 0: none")->delimiter(',');
  app.add_option("--strong", settings.strong, "nodes n: n x n on all ranks together; 0: none")->delimiter(',');
  app.add_option("--modes", settings.modes, "of waiting, loose, staged");
  app.add_flag("--machine", settings.machine, "measure copies and exchanges alone first");
  app.add_flag("--describe", settings.describe, "say what each solver consists of");
  app.add_option("--samples", settings.samples, "repetitions of each measurement");
  app.add_option("--cycles", settings.cycles, "cycles in one measurement");
  app.add_option("--gather-below", settings.gather_below, "unknowns: levels of at most so many are whole on each rank");
  app.add_option("-k,--local-iterations", settings.local_iterations, "of async-(k)");
  return run_on_ranks("multigrid_scaling", app, argc, argv, [&] {
    if (settings.backend == "cuda")
      {
        if (device::n_devices() == 0)
          throw DeviceError("there is no GPU\n  expected: one for each rank, or --backend host");
        device::select(rank % device::n_devices());
      }
    run(settings);
  });
}
