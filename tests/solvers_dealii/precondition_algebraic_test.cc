// SPDX-License-Identifier: Apache-2.0
// PreconditionIncomplete and PreconditionAggregation with deal.II's Krylov solvers.
#include <solvers/base/errors.h>
#include <solvers/dealii/precondition_aggregation.h>
#include <solvers/dealii/precondition_incomplete.h>
#include <solvers/device/device.h>

#include <deal.II/base/mpi.h>
#include <deal.II/lac/dynamic_sparsity_pattern.h>
#include <deal.II/lac/la_parallel_vector.h>
#include <deal.II/lac/precondition.h>
#include <deal.II/lac/solver_cg.h>
#include <deal.II/lac/solver_gmres.h>
#include <deal.II/lac/sparse_direct.h>
#include <deal.II/lac/sparse_matrix.h>
#include <deal.II/lac/trilinos_sparse_matrix.h>
#include <deal.II/lac/trilinos_vector.h>
#include <deal.II/lac/vector.h>

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

namespace leopard
{
  namespace
  {
    using dealii::SparseMatrix;
    using dealii::Vector;

    constexpr int n_side = 40;

    /** Calls entry(i, j, value) for -Laplace u + wind u_x on n_side x n_side nodes, scaled with h^2. */
    void five_points(double wind, const std::function<void(int, int, double)> &entry)
    {
      for (int y = 0; y < n_side; ++y)
        for (int x = 0; x < n_side; ++x)
          {
            const int i = y * n_side + x;
            entry(i, i, 4.);
            if (x > 0)
              entry(i, i - 1, -1. - wind);
            if (x + 1 < n_side)
              entry(i, i + 1, -1. + wind);
            if (y > 0)
              entry(i, i - n_side, -1.);
            if (y + 1 < n_side)
              entry(i, i + n_side, -1.);
          }
    }

    struct FivePoints
    {
      explicit FivePoints(double wind = 0.)
      {
        dealii::DynamicSparsityPattern entries(n_side * n_side);
        five_points(wind, [&](int i, int j, double) { entries.add(i, j); });
        pattern.copy_from(entries);
        matrix.reinit(pattern);
        five_points(wind, [&](int i, int j, double value) { matrix.set(i, j, value); });
      }
      dealii::SparsityPattern pattern;
      SparseMatrix<double>    matrix;
    };

    template <typename VectorType>
    void fill(VectorType &v)
    {
      for (const auto i : v.locally_owned_elements())
        v[i] = std::sin(1. + 3. * static_cast<double>(i));
      v.compress(dealii::VectorOperation::insert);
    }

    /** @return iterations; the solution is compared with that of a direct solver. */
    template <typename Solver, typename Preconditioner>
    unsigned int iterations(const SparseMatrix<double> &A, const Preconditioner &preconditioner)
    {
      Vector<double> x(A.m()), b(A.m()), right(A.m());
      fill(b);
      dealii::SolverControl control(2000, 1e-10 * b.l2_norm(), false, false);
      Solver(control).solve(A, x, b, preconditioner);
      dealii::SparseDirectUMFPACK direct;
      direct.initialize(A);
      direct.vmult(right, b);
      x -= right;
      EXPECT_LT(x.l2_norm(), 1e-7 * right.l2_norm());
      return control.last_step();
    }

    using HostCg    = dealii::SolverCG<Vector<double>>;
    using HostGmres = dealii::SolverGMRES<Vector<double>>;
    using Fgmres    = dealii::SolverFGMRES<Vector<double>>;

    IncompleteOptions with(FactorKind kind)
    {
      IncompleteOptions options;
      options.factors.kind = kind;
      return options;
    }

    TEST(PreconditionAlgebraic, FactorsAndLevelsSaveCgIterations)
    {
      const FivePoints   A;
      const unsigned int without = iterations<HostCg>(A.matrix, dealii::PreconditionIdentity());

      PreconditionIncomplete incomplete;
      incomplete.initialize(A.matrix, with(FactorKind::ic));
      EXPECT_TRUE(incomplete.is_symmetric_map());
      const unsigned int with_factors = iterations<HostCg>(A.matrix, incomplete);
      EXPECT_LT(2 * with_factors, without);
      IncompleteOptions filled  = with(FactorKind::ic);
      filled.factors.fill_level = 1;
      incomplete.initialize(A.matrix, filled);
      EXPECT_TRUE(incomplete.is_symmetric_map());
      EXPECT_LT(10 * iterations<HostCg>(A.matrix, incomplete), 9 * with_factors);

      PreconditionAggregation aggregation;
      aggregation.initialize(A.matrix);
      EXPECT_TRUE(aggregation.is_symmetric_map());
      const unsigned int with_levels = iterations<HostCg>(A.matrix, aggregation);
      EXPECT_LT(with_levels, with_factors);
      EXPECT_LT(with_levels, 25u);

      // another smoother, more of it, and cycles in single precision
      PreconditionAggregation::AdditionalData data;
      data.multigrid.smoother.method = "ssor";
      data.multigrid.pre_smoothing = data.multigrid.post_smoothing = 2;
      aggregation.initialize(A.matrix, data);
      EXPECT_NE(aggregation.description().find("V(2,2) multigrid by smoothed aggregation, smoother ssor"), std::string::npos)
        << aggregation.description();
      EXPECT_LT(iterations<HostCg>(A.matrix, aggregation), with_levels);
      data            = {};
      data.arithmetic = Arithmetic::single_precision;
      aggregation.initialize(A.matrix, data);
      EXPECT_NE(aggregation.description().find("in single precision"), std::string::npos) << aggregation.description();
      EXPECT_LE(iterations<HostCg>(A.matrix, aggregation), with_levels + 1);

      // other values: as good as levels that are made of them; nothing else is taken
      FivePoints other;
      other.matrix *= 1e-60;
      EXPECT_THROW(PreconditionAggregation().update_values(other.matrix), InvalidInput);
      aggregation.update_values(other.matrix);
      EXPECT_NE(aggregation.description().find("in single precision"), std::string::npos) << aggregation.description();
      Vector<double> b(A.matrix.m()), of_small(b), of_one(b);
      fill(b);
      aggregation.vmult(of_small, b);
      aggregation.update_values(A.matrix);
      aggregation.vmult(of_one, b);
      of_one.add(-1e-60, of_small);
      EXPECT_LT(of_one.l2_norm(), 1e-5 * 1e-60 * of_small.l2_norm());
      dealii::SparsityPattern few(5, 5, 1);
      few.compress();
      EXPECT_THROW(aggregation.update_values(SparseMatrix<double>(few)), InvalidInput);
    }

    TEST(PreconditionAlgebraic, FactorsForAMatrixThatIsNotSymmetric)
    {
      const FivePoints   A(0.7);
      const unsigned int without = iterations<HostGmres>(A.matrix, dealii::PreconditionIdentity());

      PreconditionIncomplete exact;
      exact.initialize(A.matrix, with(FactorKind::ilu));
      const unsigned int with_factors = iterations<HostGmres>(A.matrix, exact);
      EXPECT_LT(2 * with_factors, without);

      IncompleteOptions options             = with(FactorKind::ilu);
      options.n_sweeps                      = 5;
      options.solves.solve                  = TriangularSolve::asynchronous;
      options.solves.n_iterations           = 4;
      options.solves.block_async.block_size = 64;
      PreconditionIncomplete asynchronous;
      asynchronous.initialize(A.matrix, options);
      EXPECT_NE(asynchronous.description().find("4 iterations of async"), std::string::npos) << asynchronous.description();
      EXPECT_LT(iterations<Fgmres>(A.matrix, asynchronous), without);

      PreconditionIncomplete refused;
      EXPECT_THROW(refused.initialize(A.matrix, with(FactorKind::ic)), InvalidInput);
    }

    /** Two fields that are coupled at the nodes, the second one growing. */
    TEST(PreconditionAlgebraic, LevelsForEachField)
    {
      const auto entries = [](const std::function<void(int, int, double)> &entry) {
        five_points(0., [&](int i, int j, double value) {
          entry(2 * i, 2 * j, value + (i == j ? 0.1 : 0.));
          entry(2 * i + 1, 2 * j + 1, 20. * value - (i == j ? 0.1 : 0.));
          if (i == j)
            {
              entry(2 * i, 2 * i + 1, 0.2);
              entry(2 * i + 1, 2 * i, -0.2);
            }
        });
      };
      dealii::DynamicSparsityPattern dynamic(2 * n_side * n_side);
      entries([&](int i, int j, double) { dynamic.add(i, j); });
      dealii::SparsityPattern pattern;
      pattern.copy_from(dynamic);
      SparseMatrix<double> A(pattern);
      entries([&](int i, int j, double value) { A.set(i, j, value); });

      PreconditionAggregation                 aggregation;
      PreconditionAggregation::AdditionalData data;
      data.n_fields = 2;
      aggregation.initialize(A, data);
      EXPECT_LT(2 * iterations<HostGmres>(A, aggregation), iterations<HostGmres>(A, dealii::PreconditionIdentity()));
      data.n_fields = 3;
      EXPECT_THROW(aggregation.initialize(A, data), InvalidInput);

      data.n_fields                   = 2;
      data.aggregation.block_unknowns = 2;
      EXPECT_THROW(aggregation.initialize(A, data), InvalidInput) << "nodes of one field have one unknown";
      data.n_fields = 1;
      aggregation.initialize(A, data);
      EXPECT_LT(2 * iterations<HostGmres>(A, aggregation), iterations<HostGmres>(A, dealii::PreconditionIdentity()));
      data.aggregation.near_null_space.assign(2, std::vector<double>(A.m(), 0.));
      for (unsigned int i = 0; i < A.m(); ++i)
        data.aggregation.near_null_space[i % 2][i] = 1.;
      aggregation.initialize(A, data);
      EXPECT_LT(2 * iterations<HostGmres>(A, aggregation), iterations<HostGmres>(A, dealii::PreconditionIdentity()));
      data.aggregation.near_null_space[1].pop_back();
      EXPECT_THROW(aggregation.initialize(A, data), InvalidInput);
    }

    /** New values with the old pattern are what initialize() makes of them, exact and not, and so is another shift. */
    TEST(PreconditionAlgebraic, NewValuesMakeNewFactors)
    {
      const FivePoints A, other(0.7);
      Vector<double>   b(n_side * n_side), x(b.size()), right(b.size());
      fill(b);
      for (const TriangularSolve solve : {TriangularSolve::exact, TriangularSolve::asynchronous})
        {
          IncompleteOptions options           = with(FactorKind::ilu);
          options.factors.fill_level          = solve == TriangularSolve::exact ? 1 : 0;
          options.solves.solve                = solve;
          options.solves.start_from_diagonal  = true;
          options.solves.block_async.schedule = Schedule::synchronous;
          PreconditionIncomplete updated, made;
          updated.initialize(A.matrix, options);
          updated.update_values(other.matrix);
          made.initialize(other.matrix, options);
          updated.vmult(x, b);
          made.vmult(right, b);
          x -= right;
          EXPECT_EQ(x.l2_norm(), 0.);
          EXPECT_EQ(updated.description(), made.description());
        }

      PreconditionIncomplete unmade, symmetric;
      EXPECT_THROW(unmade.update_values(A.matrix), InvalidInput);
      symmetric.initialize(A.matrix, with(FactorKind::ic));
      symmetric.vmult(right, b);
      EXPECT_THROW(symmetric.update_values(other.matrix), InvalidInput); // not symmetric
      symmetric.vmult(x, b);
      x -= right;
      EXPECT_EQ(x.l2_norm(), 0.) << "what was there before is kept";
      dealii::SparsityPattern diagonal(n_side * n_side, n_side * n_side, 1);
      diagonal.compress();
      SparseMatrix<double> D(diagonal);
      for (unsigned int i = 0; i < D.m(); ++i)
        D.set(i, i, 1.);
      EXPECT_THROW(symmetric.update_values(D), InvalidInput); // another pattern
    }

    TEST(PreconditionAlgebraic, RefusedInput)
    {
      Vector<double>          x(5), b(5);
      PreconditionIncomplete  incomplete;
      PreconditionAggregation aggregation;
      EXPECT_THROW(incomplete.vmult(x, b), InvalidInput);
      EXPECT_THROW(aggregation.vmult(x, b), InvalidInput);
      const FivePoints A;
      incomplete.initialize(A.matrix);
      aggregation.initialize(A.matrix);
      EXPECT_THROW(incomplete.vmult(x, b), InvalidInput);
      EXPECT_THROW(aggregation.vmult(x, b), InvalidInput);
      dealii::DynamicSparsityPattern wide(3, 4);
      for (int i = 0; i < 3; ++i)
        wide.add(i, i + 1);
      dealii::SparsityPattern pattern;
      pattern.copy_from(wide);
      const dealii::SparseMatrix<double> rectangle(pattern);
      for (const auto &initialize :
           std::vector<std::function<void()>>{[&] { incomplete.initialize(rectangle); }, [&] { aggregation.initialize(rectangle); }})
        try
          {
            initialize();
            ADD_FAILURE();
          }
        catch (const InvalidInput &error)
          {
            EXPECT_NE(std::string(error.what()).find("square"), std::string::npos) << error.what();
          }
      IncompleteOptions wrong;
      wrong.n_sweeps = -1;
      EXPECT_THROW(incomplete.initialize(A.matrix, wrong), InvalidInput);
      Vector<double> y(n_side * n_side), c(n_side * n_side);
      fill(c);
      EXPECT_NO_THROW(incomplete.vmult(y, c)) << "what was there before is kept";
    }

    /** Any number of ranks, each with its own rows. */
    TEST(PreconditionAlgebraic, TrilinosMatricesOnRanks)
    {
      const unsigned int n = n_side * n_side, rank = dealii::Utilities::MPI::this_mpi_process(MPI_COMM_WORLD),
                         n_ranks = dealii::Utilities::MPI::n_mpi_processes(MPI_COMM_WORLD);
      dealii::IndexSet rows(n);
      rows.add_range(n * rank / n_ranks, n * (rank + 1) / n_ranks);
      dealii::DynamicSparsityPattern pattern(n, n, rows);
      five_points(0., [&](int i, int j, double) {
        if (rows.is_element(i))
          pattern.add(i, j);
      });
      HostMatrix A;
      A.reinit(rows, rows, pattern, MPI_COMM_WORLD);
      five_points(0., [&](int i, int j, double value) {
        if (rows.is_element(i))
          A.set(i, j, value);
      });
      A.compress(dealii::VectorOperation::insert);

      HostVector b(rows, MPI_COMM_WORLD);
      fill(b);
      const auto count = [&](const auto &preconditioner) {
        HostVector            x(rows, MPI_COMM_WORLD), r(rows, MPI_COMM_WORLD);
        dealii::SolverControl control(2000, 1e-10 * b.l2_norm(), false, false);
        dealii::SolverCG<HostVector>(control).solve(A, x, b, preconditioner);
        A.residual(r, x, b);
        EXPECT_LT(r.l2_norm(), 1e-9 * b.l2_norm());
        return control.last_step();
      };
      const unsigned int     without = count(dealii::PreconditionIdentity());
      PreconditionIncomplete incomplete;
      incomplete.initialize(A, with(FactorKind::ic));
      const unsigned int of_own_rows = count(incomplete);
      EXPECT_LT(3 * of_own_rows, 2 * without);
      IncompleteOptions filled  = with(FactorKind::ic);
      filled.factors.fill_level = 2;
      incomplete.initialize(A, filled);
      EXPECT_LT(count(incomplete), of_own_rows);
      // what a rank solves with is its own block, whatever is beside it, and stays so with new values
      HostVector of_all(rows, MPI_COMM_WORLD), of_rank(rows, MPI_COMM_WORLD), b_of_rank(rows, MPI_COMM_WORLD);
      incomplete.vmult(of_all, b);
      for (unsigned int i = 0; i < b.locally_owned_size() && rank == 0; ++i)
        b_of_rank.begin()[i] = b.begin()[i];
      incomplete.vmult(of_rank, b_of_rank);
      for (unsigned int i = 0; i < b.locally_owned_size(); ++i)
        EXPECT_EQ(of_rank.begin()[i], rank == 0 ? of_all.begin()[i] : 0.);
      A *= 2.;
      incomplete.update_values(A);
      incomplete.vmult(of_rank, b);
      for (unsigned int i = 0; i < b.locally_owned_size(); ++i)
        EXPECT_NEAR(2. * of_rank.begin()[i], of_all.begin()[i], 1e-12);
      A *= 0.5;
      PreconditionAggregation aggregation;
      aggregation.initialize(A);
      const unsigned int with_levels = count(aggregation);
      EXPECT_LT(2 * with_levels, without);

      PreconditionAggregation::AdditionalData data; // of each rank's own rows
      data.aggregation.near_null_space = {std::vector<double>(rows.n_elements(), -3.)};
      aggregation.initialize(A, data);
      EXPECT_LT(count(aggregation), with_levels + 5);
      if (rank == 0)
        data.aggregation.near_null_space[0].push_back(1.);
      EXPECT_THROW(aggregation.initialize(A, data), InvalidInput) << "on all ranks";
    }

    TEST(PreconditionAlgebraic, HostAndDeviceVectorsOnTheDevice)
    {
      if (device::n_devices() == 0)
        GTEST_SKIP() << "no GPU";
      const FivePoints  A;
      IncompleteOptions options          = with(FactorKind::ic);
      options.solves.block_async.backend = Backend::cuda;
      PreconditionIncomplete on_device, on_host;
      on_device.initialize(A.matrix, options);
      on_host.initialize(A.matrix, with(FactorKind::ic));
      PreconditionAggregation                 levels;
      PreconditionAggregation::AdditionalData data;
      data.multigrid.backend = Backend::cuda;
      levels.initialize(A.matrix, data);

      Vector<double> b(n_side * n_side), x(n_side * n_side), right(n_side * n_side);
      fill(b);
      DeviceVector<double> device_b, device_x;
      device_b.reinit(b.size());
      device_x.reinit(b.size());
      device_b.copy_from_host(b.begin());
      const auto expect_right = [&](const auto &preconditioner) {
        preconditioner.vmult(x, b);
        x -= right;
        EXPECT_LT(x.l2_norm(), 1e-8 * right.l2_norm());
        preconditioner.vmult(device_x, device_b);
        device_x.copy_to_host(x.begin());
        x -= right;
        EXPECT_LT(x.l2_norm(), 1e-8 * right.l2_norm());
      };
      on_host.vmult(right, b);
      expect_right(on_device);
      levels.vmult(right, b); // aggregates on the device are others: the same in every call, and hardly worse
      expect_right(levels);
      EXPECT_TRUE(levels.is_symmetric_map());
      EXPECT_LT(iterations<HostCg>(A.matrix, levels), 30u);

      FivePoints doubled;
      doubled.matrix *= 2.;
      for (PreconditionIncomplete *factors : {&on_device, &on_host})
        factors->update_values(doubled.matrix);
      on_host.vmult(right, b);
      expect_right(on_device);
    }
  } // namespace
} // namespace leopard
