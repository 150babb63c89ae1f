// SPDX-License-Identifier: Apache-2.0
// Host speed: one global iteration of async-(k) beside deal.II's Jacobi and SOR steps on the same matrix, in one run.
#include <solvers/base/errors.h>
#include <solvers/base/norms.h>
#include <solvers/base/words.h>
#include <solvers/block_async/block_async.h>
#include <solvers/matrix/generators.h>
#include <solvers/matrix/stencil.h>

#include <deal.II/lac/sparse_matrix.h>
#include <deal.II/lac/sparsity_pattern.h>
#include <deal.II/lac/vector.h>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace
{
  using namespace leopard;

  struct Timing
  {
    const char           *name;
    std::function<void()> run;
    std::vector<double>   seconds = {};

    double median() const
    {
      std::vector<double> sorted = seconds;
      std::sort(sorted.begin(), sorted.end());
      return sorted[sorted.size() / 2];
    }
  };

  void copy_matrix(const CrsMatrix<double> &A, dealii::SparsityPattern &pattern, dealii::SparseMatrix<double> &matrix)
  {
    std::vector<unsigned int> lengths(A.n_rows);
    for (int i = 0; i < A.n_rows; ++i)
      lengths[i] = A.row_offsets[i + 1] - A.row_offsets[i];
    pattern.reinit(A.n_rows, A.n_rows, lengths);
    for (int i = 0; i < A.n_rows; ++i)
      for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
        pattern.add(i, A.columns[p]);
    pattern.compress();
    matrix.reinit(pattern);
    for (int i = 0; i < A.n_rows; ++i)
      for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
        matrix.set(i, A.columns[p], A.values[p]);
  }
} // namespace

namespace
{
  double seconds_of(const std::function<void()> &run)
  {
    const auto start = std::chrono::steady_clock::now();
    run();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

  struct Method
  {
    std::string             name;
    std::function<void()>   reset, step;
    std::function<double()> residual;
  };

  /**
   * Time to a relative residual, residuals not counted: first how many steps that takes, then these steps alone. Median
   * of some. @throws ConvergenceFailure if 10000 steps do not do.
   */
  void time_to_solution(const std::vector<Method> &methods, double tolerance, int repetitions)
  {
    for (const Method &method : methods)
      {
        method.reset();
        double       residual = method.residual();
        const double goal     = tolerance * residual;
        int          steps    = 0;
        for (; !reached(residual, goal); ++steps)
          {
            if (steps == 10000 || !std::isfinite(residual))
              throw ConvergenceFailure(method.name + " has a residual of " + short_text(residual) + " after " + std::to_string(steps) +
                                       " steps\n  expected: " + short_text(goal) + " within 10000");
            method.step();
            residual = method.residual();
          }
        std::vector<double> times;
        for (int r = 0; r < repetitions; ++r)
          {
            method.reset();
            times.push_back(seconds_of([&] {
              for (int n = 0; n < steps; ++n)
                method.step();
            }));
          }
        std::sort(times.begin(), times.end());
        std::printf("  %-34s %4d steps %8.1f ms\n", method.name.c_str(), steps, 1e3 * times[times.size() / 2]);
      }
  }

  /** Helmholtz problem in two dimensions, delta = 1, b = 1, from 0 to a relative residual of 1e-6. */
  void helmholtz(int n, int repetitions)
  {
    const Stencil<double>   stencil = five_point_stencil(n, n, 1.);
    const CrsMatrix<double> A       = stencil.to_crs();
    std::printf("Helmholtz, delta = 1, %d x %d = %d rows: to a relative residual of 1e-6 from 0, residuals not counted, median of %d\n",
                n,
                n,
                A.n_rows,
                repetitions);
    dealii::SparsityPattern      pattern;
    dealii::SparseMatrix<double> matrix;
    copy_matrix(A, pattern, matrix);
    dealii::Vector<double> u(A.n_rows), f(A.n_rows), r(A.n_rows);
    std::vector<double>    x(A.n_rows, 0.), b(A.n_rows, 1.);
    f = 1.;
    std::vector<Method> methods;
    const auto          reset_u    = [&] { u = 0.; };
    const auto          residual_u = [&] { return matrix.residual(r, u, f); };
    methods.push_back({"deal.II Jacobi_step, 1 thread", reset_u, [&] { matrix.Jacobi_step(u, f, 1.); }, residual_u});
    methods.push_back({"deal.II SOR_step, omega 1", reset_u, [&] { matrix.SOR_step(u, f, 1.); }, residual_u});
    methods.push_back({"deal.II SOR_step, omega 1.25 (best)", reset_u, [&] { matrix.SOR_step(u, f, 1.25); }, residual_u});
    const auto add = [&](const std::string &name, std::shared_ptr<BlockAsync<double>> method) {
      methods.push_back({name,
                         [&] { std::fill(x.begin(), x.end(), 0.); },
                         [&x, &b, method] { method->iterate(x.data(), b.data(), 1); },
                         [&x, &b, method] { return std::sqrt(method->residual_norm_squared(x.data(), b.data())); }});
    };
    for (const int k : {1, 2, 3, 5})
      {
        BlockAsyncOptions options;
        options.local_iterations = k;
        options.n_threads        = 2;
        add("async-(" + std::to_string(k) + "), 2 threads", std::make_shared<BlockAsync<double>>(A, options));
        add("async-(" + std::to_string(k) + "), stencil, 2 threads", std::make_shared<BlockAsync<double>>(stencil, options));
      }
    time_to_solution(methods, 1e-6, repetitions);
  }

  /** @param n_rows relaxed in each timing, in all. */
  void print(const std::vector<Timing> &timings, double n_rows)
  {
    for (const Timing &timing : timings)
      std::printf("  %-22s %8.3f ns a row and global iteration\n", timing.name, 1e9 * timing.median() / n_rows);
    std::printf("async-(1) / Jacobi_step, one thread: %.2f (at most 1)\n", timings[2].median() / timings[0].median());
    std::printf("speed-up of two threads: async-(1) %.2f, async-(5) %.2f (at least 1.7)\n",
                timings[2].median() / timings[4].median(),
                timings[3].median() / timings[5].median());
  }
} // namespace

int main(int argc, char **argv)
{
  int      n = 1000, repetitions = 15;
  CLI::App app("Speed of the host backend: one global iteration of async-(k) beside deal.II's Jacobi and SOR steps");
  app.add_option("nodes", n, "of the square grid, a direction")->check(CLI::Range(2, 10000))->capture_default_str();
  app.add_option("repetitions", repetitions, "of which the median counts")->check(CLI::Range(3, 10000))->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  const CrsMatrix<double> A = five_point_matrix(n, n, 0.1);

  dealii::SparsityPattern      pattern;
  dealii::SparseMatrix<double> matrix;
  copy_matrix(A, pattern, matrix);
  dealii::Vector<double> u(A.n_rows), f(A.n_rows);
  std::vector<double>    x(A.n_rows, 0.), b(A.n_rows, 1.);
  f = 1.;

  constexpr int inner  = 5; // global iterations a timing
  const auto    method = [&](int k, int threads) {
    BlockAsyncOptions options;
    options.local_iterations = k;
    options.n_threads        = threads;
    return std::make_shared<BlockAsync<double>>(A, options);
  };
  const auto          run = [&](const std::shared_ptr<BlockAsync<double>> &m) { return [&, m] { m->iterate(x.data(), b.data(), inner); }; };
  std::vector<Timing> timings;
  timings.push_back({"deal.II Jacobi_step", [&] {
                       for (int i = 0; i < inner; ++i)
                         matrix.Jacobi_step(u, f, 1.);
                     }});
  timings.push_back({"deal.II SOR_step", [&] {
                       for (int i = 0; i < inner; ++i)
                         matrix.SOR_step(u, f, 1.);
                     }});
  timings.push_back({"async-(1), 1 thread", run(method(1, 1))});
  timings.push_back({"async-(5), 1 thread", run(method(5, 1))});
  timings.push_back({"async-(1), 2 threads", run(method(1, 2))});
  timings.push_back({"async-(5), 2 threads", run(method(5, 2))});

  // interleaved, so that whatever else the machine does strikes all alike
  for (int r = 0; r < repetitions + 1; ++r)
    for (Timing &timing : timings)
      {
        const auto start = std::chrono::steady_clock::now();
        timing.run();
        if (r > 0)
          timing.seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
      }

  std::printf("2D five-point, %d x %d = %d rows, median of %d\n", n, n, A.n_rows, repetitions);
  print(timings, 1. * inner * A.n_rows);
  try
    {
      for (const int size : {n, static_cast<int>(std::lround(n * std::sqrt(2.)))})
        helmholtz(size, repetitions / 3);
    }
  catch (const Error &error)
    {
      std::fprintf(stderr, "error: %s\n", error.what());
      return 1;
    }
  return 0;
}
