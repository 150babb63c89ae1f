// SPDX-License-Identifier: Apache-2.0
// Preconditioners in single precision under deal.II's solvers in double.
#pragma GCC diagnostic ignored "-Wc++20-extensions" // fields by name
#include "level_problem.h"

#include <solvers/base/errors.h>
#include <solvers/dealii/krylov_coarse_solver.h>
#include <solvers/dealii/precondition_block_async.h>
#include <solvers/dealii/precondition_multigrid.h>
#include <solvers/device/device.h>
#include <solvers/refinement/mixed_multigrid.h>
#include <solvers/refinement/refinement.h>
#include <solvers/relaxation/methods.h>

#include <deal.II/lac/solver_cg.h>
#include <deal.II/lac/solver_control.h>
#include <deal.II/lac/solver_gmres.h>
#include <deal.II/lac/sparse_matrix.h>
#include <deal.II/lac/vector.h>

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace leopard
{
  namespace
  {
    using namespace dealii;
    constexpr Arithmetic both[] = {Arithmetic::double_precision, Arithmetic::single_precision};

    HostVector right_hand_side(const HostMatrix &A, const IndexSet &zero_rows, double size = 1.)
    {
      const auto   owned = A.locally_owned_range_indices();
      HostVector   b(owned, A.get_mpi_communicator());
      std::mt19937 random(5);
      for (double &value : b)
        value = size * std::uniform_real_distribution<double>(-1., 1.)(random);
      for (const auto row : zero_rows)
        b.begin()[owned.index_within_set(row)] = 0.;
      return b;
    }

    MultigridOptions synchronous()
    {
      MultigridOptions options;
      options.smoother.block_async.schedule   = Schedule::synchronous;
      options.smoother.block_async.block_size = 32;
      options.n_threads                       = 2;
      return options;
    }

    /** Iterations to a relative residual, which x must have. */
    template <typename Solver, typename Matrix, typename Vector, typename Preconditioner>
    int iterations(const Matrix &A, const Vector &b, const Preconditioner &preconditioner, double tolerance = 1e-10)
    {
      Vector        x(b), residual(b);
      SolverControl control(200, tolerance * b.l2_norm(), false, false);
      x = 0.;
      Solver(control).solve(A, x, b, preconditioner);
      A.residual(residual, x, b);
      EXPECT_LE(residual.l2_norm(), 1.1 * tolerance * b.l2_norm());
      return static_cast<int>(control.last_step());
    }

    template <int dim>
    void check_iterations(const Triangulation<dim> &mesh, double delta, const MultigridOptions &options, const std::string &coarse = "")
    {
      const LevelProblem<dim>  problem(mesh, 1, false, {0}, delta);
      const MultigridHierarchy hierarchy = problem.hierarchy(coarse.empty() ? 0 : 3);
      const HostVector         b         = right_hand_side(problem.matrix, problem.constrained_rows());
      int                      n_cg[2], n_fgmres[2];
      for (const Arithmetic arithmetic : both)
        {
          auto solver = coarse.empty() ? nullptr : make_krylov_coarse_solver(coarse, hierarchy.levels.front(), Backend::host, MPI_COMM_SELF);
          const PreconditionMultigrid preconditioner(hierarchy, options, std::move(solver), {}, arithmetic);
          const int                   i = static_cast<int>(arithmetic);
          if (coarse.empty())
            n_cg[i] = iterations<SolverCG<HostVector>>(problem.matrix, b, preconditioner);
          n_fgmres[i] = iterations<SolverFGMRES<HostVector>>(problem.matrix, b, preconditioner);
        }
      if (coarse.empty())
        {
          EXPECT_LE(std::abs(n_cg[0] - n_cg[1]), 1);
        }
      EXPECT_LE(std::abs(n_fgmres[0] - n_fgmres[1]), 1) << coarse;
    }

    TEST(MultigridInSingle, TakesAsManyIterationsAsInDouble)
    {
      for (const double delta : {0., 30.})
        {
          check_iterations<2>(*uniform_mesh<2>(5), delta, synchronous());
          check_iterations<2>(*adaptive_mesh<2>(3), delta, synchronous());
          check_iterations<3>(*uniform_mesh<3>(3), delta, synchronous());
        }
      for (const std::string smoother : {"jacobi", "damped-jacobi", "chebyshev", "ssor", "multicolour-ssor"})
        if (lookup_method(smoother, as_smoother) != nullptr)
          {
            MultigridOptions options = synchronous();
            options.smoother.method  = smoother;
            check_iterations<2>(*uniform_mesh<2>(5), 0., options);
          }
      for (const std::string coarse : {"cg", "amg"})
        check_iterations<2>(*uniform_mesh<2>(5), 0., synchronous(), coarse);
    }

    /** Nothing vanishes and nothing overflows, since the rounded vector is scaled by a power of two. */
    TEST(MultigridInSingle, SizesOfVectorsAndMatricesDoNotMatter)
    {
      const auto               mesh = uniform_mesh<2>(4);
      const LevelProblem<2>    problem(*mesh, 1);
      const MultigridHierarchy hierarchy = problem.hierarchy(3);
      const HostVector         b         = right_hand_side(problem.matrix, problem.constrained_rows());
      HostVector               x(b), y(b), scaled(b);
      const auto               in_single = [&](double weight, const std::string &coarse = "") {
        MultigridHierarchy other = hierarchy;
        for (MultigridLevel &level : other.levels)
          for (double &value : level.matrix.values)
            value *= weight;
        auto solver = coarse.empty() ? nullptr : make_krylov_coarse_solver(coarse, other.levels.front(), Backend::host, MPI_COMM_SELF);
        return PreconditionMultigrid(other, synchronous(), std::move(solver), {}, Arithmetic::single_precision);
      };
      const PreconditionMultigrid preconditioner = in_single(1.);
      preconditioner.vmult(x, b);
      EXPECT_GT(x.l2_norm(), 0.);
      for (const int exponent : {-990, -133, -100, 100, 133, 990}) // 2^-133 is about 1e-40
        {
          scaled = b;
          scaled *= std::ldexp(1., exponent);
          preconditioner.vmult(y, scaled);
          y *= std::ldexp(1., -exponent);
          y.add(-1., x);
          EXPECT_EQ(y.linfty_norm(), 0.) << exponent;
        }
      for (const int exponent : {-200, -120, 120, 200}) // of the matrix
        for (const std::string coarse : {"", "cg"})
          {
            in_single(std::ldexp(1., exponent), coarse).vmult(y, b);
            y *= std::ldexp(1., exponent);
            y.add(-1., x);
            EXPECT_LE(y.linfty_norm(), 1e-6 * x.linfty_norm()) << exponent << " " << coarse;
          }
      scaled = 0.;
      preconditioner.vmult(y, scaled);
      EXPECT_EQ(y.linfty_norm(), 0.);
      scaled.begin()[3] = std::nan("");
      preconditioner.vmult(y, scaled);
      EXPECT_FALSE(std::isfinite(y.l2_norm())) << "what is no number must not be lost";
    }

    TEST(MultigridInSingle, IsTheInnerSolverOfARefinement)
    {
      for (const bool adaptive : {false, true})
        {
          const auto               mesh = adaptive ? adaptive_mesh<2>(3) : uniform_mesh<2>(5);
          const LevelProblem<2>    problem(*mesh, 1);
          const MultigridHierarchy hierarchy = problem.hierarchy();
          const HostVector         b         = right_hand_side(problem.matrix, problem.constrained_rows(), 1e-30);
          PreconditionMultigrid in_double(hierarchy, synchronous()), in_single(hierarchy, synchronous(), nullptr, {}, Arithmetic::single_precision);
          RefinementOptions     options;
          options.tolerance         = 1e-12;
          options.inner_iterations  = 1;
          const CrsMatrix<double> A = local_matrix(problem.matrix).matrix;
          Refinement<float>       refinement(
            make_outer_system<float>(A, scale_of_weight(in_single.weight(), A.n_columns), Backend::host, 2), in_single.inner_solver(), options);
          HostVector x(b), residual(b);
          x                             = 0.;
          const RefinementResult result = refinement.solve(x.begin(), b.begin());
          EXPECT_TRUE(result.converged()) << to_string(result.reason);
          problem.matrix.residual(residual, x, b);
          EXPECT_LE(residual.l2_norm(), 1.01e-12 * b.l2_norm());
          StoppingCriteria criteria;
          criteria.relative_tolerance = 1e-12;
          residual                    = 0.;
          EXPECT_LE(result.n_corrections, in_double.solve(residual.begin(), b.begin(), criteria).n_iterations + 1);
          EXPECT_THROW(in_double.inner_solver(), InvalidInput);
          EXPECT_THROW(in_single.solve(x.begin(), b.begin(), criteria), InvalidInput);
        }
    }

    /** A stencil's nodes in reverse order, and after them rows that are coupled to none. */
    FoundStencil found_stencil(double unit)
    {
      FoundStencil found;
      found.stencil = five_point_stencil(15, 20, 0.1);
      for (double &value : found.stencil.coefficients)
        value *= unit;
      const int n = found.stencil.n_rows();
      for (int i = 0; i < n; ++i)
        found.rows.push_back(n - 1 - i);
      for (int i = 0; i < 7; ++i)
        found.isolated_rows.push_back(n + i);
      found.isolated_diagonal.assign(7, 3. * unit);
      return found;
    }

    CrsMatrix<double> matrix_of(const FoundStencil &found)
    {
      CrsMatrix<double> A = found.stencil.to_crs(); // reversed it is itself
      for (std::size_t n = 0; n < found.isolated_rows.size(); ++n)
        {
          A.columns.push_back(found.isolated_rows[n]);
          A.values.push_back(found.isolated_diagonal[n]);
          A.row_offsets.push_back(A.n_entries());
        }
      A.n_rows = A.n_columns = A.n_rows + static_cast<int>(found.isolated_rows.size());
      return A;
    }

    TEST(MultigridInSingle, StencilsAndRowsBesideThem)
    {
      for (const Backend backend : {Backend::host, Backend::cuda})
        for (const double unit : {1., 1e-30, 1e30})
          for (const int n_levels : {2, 0})
            {
              if (backend == Backend::cuda && device::n_devices() == 0)
                continue;
              const FoundStencil found   = found_stencil(unit);
              MultigridOptions   options = synchronous();
              options.backend            = backend;
              const PreconditionMultigrid in_double(found, n_levels, options),
                in_single(found, n_levels, options, nullptr, {}, Arithmetic::single_precision);
              EXPECT_EQ(in_single.n_levels(), in_double.n_levels());
              const int  n = static_cast<int>(found.rows.size() + found.isolated_rows.size());
              HostVector b(complete_index_set(n), MPI_COMM_SELF), x(b), y(b), residual(b);
              for (int i = 0; i < n; ++i)
                b.begin()[i] = std::sin(1. + 3. * i);
              DeviceVector<double> device_b, device_x;
              const auto           to_device = [&](const HostVector &v, DeviceVector<double> &to) {
                to.reinit(n);
                to.copy_from_host(v.begin());
              };
              if (backend == Backend::cuda)
                {
                  to_device(b, device_b);
                  to_device(x, device_x);
                  in_double.vmult(device_x, device_b);
                  device_x.copy_to_host(x.begin());
                  in_single.vmult(device_x, device_b);
                  device_x.copy_to_host(y.begin());
                }
              else
                {
                  in_double.vmult(x, b);
                  in_single.vmult(y, b);
                }
              y.add(-1., x);
              EXPECT_GT(x.linfty_norm(), 0.);
              EXPECT_LE(y.linfty_norm(), 1e-5 * x.linfty_norm()) << unit << " on " << to_string(backend);
              for (const int row : found.isolated_rows)
                EXPECT_NEAR(x.begin()[row], b.begin()[row] / (3. * unit), 1e-12 / unit);

              RefinementOptions refinement_options;
              refinement_options.tolerance        = 1e-12;
              refinement_options.inner_iterations = 1;
              const CrsMatrix<double> A           = matrix_of(found);
              Refinement<float>       refinement(make_outer_system<float>(A, scale_of_weight(in_single.weight(), A.n_columns), backend, 2),
                                           in_single.inner_solver(),
                                           refinement_options);
              x = 0.;
              RefinementResult result;
              if (backend == Backend::cuda)
                {
                  to_device(x, device_x);
                  result = refinement.solve(device_x.data(), device_b.data());
                  device_x.copy_to_host(x.begin());
                }
              else
                result = refinement.solve(x.begin(), b.begin());
              EXPECT_TRUE(result.converged()) << to_string(result.reason) << ", " << unit << " on " << to_string(backend);
              EXPECT_LE(result.n_corrections, 14);
              multiply(A, x.begin(), residual.begin());
              residual.add(-1., b);
              EXPECT_LE(residual.l2_norm(), 1.01e-12 * b.l2_norm());
            }
    }

    /** In both precisions, alone and in a refinement, which goes on with the object that it was made with. */
    TEST(MultigridInSingle, StencilsTakeNewValues)
    {
      for (const Backend backend : {Backend::host, Backend::cuda})
        for (const Arithmetic arithmetic : both)
          for (const double unit : {1., 1e-30})
            {
              if (backend == Backend::cuda && device::n_devices() == 0)
                continue;
              const FoundStencil first  = found_stencil(unit);
              FoundStencil       second = first;
              second.stencil.coefficient(0, 0, 0) *= 2.;
              second.isolated_diagonal.assign(7, 5. * unit);
              MultigridOptions options = synchronous();
              options.backend          = backend;
              PreconditionMultigrid       changed(first, 0, options, nullptr, {}, arithmetic);
              const PreconditionMultigrid made(second, 0, options, nullptr, {}, arithmetic);
              const int                   n = static_cast<int>(first.rows.size() + first.isolated_rows.size());
              HostVector                  b(complete_index_set(n), MPI_COMM_SELF), x(b), y(b);
              for (int i = 0; i < n; ++i)
                b.begin()[i] = std::sin(1. + 3. * i);
              DeviceVector<double> device_b, device_x;
              if (backend == Backend::cuda)
                {
                  device_b.reinit(n);
                  device_x.reinit(n);
                  device_b.copy_from_host(b.begin());
                }
              const auto apply = [&](const PreconditionMultigrid &multigrid, HostVector &result) {
                if (backend == Backend::cuda)
                  {
                    multigrid.vmult(device_x, device_b);
                    device_x.copy_to_host(result.begin());
                  }
                else
                  multigrid.vmult(result, b);
              };
              apply(made, y);
              const double size = y.linfty_norm();
              apply(changed, x);
              x.add(-1., y);
              EXPECT_GT(x.linfty_norm(), 0.1 * size);
              const auto cycles = arithmetic == Arithmetic::single_precision ? changed.inner_solver() : nullptr;
              ASSERT_TRUE(changed.update_values(second));
              apply(changed, x);
              x.add(-1., y);
              EXPECT_LE(x.linfty_norm(), (arithmetic == Arithmetic::single_precision ? 1e-5 : 1e-13) * size) << unit;
              if (cycles != nullptr && backend == Backend::host)
                {
                  std::vector<float> c(n), r(n, 1.f);
                  cycles->solve(c.data(), r.data(), 1);
                  const double weight = changed.weight();
                  EXPECT_NEAR(c[first.isolated_rows[0]] * 5. * unit * weight, 1., 1e-6);
                }
              FoundStencil other = second;
              other.stencil.diagonal.assign(first.rows.size(), 9. * unit);
              EXPECT_FALSE(changed.update_values(other));
            }
    }

    TEST(MultigridInSingle, TakesNewValues)
    {
      const auto            mesh = uniform_mesh<2>(5);
      const LevelProblem<2> problem(*mesh, 1), other(*mesh, 1, false, {0}, 200.);
      const HostVector      b = right_hand_side(problem.matrix, problem.constrained_rows());
      for (const std::string coarse : {"", "cg"})
        {
          const auto solver_of = [&](const MultigridHierarchy &hierarchy) {
            return coarse.empty() ? nullptr : make_krylov_coarse_solver(coarse, hierarchy.levels.front(), Backend::host, MPI_COMM_SELF);
          };
          const MultigridHierarchy first = problem.hierarchy(3), second = other.hierarchy(3);
          MultigridOptions         options     = synchronous();
          options.smoother.block_async.storage = Storage::double_precision; // that takes values
          PreconditionMultigrid       changed(first, options, solver_of(first), {}, Arithmetic::single_precision);
          const PreconditionMultigrid made(second, options, solver_of(second), {}, Arithmetic::single_precision);
          changed.update_values(second);
          HostVector x(b), y(b);
          changed.vmult(x, b);
          made.vmult(y, b);
          y.add(-1., x);
          EXPECT_LE(y.linfty_norm(), 1e-5 * x.linfty_norm()) << coarse;
        }
    }

    TEST(BlockAsyncInSingle, TakesAsManyIterationsAsInDouble)
    {
      const auto            mesh = uniform_mesh<2>(5);
      const LevelProblem<2> problem(*mesh, 1);
      const HostVector      b = right_hand_side(problem.matrix, problem.constrained_rows());
      for (const BlockShape shape : {BlockShape::contiguous, BlockShape::rcm})
        {
          int n_cg[2], n_fgmres[2];
          for (const Arithmetic arithmetic : both)
            {
              PreconditionBlockAsync preconditioner;
              preconditioner.initialize(
                problem.matrix,
                PreconditionBlockAsync::Fields{.block_size = 32, .omega = 0.9, .block_shape = shape, .n_threads = 2, .arithmetic = arithmetic});
              EXPECT_EQ(preconditioner.is_fixed_linear_map(), arithmetic == Arithmetic::double_precision);
              const int i = static_cast<int>(arithmetic);
              n_cg[i]     = iterations<SolverCG<HostVector>>(problem.matrix, b, preconditioner);
              n_fgmres[i] = iterations<SolverFGMRES<HostVector>>(problem.matrix, b, preconditioner);
            }
          EXPECT_LE(std::abs(n_cg[0] - n_cg[1]), 1);
          EXPECT_LE(std::abs(n_fgmres[0] - n_fgmres[1]), 1);
        }
    }

    TEST(BlockAsyncInSingle, StepKeepsTheDigitsOfX)
    {
      const auto            mesh = uniform_mesh<2>(4);
      const LevelProblem<2> problem(*mesh, 1, false, {0}, 1000.);
      for (const Backend backend : {Backend::host, Backend::cuda})
        for (const double size : {1e-30, 1., 1e30})
          {
            if (backend == Backend::cuda && device::n_devices() == 0)
              continue;
            const HostVector       b = right_hand_side(problem.matrix, problem.constrained_rows(), size);
            PreconditionBlockAsync preconditioner;
            preconditioner.initialize(problem.matrix,
                                      PreconditionBlockAsync::Fields{.backend = backend, .n_threads = 2, .arithmetic = Arithmetic::single_precision});
            HostVector x(b), residual(b);
            preconditioner.vmult(x, b);
            problem.matrix.residual(residual, x, b);
            EXPECT_LT(residual.l2_norm(), 0.5 * b.l2_norm()) << size;
            for (int n = 0; n < 60; ++n)
              preconditioner.step(x, b);
            problem.matrix.residual(residual, x, b);
            EXPECT_LE(residual.l2_norm(), 1e-13 * b.l2_norm()) << size; // single precision alone ends at about 1e-7
            preconditioner.Tvmult(x, b);                                // symmetric up to roundings of float
          }
    }

    TEST(BlockAsyncInSingle, RowsWithoutEntriesKeepTheirValues)
    {
      DynamicSparsityPattern entries(3, 3);
      for (const int i : {0, 2})
        entries.add(i, i);
      entries.add(1, 1);
      SparsityPattern pattern;
      pattern.copy_from(entries);
      SparseMatrix<double> A(pattern);
      A.set(0, 0, 1e-50); // out of the range of float
      A.set(2, 2, 4e-50);
      PreconditionBlockAsync preconditioner;
      preconditioner.initialize(A, PreconditionBlockAsync::Fields{.arithmetic = Arithmetic::single_precision});
      Vector<double> x(3), b(3);
      x[1] = 7.;
      b[0] = 3.;
      b[1] = 5.;
      b[2] = 2.;
      preconditioner.step(x, b);
      EXPECT_NEAR(x[0], 3e50, 1e-6 * 3e50);
      EXPECT_EQ(x[1], 7.);
      EXPECT_NEAR(x[2], 5e49, 1e-6 * 5e49);
    }
  } // namespace
} // namespace leopard
