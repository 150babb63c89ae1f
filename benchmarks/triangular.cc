// SPDX-License-Identifier: Apache-2.0
// Triangular solves with incomplete factors: exact ones (on a GPU cuSPARSE's, on the host substitution) against
// block-asynchronous ones, a solve by itself and in conjugate gradients with IC(0).
#include <solvers/base/errors.h>
#include <solvers/base/stopwatch.h>
#include <solvers/device/device.h>
#include <solvers/device/device_vector.h>
#include <solvers/krylov/cg.h>
#include <solvers/matrix/generators.h>
#include <solvers/matrix/matrix_market.h>
#include <solvers/triangular/incomplete_preconditioner.h>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <iostream>

namespace
{
  using namespace leopard;

  /** Milliseconds of a call, the smallest mean of five times ten. */
  double milliseconds(const std::function<void()> &call, bool on_device)
  {
    double best = INFINITY;
    for (int round = 0; round < 6; ++round)
      {
        const double start = now();
        for (int i = 0; i < 10; ++i)
          call();
        if (on_device)
          device::synchronize();
        if (round > 0) // the first warms up
          best = std::min(best, (now() - start) * 100.);
      }
    return best;
  }

  /** Vectors where it computes. */
  struct Vectors
  {
    std::vector<double>  host_x, host_b;
    DeviceVector<double> device_x, device_b;
    double              *x;
    const double        *b;

    Vectors(int n, bool on_device)
      : host_x(n, 0.)
      , host_b(n, 1.)
      , device_x(on_device ? n : 0)
      , device_b(on_device ? n : 0)
      , x(host_x.data())
      , b(host_b.data())
    {
      if (!on_device)
        return;
      device_x.copy_from_host(host_x.data());
      device_b.copy_from_host(host_b.data());
      x = device_x.data();
      b = device_b.data();
    }
  };

  struct Candidate
  {
    std::string       name;
    TriangularOptions solves;
    int               n_sweeps;
  };

  std::vector<Candidate> candidates(Backend backend)
  {
    TriangularOptions exact;
    exact.block_async.backend     = backend;
    std::vector<Candidate> result = {{"exact", exact, 0}, {"exact, 5 sweeps", exact, 5}};
    const auto             add    = [&](int n_iterations, int local_iterations, Schedule schedule, double percent) {
      TriangularOptions options            = exact;
      options.solve                        = TriangularSolve::asynchronous;
      options.n_iterations                 = n_iterations;
      options.block_async.local_iterations = local_iterations;
      options.block_async.schedule         = schedule;
      options.block_async.overlap          = percent > 0. ? Overlap::upward : Overlap::none;
      options.block_async.overlap_percent  = percent;
      result.push_back({"async " + std::to_string(n_iterations) + " x " + std::to_string(local_iterations) +
                          (schedule == Schedule::synchronous ? ", synchronous"
                                          : percent > 0.                    ? ", 13 % of overlap"
                                                                            : ""),
                        options,
                        0});
    };
    for (const int n_iterations : {1, 2, 3, 5, 8, 12})
      for (const int local_iterations : {2, 5})
        for (const Schedule schedule : {Schedule::chaotic, Schedule::synchronous})
          add(n_iterations, local_iterations, schedule, 0.);
    for (const int n_iterations : {2, 5})
      add(n_iterations, 2, Schedule::chaotic, 13.);
    return result;
  }

  void measure(const CrsMatrix<double> &A, Backend backend)
  {
    const bool on_device = backend == Backend::cuda;
    std::printf("| solves | set-up ms | L^-1 ms | U^-1 ms | CG iterations | CG ms |\n|---|---:|---:|---:|---:|---:|\n");
    for (const Candidate &candidate : candidates(backend))
      {
        IncompleteOptions options{{FactorKind::ic}, candidate.n_sweeps, candidate.solves};
        const double      start          = now();
        const auto        preconditioner = make_incomplete_preconditioner(A, options);
        const double      set_up         = 1e3 * (now() - start);

        const IncompleteFactors<double> factors(A, options.factors);
        TriangularSolver<double> lower(factors.lower(), Triangle::lower, candidate.solves), upper(factors.upper(), Triangle::upper, candidate.solves);
        Vectors                  v(A.n_rows, on_device), solution(A.n_rows, on_device);
        const double             of_lower = milliseconds([&] { lower.solve(v.x, v.b); }, on_device);
        const double             of_upper = milliseconds([&] { upper.solve(v.x, v.b); }, on_device);

        CgOptions krylov;
        krylov.backend        = backend;
        krylov.tolerance      = 1e-8;
        krylov.max_iterations = 20000;
        const auto solver     = make_cg<double>(A, krylov, preconditioner);
        const auto from_zero  = [&] {
          if (on_device)
            solution.device_x = 0.;
          else
            std::fill(solution.host_x.begin(), solution.host_x.end(), 0.);
          return solver->solve(solution.x, solution.b);
        };
        from_zero();
        const double       begin  = now();
        const KrylovResult result = from_zero();
        const double       of_cg  = 1e3 * (now() - begin);
        std::printf("| %s | %.1f | %.4f | %.4f | %d%s | %.3f |\n",
                    candidate.name.c_str(),
                    set_up,
                    of_lower,
                    of_upper,
                    result.n_iterations,
                    result.converged ? "" : (" (" + to_string(result.reason) + ")").c_str(),
                    of_cg);
        std::fflush(stdout);
      }
  }

  /** 27 points, diagonal 26 and else -1: LAP of the paper on overlap (2016) with 64 nodes a side. */
  CrsMatrix<double> laplacian(int n)
  {
    Stencil<double> stencil = twenty_seven_point_stencil(n, n, n, 0.);
    stencil.coefficients.fill(-1.);
    stencil.coefficient(0, 0, 0) = 26.;
    return stencil.to_crs();
  }
} // namespace

int main(int argc, char **argv)
{
  CLI::App    app("Triangular solves with incomplete factors, exact and block-asynchronous; b = 1, conjugate gradients to 1e-8");
  std::string backend = device::n_devices() > 0 ? "cuda" : "host", file;
  int         size = 64, flat = 1000;
  app.add_option("--backend", backend, "host or cuda")->check(CLI::IsMember({"host", "cuda"}))->capture_default_str();
  app.add_option("--size", size, "nodes a side of LAP; 0: none")->check(CLI::Range(0, 300))->capture_default_str();
  app.add_option("--flat", flat, "nodes a side of the five-point matrix; 0: none")->check(CLI::Range(0, 8000))->capture_default_str();
  app.add_option("--matrix", file, "a symmetric matrix in a Matrix Market file, too");
  CLI11_PARSE(app, argc, argv);
  try
    {
      const Backend where = backend == "cuda" ? Backend::cuda : Backend::host;
      const auto    show  = [&](const std::string &name, const CrsMatrix<double> &A) {
        std::printf("\n%s: %d rows, %d entries, %s\n", name.c_str(), A.n_rows, A.n_entries(), backend.c_str());
        measure(permute(A, rcm_partition(A, 256)), where);
      };
      if (size > 0)
        show("LAP, " + std::to_string(size) + "^3", laplacian(size));
      if (flat > 0)
        show("5 points, " + std::to_string(flat) + "^2", five_point_matrix(flat, flat, 0.));
      if (!file.empty())
        show(file, read_matrix_market(file));
    }
  catch (const leopard::Error &error)
    {
      std::cerr << error.what() << '\n';
      return 1;
    }
  return 0;
}
