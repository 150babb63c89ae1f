// SPDX-License-Identifier: Apache-2.0
// Solvers of stored matrices whose rows are spread over ranks: a global iteration of async, a multigrid cycle and
// solve, conjugate gradients with it; ghosts by the memory of the other GPUs and by messages: mpirun -n 1, 2
// rank_solvers
#include "conjugate_gradients.h"
#include "rank_timing.h"

#include <solvers/base/errors.h>
#include <solvers/base/norms.h>
#include <solvers/block_async/block_async.h>
#include <solvers/device/device_array.h>
#include <solvers/distributed/mpi/distributed_levels.h>
#include <solvers/distributed/mpi/gathered_coarse_solver.h>
#include <solvers/relaxation/with_ghosts.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

namespace
{
  using namespace leopard;

  struct Settings
  {
    std::string backend = "cuda", smoother = "chebyshev", ways = "best,staged";
    int         size_2d = 4096, size_3d = 256, samples = 7, iterations = 100, cycles = 10, local_iterations = 5;
    double      tolerance = 1e-10;
    bool        describe  = false;

    bool on_device() const { return backend == "cuda"; }
  };

  MultigridOptions options_of(const Settings &settings)
  {
    MultigridOptions options;
    options.backend                               = settings.on_device() ? Backend::cuda : Backend::host;
    options.n_threads                             = 1;
    options.smoother.method                       = settings.smoother;
    options.smoother.block_async.backend          = options.backend;
    options.smoother.block_async.n_threads        = 1;
    options.smoother.block_async.local_iterations = settings.local_iterations;
    return options;
  }

  /** Host values, or a copy on the device. */
  class Values
  {
  public:
    Values(std::vector<double> values, bool on_device)
      : host(std::move(values))
      , there(on_device ? host : std::vector<double>())
      , n(host.size())
    {
    }
    double *data() { return there.size() > 0 ? there.data() : host.data(); }
    void    set_zero()
    {
      if (there.size() > 0)
        device::set_zero(there.data(), n * sizeof(double));
      else
        std::fill(host.begin(), host.end(), 0.);
    }

  private:
    std::vector<double>   host;
    device::Array<double> there;
    std::size_t           n;
  };

  /** A stored stencil, rows in slabs, and a multigrid on the levels of its grid. */
  class Problem
  {
  public:
    Problem(const Stencil<double> &stencil, const Settings &settings_, bool staged)
      : settings(settings_)
      , options(options_of(settings))
      , hierarchy(make_hierarchy(stencil, default_n_levels(stencil, options.backend), MPI_COMM_WORLD, staged))
      , matrix(hierarchy.finest_matrix())
      , ghosts(*hierarchy.levels.back().communication)
      , first(own_range(matrix.n_rows, MPI_COMM_WORLD).first())
    {
      MPI_Barrier(MPI_COMM_WORLD);
      const double start = now();
      multigrid          = std::make_unique<Multigrid<double>>(
        hierarchy, options, std::make_unique<GatheredCoarseSolver>(hierarchy.levels.front(), options, MPI_COMM_WORLD));
      if (settings.on_device())
        device::synchronize();
      set_up = largest(now() - start);
    }

    Times async_iteration()
    {
      BlockAsync<double> relaxation(matrix, options.smoother.block_async);
      Values             x(std::vector<double>(matrix.n_columns), settings.on_device()), b = right_hand_side();
      Times              times = measure(
        settings.samples, 1, [&] { iterate_with_ghosts(relaxation, x.data(), b.data(), settings.iterations, ghosts); }, settings.on_device());
      for (double *seconds : {&times.median, &times.smallest, &times.largest})
        *seconds /= settings.iterations;
      return times;
    }

    /** The difference of solves with many cycles and with few, in which nothing is tested. */
    double cycle()
    {
      Values     x(std::vector<double>(matrix.n_columns), settings.on_device()), b = right_hand_side();
      const auto seconds = [&](int n_cycles) {
        StoppingCriteria fixed;
        fixed.max_iterations = n_cycles;
        return measure(
                 settings.samples, 1, [&] { multigrid->solve(x.data(), b.data(), fixed); }, settings.on_device())
          .median;
      };
      return (seconds(3 * settings.cycles) - seconds(settings.cycles)) / (2. * settings.cycles);
    }

    /** @param n_cycles receives how many were needed. @throws ConvergenceFailure. */
    double solve(int &n_cycles)
    {
      Values           x(std::vector<double>(matrix.n_columns), settings.on_device()), b = right_hand_side();
      StoppingCriteria criteria;
      criteria.relative_tolerance = settings.tolerance;
      criteria.max_iterations     = 100;
      return measure(
               settings.samples,
               1,
               [&] {
                 x.set_zero();
                 const SolveResult result = multigrid->solve(x.data(), b.data(), criteria);
                 n_cycles                 = result.n_iterations;
                 if (result.status != SolveStatus::converged)
                   throw ConvergenceFailure("multigrid: " + to_string(result.status) + " after " + std::to_string(n_cycles) +
                                            " cycles\n  expected: the tolerance within " + std::to_string(criteria.max_iterations));
               },
               settings.on_device())
        .median;
    }

    /** On the device. @param n_iterations receives how many were needed. @throws ConvergenceFailure. */
    double conjugate_gradients(int &n_iterations)
    {
      const device::DeviceMatrix<double> A(matrix);
      DeviceVector<double>               b(matrix.n_rows, &ghosts), x(b), with_ghosts(matrix.n_columns);
      b.copy_from_host(random_part(first, matrix.n_rows).data());
      const auto multiply = [&](DeviceVector<double> &q, const DeviceVector<double> &p) {
        device::copy_on_device(with_ghosts.data(), p.data(), p.size() * sizeof(double));
        ghosts.update_ghosts(with_ghosts.data(), MemorySpace::device);
        A.multiply(q.data(), with_ghosts.data());
      };
      const auto precondition = [&](DeviceVector<double> &z, const DeviceVector<double> &r) {
        multigrid->vmult(with_ghosts.data(), r.data());
        device::copy_on_device(z.data(), with_ghosts.data(), z.size() * sizeof(double));
      };
      const Times times = measure(
        settings.samples, 1, [&] { n_iterations = leopard::conjugate_gradients(multiply, precondition, x, b, settings.tolerance); }, true);
      DeviceVector<double> r(b);
      multiply(r, x);
      r.sadd(-1., 1., b);
      if (const double residual = r.l2_norm(); !reached(residual, 10. * settings.tolerance * b.l2_norm()))
        throw ConvergenceFailure("conjugate gradients end with a residual of " + std::to_string(residual / b.l2_norm()) +
                                 "\n  expected: the tolerance " + std::to_string(settings.tolerance));
      return times.median;
    }

    std::string description() const { return multigrid->description(); }
    std::string way() const { return ghosts.description(settings.on_device() ? MemorySpace::device : MemorySpace::host); }

    double set_up = 0.; ///< seconds of the multigrid on levels that are there in host memory

  private:
    Values right_hand_side() const { return {random_part(first, matrix.n_rows), settings.on_device()}; }

    const Settings                    &settings;
    const MultigridOptions             options;
    const MultigridHierarchy           hierarchy;
    const CrsMatrix<double>           &matrix;
    const Communication<double>       &ghosts;
    const int                          first; ///< own row
    std::unique_ptr<Multigrid<double>> multigrid;
  };

  void measure_problem(const std::string &name, const Stencil<double> &stencil, const Settings &settings, bool staged)
  {
    Problem           problem(stencil, settings, staged);
    const Times       async    = problem.async_iteration();
    const double      cycle    = problem.cycle();
    int               n_cycles = 0, n_iterations = 0;
    const double      solve = problem.solve(n_cycles), cg = settings.on_device() ? problem.conjugate_gradients(n_iterations) : 0.;
    const std::string way = problem.way();
    print("%-12s %d ranks  set-up %.2f s  async-(%d) %.1f us an iteration (%.1f to %.1f)  cycle %.1f us  solve %.3f ms (%d cycles)  cg %.3f ms (%d "
          "iterations)%s%s\n",
          name.c_str(),
          n_ranks,
          problem.set_up,
          settings.local_iterations,
          1e6 * async.median,
          1e6 * async.smallest,
          1e6 * async.largest,
          1e6 * cycle,
          1e3 * solve,
          n_cycles,
          1e3 * cg,
          n_iterations,
          way.empty() ? "" : "\n             ghosts: ",
          way.c_str());
    if (settings.describe)
      print("%s\n", problem.description().c_str());
  }
} // namespace

int main(int argc, char **argv)
{
  Settings settings;
  CLI::App app("Solvers of stored matrices whose rows are spread over ranks, a GPU each: mpirun -n 1, 2 rank_solvers");
  app.add_option("--backend", settings.backend, "cuda: a GPU a rank; host: a thread a rank, without conjugate gradients")
    ->check(CLI::IsMember({"cuda", "host"}));
  app.add_option("--size", settings.size_2d, "nodes a side of the five-point grid; 0: none")->check(CLI::NonNegativeNumber);
  app.add_option("--size-3d", settings.size_3d, "nodes a side of the seven-point grid; 0: none")->check(CLI::NonNegativeNumber);
  app.add_option("--smoother", settings.smoother, "of the cycles")->check(CLI::IsMember({"chebyshev", "async", "damped-jacobi"}));
  app.add_option("--ways", settings.ways, "of ghosts: best, the memory of the other GPUs where it can be reached; staged, messages")
    ->check(CLI::IsMember({"best", "staged", "best,staged"}));
  app.add_option("-k,--local-iterations", settings.local_iterations, "of async")->check(CLI::PositiveNumber);
  app.add_option("--iterations", settings.iterations, "global iterations in one measurement")->check(CLI::PositiveNumber);
  app.add_option("--cycles", settings.cycles, "cycles in one measurement")->check(CLI::PositiveNumber);
  app.add_option("--samples", settings.samples, "repetitions of each measurement")->check(CLI::PositiveNumber);
  app.add_option("--tolerance", settings.tolerance, "of solves, relative to b")->check(CLI::Range(1e-13, 0.5));
  app.add_flag("--describe", settings.describe, "say what each multigrid consists of");
  return run_on_ranks("rank_solvers", app, argc, argv, [&] {
    if (settings.on_device())
      select_gpu();
    for (const bool staged : {false, true})
      {
        if (settings.ways.find(staged ? "staged" : "best") == std::string::npos || (staged && (n_ranks == 1 || !settings.on_device())))
          continue;
        if (const int n = settings.size_2d; n > 0)
          measure_problem("five-point", five_point_stencil(n, n, 0.), settings, staged);
        if (const int n = settings.size_3d; n > 0)
          measure_problem("seven-point", seven_point_stencil(n, n, n, 0.), settings, staged);
      }
  });
}
