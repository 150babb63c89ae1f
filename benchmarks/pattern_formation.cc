// SPDX-License-Identifier: Apache-2.0
// Time loops of pattern formation: the run of the thesis, large grids on GPUs, one a rank, and SUNDIALS beside the host
// backend; error against time of schemes and tolerances.
#include "pattern_formation.h"

#include <applications/reaction_diffusion_mpi/make_grid_slabs.h>
#include <solvers/base/errors.h>
#include <solvers/base/thread_pool.h>
#include <solvers/device/device.h>
#include <solvers/distributed/mpi/error_reporter.h>
#include <solvers/distributed/mpi/mpi_transport.h>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <limits>
#include <thread>

namespace
{
  using namespace leopard;
  using namespace leopard::reaction_diffusion;

  struct Settings
  {
    std::string              backend = "host", scheme, linear = "automatic", output, reference;
    std::vector<int>         nodes      = {100};
    std::vector<double>      times      = {0.025, 0.125, 0.15, 0.2, 0.225, 5.};
    std::vector<std::string> schemes    = {"implicit Euler"};
    std::vector<double>      tolerances = {0.};
    double                   factor = 0.1, tolerance = 0., step = 1e-6, newton = 1e-8, floor = 1e-12, fraction = 0.01, omega = 1.;
    int                      threads = 0, local = 1, dimension = 2, max_sweeps = 400;
    long                     steps    = std::numeric_limits<long>::max();
    bool                     launches = false, staged = false, as_mesh = false;
    int                      runs = 0, at_a_time = 1, beside = 0;
  };

  StepperOptions stepper_options(const Settings &s, double h)
  {
    StepperOptions o;
    o.backend          = s.backend == "cuda" ? Backend::cuda : s.backend == "host" ? Backend::host : Backend::reference;
    o.n_threads        = s.threads;
    o.local_iterations = s.local;
    o.n_beside         = s.beside > 0 ? s.beside : s.at_a_time;
    o.persistent       = !s.launches;
    SteppingOptions &t = o.stepping;
    t.scheme           = find_scheme(s.scheme);
    t.error_controlled = s.tolerance > 0.;
    t.step_size        = t.error_controlled ? s.step : s.factor * h * h;
    t.error_tolerance  = s.tolerance;
    // a step with an explicit reaction is a linear solve, against what is known of the equation, as in the program
    t.newton_tolerance      = has_explicit_reaction(t.scheme) ? 0. : s.newton;
    t.newton_floor          = has_explicit_reaction(t.scheme) ? s.newton : s.floor;
    t.newton_error_fraction = s.fraction;
    t.omega                 = s.omega;
    t.max_sweeps            = s.max_sweeps;
    t.linear_method = s.linear == "sweeps" ? LinearMethod::sweeps : s.linear == "multigrid" ? LinearMethod::multigrid : LinearMethod::automatic;
    return o;
  }

  NodeGrid grid_of(const Settings &s, int n)
  {
    NodeGrid     grid;
    const double h = 1. / (n - 1);
    grid.n         = {n, n, s.dimension == 3 ? n : 1};
    grid.spacing   = {h, h, h};
    return grid;
  }

  /** @param slabs null: one rank. */
  std::unique_ptr<Stepper>
  make_stepper(const Settings &s, const NodeGrid &grid, const StepperOptions &options, const std::shared_ptr<GridSlabs> &slabs = nullptr)
  {
    return s.as_mesh ? std::make_unique<Stepper>(laplacian_of(grid), options) : std::make_unique<Stepper>(grid, options, slabs);
  }

  double slack_of(const Settings &s, const StepperOptions &options)
  {
    return options.stepping.error_controlled ? 1e-12 * s.times.back() : 0.5 * options.stepping.step_size * (1. - 1e-9);
  }

  /** s.runs runs with gamma from 900 to 1100, s.at_a_time of them side by side; each is made, run and copied back. */
  void run_many(const Settings &s, int n)
  {
    const NodeGrid            grid    = grid_of(s, n);
    const StepperOptions      options = stepper_options(s, grid.spacing[0]);
    const std::vector<double> initial = pattern_benchmark::initial_values(grid);
    std::atomic<int>          next{0}, n_failed{0};
    std::atomic<long>         n_steps{0};
    const auto                start = std::chrono::steady_clock::now();
    std::vector<std::thread>  threads;
    const auto                work = [&] {
      use_own_thread_pools();
      if (options.backend == Backend::cuda)
        device::allocate_beside_others();
      std::vector<double> u(initial.size());
      for (int i = next++; i < s.runs; i = next++)
        {
          StepperOptions own = options;
          own.kinetics.gamma = 900. + 200. * i / std::max(1, s.runs - 1);
          Stepper stepper(grid, own);
          stepper.start(initial.data());
          n_failed += stepper.advance(s.times.back(), s.steps, slack_of(s, own)) == StopReason::time_reached ? 0 : 1;
          stepper.solution(u.data());
          n_steps += stepper.totals().steps;
        }
    };
    for (int t = 0; t < s.at_a_time; ++t)
      threads.emplace_back([&] {
        try
          {
            work();
          }
        catch (const std::exception &e)
          {
            std::fprintf(stderr, "error: %s\n", e.what());
            ++n_failed;
          }
      });
    for (std::thread &thread : threads)
      thread.join();
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    std::printf("%d^%d nodes, %s, %s: %d runs to t = %g, %d at a time: %.3f s, %.2f ms a run, %.0f steps a run, %d did not reach the end\n",
                n,
                s.dimension,
                s.backend.c_str(),
                s.scheme.c_str(),
                s.runs,
                s.times.back(),
                s.at_a_time,
                seconds,
                1e3 * seconds / s.runs,
                static_cast<double>(n_steps) / s.runs,
                n_failed.load());
    std::fflush(stdout);
  }

  void run(const Settings &s, int n)
  {
    const NodeGrid       grid    = grid_of(s, n);
    const StepperOptions options = stepper_options(s, grid.spacing[0]);
    std::string          why_not;
    const auto           slabs = make_grid_slabs(grid, options.backend, MPI_COMM_WORLD, why_not, s.staged);
    if (!why_not.empty())
      throw InvalidInput(why_not + "\n  expected: fewer ranks");
    const bool          talks   = rank_in(MPI_COMM_WORLD) == 0;
    const auto          made    = make_stepper(s, grid, options, slabs);
    Stepper            &stepper = *made;
    std::vector<double> u       = pattern_benchmark::initial_values(grid);
    if (slabs != nullptr)
      {
        const long plane = grid.n_nodes() / grid.n[slabs->direction], n_own = stepper.n_nodes();
        for (int c = 0; c < 2; ++c) // forward: nothing is overwritten before it is read
          std::copy_n(u.begin() + c * grid.n_nodes() + slabs->first() * plane, n_own, u.begin() + c * n_own);
        u.resize(2 * n_own);
      }
    stepper.start(u.data());
    const auto largest = [](double value) {
      MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
      return value;
    };
    if (talks)
      std::printf("%d^%d nodes, %s, %s, %s\n", n, s.dimension, s.backend.c_str(), s.scheme.c_str(), stepper.description().c_str());
    double seconds = 0.;
    for (const double t : s.times)
      {
        const auto start = std::chrono::steady_clock::now();
        const auto why   = stepper.advance(t, s.steps - stepper.step_number(), slack_of(s, options));
        seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        stepper.solution(u.data());
        const auto        range = std::minmax_element(u.begin(), u.begin() + stepper.n_nodes());
        const double      least = -largest(-*range.first), most = largest(*range.second);
        const Totals      all        = stepper.totals();
        const double      steps      = std::max(1l, all.steps);
        const std::string comparison = pattern_benchmark::compare_and_write(u.data(), static_cast<long>(u.size()), t, s.reference, s.output);
        if (talks)
          std::printf(
            "t = %-10.6g steps %7ld  %9.3f s  %9.2f us a step  a step: Newton %.2f sweeps %.1f cycles %.2f  rejected %ld  residual/goal %.3f  "
            "u %.6f .. %.6f  rate %.2e  cpu %.2f s%s%s\n",
            stepper.time(),
            all.steps,
            seconds,
            1e6 * seconds / steps,
            all.newton_steps / steps,
            all.sweeps / steps,
            all.cycles / steps,
            all.rejected.total(),
            all.worst_reduction,
            least,
            most,
            stepper.last_step().rate_of_change,
            pattern_benchmark::cpu_seconds(),
            comparison.c_str(),
            why == StopReason::time_reached || why == StopReason::step_limit ? "" : "  STOPPED");
        std::fflush(stdout);
        if (why != StopReason::time_reached)
          break;
      }
  }

  /** A row for each scheme and tolerance: what the steps to the last time take, and how far u is off then. */
  void compare(Settings s, int n)
  {
    const NodeGrid            grid    = grid_of(s, n);
    const std::vector<double> initial = pattern_benchmark::initial_values(grid);
    const double              end     = s.times.back();
    std::printf("%d^%d nodes, %s, to t = %g\n", n, s.dimension, s.backend.c_str(), end);
    std::printf("%-15s %9s %8s %10s %9s %12s\n", "scheme", "tolerance", "steps", "error of u", "seconds", "of processor");
    for (const std::string &scheme : s.schemes)
      for (const double tolerance : s.tolerances)
        {
          s.scheme                     = scheme;
          s.tolerance                  = tolerance;
          const StepperOptions options = stepper_options(s, grid.spacing[0]);
          const auto           made    = make_stepper(s, grid, options);
          Stepper             &stepper = *made;
          stepper.start(initial.data());
          const auto          start   = std::chrono::steady_clock::now();
          const double        cpu     = pattern_benchmark::cpu_seconds();
          const auto          why     = stepper.advance(end, s.steps, slack_of(s, options));
          const double        seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
          const double        of_cpu  = pattern_benchmark::cpu_seconds() - cpu;
          std::vector<double> u(initial.size());
          stepper.solution(u.data());
          char error[16] = "-";
          if (!s.reference.empty())
            std::snprintf(error, sizeof(error), "%.2e", pattern_benchmark::largest_difference(u.data(), grid.n_nodes(), end, s.reference));
          std::printf("%-15s %9.3g %8ld %10s %9.3f %12.3f%s\n",
                      scheme.c_str(),
                      tolerance,
                      stepper.totals().steps,
                      error,
                      seconds,
                      of_cpu,
                      why == StopReason::time_reached ? "" : "  STOPPED");
          std::fflush(stdout);
        }
  }

  std::string names_of_schemes()
  {
    std::string names;
    for (const SchemeName &row : schemes)
      names += std::string(names.empty() ? "" : ", ") + row.name;
    return names;
  }
} // namespace

int main(int argc, char **argv)
{
  CLI::App app("Pattern formation (Schnakenberg, kappa = 10, gamma = 1000, the thesis's initial values): time of the time loop");
  Settings s;
  app.add_option("--backend", s.backend, "host, cuda or reference (sparse LU)");
  app.add_option("--nodes", s.nodes, "nodes a direction, one run each")->delimiter(',');
  app.add_option("--dimension", s.dimension, "2 or 3");
  app
    .add_option("--scheme", s.schemes, "as in parameter files: " + names_of_schemes() + "; several, or several tolerances: a table of error and time")
    ->delimiter(',');
  app.add_option("--times", s.times, "where figures are printed and fields written")->delimiter(',');
  app.add_option("--factor", s.factor, "fixed step over h^2");
  app.add_option("--tolerance", s.tolerances, "error-controlled steps with this tolerance; 0: fixed steps")->delimiter(',');
  app.add_option("--step", s.step, "first error-controlled step");
  app.add_option("--newton", s.newton, "relative tolerance of Newton's method, of SBDF2 of the linear solve");
  app.add_option("--fraction", s.fraction, "part of the error that Newton's method may leave");
  app.add_option("--floor", s.floor, "its tolerance against the old values");
  app.add_option("--omega", s.omega, "relaxation factor");
  app.add_option("--linear", s.linear, "automatic, sweeps or multigrid");
  app.add_option("--threads", s.threads, "host threads, 0: all");
  app.add_option("--max-sweeps", s.max_sweeps, "sweeps in a Newton step at most");
  app.add_option("--local", s.local, "local sweeps of a block");
  app.add_option("--steps", s.steps, "at most so many steps");
  app.add_option("--output", s.output, "write fields to OUTPUT_TIME.f64");
  app.add_option("--reference", s.reference, "print the difference from the fields REFERENCE_TIME.f64");
  app.add_flag("--launches", s.launches, "cuda: no persistent kernel");
  app.add_flag("--as-mesh", s.as_mesh, "step by the rows of the grid's matrix, as on a mesh; one rank, not with --runs");
  app.add_flag("--staged", s.staged, "cuda, several ranks: values travel by messages, as between hosts");
  app.add_option("--runs", s.runs, "so many runs to the last time, in threads, instead of one with figures")->check(CLI::NonNegativeNumber);
  app.add_option("--at-a-time", s.at_a_time, "of these, side by side")->check(CLI::PositiveNumber);
  app.add_option("--beside", s.beside, "what the library is told of that; 0: the truth")->check(CLI::NonNegativeNumber);
  CLI11_PARSE(app, argc, argv);
  MPI_Init(&argc, &argv);
  const int code = run_on_ranks("pattern_formation", MPI_COMM_WORLD, [&] {
    if (const int n_devices = device::n_devices(); n_devices > 0)
      device::select(rank_in(MPI_COMM_WORLD) % n_devices);
    if (size_of(MPI_COMM_WORLD) > 1 && !(s.output.empty() && s.reference.empty()))
      throw InvalidInput("fields are written and compared on one rank only\n  expected: no --output and no --reference, or one rank");
    if (s.runs > 0 && size_of(MPI_COMM_WORLD) > 1)
      throw InvalidInput("runs side by side are threads of one rank\n  expected: one rank, or no --runs");
    if (s.as_mesh && (size_of(MPI_COMM_WORLD) > 1 || s.runs > 0))
      throw InvalidInput("--as-mesh is for one rank and one run\n  expected: neither several ranks nor --runs");
    const bool is_table = s.schemes.size() * s.tolerances.size() > 1;
    if (is_table && (size_of(MPI_COMM_WORLD) > 1 || s.runs > 0 || !s.output.empty()))
      throw InvalidInput("several schemes or tolerances make a table\n  expected: one rank, and neither --runs nor --output");
    s.scheme    = s.schemes.front();
    s.tolerance = s.tolerances.front();
    for (const int n : s.nodes)
      is_table ? compare(s, n) : s.runs > 0 ? run_many(s, n) : run(s, n);
  });
  MPI_Finalize();
  return code;
}
