// SPDX-License-Identifier: Apache-2.0
#include "energy_run.h"

#include "sample_statistics.h"

#include <solvers/base/errors.h>
#include <solvers/base/stopwatch.h>
#include <solvers/krylov/cg.h>
#include <solvers/multigrid/aggregation.h>
#include <solvers/multigrid/multigrid.h>
#include <solvers/refinement/refinement.h>
#include <solvers/relaxation/methods.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <thread>

#include <ctime>

namespace leopard::studies
{
  namespace
  {
    constexpr double period          = 0.04; // s: 25 Hz, as in the thesis
    constexpr int    most_iterations = 1000000;

    /** b and x in the memory that a solver wants. */
    struct Vectors
    {
      Vectors(const std::vector<double> &b, MemorySpace space)
        : on_device(space == MemorySpace::device)
        , host_b(b)
        , host_x(on_device ? 0 : b.size())
        , device_b(on_device ? b.size() : 0)
        , device_x(on_device ? b.size() : 0)
      {
        if (on_device)
          device_b.copy_from_host(b.data());
      }

      const double *b() const { return on_device ? device_b.data() : host_b.data(); }
      double       *zero_x()
      {
        if (on_device)
          device_x = 0.;
        else
          std::fill(host_x.begin(), host_x.end(), 0.);
        return on_device ? device_x.data() : host_x.data();
      }

      bool                 on_device;
      std::vector<double>  host_b, host_x;
      DeviceVector<double> device_b, device_x;
    };

    EnergySolver
    make_relaxation(const std::string &name, const std::shared_ptr<Relaxation<double>> &relaxation, const std::vector<double> &b, double tolerance)
    {
      const auto experiment        = std::make_shared<Experiment>(*relaxation, b);
      const auto criteria          = std::make_shared<StoppingCriteria>();
      criteria->relative_tolerance = tolerance;
      criteria->max_iterations     = most_iterations;
      return {name, [relaxation, experiment, criteria] {
                const SolveResult found = experiment->solve(*criteria);
                criteria->test_every    = std::max(10, found.n_iterations / 20); // seldom tests, between which nobody waits
                return SolveOutcome{found.status == SolveStatus::converged, found.n_iterations};
              }};
    }

    EnergySolver make_cg_solver(const std::string &name, const Problem &problem, double tolerance, Backend backend, int threads)
    {
      CgOptions options;
      options.backend        = backend;
      options.n_threads      = threads;
      options.tolerance      = tolerance;
      options.max_iterations = most_iterations;
      std::shared_ptr<Preconditioner<double>> preconditioner;
      if (name != "CG")
        preconditioner = make_preconditioner<double>(std::shared_ptr<Relaxation<double>>(find_method("jacobi").make(problem.A, {backend})));
      const std::shared_ptr<KrylovSolver<double>> cg      = make_cg<double>(problem.A, options, preconditioner);
      const auto                                  vectors = std::make_shared<Vectors>(problem.b, cg->memory_space());
      return {name, [cg, vectors] {
                const KrylovResult found = cg->solve(vectors->zero_x(), vectors->b());
                return SolveOutcome{found.converged, found.n_iterations};
              }};
    }

    EnergySolver make_multigrid(const Problem &problem, double tolerance, Backend backend, int threads)
    {
      AggregationOptions aggregation;
      aggregation.n_threads = threads;
      MultigridOptions options;
      options.backend            = backend;
      options.n_threads          = threads;
      options.pre_smoothing      = 1;
      options.post_smoothing     = 1;
      options.smoother.method    = "chebyshev";
      const auto       multigrid = std::make_shared<Multigrid<double>>(problem.A, aggregation, options);
      const auto       vectors   = std::make_shared<Vectors>(problem.b, multigrid->memory_space());
      StoppingCriteria criteria;
      criteria.relative_tolerance = tolerance;
      criteria.test_every         = 1;
      criteria.max_iterations     = 10000;
      return {"multigrid", [multigrid, vectors, criteria] {
                const SolveResult found = multigrid->solve(vectors->zero_x(), vectors->b(), criteria);
                return SolveOutcome{found.status == SolveStatus::converged, found.n_iterations};
              }};
    }

    EnergySolver make_mixed_refinement(const std::string &name, const Problem &problem, double tolerance, const BlockAsyncOptions &options)
    {
      RefinementOptions how;
      how.tolerance         = tolerance;
      how.max_iterations    = most_iterations;
      const auto make_inner = [&](const CrsMatrix<float> &A) {
        return make_inner_solver(std::shared_ptr<Relaxation<float>>(std::make_shared<BlockAsync<float>>(A, options)));
      };
      const std::shared_ptr<Refinement<float>> refinement = make_refinement<float>(problem.A, make_inner, how, options.backend, options.n_threads);
      const auto                               vectors    = std::make_shared<Vectors>(problem.b, refinement->memory_space());
      return {name, [refinement, vectors] {
                const RefinementResult found = refinement->solve(vectors->zero_x(), vectors->b());
                return SolveOutcome{found.converged(), found.n_iterations};
              }};
    }

    /** Of all threads of this process. */
    double processor_seconds()
    {
      timespec time;
      ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
      return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
    }

    /** What stands in a file of sysfs; empty: nothing can be read. */
    std::string word_of(const std::string &path)
    {
      std::string word;
      std::ifstream(path) >> word;
      return word;
    }
  } // namespace

  EnergySolver make_energy_solver(const std::string &method, const Problem &problem, double tolerance, const Settings &settings, int threads)
  {
    const Backend     backend = settings.resolved_backend();
    BlockAsyncOptions options = async(settings, settings.block_size_or(512), settings.local_iterations_or(5));
    if (threads > 0)
      options.n_threads = threads;
    if (method == "Jacobi")
      return make_relaxation(method, find_method("jacobi").make(problem.A, {backend}), problem.b, tolerance);
    if (method == "async-(5)")
      return make_relaxation(method, std::make_shared<BlockAsync<double>>(problem.A, options), problem.b, tolerance);
    if (method == "MPIR async-(5)")
      return make_mixed_refinement(method, problem, tolerance, options);
    if (method == "multigrid")
      return make_multigrid(problem, tolerance, backend, options.n_threads);
    return make_cg_solver(method, problem, tolerance, backend, options.n_threads);
  }

  EnergyLab::EnergyLab(bool on_device_, double seconds)
    : on_device(on_device_)
    , least_seconds(seconds)
    , meter(device::energy_sources(on_device_), period, true)
  {
    if (on_device)
      device::set_waiting(device::Waiting::block);
    std::this_thread::sleep_for(std::chrono::duration<double>(0.2 * seconds)); // until what was done before is forgotten
    const device::EnergyUse before = meter.read();
    // Energy::since() knows nothing of less than ten resolutions, however short the solves are to be
    const double rest = std::max(0.5 * seconds, 11. * std::max(before.gpu.resolution, before.cpu.resolution));
    std::this_thread::sleep_for(std::chrono::duration<double>(rest));
    at_rest = meter.read().since(before);
  }

  EnergyRow EnergyLab::measure(const EnergySolver &solver, device::Waiting waiting)
  {
    EnergyRow row;
    row.name    = solver.name;
    row.waiting = on_device ? device::to_string(waiting) : "-";
    if (on_device)
      device::set_waiting(waiting);
    const double begin = now();
    row.outcome        = solver.solve(); // warm, and whether it converges
    if (!row.outcome.converged)
      return row;
    const bool is_short = now() - begin < 0.1 * least_seconds; // else the counter moves in each of the solves
    if (is_short)
      solve_until_counted(solver);
    meter.take_samples();
    const device::EnergyUse before    = meter.read();
    const double            processor = processor_seconds(), start = now();
    double                  seconds = 0.;
    for (; seconds < least_seconds; ++row.repetitions)
      {
        row.outcome = solver.solve();
        seconds     = now() - start;
      }
    row.cores   = (processor_seconds() - processor) / seconds;
    row.seconds = seconds / row.repetitions;
    if (is_short)
      row.repetitions += solve_until_counted(solver);
    row.use     = meter.read().since(before);
    row.samples = meter.take_samples();
    return row;
  }

  int EnergyLab::solve_until_counted(const EnergySolver &solver)
  {
    const Energy counted = meter.read().gpu;
    int          n       = 0;
    if (counted.is_known())
      for (const double start = now(); now() - start < 2. * counted.resolution && meter.read().gpu.joules == counted.joules; ++n)
        solver.solve();
    return n;
  }

  double EnergyLab::seconds_of(const EnergySolver &solver) const
  {
    if (!solver.solve().converged)
      return std::numeric_limits<double>::quiet_NaN();
    std::vector<double> seconds;
    for (const double start = now(); seconds.size() < 3 || now() - start < least_seconds / 50.;)
      {
        const double begin = now();
        solver.solve();
        seconds.push_back(now() - begin);
      }
    return median(seconds);
  }

  double EnergyLab::above_idle(const EnergyRow &row, Energy device::EnergyUse::*part) const
  {
    return row.joules(row.use.*part) - (at_rest.*part).joules / at_rest.seconds * row.seconds;
  }

  std::string EnergyLab::text()
  {
    std::string result = "idle: " + at_rest.text();
    if (at_rest.gpu_sampled.is_known() && at_rest.gpu.how != at_rest.gpu_sampled.how)
      result += "; GPU beside it " + leopard::to_string(at_rest.gpu_sampled, at_rest.seconds);
    const std::string folder = "/sys/devices/system/cpu/cpu0/cpufreq/", governor = word_of(folder + "scaling_governor");
    result += governor.empty() ? "\nfrequency of the processors: cannot be read here: there is no " + folder + "scaling_governor"
                               : "\nfrequency of the processors, as it is set: governor " + governor + ", " + word_of(folder + "scaling_min_freq") +
                                   " to " + word_of(folder + "scaling_max_freq") + " kHz";
    if (const auto &gpu = meter.all_sources().gpu; gpu != nullptr)
      result += "\nGPU: clock " + cell(gpu->clock_megahertz(), "%.0f") + " MHz now, power limit " + cell(gpu->power_limit_watts(), "%.0f") + " W";
    return result;
  }
} // namespace leopard::studies
