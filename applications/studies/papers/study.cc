// SPDX-License-Identifier: Apache-2.0
#include "study.h"

#include <solvers/base/errors.h>
#include <solvers/base/norms.h>
#include <solvers/base/stopwatch.h>
#include <solvers/base/usable_resources.h>
#include <solvers/device/device.h>
#include <solvers/matrix/elasticity.h>
#include <solvers/matrix/generators.h>
#include <solvers/matrix/matrix_market.h>
#include <solvers/matrix/mesh_matrices.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>

namespace leopard::studies
{
  Backend Settings::resolved_backend() const
  {
    if (backend == "automatic")
      return device::n_devices() > 0 ? Backend::cuda : Backend::host;
    if (backend == "cuda")
      return Backend::cuda;
    if (backend == "host")
      return Backend::host;
    throw InvalidInput("--backend is '" + backend + "'\n  expected: automatic, host or cuda");
  }

  std::vector<std::string> Settings::matrices_or(const std::vector<std::string> &names) const
  {
    if (matrix.empty())
      return names;
    std::vector<std::string> result;
    for (std::size_t begin = 0; begin <= matrix.size();)
      {
        const std::size_t end = std::min(matrix.find(',', begin), matrix.size());
        result.push_back(matrix.substr(begin, end - begin));
        begin = end + 1;
      }
    return result;
  }

  std::string Settings::folder() const
  {
    const char *variable = std::getenv("LEOPARD_MATRICES");
    return !matrices.empty() || variable == nullptr ? matrices : variable;
  }

  namespace
  {
    /** Matrices "prefix-N". */
    struct Generated
    {
      const char *prefix;
      bool        is_random;
      CrsMatrix<double> (*make)(int n, std::uint64_t seed);
    };

    const Generated all_generated[] = {
      {"trefethen-", false, [](int n, std::uint64_t) { return trefethen_matrix(n); }},
      {"five-point-", false, [](int n, std::uint64_t) { return five_point_matrix(n, n, 0.01); }},
      {"seven-point-", false, [](int n, std::uint64_t) { return seven_point_matrix(n, n, n, 0.); }},
      {"circuit-", true, [](int n, std::uint64_t seed) { return circuit_matrix(n, seed); }},
      {"elasticity-",
       false,
       [](int n, std::uint64_t) {
         return Elasticity{3, {n, n, n}}.matrix();
       }},
      {"random-", true, [](int n, std::uint64_t seed) { return random_dominant_matrix(n, 6, 0.9, seed); }},
      {"hanging-", false, [](int n, std::uint64_t) { return hanging_nodes_matrix(n); }},
      {"q2-", false, [](int n, std::uint64_t) { return quadratic_elements_matrix(n); }},
      {"jumps-", false, [](int n, std::uint64_t) { return jumping_coefficients_matrix(n); }},
      {"convection-", false, [](int n, std::uint64_t) { return convection_matrix(n); }},
    };

    /** Null: it is none of them. */
    const Generated *generated(const std::string &name)
    {
      for (const Generated &kind : all_generated)
        if (name.rfind(kind.prefix, 0) == 0)
          return &kind;
      return nullptr;
    }

    int size_of(const Generated &kind, const std::string &name)
    {
      const std::string prefix = kind.prefix;
      const int         n      = std::atoi(name.c_str() + prefix.size());
      if (n < 2 || n > 1000000)
        throw InvalidInput("--matrix has '" + name + "'\n  expected: " + prefix + "N with a number N from 2 to 1000000");
      return n;
    }

    /** The file of a matrix that is not generated. */
    std::string file_of(const std::string &name, const Settings &settings)
    {
      const std::string start = (settings.folder().empty() ? "." : settings.folder()) + "/" + name;
      std::string       tried;
      for (const char *ending : {".mtx.gz", ".mtx", "_reconstructed.mtx.gz"})
        {
          std::string path = start + ending;
          if (std::ifstream(path))
            return path;
          tried += (tried.empty() ? "" : ", ") + path;
        }
      throw InvalidInput("the matrix " + name + " is missing: there is none of " + tried +
                         "\n  expected: the folder of matrices in --matrices or the variable LEOPARD_MATRICES; trefethen, trefethen-N, "
                         "five-point-N, seven-point-N, circuit-N, elasticity-N, random-N, hanging-N, q2-N, jumps-N and convection-N are generated");
    }

    CrsMatrix<double> load_matrix(const std::string &name, const Settings &settings)
    {
      if (name == "trefethen")
        return trefethen_matrix(2000);
      if (const Generated *kind = generated(name))
        return kind->make(size_of(*kind, name), settings.seed);
      return read_matrix_market(file_of(name, settings));
    }

    /** Before anything is computed. @throws InvalidInput for a matrix that cannot be had. */
    void check_name(const std::string &name, const Settings &settings)
    {
      if (const Generated *kind = generated(name))
        size_of(*kind, name);
      else if (name != "trefethen")
        file_of(name, settings);
    }
  } // namespace

  Problem load_problem(const std::string &name, const Settings &settings)
  {
    Problem problem{name, load_matrix(name, settings), {}};
    problem.b.assign(problem.A.n_rows, 1.);
    return problem;
  }

  void refuse(const std::string &study, const std::string &option, const std::string &why, const std::string &instead)
  {
    throw InvalidInput(option + " is given, and " + study + " " + why + "\n  expected: no " + option + instead);
  }

  void refuse_unused(const std::string &study, const Settings &settings, const Uses &uses, const std::vector<std::string> &names)
  {
    const bool  on_gpu         = settings.resolved_backend() == Backend::cuda;
    const auto  is_random      = [](const std::string &name) { return generated(name) != nullptr && generated(name)->is_random; };
    const auto  is_generated   = [](const std::string &name) { return name == "trefethen" || generated(name) != nullptr; };
    const bool  random         = uses.random || settings.schedule == "replay" || std::any_of(names.begin(), names.end(), is_random);
    const bool  only_generated = !names.empty() && std::all_of(names.begin(), names.end(), is_generated);
    const char *on_the_host = "runs on the host here", *or_cuda = ", or --backend cuda";
    if (!on_gpu && settings.execution != Settings().execution)
      refuse(study, "--execution", on_the_host, or_cuda);
    if (!on_gpu && settings.gpus > 0)
      refuse(study, "--gpus", on_the_host, or_cuda);
    if (on_gpu && !uses.threads_with_cuda && settings.threads > 0)
      refuse(study, "--threads", "iterates on GPUs only", ", or --backend host");
    if (!random && settings.seed != Settings().seed)
      refuse(study, "--seed", "has nothing random but matrices random-N and circuit-N, and the schedule replay where it takes them");
    if (only_generated && !settings.matrices.empty())
      refuse(study, "--matrices", "reads no file: its matrices are generated");
    if (!uses.size && settings.size > 0)
      refuse(study, "--size", "generates no matrix in the place of another one");
    if (!uses.full && settings.full)
      refuse(study, "--full", "is the same with it for these matrices");
    for (const std::string &name : names)
      if (!uses.stands_in)
        check_name(name, settings);
  }

  BlockAsyncOptions with(const Settings &settings, BlockAsyncOptions options)
  {
    options.backend   = settings.resolved_backend();
    options.n_threads = settings.threads;
    options.seed      = settings.seed;
    options.execution = value_of(settings.execution, execution_names());
    if (settings.schedule != "automatic")
      options.schedule = value_of(settings.schedule, schedule_names());
    return options;
  }

  BlockAsyncOptions async(const Settings &settings, int block_size, int local_iterations)
  {
    BlockAsyncOptions options;
    options.block_size       = block_size;
    options.local_iterations = local_iterations;
    return with(settings, options);
  }

  std::unique_ptr<BlockAsync<double>> make_varying(const CrsMatrix<double> &A, BlockAsyncOptions options, const Settings &settings)
  {
    auto method = std::make_unique<BlockAsync<double>>(A, options);
    if (may_replay(settings) && method->is_fixed_linear_map())
      {
        options.schedule = Schedule::replay;
        method           = std::make_unique<BlockAsync<double>>(A, options);
      }
    return method;
  }

  bool may_replay(const Settings &settings)
  {
    return settings.schedule == "automatic" && settings.resolved_backend() == Backend::host;
  }

  Experiment::Experiment(Relaxation<double> &relaxation_, const std::vector<double> &b)
    : relaxation(relaxation_)
    , on_device(relaxation_.memory_space() == MemorySpace::device)
    , host_x(on_device ? 0 : relaxation_.n_columns())
    , device_x(on_device ? relaxation_.n_columns() : 0)
    , device_b(on_device ? b.size() : 0)
  {
    set_b(b);
    start();
    norm_b = std::sqrt(relaxation.norm_squared(b_data()));
  }

  double *Experiment::x_data()
  {
    return on_device ? device_x.data() : host_x.data();
  }

  double *Experiment::b_data()
  {
    return on_device ? device_b.data() : host_b.data();
  }

  void Experiment::start()
  {
    std::fill(host_x.begin(), host_x.end(), 0.);
    if (on_device)
      device_x = 0.;
    relaxation.restart();
  }

  void Experiment::iterate(int n_iterations)
  {
    relaxation.iterate(x_data(), b_data(), n_iterations);
    if (on_device)
      device::synchronize();
  }

  double Experiment::relative_residual()
  {
    return std::sqrt(relaxation.residual_norm_squared(x_data(), b_data())) / norm_b;
  }

  SolveResult Experiment::solve(const StoppingCriteria &criteria)
  {
    start();
    return leopard::solve(relaxation, x_data(), b_data(), criteria);
  }

  std::vector<double> Experiment::x() const
  {
    if (!on_device)
      return host_x;
    std::vector<double> result(device_x.size());
    device_x.copy_to_host(result.data());
    return result;
  }

  void Experiment::set_x(const std::vector<double> &values)
  {
    if (on_device)
      device_x.copy_from_host(values.data());
    else
      host_x = values;
  }

  void Experiment::set_b(const std::vector<double> &values)
  {
    if (on_device)
      device_b.copy_from_host(values.data());
    else
      host_b = values;
  }

  std::string Reached::iterations_text() const
  {
    return converged ? cell(iterations, "%.1f") : diverged ? "diverges" : "> " + cell(iterations, "%.0f");
  }

  double Reached::iterations_needed() const
  {
    return converged ? iterations : std::numeric_limits<double>::infinity();
  }

  Reached reach(Experiment &experiment, double tolerance, int max_iterations, bool with_time)
  {
    Reached              result;
    std::vector<int>    &at        = result.at;
    std::vector<double> &residuals = result.residuals;
    at.push_back(0);
    experiment.start();
    residuals.push_back(experiment.relative_residual());
    const auto index_of_half = [&] { return std::lower_bound(at.begin(), at.end(), at.back() / 2) - at.begin(); };
    while (!result.converged && !result.diverged && at.back() < max_iterations)
      {
        const int step = std::min(max_iterations - at.back(), std::max(1, at.back() / 50));
        experiment.iterate(step);
        at.push_back(at.back() + step);
        residuals.push_back(experiment.relative_residual());
        const double r   = residuals.back();
        result.converged = reached(r, tolerance);
        // far away, or worse than at half the time and than it ever was
        result.diverged = !(r < 1e6 * residuals.front()) ||
                          (at.back() >= 100 && r > 2. * residuals[index_of_half()] && r > 2. * *std::min_element(residuals.begin(), residuals.end()));
      }
    const std::size_t half = index_of_half();
    result.residual        = residuals.back();
    result.iterations      = at.back();
    result.seconds         = std::numeric_limits<double>::quiet_NaN();
    if (at.back() > at[half])
      result.factor = std::pow(residuals.back() / residuals[half], 1. / (at.back() - at[half]));
    if (result.converged && residuals.size() > 1)
      {
        const std::size_t n = residuals.size() - 1;
        if (residuals[n] > 0. && residuals[n] < residuals[n - 1] && !reached(residuals[n - 1], tolerance))
          result.iterations = at[n - 1] + (at[n] - at[n - 1]) * std::log(residuals[n - 1] / tolerance) / std::log(residuals[n - 1] / residuals[n]);
        if (with_time)
          {
            std::vector<double> times;
            for (int i = 0; i < 3; ++i)
              {
                experiment.start();
                const double start = now();
                experiment.iterate(at[n]);
                times.push_back(now() - start);
              }
            std::sort(times.begin(), times.end());
            result.seconds = times[1];
          }
      }
    return result;
  }

  std::string machine(const Settings &settings)
  {
    if (settings.resolved_backend() == Backend::cuda)
      return "backend cuda, " + device::info(0).name;
    return "backend host, " + std::to_string(settings.threads > 0 ? settings.threads : usable_cores()) +
           " threads at most (a thread needs 2000 rows and 4 blocks)";
  }
} // namespace leopard::studies
