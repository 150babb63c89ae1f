// SPDX-License-Identifier: Apache-2.0
// Geometric multigrid on host threads against conjugate gradients preconditioned by Trilinos ML (deal.II's
// PreconditionAMG) on as many ranks: wall time from the assembled matrix to a relative residual of 1e-8, set-up
// included.
//
//   multigrid_against_ml [--threads 2] [--repetitions 5] [--n-2d 1024] [--n-3d 100] [--only TEXT]
//   mpirun -np 2 multigrid_against_ml --ml
//
// Other work on the machine only adds time: the fastest of the repetitions counts, of alternating calls the fastest of
// all.
#include <solvers/base/stopwatch.h>
#include <solvers/dealii/trilinos_matrix.h>
#include <solvers/matrix/stencil.h>
#include <solvers/multigrid/find_stencil.h>
#include <solvers/multigrid/multigrid.h>

#include <deal.II/base/mpi.h>
#include <deal.II/lac/dynamic_sparsity_pattern.h>
#include <deal.II/lac/solver_cg.h>
#include <deal.II/lac/solver_control.h>
#include <deal.II/lac/trilinos_precondition.h>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

namespace
{
  using namespace leopard;

  constexpr double tolerance = 1e-8;

  struct Arguments
  {
    bool ml          = false;
    int  n_threads   = 2;
    int  repetitions = 5;
    int  n_2d = 1024, n_3d = 100;

    std::string only; ///< settings whose names have this; empty: all
  };

  /** What a solution took. */
  struct Sample
  {
    double set_up = 0., solve = 0.; ///< seconds
    int    iterations = 0;
    double residual   = 0.; ///< ||b - A x|| / ||b||, computed afterwards

    double total() const { return set_up + solve; }
  };

  /** The fastest of some samples, after one that warms up, if the settings of this name are wanted. */
  void report(const std::string &name, const Arguments &arguments, bool speaks, const std::function<Sample()> &run)
  {
    if (name.find(arguments.only) == std::string::npos)
      return;
    run();
    std::vector<Sample> samples;
    for (int r = 0; r < arguments.repetitions; ++r)
      samples.push_back(run());
    std::sort(samples.begin(), samples.end(), [](const Sample &a, const Sample &b) { return a.total() < b.total(); });
    const Sample &fastest = samples.front();
    if (speaks)
      std::printf("  %-62s %3d iterations  set-up %7.1f ms  solve %7.1f ms  total %7.1f ms (median %.1f, slowest %.1f)  residual %.1e\n",
                  name.c_str(),
                  fastest.iterations,
                  1e3 * fastest.set_up,
                  1e3 * fastest.solve,
                  1e3 * fastest.total(),
                  1e3 * samples[samples.size() / 2].total(),
                  1e3 * samples.back().total(),
                  fastest.residual);
    std::fflush(stdout);
  }

  /** Right-hand side without symmetry. */
  double right_hand_side(int row)
  {
    return 1. + std::sin(0.37 * row);
  }

  // ---- ours

  /** @param make_multigrid the set-up, from the stored matrix. */
  Sample solve_by_multigrid(const CrsMatrix<double> &A, const std::function<Multigrid<double>()> &make_multigrid)
  {
    std::vector<double> x(A.n_rows, 0.), b(A.n_rows);
    for (int i = 0; i < A.n_rows; ++i)
      b[i] = right_hand_side(i);
    Sample            sample;
    const double      start     = now();
    Multigrid<double> multigrid = make_multigrid();
    const double      middle    = now();
    StoppingCriteria  criteria;
    criteria.relative_tolerance = tolerance;
    criteria.max_iterations     = 100;
    const SolveResult result    = multigrid.solve(x.data(), b.data(), criteria);
    const double      end       = now();
    sample.set_up               = middle - start;
    sample.solve                = end - middle;
    sample.iterations           = result.n_iterations;
    const std::vector<double> zero(A.n_rows, 0.);
    sample.residual = residual_norm(A, x.data(), b.data()) / residual_norm(A, zero.data(), b.data());
    return sample;
  }

  void run_ours(const Stencil<double> &stencil, int dim, const Arguments &arguments)
  {
    const CrsMatrix<double> A = stencil.to_crs();
    std::vector<double>     coordinates;
    for (int z = 0; z < stencil.n_z; ++z)
      for (int y = 0; y < stencil.n_y; ++y)
        for (int x = 0; x < stencil.n_x; ++x)
          for (int d = 0; d < dim; ++d)
            coordinates.push_back(d == 0 ? x : d == 1 ? y : z);
    for (const auto &[smoother, schedule] :
         {std::pair("async", Schedule::chaotic), std::pair("damped-jacobi", Schedule::chaotic), std::pair("chebyshev", Schedule::chaotic)})
      for (const int local_iterations : {2, 5})
        {
          if (local_iterations == 5 && smoother != std::string("async"))
            continue;
          MultigridOptions options;
          options.n_threads     = arguments.n_threads;
          options.pre_smoothing = options.post_smoothing = 1;
          options.smoother.method                        = smoother;
          options.smoother.block_async.schedule          = schedule;
          options.smoother.block_async.local_iterations  = local_iterations;
          const std::string name =
            std::string("V(1,1), ") + smoother + (smoother == std::string("async") ? "-(" + std::to_string(local_iterations) + ")" : "");
          report("stencil form, " + name, arguments, true, [&] {
            return solve_by_multigrid(A, [&] { return Multigrid<double>(find_stencil(A, coordinates, dim)->stencil, 0, options); });
          });
          report("stored form, " + name, arguments, true, [&] {
            return solve_by_multigrid(A, [&] { return Multigrid<double>(make_hierarchy(find_stencil(A, coordinates, dim)->stencil), options); });
          });
        }
  }

  // ---- Trilinos ML

  HostMatrix distributed_matrix(const Stencil<double> &stencil, MPI_Comm comm)
  {
    const CrsMatrix<double> A       = stencil.to_crs();
    const unsigned int      n_ranks = dealii::Utilities::MPI::n_mpi_processes(comm), rank = dealii::Utilities::MPI::this_mpi_process(comm);
    dealii::IndexSet        owned(A.n_rows);
    owned.add_range(static_cast<long>(A.n_rows) * rank / n_ranks, static_cast<long>(A.n_rows) * (rank + 1) / n_ranks);
    dealii::DynamicSparsityPattern pattern(A.n_rows, A.n_rows, owned);
    for (const auto i : owned)
      for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
        pattern.add(i, A.columns[p]);
    HostMatrix matrix;
    matrix.reinit(owned, owned, pattern, comm, false);
    for (const auto i : owned)
      for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
        matrix.set(i, A.columns[p], A.values[p]);
    matrix.compress(dealii::VectorOperation::insert);
    return matrix;
  }

  Sample solve_by_ml(const HostMatrix &A, const dealii::TrilinosWrappers::PreconditionAMG::AdditionalData &data, MPI_Comm comm)
  {
    HostVector x(A.locally_owned_range_indices(), comm), b(x), r(x);
    for (const auto i : A.locally_owned_range_indices())
      b(i) = right_hand_side(static_cast<int>(i));
    b.compress(dealii::VectorOperation::insert);
    MPI_Barrier(comm);
    Sample                                    sample;
    const double                              start = now();
    dealii::TrilinosWrappers::PreconditionAMG amg;
    amg.initialize(A, data);
    MPI_Barrier(comm);
    const double          middle = now();
    dealii::SolverControl control(1000, tolerance * b.l2_norm());
    dealii::SolverCG<HostVector>(control).solve(A, x, b, amg);
    MPI_Barrier(comm);
    const double end  = now();
    sample.set_up     = middle - start;
    sample.solve      = end - middle;
    sample.iterations = static_cast<int>(control.last_step());
    sample.residual   = A.residual(r, x, b) / b.l2_norm();
    return sample;
  }

  void run_ml(const Stencil<double> &stencil, const Arguments &arguments, MPI_Comm comm)
  {
    const HostMatrix A      = distributed_matrix(stencil, comm);
    const bool       speaks = dealii::Utilities::MPI::this_mpi_process(comm) == 0;
    for (const char *smoother : {"Chebyshev", "symmetric Gauss-Seidel"})
      for (const int sweeps : {1, 2})
        for (const double threshold : {1e-4, 0.02})
          {
            dealii::TrilinosWrappers::PreconditionAMG::AdditionalData data;
            data.elliptic              = true;
            data.smoother_type         = smoother;
            data.smoother_sweeps       = sweeps;
            data.aggregation_threshold = threshold;
            char name[80];
            std::snprintf(name, sizeof(name), "CG with ML, %s, %d sweeps, threshold %g", smoother, sweeps, threshold);
            report(name, arguments, speaks, [&] { return solve_by_ml(A, data, comm); });
          }
  }
} // namespace

int main(int argc, char **argv)
{
  dealii::Utilities::MPI::MPI_InitFinalize mpi(argc, argv, 1);
  Arguments                                arguments;
  CLI::App app("Geometric multigrid against Trilinos ML: time from the assembled matrix to a relative residual of 1e-8");
  app.add_flag("--ml", arguments.ml, "Trilinos ML, on all ranks, in the place of the multigrid");
  app.add_option("--threads", arguments.n_threads, "threads of the multigrid")->check(CLI::PositiveNumber);
  app.add_option("--repetitions", arguments.repetitions, "of which the fastest is reported")->check(CLI::PositiveNumber);
  app.add_option("--n-2d", arguments.n_2d, "nodes a direction in 2D")->check(CLI::PositiveNumber);
  app.add_option("--n-3d", arguments.n_3d, "nodes a direction in 3D")->check(CLI::PositiveNumber);
  app.add_option("--only", arguments.only, "only settings whose names have this text");
  CLI11_PARSE(app, argc, argv);
  const unsigned int n_ranks = dealii::Utilities::MPI::n_mpi_processes(MPI_COMM_WORLD);
  const bool         speaks  = dealii::Utilities::MPI::this_mpi_process(MPI_COMM_WORLD) == 0;
  if (!arguments.ml && n_ranks > 1)
    {
      if (speaks)
        std::fprintf(stderr, "multigrid_against_ml: without --ml this program uses threads\n  expected: one rank, found %u\n", n_ranks);
      return 2;
    }
  for (const int dim : {2, 3})
    {
      const int             n       = dim == 2 ? arguments.n_2d : arguments.n_3d;
      const Stencil<double> stencil = dim == 2 ? five_point_stencil(n, n, 0.) : seven_point_stencil(n, n, n, 0.);
      if (speaks)
        std::printf("%dD Laplacian, finite differences, %d rows, %u rank(s), %d thread(s) a rank, fastest of %d\n",
                    dim,
                    stencil.n_rows(),
                    n_ranks,
                    arguments.ml ? 1 : arguments.n_threads,
                    arguments.repetitions);
      if (arguments.ml)
        run_ml(stencil, arguments, MPI_COMM_WORLD);
      else
        run_ours(stencil, dim, arguments);
    }
  return 0;
}
