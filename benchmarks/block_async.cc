// SPDX-License-Identifier: Apache-2.0
// Speed of block-asynchronous iteration on a GPU, beside cuSPARSE in the same run: time of a global iteration, and time
// to a solution.
#include "conjugate_gradients.h"

#include <solvers/base/errors.h>
#include <solvers/base/stopwatch.h>
#include <solvers/block_async/block_async.h>
#include <solvers/device/device.h>
#include <solvers/device/device_vector.h>
#include <solvers/matrix/analysis.h>
#include <solvers/matrix/device_matrix.h>
#include <solvers/matrix/generators.h>
#include <solvers/matrix/matrix_market.h>
#include <solvers/matrix/stencil.h>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <functional>
#include <future>
#include <memory>

namespace
{
  using namespace leopard;

  struct Times
  {
    double median, smallest, largest;
  };

  /** Microseconds of one of n repetitions inside run(). */
  Times measure(int samples, int n, const std::function<void()> &run)
  {
    std::vector<double> times;
    for (int i = -1; i < samples; ++i) // the first warms up
      {
        device::synchronize();
        const double start = now();
        run();
        device::synchronize();
        if (i >= 0)
          times.push_back((now() - start) / n * 1e6);
      }
    std::sort(times.begin(), times.end());
    return {times[times.size() / 2], times.front(), times.back()};
  }

  struct Settings
  {
    int         samples    = 31;
    std::string forms      = "double,lossless,stencil";
    std::string ks         = "1,5,9";
    int         iterations = 0, contraction = 0;
    std::string matrices;
    std::string tile;
  };

  std::vector<std::string> split(const std::string &list)
  {
    std::vector<std::string> result;
    for (std::size_t begin = 0; begin <= list.size();)
      {
        const std::size_t end = std::min(list.find(',', begin), list.size());
        result.push_back(list.substr(begin, end - begin));
        begin = end + 1;
      }
    return result;
  }

  template <typename Number>
  void time_method(const std::string &problem, const std::string &form, BlockAsync<Number> &method, int k, const Settings &settings)
  {
    DeviceVector<Number> x(method.n_rows()), b(method.n_rows());
    b             = Number(1);
    x             = Number(0);
    const int   n = settings.iterations > 0 ? settings.iterations : method.n_rows() > 2000000 ? 10 : 2000;
    const Times t = measure(settings.samples, n, [&] { method.iterate(x.data(), b.data(), n); });
    std::printf("%-22s %-10s async-(%d) %9.3f us  (%.3f .. %.3f)  %s\n",
                problem.c_str(),
                form.c_str(),
                k,
                t.median,
                t.smallest,
                t.largest,
                method.description().c_str());
    if (settings.contraction > 0)
      {
        x                  = Number(0);
        const double start = std::sqrt(method.residual_norm_squared(x.data(), b.data()));
        method.iterate(x.data(), b.data(), settings.contraction);
        std::printf("%-22s   relative residual after %d global iterations from 0, b = 1: %.4f\n",
                    problem.c_str(),
                    settings.contraction,
                    std::sqrt(method.residual_norm_squared(x.data(), b.data())) / start);
      }
    std::fflush(stdout);
  }

  void time_spmv(const std::string &problem, const CrsMatrix<double> &A, const Settings &settings)
  {
    DeviceVector<double> x(A.n_columns), y(A.n_rows);
    x = 1.;
    for (const bool is_compact : {false, true})
      {
        const device::DeviceMatrix<double> matrix(A, is_compact);
        const Times                        t = measure(settings.samples, 10, [&] {
          for (int i = 0; i < 10; ++i)
            matrix.multiply(y.data(), x.data());
        });
        std::printf("%-22s %s %9.3f us\n", problem.c_str(), matrix.is_compact() ? "compact product    " : "cuSPARSE SpMV      ", t.median);
      }
    std::fflush(stdout);
  }

  void time_stencil_problem(const std::string &name, const Stencil<double> &stencil, const std::array<int, 3> &tile, const Settings &settings)
  {
    const std::vector<std::string> forms       = split(settings.forms);
    const auto                     has         = [&](const char *form) { return std::find(forms.begin(), forms.end(), form) != forms.end(); };
    const auto                     options_for = [](int k) {
      BlockAsyncOptions options;
      options.backend          = Backend::cuda;
      options.local_iterations = k;
      return options;
    };
    if (has("stencil"))
      for (const std::string &k : split(settings.ks))
        {
          BlockAsync<double> method(stencil, options_for(std::stoi(k)));
          time_method(name, "stencil", method, std::stoi(k), settings);
        }
    if (has("stencil-single"))
      for (const std::string &k : split(settings.ks))
        {
          BlockAsync<float> method(rounded_to<float>(stencil), options_for(std::stoi(k)));
          time_method(name, "stencil-single", method, std::stoi(k), settings);
        }
    if (!has("double") && !has("lossless") && !has("single"))
      return;
    const double       start = now();
    std::array<int, 3> t     = tile;
    if (!settings.tile.empty() && std::sscanf(settings.tile.c_str(), "%dx%dx%d", &t[0], &t[1], &t[2]) != 3)
      throw InvalidInput("--tile is '" + settings.tile + "'\n  expected: for example 32x16x1");
    const Partition         partition = tile_partition(stencil.n_x, stencil.n_y, stencil.n_z, t[0], t[1], t[2]);
    const CrsMatrix<double> A         = permute(stencil.to_crs(), partition);
    std::printf("%-22s matrix made in %.1f s\n", name.c_str(), now() - start);
    time_spmv(name, A, settings);
    for (const char *form : {"double", "lossless"})
      if (has(form))
        {
          std::vector<std::future<std::unique_ptr<BlockAsync<double>>>> methods; // made side by side, timed one after the other
          const std::vector<std::string>                                ks = split(settings.ks);
          for (const std::string &k : ks)
            {
              BlockAsyncOptions options = options_for(std::stoi(k));
              options.block_offsets     = partition.block_offsets;
              options.storage           = form == std::string("double") ? Storage::double_precision : Storage::automatic;
              methods.push_back(std::async(std::launch::async, [&A, options] {
                auto method = std::make_unique<BlockAsync<double>>(A, options);
                device::synchronize();
                return method;
              }));
            }
          for (const auto &method : methods)
            method.wait();
          for (std::size_t i = 0; i < ks.size(); ++i)
            time_method(name, form, *methods[i].get(), std::stoi(ks[i]), settings);
        }
    if (has("single"))
      for (const std::string &k : split(settings.ks))
        {
          BlockAsyncOptions options = options_for(std::stoi(k));
          options.block_offsets     = partition.block_offsets;
          BlockAsync<float> method(rounded_to<float>(A), options);
          time_method(name, "single", method, std::stoi(k), settings);
        }
  }

  struct Candidate
  {
    std::string shape;
    int         block_size, k;
    double      caution; ///< of the momentum; negative: none
    int         test_every;
    std::string flags; ///< l: launch form, s: synchronous persistent form
  };

  void time_to_solution(const std::string &name, const CrsMatrix<double> &A, const std::vector<Candidate> &candidates, const Settings &settings)
  {
    std::vector<double> ones(A.n_rows, 1.), b_host(A.n_rows), diagonal(A.n_rows);
    multiply(A, ones.data(), b_host.data());
    for (int i = 0; i < A.n_rows; ++i)
      for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
        if (A.columns[p] == i)
          diagonal[i] = 1. / A.values[p];
    DeviceVector<double>               x(A.n_rows), b(A.n_rows), inverse_diagonal(A.n_rows);
    const device::DeviceMatrix<double> matrix(A, false); // a peer: cuSPARSE
    b.copy_from_host(b_host.data());
    inverse_diagonal.copy_from_host(diagonal.data());
    for (const bool jacobi : {false, true})
      {
        int         n = 0;
        const Times t = measure(5, 1, [&] { n = conjugate_gradients(matrix, x, b, jacobi ? &inverse_diagonal : nullptr, 1e-10); });
        std::printf("%-22s %s: %d iterations, %.3f ms\n", name.c_str(), jacobi ? "Jacobi-CG (cuSPARSE)" : "CG (cuSPARSE)", n, t.median / 1e3);
      }
    const ExtremeEigenvalues eigenvalues = extreme_eigenvalues(A);
    for (const Candidate &c : candidates)
      {
        const Partition         partition = c.shape == "metis" ? metis_partition(A, c.block_size)
                                            : c.shape == "rcm" ? rcm_partition(A, c.block_size)
                                                               : contiguous_partition(A.n_rows, c.block_size);
        const CrsMatrix<double> P         = permute(A, partition);
        BlockAsyncOptions       options;
        options.backend          = Backend::cuda;
        options.block_offsets    = partition.block_offsets;
        options.local_iterations = c.k;
        if (c.flags.find('l') != std::string::npos)
          options.execution = Execution::launch;
        if (c.flags.find('s') != std::string::npos)
          {
            options.schedule  = Schedule::synchronous;
            options.execution = Execution::persistent;
          }
        if (c.caution >= 0.)
          {
            const MomentumParameters m = momentum_parameters(eigenvalues, c.caution);
            options.omega              = m.omega;
            options.momentum           = m.momentum;
          }
        BlockAsync<double> method(P, options);
        StoppingCriteria   criteria;
        criteria.relative_tolerance = 1e-10;
        criteria.test_every         = c.test_every;
        criteria.max_iterations     = 200000;
        b.copy_from_host(permute(b_host, partition).data());
        SolveResult         result;
        std::vector<double> times, iterations;
        int                 failures = 0;
        for (int i = -1; i < settings.samples; ++i)
          {
            x = 0.;
            device::synchronize();
            const double start = now();
            result             = solve(method, x.data(), b.data(), criteria);
            const double time  = now() - start;
            failures += result.status != SolveStatus::converged;
            if (i >= 0)
              {
                times.push_back(time * 1e3);
                iterations.push_back(result.n_iterations);
              }
            if (result.status == SolveStatus::diverged)
              break;
          }
        std::sort(times.begin(), times.end());
        std::sort(iterations.begin(), iterations.end());
        if (times.empty())
          times = iterations = {0.};
        const int   n = 2000;
        const Times t = measure(7, n, [&] { method.iterate(x.data(), b.data(), n); });
        std::printf(
          "%-14s %-10s %4d rows async-(%d) %2s caution %4.1f: %8.4f ms (%.4f .. %.4f), %6.0f iterations, %.3f us each, residual %.2e, %s, %d "
          "failures; %s\n",
          name.c_str(),
          c.shape.c_str(),
          c.block_size,
          c.k,
          c.flags.c_str(),
          c.caution,
          times[times.size() / 2],
          times.front(),
          times.back(),
          iterations[iterations.size() / 2],
          t.median,
          result.final_residual / b.l2_norm(),
          to_string(result.status).c_str(),
          failures,
          method.description().c_str());
        std::fflush(stdout);
      }
  }

  /** Many solves in each form of execution; every one must converge. */
  void robustness(int runs)
  {
    const Stencil<double>   stencil = five_point_stencil(128, 128, 0.1);
    const CrsMatrix<double> A       = stencil.to_crs();
    for (const bool stored : {true, false})
      for (const Execution execution : {Execution::launch, Execution::persistent})
        {
          BlockAsyncOptions options;
          options.backend   = Backend::cuda;
          options.execution = execution;
          const auto method = stored ? std::make_unique<BlockAsync<double>>(A, options) : std::make_unique<BlockAsync<double>>(stencil, options);
          DeviceVector<double> x(A.n_rows), b(A.n_rows);
          b = 1.;
          StoppingCriteria criteria;
          criteria.relative_tolerance = 1e-8;
          int failures = 0, fewest = 1 << 30, most = 0;
          for (int run = 0; run < runs; ++run)
            {
              x                        = 0.;
              const SolveResult result = solve(*method, x.data(), b.data(), criteria);
              failures += result.status != SolveStatus::converged;
              fewest = std::min(fewest, result.n_iterations);
              most   = std::max(most, result.n_iterations);
            }
          std::printf(
            "128 x 128, %d runs to 1e-8: %d failed, %d to %d iterations; %s\n", runs, failures, fewest, most, method->description().c_str());
          std::fflush(stdout);
        }
  }
} // namespace

int main(int argc, char **argv)
{
  Settings    settings;
  std::string cases = "five,nine,seven,persistent,fv1,fv3,trefethen", candidates_text;
  CLI::App    app("Speed of block-asynchronous iteration on a GPU");
  app.add_option("--cases", cases, "comma-separated: five, nine, seven, persistent, fv1, fv3, trefethen, robustness");
  app.add_option("--forms", settings.forms, "comma-separated: double, lossless, single, stencil, stencil-single");
  app.add_option("--k", settings.ks, "comma-separated numbers of local iterations");
  app.add_option("--samples", settings.samples, "repetitions, of which the median is shown");
  app.add_option("--iterations", settings.iterations, "global iterations a sample; 0: by the size");
  app.add_option("--contraction", settings.contraction, "also print the residual after so many global iterations");
  app.add_option("--tile", settings.tile, "nodes of a block of the stored matrices, for example 32x16x1");
  app.add_option("--matrices", settings.matrices, "folder of fv1.mtx.gz and fv3.mtx.gz");
  app.add_option("--candidates", candidates_text, "shape:block_size:k:caution:test_every,... for the time to solution; caution -1: no momentum");
  CLI11_PARSE(app, argc, argv);

  try
    {
      const device::DeviceInfo info = device::info(0);
      std::printf("%s, driver %s\n", info.name.c_str(), info.driver.c_str());
      {
        const std::size_t    n = 1 << 27;
        DeviceVector<double> from(n), to(n);
        const Times          t = measure(settings.samples, 1, [&] { device::copy_on_device(to.data(), from.data(), n * sizeof(double)); });
        std::printf("copy bandwidth %.3f TB/s\n", 2. * n * sizeof(double) / t.median * 1e-6);
      }
      std::vector<Candidate> candidates;
      if (!candidates_text.empty())
        for (const std::string &text : split(candidates_text))
          {
            Candidate c;
            char      shape[32], flags[8] = "";
            if (std::sscanf(text.c_str(), "%31[^:]:%d:%d:%lf:%d:%7s", shape, &c.block_size, &c.k, &c.caution, &c.test_every, flags) < 5)
              throw InvalidInput("--candidates has '" + text + "'\n  expected: shape:block_size:k:caution:test_every[:flags]");
            c.shape = shape;
            c.flags = flags;
            candidates.push_back(c);
          }
      for (const std::string &name : split(cases))
        if (name == "five")
          time_stencil_problem("5-point 4096^2", five_point_stencil(4096, 4096, 0.01), {32, 16, 1}, settings);
        else if (name == "nine")
          time_stencil_problem("9-point 4096^2", nine_point_stencil(4096, 4096, 0.01), {32, 16, 1}, settings);
        else if (name == "seven")
          time_stencil_problem("7-point 256^3", seven_point_stencil(256, 256, 256, 0.01), {8, 8, 8}, settings);
        else if (name == "robustness")
          robustness(1000);
        else if (name == "persistent")
          time_stencil_problem("5-point 1024^2", five_point_stencil(1024, 1024, 0.01), {32, 16, 1}, settings);
        else
          time_to_solution(name,
                           name == "trefethen" ? trefethen_matrix(2000) : read_matrix_market(settings.matrices + "/" + name + ".mtx.gz"),
                           candidates,
                           settings);
    }
  catch (const Error &error)
    {
      std::fprintf(stderr, "error: %s\n", error.what());
      return 1;
    }
  return 0;
}
