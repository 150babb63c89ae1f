// SPDX-License-Identifier: Apache-2.0
// Single precision on several ranks, on the host and with a GPU each: ghosts travel as floats, and the residual in
// double decides. Run with 2 and 4 ranks, too; one rank is a rank.
#pragma GCC diagnostic ignored "-Wc++20-extensions" // fields by name
#include "level_problem.h"

#include <solvers/dealii/index_sets.h>
#include <solvers/dealii/precondition_block_async.h>
#include <solvers/dealii/precondition_multigrid.h>
#include <solvers/device/device.h>
#include <solvers/device/device_array.h>
#include <solvers/device/device_vector.h>
#include <solvers/distributed/mpi/gathered_coarse_solver.h>
#include <solvers/distributed/mpi/ghost_exchange.h>
#include <solvers/krylov/krylov_over_ranks.h>
#include <solvers/matrix/own_columns.h>
#include <solvers/refinement/mixed_multigrid.h>
#include <solvers/refinement/over_ranks.h>
#include <solvers/refinement/refinement.h>
#include <solvers/relaxation/methods.h>

#include <deal.II/lac/solver_control.h>
#include <deal.II/lac/solver_gmres.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace leopard
{
  namespace
  {
    using namespace dealii;

    class RanksInSingle : public testing::TestWithParam<Backend>
    {
    protected:
      void SetUp() override
      {
        if (GetParam() == Backend::cuda && device::n_devices() == 0)
          GTEST_SKIP() << "no GPU";
      }
    };
    INSTANTIATE_TEST_SUITE_P(Backends, RanksInSingle, testing::Values(Backend::host, Backend::cuda), [](const auto &info) {
      return to_string(info.param);
    });

    /** f(v) with a copy of v in the backend's memory, which comes back. */
    template <typename Number, typename Function>
    void on_backend(Backend backend, std::vector<Number> &v, const Function &f)
    {
      if (backend != Backend::cuda)
        return f(v.data(), MemorySpace::host);
      const device::Array<Number> there(v);
      f(there.data(), MemorySpace::device);
      device::copy_to_host(v.data(), there.data(), v.size() * sizeof(Number));
    }

    /** f(x, b) with copies of these own entries in the backend's memory; x comes back. */
    template <typename Function>
    void on_backend(Backend backend, HostVector &x, const HostVector &b, const Function &f)
    {
      if (backend != Backend::cuda)
        return f(x.begin(), b.begin());
      DeviceVector<double> there_x(x.locally_owned_size()), there_b(b.locally_owned_size());
      there_x.copy_from_host(x.begin());
      there_b.copy_from_host(b.begin());
      f(there_x.data(), there_b.data());
      there_x.copy_to_host(x.begin());
    }

    TEST_P(RanksInSingle, GhostsAreTheValuesOfTheirOwners)
    {
      const int n_ranks = static_cast<int>(Utilities::MPI::n_mpi_processes(MPI_COMM_WORLD)), n_own = 7;
      const int rank = static_cast<int>(Utilities::MPI::this_mpi_process(MPI_COMM_WORLD)), before = (rank + n_ranks - 1) % n_ranks;
      IndexSet  owned(n_own * n_ranks), ghosts(owned.size());
      owned.add_range(n_own * rank, n_own * (rank + 1));
      if (n_ranks > 1)
        for (const int i : {1, 2, 5})
          ghosts.add_index(n_own * before + i);
      const GhostExchange<double> in_double(own_range(owned, MPI_COMM_WORLD), numbers_of(ghosts), MPI_COMM_WORLD);
      std::vector<int>            old_row(n_own);
      std::iota(old_row.rbegin(), old_row.rend(), 0);
      for (const bool reordered : {false, true})
        {
          std::unique_ptr<const Communication<float>> in_single = in_double.in_single();
          if (reordered)
            in_single = in_single->reordered(old_row);
          const auto vector = [&](float more) {
            std::vector<float> v(n_own + ghosts.n_elements(), -1.f);
            for (int i = 0; i < n_own; ++i)
              v[i] = static_cast<float>(n_own * rank + (reordered ? old_row[i] : i)) + more;
            return v;
          };
          const auto with_ghosts = [&](float more) {
            std::vector<float> v = vector(more);
            for (unsigned int g = 0; g < ghosts.n_elements(); ++g)
              v[n_own + g] = static_cast<float>(ghosts.nth_index_in_set(g)) + more;
            return v;
          };
          std::vector<float> v = vector(0.5f);
          on_backend(GetParam(), v, [&](float *there, MemorySpace space) { in_single->update_ghosts(there, space); });
          EXPECT_EQ(v, with_ghosts(0.5f));

          const auto loose = in_single->loose();
          loose->begin();
          v         = vector(0.25f);
          int n_old = 1;
          for (int call = 0; n_old > 0 && call < 1000000; ++call)
            {
              on_backend(GetParam(), v, [&](float *there, MemorySpace space) { loose->update_ghosts(there, space); });
              n_old = Utilities::MPI::sum(v == with_ghosts(0.25f) ? 0 : 1, MPI_COMM_WORLD);
            }
          EXPECT_EQ(v, with_ghosts(0.25f));
        }
    }

    /** What is the same on any number of ranks. */
    struct Found
    {
      int    n_iterations;
      double norm, largest; ///< of the solution
    };

    /**
     * All ranks find what one process and what the host finds, in as many iterations as one process, or `more`.
     * @param solve with a communicator and a backend.
     */
    template <typename Solve>
    void compare(Backend backend, int more, const Solve &solve)
    {
      const Found together = solve(MPI_COMM_WORLD, backend), alone = solve(MPI_COMM_SELF, backend),
                  on_host = backend == Backend::host ? alone : solve(MPI_COMM_SELF, Backend::host);
      for (const Found &other : {alone, on_host})
        {
          EXPECT_NEAR(together.norm, other.norm, 1e-9 * other.norm);
          EXPECT_NEAR(together.largest, other.largest, 1e-9 * other.largest);
        }
      EXPECT_LE(std::abs(together.n_iterations - alone.n_iterations), more);
    }

    std::unique_ptr<Triangulation<2>> make_mesh(MPI_Comm comm, bool adaptive)
    {
      auto mesh = distributed_mesh<2>(comm);
      if (adaptive)
        make_adaptive(*mesh, 2, 2);
      else
        make_uniform(*mesh, 4);
      return mesh;
    }

    /** The same function of the place on any number of ranks. */
    HostVector right_hand_side(const LevelProblem<2> &problem)
    {
      const IndexSet                              owned = problem.matrix.locally_owned_range_indices(), constrained = problem.constrained_rows();
      HostVector                                  b(owned, problem.matrix.get_mpi_communicator());
      std::map<types::global_dof_index, Point<2>> points;
      DoFTools::map_dofs_to_support_points(problem.mapping, problem.dof_handler, points);
      for (const auto i : owned)
        b.begin()[owned.index_within_set(i)] = constrained.is_element(i) ? 0. : std::sin(1. + 3. * points.at(i)[0]) + points.at(i)[1];
      return b;
    }

    RefinementOptions to_the_end(int inner_iterations)
    {
      RefinementOptions options;
      options.tolerance        = 1e-12;
      options.inner_iterations = inner_iterations;
      return options;
    }

    std::unique_ptr<OuterSystem<float>> make_system(const LocalMatrix                                  &local,
                                                    const std::vector<double>                          &scale,
                                                    const std::shared_ptr<const GhostExchange<double>> &exchange,
                                                    Backend                                             backend)
    {
      return over_ranks(make_outer_system<float>(local.matrix, scale, backend, 1), local.matrix.n_columns, exchange);
    }

    std::shared_ptr<const GhostExchange<double>> make_exchange(const LocalMatrix &local, MPI_Comm comm)
    {
      return std::make_shared<const GhostExchange<double>>(own_range(local.owned, comm), numbers_of(local.ghosts), comm);
    }

    /** Solves, and looks at the residual. */
    Found solve(const LevelProblem<2> &problem, Refinement<float> &refinement, Backend backend)
    {
      const HostVector b = right_hand_side(problem);
      HostVector       x(b), r(b);
      RefinementResult result;
      x = 0.;
      on_backend(backend, x, b, [&](double *there_x, const double *there_b) { result = refinement.solve(there_x, there_b); });
      EXPECT_TRUE(result.converged()) << to_string(result.reason);
      problem.matrix.residual(r, x, b);
      EXPECT_LE(r.l2_norm(), 1.01e-12 * b.l2_norm());
      EXPECT_NEAR(result.residual, r.l2_norm(), 1e-3 * r.l2_norm() + 1e-15 * b.l2_norm());
      return {result.n_iterations, x.l2_norm(), x.linfty_norm()};
    }

    MultigridOptions options_for(Backend backend, bool waits = true)
    {
      MultigridOptions options;
      options.backend                         = backend;
      options.n_threads                       = 1;
      options.smoother.block_async.block_size = 32;
      options.smoother.block_async.schedule   = waits ? Schedule::synchronous : Schedule::chaotic;
      options.wait_for_ghosts                 = waits;
      return options;
    }

    PreconditionMultigrid make_multigrid(const MultigridHierarchy &hierarchy, const MultigridOptions &options, MPI_Comm comm, Arithmetic arithmetic)
    {
      return {hierarchy, options, std::make_unique<GatheredCoarseSolver>(hierarchy.levels.front(), options, comm), {}, arithmetic};
    }

    Found refine_by_cycles(MPI_Comm comm, bool adaptive, bool waits, Backend backend)
    {
      const auto                  mesh = make_mesh(comm, adaptive);
      const LevelProblem<2>       problem(*mesh, 1);
      const PreconditionMultigrid cycles = make_multigrid(problem.hierarchy(), options_for(backend, waits), comm, Arithmetic::single_precision);
      const LocalMatrix           local  = local_matrix(problem.matrix);
      const std::vector<double>   scale  = scale_of_weight(cycles.weight(), local.matrix.n_columns);
      Refinement<float>           refinement(make_system(local, scale, make_exchange(local, comm), backend), cycles.inner_solver(), to_the_end(1));
      return solve(problem, refinement, backend);
    }

    TEST_P(RanksInSingle, CyclesRefineAsOneProcessDoes)
    {
      for (const bool adaptive : {false, true})
        for (const bool waits : {true, false})
          {
            SCOPED_TRACE((adaptive ? "adaptive, " : "uniform, ") + std::string(waits ? "waits" : "does not wait"));
            // without waiting values are as old as other work makes them: about as many cycles again, of 11 or so
            compare(GetParam(), waits ? 1 : 12, [&](MPI_Comm comm, Backend backend) { return refine_by_cycles(comm, adaptive, waits, backend); });
          }
    }

    /** Of vectors on the host, whatever the memory of the multigrid is. */
    struct OnHost
    {
      const PreconditionMultigrid &multigrid;
      Backend                      backend;

      void vmult(HostVector &x, const HostVector &b) const
      {
        on_backend(backend, x, b, [&](double *there_x, const double *there_b) { multigrid.vmult(there_x, there_b); });
      }
    };

    template <typename Preconditioner>
    Found solve_by_fgmres(const LevelProblem<2> &problem, const Preconditioner &preconditioner)
    {
      const HostVector b = right_hand_side(problem);
      HostVector       x(b), r(b);
      SolverControl    control(200, 1e-12 * b.l2_norm(), false, false);
      x = 0.;
      SolverFGMRES<HostVector>(control).solve(problem.matrix, x, b, preconditioner);
      problem.matrix.residual(r, x, b);
      EXPECT_LE(r.l2_norm(), 1.1e-12 * b.l2_norm());
      return {static_cast<int>(control.last_step()), x.l2_norm(), x.linfty_norm()};
    }

    /** The same, of a preconditioner in single precision, which takes as many iterations as in double, or `more`. */
    template <typename Solve>
    void compare_with_double(Backend backend, int more, const Solve &solve)
    {
      compare(backend, 1, [&](MPI_Comm comm, Backend where) {
        const Found in_single = solve(comm, Arithmetic::single_precision, where),
                    in_double = solve(MPI_COMM_SELF, Arithmetic::double_precision, where);
        EXPECT_LE(std::abs(in_single.n_iterations - in_double.n_iterations), more);
        return in_single;
      });
    }

    TEST_P(RanksInSingle, CyclesPreconditionAsOneProcessDoes)
    {
      for (const bool adaptive : {false, true})
        compare_with_double(GetParam(), 1, [adaptive](MPI_Comm comm, Arithmetic arithmetic, Backend backend) {
          const auto                  mesh = make_mesh(comm, adaptive);
          const LevelProblem<2>       problem(*mesh, 1);
          const PreconditionMultigrid multigrid = make_multigrid(problem.hierarchy(), options_for(backend), comm, arithmetic);
          return solve_by_fgmres(problem, OnHost{multigrid, backend});
        });
    }

    TEST_P(RanksInSingle, BlockAsyncPreconditionsAsOneProcessDoes)
    {
      for (const bool adaptive : {false, true})
        compare_with_double(GetParam(), 3, [adaptive](MPI_Comm comm, Arithmetic arithmetic, Backend backend) {
          const auto             mesh = make_mesh(comm, adaptive);
          const LevelProblem<2>  problem(*mesh, 1);
          PreconditionBlockAsync block_async; // one sweep: blocks do not matter
          block_async.initialize(problem.matrix,
                                 PreconditionBlockAsync::Fields{.n_iterations     = 3,
                                                                .local_iterations = 1,
                                                                .block_size       = 32,
                                                                .omega            = 0.8,
                                                                .backend          = backend,
                                                                .block_shape      = BlockShape::rcm,
                                                                .n_threads        = 1,
                                                                .arithmetic       = arithmetic});
          return solve_by_fgmres(problem, block_async);
        });
    }

    /** A relaxation of the rows of `local` in single precision. */
    std::unique_ptr<InnerSolver<float>> make_relaxation(
      const std::string &name, const ScaledMatrix<float> &low, const GhostExchange<double> &exchange, Backend backend, int local_iterations)
    {
      MethodOptions     options;
      BlockAsyncOptions blocks;
      blocks.schedule                                        = Schedule::synchronous;
      blocks.local_iterations                                = local_iterations;
      options.backend                                        = backend;
      blocks.backend                                         = backend;
      blocks.n_threads                                       = 1;
      options.block_async                                    = &blocks;
      options.chebyshev.lambda_max                           = 2.; // the same on any number of ranks
      std::shared_ptr<Relaxation<float>>          relaxation = find_method(name).make(low.matrix, options);
      std::shared_ptr<const Communication<float>> in_single  = exchange.in_single();
      return make_inner_solver(std::move(relaxation), std::move(in_single));
    }

    Found refine_by_relaxation(MPI_Comm comm, const std::string &name, Backend backend)
    {
      const auto                mesh = make_mesh(comm, false);
      const LevelProblem<2>     problem(*mesh, 1, false, {0}, 100.);
      const LocalMatrix         local    = local_matrix(problem.matrix);
      const auto                exchange = make_exchange(local, comm);
      const ScaledMatrix<float> low      = scaled_to<float>(local.matrix, scale_over_ranks(local.matrix, *exchange));
      Refinement<float>         refinement(make_system(local, low.scale, exchange, backend),
                                   make_relaxation(name, low, *exchange, backend, 1),
                                   to_the_end(20)); // one sweep: blocks do not matter
      return solve(problem, refinement, backend);
    }

    TEST_P(RanksInSingle, RelaxationsRefineAsOneProcessDoes)
    {
      for (const std::string name : {"jacobi", "chebyshev", "async"})
        {
          SCOPED_TRACE(name);
          compare(GetParam(), 1, [&](MPI_Comm comm, Backend backend) { return refine_by_relaxation(comm, name, backend); });
        }
    }

    /**
     * CG or FGMRES in single precision, with the diagonal or without a preconditioner: neither knows of ranks, so that
     * iterations are those of one process but for what rounding makes of sums in another order.
     */
    Found refine_by_krylov(MPI_Comm comm, bool cg, bool preconditioned)
    {
      const auto                                   mesh = make_mesh(comm, false);
      const LevelProblem<2>                        problem(*mesh, 1, false, {0}, 100.);
      const LocalMatrix                            local     = local_matrix(problem.matrix);
      const auto                                   exchange  = make_exchange(local, comm);
      const ScaledMatrix<float>                    low       = scaled_to<float>(local.matrix, scale_over_ranks(local.matrix, *exchange));
      const CrsMatrix<float>                       diagonals = own_columns(low.matrix);
      const std::shared_ptr<Preconditioner<float>> preconditioner =
        preconditioned ? make_preconditioner<float>(find_method("jacobi").make(diagonals, {})) : nullptr;
      const std::shared_ptr<const Communication<float>> ghosts = exchange->in_single();

      KrylovOptions options;
      options.tolerance = tolerance_of_corrections(1e-12);
      options.n_threads = 1;
      std::shared_ptr<KrylovSolver<float>> krylov;
      if (cg)
        krylov = make_cg<float>(low.matrix, CgOptions{options}, preconditioner, ghosts);
      else
        krylov = make_fgmres<float>(low.matrix, FgmresOptions{options, 20}, preconditioner, ghosts);
      Refinement<float> refinement(make_system(local, low.scale, exchange, Backend::host), make_inner_solver(krylov), to_the_end(0));
      return solve(problem, refinement, Backend::host);
    }

    TEST(KrylovInSingleOnRanks, RefinesAsOneProcessDoes)
    {
      for (const bool cg : {true, false})
        for (const bool preconditioned : {true, false})
          {
            SCOPED_TRACE((cg ? "CG" : "FGMRES") + std::string(preconditioned ? ", jacobi" : ""));
            compare(Backend::host, 6, [&](MPI_Comm comm, Backend) { return refine_by_krylov(comm, cg, preconditioned); });
          }
    }

    TEST(KrylovInSingleOnRanks, IsNotOnTheDevice)
    {
      CrsMatrix<float> A;
      KrylovOptions    options;
      options.backend = Backend::cuda;
      EXPECT_THROW(make_cg<float>(A, CgOptions{options}, nullptr, std::make_shared<const Communication<float>>()), InvalidInput);
    }

    /** Of a matrix out of the range of float, which is scaled, and of one that is not. */
    TEST_P(RanksInSingle, CyclesAreThoseInDouble)
    {
      for (const bool adaptive : {false, true})
        {
          const double    unit = adaptive ? 1. : std::ldexp(1., -120);
          const auto      mesh = make_mesh(MPI_COMM_WORLD, adaptive);
          LevelProblem<2> problem(*mesh, 1);
          problem.matrix *= unit;
          MultigridHierarchy hierarchy = problem.hierarchy();
          for (MultigridLevel &level : hierarchy.levels)
            for (CrsMatrix<double> *A : {&level.matrix, &level.interface, &level.interface_transpose})
              for (double &value : A->values)
                value *= !adaptive && &level == &hierarchy.levels.back() ? 1. : unit; // the finest has its values of problem.matrix
          const auto make = [&](Arithmetic arithmetic) { return make_multigrid(hierarchy, options_for(GetParam()), MPI_COMM_WORLD, arithmetic); };
          PreconditionMultigrid in_double = make(Arithmetic::double_precision), in_single = make(Arithmetic::single_precision);
          const HostVector      b = right_hand_side(problem);
          HostVector            x(b), y(b);
          OnHost{in_double, GetParam()}.vmult(x, b);
          OnHost{in_single, GetParam()}.vmult(y, b);
          y -= x;
          EXPECT_LE(y.linfty_norm(), 1e-5 * x.linfty_norm());
          if (Utilities::MPI::this_mpi_process(MPI_COMM_WORLD) == 0)
            y.begin()[3] = std::nan("");
          OnHost{in_single, GetParam()}.vmult(x, y);
          EXPECT_FALSE(std::isfinite(x.l2_norm()));

          const LocalMatrix local  = local_matrix(problem.matrix);
          const auto        scale  = scale_of_weight(in_single.weight(), local.matrix.n_columns);
          auto              system = make_system(local, scale, make_exchange(local, MPI_COMM_WORLD), GetParam());
          EXPECT_NEAR(std::log(system->norm_of_matrix() / problem.matrix.linfty_norm()), 0., 1e-12);
          Refinement<float> refinement(std::move(system), in_single.inner_solver(), to_the_end(1));
          const Found       found = solve(problem, refinement, GetParam());
          StoppingCriteria  criteria;
          SolveResult       result;
          criteria.relative_tolerance = 1e-12;
          x                           = 0.;
          on_backend(GetParam(), x, b, [&](double *there_x, const double *there_b) { result = in_double.solve(there_x, there_b, criteria); });
          EXPECT_LE(found.n_iterations, result.n_iterations + 1);
        }
    }

    /** Each row and column in a unit of its own on one side of the mesh, so that ghosts have other units than rows. */
    TEST_P(RanksInSingle, RelaxationsRefineABadlyScaledMatrix)
    {
      const auto            mesh = make_mesh(MPI_COMM_WORLD, false);
      const LevelProblem<2> problem(*mesh, 1);
      LocalMatrix           local = local_matrix(problem.matrix);
      CrsMatrix<double>    &A     = local.matrix;
      const auto            n     = problem.matrix.m();
      const auto            unit  = [&](int column) {
        const auto global = column < A.n_rows ? local.owned.nth_index_in_set(column) : local.ghosts.nth_index_in_set(column - A.n_rows);
        return 2 * global < n ? 1. : std::ldexp(1., 60 + static_cast<int>(global % 5));
      };
      for (int i = 0; i < A.n_rows; ++i)
        for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
          A.values[p] *= unit(i) * unit(A.columns[p]);
      const auto                exchange = make_exchange(local, MPI_COMM_WORLD);
      const ScaledMatrix<float> low      = scaled_to<float>(A, scale_over_ranks(A, *exchange));
      for (const float value : low.matrix.values)
        EXPECT_LT(std::abs(value), 4.f) << "a ghost has not the scale of its row";
      for (const std::string name : {"jacobi", "gauss-seidel", "async"})
        {
          if (!find_method(name).runs_on(GetParam(), as_solver))
            continue;
          RefinementOptions options;
          options.tolerance = 1e-11;
          Refinement<float> refinement(
            make_system(local, low.scale, exchange, GetParam()), make_relaxation(name, low, *exchange, GetParam(), 5), options);
          std::vector<double> x(A.n_columns, 0.), b(A.n_rows), r(A.n_rows);
          for (int i = 0; i < A.n_rows; ++i)
            b[i] = unit(i);
          RefinementResult result;
          on_backend(GetParam(), x, [&](double *there_x, MemorySpace) {
            on_backend(GetParam(), b, [&](const double *there_b, MemorySpace) { result = refinement.solve(there_x, there_b); });
          });
          EXPECT_TRUE(result.converged()) << name << " " << to_string(result.reason);
          EXPECT_LE(result.n_corrections, 4);
          exchange->update_ghosts(x.data(), MemorySpace::host);
          multiply(A, x.data(), r.data());
          double of_residual = 0., of_b = 0.;
          for (int i = 0; i < A.n_rows; ++i)
            {
              of_residual += (b[i] - r[i]) * (b[i] - r[i]);
              of_b += b[i] * b[i];
            }
          EXPECT_LE(std::sqrt(exchange->sum(of_residual) / exchange->sum(of_b)), 1.01e-11) << name;
        }
    }
  } // namespace
} // namespace leopard
