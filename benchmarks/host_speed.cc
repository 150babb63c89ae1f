// SPDX-License-Identifier: Apache-2.0
// Host speed: one global iteration of async-(k) beside deal.II's Jacobi and SOR steps on the same matrix, in one run.
// usage: host_speed [NODES_PER_DIRECTION] [REPETITIONS]
#include <solvers/block_async/block_async.h>
#include <solvers/matrix/generators.h>

#include <deal.II/lac/sparse_matrix.h>
#include <deal.II/lac/sparsity_pattern.h>
#include <deal.II/lac/vector.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>

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

  void copy_matrix(const CrsMatrix &A, dealii::SparsityPattern &pattern, dealii::SparseMatrix<double> &matrix)
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

int main(int argc, char **argv)
{
  const int       n           = argc > 1 ? std::atoi(argv[1]) : 1000;
  const int       repetitions = argc > 2 ? std::atoi(argv[2]) : 15;
  const CrsMatrix A           = five_point_matrix(n, n, 0.1);

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
    return std::make_shared<BlockAsync>(A, options);
  };
  const auto          run = [&](const std::shared_ptr<BlockAsync> &m) { return [&, m] { m->iterate(x.data(), b.data(), inner); }; };
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
  for (const Timing &timing : timings)
    std::printf("  %-22s %8.3f ns a row and global iteration\n", timing.name, 1e9 * timing.median() / inner / A.n_rows);
  std::printf("async-(1) / Jacobi_step, one thread: %.2f (at most 1)\n", timings[2].median() / timings[0].median());
  std::printf("speed-up of two threads: async-(1) %.2f, async-(5) %.2f (at least 1.7)\n",
              timings[2].median() / timings[4].median(),
              timings[3].median() / timings[5].median());
  return 0;
}
