// SPDX-License-Identifier: Apache-2.0
// Triangular solves with incomplete factors: exact ones (on a GPU cuSPARSE's, on the host substitution) against
// block-asynchronous ones, a solve by itself and in a Krylov method: conjugate gradients with IC(0), or FGMRES with
// ILU(0).
#include <solvers/base/errors.h>
#include <solvers/base/stopwatch.h>
#include <solvers/device/device.h>
#include <solvers/device/device_vector.h>
#include <solvers/krylov/cg.h>
#include <solvers/krylov/fgmres.h>
#include <solvers/matrix/generators.h>
#include <solvers/matrix/matrix_market.h>
#include <solvers/matrix/mesh_matrices.h>
#include <solvers/triangular/factor_sweeps.h>
#include <solvers/triangular/incomplete_preconditioner.h>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <iostream>
#include <memory>

namespace
{
  using namespace leopard;

  /**
   * Milliseconds of a call after a first one, the smallest mean of five times ten; of one that takes long that of one.
   */
  double milliseconds(const std::function<void()> &call, bool on_device)
  {
    const auto mean_of = [&](int n_calls) {
      const double start = now();
      for (int i = 0; i < n_calls; ++i)
        call();
      if (on_device)
        device::synchronize();
      return 1e3 * (now() - start) / n_calls;
    };
    const bool is_long = mean_of(1) > 100.;
    double     best    = INFINITY;
    for (int round = 0; round < (is_long ? 1 : 5); ++round)
      best = std::min(best, mean_of(is_long ? 1 : 10));
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

  /** Asynchronous ones first, as exact ones may take longer than anybody waits. */
  std::vector<Candidate> candidates(Backend backend)
  {
    TriangularOptions exact;
    exact.block_async.backend = backend;
    std::vector<Candidate> result;
    const auto             add = [&](int n_iterations, int local_iterations, Schedule schedule, double percent) {
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
    result.push_back({"exact, 5 sweeps", exact, 5});
    result.push_back({"exact", exact, 0});
    return result;
  }

  struct Method
  {
    Backend     backend;
    std::string name; ///< cg or gmres
    int         max_iterations;
    double      max_seconds; ///< of each solve

    bool       on_device() const { return backend == Backend::cuda; }
    bool       is_cg() const { return name == "cg"; }
    FactorKind factors() const { return is_cg() ? FactorKind::ic : FactorKind::ilu; }

    std::unique_ptr<KrylovSolver<double>> solver(const CrsMatrix<double> &A, std::shared_ptr<Preconditioner<double>> preconditioner) const
    {
      KrylovOptions common;
      common.backend        = backend;
      common.tolerance      = 1e-8;
      common.max_iterations = max_iterations;
      common.max_seconds    = max_seconds;
      if (is_cg())
        return make_cg<double>(A, CgOptions{common}, preconditioner);
      return make_fgmres<double>(A, FgmresOptions{common}, preconditioner);
    }
  };

  /**
   * Exact factors by elimination, in sequence on the host, against fixed-point sweeps where it computes. @return those
   * by elimination.
   */
  IncompleteFactors<double> measure_factors(const CrsMatrix<double> &A, const Method &method)
  {
    std::printf("| factors | ms | largest difference from elimination, relative |\n|---|---:|---:|\n| elimination, host | ");
    const FactorOptions       options{method.factors()};
    double                    start = now();
    IncompleteFactors<double> exact(A, options);
    std::printf("%.1f | 0 |\n", 1e3 * (now() - start));
    const CrsMatrix<double> L = exact.lower(), U = exact.upper();
    for (const int n_sweeps : {1, 2, 3, 5, 8})
      {
        FactorSweepOptions sweeps;
        sweeps.n_sweeps = n_sweeps;
        sweeps.backend  = method.backend;
        std::printf("| %d sweeps | ", n_sweeps);
        start = now();
        const IncompleteFactors<double> found(A, options, factor_sweeps<double>(sweeps));
        const double                    seconds = now() - start;
        double                          largest = 0., difference = 0.;
        const auto                      compare = [&](const CrsMatrix<double> &a, const CrsMatrix<double> &b) {
          for (int p = 0; p < a.n_entries(); ++p)
            {
              largest        = std::max(largest, std::abs(b.values[p]));
              const double d = std::abs(a.values[p] - b.values[p]);
              difference     = d > difference || std::isnan(d) ? d : difference;
            }
        };
        compare(found.lower(), L);
        compare(found.upper(), U);
        std::printf("%.1f | %.1e |\n", 1e3 * seconds, difference / largest);
      }
    return exact;
  }

  void measure(const CrsMatrix<double> &A, const Method &method)
  {
    const bool                      on_device = method.on_device();
    const std::string               krylov    = method.is_cg() ? "CG" : "FGMRES";
    const IncompleteFactors<double> factors   = measure_factors(A, method);
    const CrsMatrix<double>         L = factors.lower(), U = factors.upper();
    const std::vector<Candidate>    all = candidates(method.backend);
    std::printf("\n%zu solves with %s to 1e-8, each of at most %g s and %d iterations.\n\n"
                "| solves | set-up ms | L^-1 ms | U^-1 ms | %s iterations | %s ms |\n|---|---:|---:|---:|---:|---:|\n",
                all.size(),
                krylov.c_str(),
                method.max_seconds,
                method.max_iterations,
                krylov.c_str(),
                krylov.c_str());
    for (const Candidate &candidate : all)
      {
        std::printf("| %s | ", candidate.name.c_str());
        IncompleteOptions options{{method.factors()}, candidate.n_sweeps, candidate.solves};
        const double      start          = now();
        const auto        preconditioner = make_incomplete_preconditioner(A, options);
        std::printf("%.1f | ", 1e3 * (now() - start));

        TriangularSolver<double> lower(L, Triangle::lower, candidate.solves), upper(U, Triangle::upper, candidate.solves);
        Vectors                  v(A.n_rows, on_device), solution(A.n_rows, on_device);
        std::printf("%.4f | ", milliseconds([&] { lower.solve(v.x, v.b); }, on_device));
        std::printf("%.4f | ", milliseconds([&] { upper.solve(v.x, v.b); }, on_device));

        const auto   solver    = method.solver(A, preconditioner);
        KrylovLimits warm_up   = solver->limits();
        warm_up.max_iterations = 1;
        solver->solve(solution.x, solution.b, warm_up); // on the device this records the graph
        solution                  = Vectors(A.n_rows, on_device);
        const double       begin  = now();
        const KrylovResult result = solver->solve(solution.x, solution.b);
        const double       of_all = 1e3 * (now() - begin);
        std::printf("%d", result.n_iterations);
        if (!result.converged)
          std::printf(" (%s, residual %.1e)", to_string(result.reason).c_str(), result.relative_residual);
        std::printf(" | %.3f |\n", of_all);
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
  CLI::App    app("Factors and triangular solves, exact and iterative; b = 1, conjugate gradients or FGMRES(30) to 1e-8. Matrices of --size, --flat, "
                  "--hanging, --convection and --matrix; if none of them is given --size 64 --flat 1000 with cg, and --convection 1000 with gmres, "
                  "whose iterations "
                  "on the other two grow as the number of rows. What is done now is seen, as each number is written once it is known.");
  std::string backend = device::n_devices() > 0 ? "cuda" : "host", file, krylov = "cg";
  int         size = 0, flat = 0, hanging = 0, convection = 0, max_iterations = 20000;
  double      max_seconds = 10.;
  app.add_option("--backend", backend, "host or cuda")->check(CLI::IsMember({"host", "cuda"}))->capture_default_str();
  app.add_option("--method", krylov, "cg with IC(0), for symmetric matrices, or gmres with ILU(0)")
    ->check(CLI::IsMember({"cg", "gmres"}))
    ->capture_default_str();
  app.add_option("--size", size, "nodes a side of LAP; 0: none")->check(CLI::Range(0, 300));
  app.add_option("--flat", flat, "nodes a side of the five-point matrix; 0: none")->check(CLI::Range(0, 8000));
  app.add_option("--hanging", hanging, "n of bilinear elements with hanging nodes, 10 n^2 rows; 0: none")->check(CLI::Range(0, 2000));
  app.add_option("--convection", convection, "nodes a side of a flow, not symmetric, for gmres; 0: none")->check(CLI::Range(0, 8000));
  app.add_option("--matrix", file, "a matrix in a Matrix Market file");
  app.add_option("--max-iterations", max_iterations, "of each solve by the Krylov method")->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--max-seconds", max_seconds, "of each solve by the Krylov method, of which there are 28 a matrix")
    ->check(CLI::PositiveNumber)
    ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  std::setvbuf(stdout, nullptr, _IONBF, 0); // each number is to be seen once it is known, in a file, too
  try
    {
      const Method method = {backend == "cuda" ? Backend::cuda : Backend::host, krylov, max_iterations, max_seconds};
      if (app.count("--size") + app.count("--flat") + app.count("--hanging") + app.count("--convection") + app.count("--matrix") == 0)
        {
          size       = method.is_cg() ? 64 : 0;
          flat       = method.is_cg() ? 1000 : 0;
          convection = method.is_cg() ? 0 : 1000;
        }
      const auto show = [&](const std::string &name, const CrsMatrix<double> &A) {
        std::printf("\n%s: %d rows, %d entries, %s\n\n", name.c_str(), A.n_rows, A.n_entries(), backend.c_str());
        measure(permute(A, rcm_partition(A, 256)), method);
      };
      if (size == 0 && flat == 0 && hanging == 0 && convection == 0 && file.empty())
        throw InvalidInput("no matrix is asked for\n  expected: --size, --flat, --hanging, --convection or --matrix");
      if (convection > 0 && method.is_cg())
        throw InvalidInput("--convection is given, and the method is cg\n  expected: --method gmres, as the matrix is not symmetric");
      if (size > 0)
        show("LAP, " + std::to_string(size) + "^3", laplacian(size));
      if (flat > 0)
        show("5 points, " + std::to_string(flat) + "^2", five_point_matrix(flat, flat, 0.));
      if (hanging > 0)
        show("hanging nodes, " + std::to_string(hanging), hanging_nodes_matrix(hanging));
      if (convection > 0)
        show("convection, " + std::to_string(convection) + "^2", convection_matrix(convection));
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
