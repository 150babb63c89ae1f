// SPDX-License-Identifier: Apache-2.0
#pragma GCC diagnostic ignored "-Wc++20-extensions" // fields by name
#include <solvers/base/errors.h>
#include <solvers/dealii/precondition_block_async.h>
#include <solvers/device/device.h>

#include <deal.II/base/mpi.h>
#include <deal.II/lac/dynamic_sparsity_pattern.h>
#include <deal.II/lac/la_parallel_vector.h>
#include <deal.II/lac/solver_cg.h>
#include <deal.II/lac/solver_gmres.h>
#include <deal.II/lac/sparse_matrix.h>
#include <deal.II/lac/trilinos_sparse_matrix.h>
#include <deal.II/lac/trilinos_vector.h>
#include <deal.II/lac/vector.h>
#include <deal.II/multigrid/mg_smoother.h>

#include <gtest/gtest.h>

#include <functional>

namespace leopard
{
  namespace
  {
    using dealii::SparseMatrix;
    using dealii::Vector;
    using AdditionalData    = PreconditionBlockAsync::AdditionalData;
    using DistributedVector = dealii::LinearAlgebra::distributed::Vector<double>;
    using TrilinosVector    = dealii::TrilinosWrappers::MPI::Vector;
    using TrilinosMatrix    = dealii::TrilinosWrappers::SparseMatrix;

    constexpr BlockShape all_shapes[] = {BlockShape::contiguous, BlockShape::rcm, BlockShape::metis, BlockShape::tiles};

    /** Calls entry(i, j, value) for the five-point stencil on n_x x n_y nodes. */
    template <typename Entry>
    void five_points(int n_x, int n_y, const Entry &entry)
    {
      for (int y = 0; y < n_y; ++y)
        for (int x = 0; x < n_x; ++x)
          {
            const int i = y * n_x + x;
            entry(i, i, 4.);
            if (x > 0)
              entry(i, i - 1, -1.);
            if (x + 1 < n_x)
              entry(i, i + 1, -1.);
            if (y > 0)
              entry(i, i - n_x, -1.);
            if (y + 1 < n_y)
              entry(i, i + n_x, -1.);
          }
    }

    struct Laplacian
    {
      Laplacian(int n_x, int n_y)
      {
        dealii::DynamicSparsityPattern entries(n_x * n_y);
        five_points(n_x, n_y, [&](int i, int j, double) { entries.add(i, j); });
        pattern.copy_from(entries);
        matrix.reinit(pattern);
        five_points(n_x, n_y, [&](int i, int j, double value) { matrix.set(i, j, value); });
      }
      dealii::SparsityPattern pattern;
      SparseMatrix<double>    matrix;
    };

    /** Rows of (-1, 2, -1). */
    void make_second_difference(SparseMatrix<double> &matrix, dealii::SparsityPattern &pattern, unsigned int n)
    {
      dealii::DynamicSparsityPattern entries(n);
      for (unsigned int i = 0; i < n; ++i)
        for (unsigned int j = (i == 0 ? 0 : i - 1); j < std::min(i + 2, n); ++j)
          entries.add(i, j);
      pattern.copy_from(entries);
      matrix.reinit(pattern);
      for (unsigned int i = 0; i < n; ++i)
        for (auto entry = matrix.begin(i); entry != matrix.end(i); ++entry)
          entry->value() = entry->column() == i ? 2. : -1.;
    }

    Vector<double> some_vector(unsigned int n)
    {
      Vector<double> v(n);
      for (unsigned int i = 0; i < n; ++i)
        v[i] = std::sin(1. + 3. * i);
      return v;
    }

    template <typename VectorA, typename VectorB>
    void expect_near(const VectorA &a, const VectorB &b, double tolerance = 1e-13)
    {
      for (unsigned int i = 0; i < a.size(); ++i)
        EXPECT_NEAR(a[i], b[i], tolerance) << "entry " << i;
    }

    template <typename VectorType>
    class HandComputed : public testing::Test
    {
    };
    using VectorTypes = testing::Types<Vector<double>, DistributedVector>;
    TYPED_TEST_SUITE(HandComputed, VectorTypes);

    TYPED_TEST(HandComputed, TwoBlocksOfTwoRowsTwoSweeps)
    {
      dealii::SparsityPattern pattern;
      SparseMatrix<double>    A;
      make_second_difference(A, pattern, 4);
      PreconditionBlockAsync P;
      P.initialize(A, AdditionalData(1, 2, 2));
      A.clear(); // nothing of it may be needed
      pattern.reinit(0, 0, 0);
      EXPECT_EQ(P.m(), 4u);
      EXPECT_TRUE(P.is_fixed_linear_map());

      TypeParam x(4), b(4);
      for (unsigned int i = 0; i < 4; ++i)
        b[i] = 4. * (i + 1);
      x = 17.; // vmult() does not read it
      P.vmult(x, b);
      expect_near(x, std::vector<double>{4., 5., 10., 11.});
      P.step(x, b);
      const std::vector<double> after_two = {7.5, 11.25, 15., 15.};
      expect_near(x, after_two);
      TypeParam y(4);
      P.Tvmult(y, b);
      P.Tstep(y, b);
      expect_near(y, after_two);
      P.clear();
      EXPECT_EQ(P.m(), 0u);
      EXPECT_THROW(P.vmult(x, b), InvalidInput);
    }

    TEST(PreconditionBlockAsync, PermutesVectorsForAllBlockShapes)
    {
      const Laplacian      A(20, 20);
      const Vector<double> b = some_vector(400);
      Vector<double>       expected(400), x(400), y(400);
      const auto           reference = [&](int block_size, int local_iterations, BlockShape shape) {
        return AdditionalData(3, local_iterations, block_size, 0.8, false, Schedule::synchronous, Backend::reference, shape);
      };
      const auto host = [&](int block_size, int local_iterations, BlockShape shape) {
        return AdditionalData(3, local_iterations, block_size, 0.8, false, Schedule::synchronous, Backend::host, shape);
      };
      for (const BlockShape shape : all_shapes)
        {
          PreconditionBlockAsync P;
          P.initialize(A.matrix, reference(400, 1, BlockShape::contiguous)); // with one sweep blocks do not matter
          P.vmult(expected, b);
          P.initialize(A.matrix, host(30, 1, shape));
          P.vmult(x, b);
          expect_near(x, expected);

          P.initialize(A.matrix, reference(30, 4, shape));
          P.vmult(expected, b);
          P.initialize(A.matrix, host(30, 4, shape));
          P.vmult(x, b);
          expect_near(x, expected);
          P.Tvmult(y, b);
          expect_near(y, x, 0.);
          P.step(x, b); // three more make six
          P.initialize(A.matrix, AdditionalData(6, 4, 30, 0.8, false, Schedule::synchronous, Backend::host, shape));
          P.vmult(y, b);
          expect_near(y, x);
        }
    }

    TEST(PreconditionBlockAsync, RelaxesOnTheDeviceOrSaysThatThereIsNone)
    {
      const Laplacian        A(20, 20);
      const Vector<double>   b = some_vector(400);
      Vector<double>         expected(400), x(400);
      PreconditionBlockAsync P;
      const auto data = [](Backend backend) { return AdditionalData(3, 4, 32, 0.8, false, Schedule::synchronous, backend, BlockShape::metis); };
      if (device::n_devices() == 0)
        {
          EXPECT_THROW(P.initialize(A.matrix, data(Backend::cuda)), DeviceError);
          return;
        }
      P.initialize(A.matrix, data(Backend::host));
      P.vmult(expected, b);
      P.step(expected, b);
      P.initialize(A.matrix, data(Backend::cuda));
      P.vmult(x, b);
      P.Tstep(x, b);
      expect_near(x, expected);
    }

    TEST(PreconditionBlockAsync, ServesKrylovSolvers)
    {
      const Laplacian      A(64, 64);
      const Vector<double> b = some_vector(4096);
      Vector<double>       x(4096), r(4096);
      const auto           solve = [&](auto &&solver, const PreconditionBlockAsync &P) {
        x = 0.;
        solver.solve(A.matrix, x, b, P);
        EXPECT_LT(A.matrix.residual(r, x, b), 1e-7 * b.l2_norm());
      };
      dealii::SolverControl  control(150, 1e-8 * b.l2_norm());
      PreconditionBlockAsync P;
      for (const BlockShape shape : all_shapes)
        {
          P.initialize(A.matrix, AdditionalData(2, 5, 64, 1., false, Schedule::synchronous, Backend::host, shape));
          solve(dealii::SolverCG<Vector<double>>(control), P);
          P.initialize(A.matrix, AdditionalData(2, 5, 64, 1., true, Schedule::chaotic, Backend::host, shape, 2));
          EXPECT_FALSE(P.is_fixed_linear_map());
          solve(dealii::SolverFGMRES<Vector<double>>(control), P);
          EXPECT_THROW(P.Tvmult(r, b), InvalidInput);
          EXPECT_THROW(P.Tstep(r, b), InvalidInput);
        }
    }

    /** Blocks of one line of the grid, and compact ones of as many rows: of its coordinates, or by METIS without. */
    TEST(PreconditionBlockAsync, CompactBlocksAreTheDefaultAndContractFaster)
    {
      constexpr int       n = 32;
      const Laplacian     A(n, n);
      std::vector<double> coordinates;
      for (int i = 0; i < n * n; ++i)
        coordinates.insert(coordinates.end(), {static_cast<double>(i % n), static_cast<double>(i / n)});
      const auto log_of_error = [&](const AdditionalData &data) {
        PreconditionBlockAsync P;
        P.initialize(A.matrix, data);
        Vector<double>       x(n * n);
        const Vector<double> zero(n * n);
        x = 1.;
        for (int i = 0; i < 20; ++i)
          P.step(x, zero);
        return std::log(x.l2_norm() / n);
      };
      const PreconditionBlockAsync::Fields fields{.local_iterations = 10, .block_size = 32};
      PreconditionBlockAsync::Fields       in_tiles = fields, in_rows = fields;
      in_tiles.coordinates = coordinates;
      in_tiles.dim         = 2;
      in_rows.block_shape  = BlockShape::contiguous;
      const double rows    = log_of_error(in_rows);
      EXPECT_LT(log_of_error(in_tiles), 1.3 * rows); // theory: the gain over Jacobi is 1.9 for lines, 4.4 for 8 x 4 rows
      EXPECT_LT(log_of_error(fields), 1.2 * rows);

      coordinates.pop_back();
      in_tiles.coordinates = coordinates;
      PreconditionBlockAsync P;
      EXPECT_THROW(P.initialize(A.matrix, in_tiles), InvalidInput);
    }

    template <typename Smoother>
    void expect_smoothing(Smoother &&smoother)
    {
      const Laplacian                             coarse(16, 16), fine(32, 32);
      dealii::MGLevelObject<SparseMatrix<double>> matrices(0, 1);
      for (unsigned int level = 0; level < 2; ++level)
        {
          const Laplacian &A = level == 0 ? coarse : fine;
          matrices[level].reinit(A.pattern);
          matrices[level].copy_from(A.matrix);
        }
      smoother.initialize(matrices, AdditionalData(1, 3, 64, 0.8));
      for (unsigned int level = 0; level < 2; ++level)
        {
          const Vector<double> b = some_vector(matrices[level].m());
          Vector<double>       x(b.size()), y(b.size()), r(b.size());
          smoother.smooth(level, x, b);
          EXPECT_LT(matrices[level].residual(r, x, b), 0.5 * b.l2_norm());
          y = 5.;
          smoother.apply(level, y, b);
          expect_near(x, y);
        }
      smoother.clear();
    }

    TEST(PreconditionBlockAsync, IsAMultigridSmoother)
    {
      using dealii::MGSmootherRelaxation;
      using dealii::mg::SmootherRelaxation;
      expect_smoothing(SmootherRelaxation<PreconditionBlockAsync, Vector<double>>(2));
      expect_smoothing(SmootherRelaxation<PreconditionBlockAsync, Vector<double>>(3, true, true)); // calls Tstep() too
      expect_smoothing(MGSmootherRelaxation<SparseMatrix<double>, PreconditionBlockAsync, Vector<double>>(2));
    }

    TEST(PreconditionBlockAsync, LeavesZeroRowsAlone)
    {
      Laplacian A(12, 12);
      for (const int row : {0, 5, 77})
        for (auto entry = A.matrix.begin(row); entry != A.matrix.end(row); ++entry)
          {
            A.matrix.set(entry->column(), row, 0.);
            A.matrix.set(row, entry->column(), 0.);
          }
      const Vector<double> b = some_vector(144);
      for (const BlockShape shape : all_shapes)
        {
          PreconditionBlockAsync P;
          P.initialize(A.matrix, AdditionalData(2, 3, 20, 1., true, Schedule::synchronous, Backend::host, shape));
          Vector<double> x(144), y(144);
          x = 3.;
          P.step(x, b);
          P.vmult(y, b);
          for (const int row : {0, 5, 77})
            {
              EXPECT_EQ(x[row], 3.);
              EXPECT_EQ(y[row], 0.);
            }
          EXPECT_NE(x[1], 3.);
          P.Tvmult(x, b);
          expect_near(x, y, 0.);
        }
    }

    /** What Fields say that have no name here is what AdditionalData says without arguments. */
    TEST(PreconditionBlockAsync, FieldsByNameAreThoseByPosition)
    {
      const auto same = [](const PreconditionBlockAsync::Fields &a, const PreconditionBlockAsync::Fields &b) {
        return a.n_iterations == b.n_iterations && a.local_iterations == b.local_iterations && a.block_size == b.block_size && a.omega == b.omega &&
               a.l1_weights == b.l1_weights && a.schedule == b.schedule && a.backend == b.backend && a.block_shape == b.block_shape &&
               a.n_threads == b.n_threads && a.coordinates == b.coordinates && a.dim == b.dim && a.omega_is_tau == b.omega_is_tau;
      };
      EXPECT_TRUE(same(AdditionalData(), PreconditionBlockAsync::Fields{}));
      EXPECT_TRUE(same(AdditionalData(3, 4, 8), PreconditionBlockAsync::Fields{.n_iterations = 3, .local_iterations = 4, .block_size = 8}));

      Laplacian              A(6, 6);
      PreconditionBlockAsync by_name, by_position;
      by_name.initialize(A.matrix, PreconditionBlockAsync::Fields{.local_iterations = 2, .block_size = 7, .omega = 0.9});
      by_position.initialize(A.matrix, AdditionalData(2, 2, 7, 0.9));
      Vector<double> b(36), x(36), y(36);
      for (unsigned int i = 0; i < b.size(); ++i)
        b(i) = i;
      by_name.vmult(x, b);
      by_position.vmult(y, b);
      y -= x;
      EXPECT_EQ(y.linfty_norm(), 0.);
    }

    TEST(PreconditionBlockAsync, RejectsBadInput)
    {
      Laplacian              A(4, 4);
      PreconditionBlockAsync P;
      Vector<double>         x(16), b(16), longer(17);
      EXPECT_THROW(P.vmult(x, b), InvalidInput);
      EXPECT_THROW(P.Tvmult(x, b), InvalidInput);
      P.initialize(A.matrix);
      EXPECT_THROW(P.vmult(longer, b), InvalidInput);
      EXPECT_THROW(P.step(x, longer), InvalidInput);
      EXPECT_THROW(P.initialize(A.matrix, AdditionalData(0)), InvalidInput);
      EXPECT_THROW(P.initialize(A.matrix, AdditionalData(2, 0)), InvalidInput);
      EXPECT_THROW(P.initialize(A.matrix, AdditionalData(2, 5, 0)), InvalidInput);
      EXPECT_THROW(P.initialize(A.matrix, AdditionalData(2, 5, 256, 2.)), InvalidInput);
      P.vmult(x, b); // what was there is still there

      const dealii::SparsityPattern wide(3, 5, 2);
      dealii::SparsityPattern       compressed;
      compressed.copy_from(wide);
      const SparseMatrix<double> not_square(compressed);
      EXPECT_THROW(P.initialize(not_square), InvalidInput);

      A.matrix.set(0, 1, -3.);
      P.initialize(A.matrix);
      EXPECT_THROW(P.Tvmult(x, b), InvalidInput); // not symmetric
      A.matrix.set(9, 9, 0.);
      try
        {
          P.initialize(A.matrix, AdditionalData(2, 5, 4, 1., false, Schedule::synchronous, Backend::host, BlockShape::rcm));
          FAIL() << "a zero diagonal was accepted";
        }
      catch (const InvalidInput &error)
        {
          EXPECT_NE(std::string(error.what()).find("row 9 is zero"), std::string::npos) << error.what();
        }
    }

    /** The five-point stencil and vectors on as many ranks as there are. */
    struct DistributedLaplacian
    {
      static constexpr int n = 20;
      using Change           = std::function<double(unsigned int, unsigned int, double)>;

      explicit DistributedLaplacian(const Change &change = [](unsigned int, unsigned int, double value) { return value; })
        : owned(dealii::Utilities::MPI::create_evenly_distributed_partitioning(MPI_COMM_WORLD, n * n))
        , matrix(owned, MPI_COMM_WORLD, 5)
        , b(owned, MPI_COMM_WORLD)
      {
        five_points(n, n, [&](int i, int j, double value) {
          if (owned.is_element(i))
            matrix.set(i, j, change(i, j, value));
        });
        matrix.compress(dealii::VectorOperation::insert);
        const Vector<double> all = some_vector(n * n);
        for (const auto i : owned)
          b[i] = all[i];
        b.compress(dealii::VectorOperation::insert);
      }
      dealii::IndexSet owned;
      TrilinosMatrix   matrix;
      TrilinosVector   b;
    };

    TEST(Trilinos, RelaxesInSinglePrecisionAsInDouble)
    {
      const auto size = [](unsigned int row) { return row < 150 ? 1. : std::ldexp(1., 60); }; // needs scaling on some of the ranks
      for (const Backend backend : {Backend::host, Backend::cuda})
        for (const bool scaled : {false, true})
          {
            if (backend == Backend::cuda && device::n_devices() == 0)
              continue;
            const DistributedLaplacian D([&](unsigned int i, unsigned int j, double value) { return scaled ? size(i) * size(j) * value : value; });
            AdditionalData             data(3, 2, 16, 0.8, false, Schedule::synchronous, backend);
            PreconditionBlockAsync     in_double, in_single;
            in_double.initialize(D.matrix, data);
            data.arithmetic = Arithmetic::single_precision;
            in_single.initialize(D.matrix, data);
            TrilinosVector b(D.b), x(D.owned, MPI_COMM_WORLD), y(x);
            for (const auto i : D.owned)
              b[i] *= scaled ? size(i) : 1.;
            const auto compare = [&] {
              for (const auto i : D.owned)
                EXPECT_NEAR(y[i] * (scaled ? size(i) : 1.), x[i] * (scaled ? size(i) : 1.), 1e-5) << i;
            };
            in_double.vmult(x, b);
            in_single.vmult(y, b);
            compare();
            in_double.step(x, b);
            in_single.step(y, b);
            compare();
            EXPECT_GT(x.linfty_norm(), 0.1);
          }
    }

    TEST(Trilinos, RelaxesAsOneProcessDoes)
    {
      const DistributedLaplacian D;
      const Laplacian            A(D.n, D.n);
      const Vector<double>       b = some_vector(A.matrix.m());
      Vector<double>             expected(b.size());
      PreconditionBlockAsync     P, Q;
      for (const BlockShape shape : all_shapes)
        {
          const AdditionalData data(3, 1, 16, 0.8, false, Schedule::synchronous, Backend::host, shape); // one sweep: blocks do not matter
          P.initialize(A.matrix, data);
          Q.initialize(D.matrix, data);
          EXPECT_EQ(Q.m(), b.size());
          TrilinosVector    x(D.owned, MPI_COMM_WORLD);
          DistributedVector y(D.owned, MPI_COMM_WORLD), c(D.owned, MPI_COMM_WORLD);
          std::copy(D.b.begin(), D.b.end(), c.begin());
          const auto compare = [&] {
            for (const auto i : D.owned)
              {
                EXPECT_NEAR(x[i], expected[i], 1e-13);
                EXPECT_NEAR(y[i], expected[i], 1e-13);
              }
          };
          P.vmult(expected, b);
          Q.vmult(x, D.b);
          Q.vmult(y, c);
          compare();
          P.step(expected, b);
          Q.Tstep(x, D.b);
          Q.step(y, c);
          compare();
        }
    }

    /** On any number of ranks; the five-point stencil's eigenvalues of D^-1 A are 1 -+ cos(pi / (n + 1)). */
    TEST(Trilinos, OmegaIsTau)
    {
      using Fields = PreconditionBlockAsync::Fields;
      const DistributedLaplacian D;
      const Laplacian            A(D.n, D.n);
      const double               c = std::cos(std::acos(-1.) / (D.n + 1));
      PreconditionBlockAsync     P, Q, R;
      EXPECT_EQ(P.omega(), 0.);
      P.initialize(A.matrix, Fields{.omega_is_tau = true});
      Q.initialize(D.matrix, Fields{.omega_is_tau = true});
      for (const PreconditionBlockAsync *each : {&P, &Q})
        {
          EXPECT_NEAR(each->eigenvalues().smallest, 1. - c, 0.01 * (1. - c));
          EXPECT_NEAR(each->eigenvalues().largest, 1.01 * (1. + c), 2e-3);
          EXPECT_DOUBLE_EQ(each->omega(), 2. / (each->eigenvalues().smallest + each->eigenvalues().largest));
        }
      R.initialize(D.matrix, Fields{.omega = Q.omega()});
      EXPECT_EQ(R.eigenvalues().largest, 0.);
      TrilinosVector x(D.owned, MPI_COMM_WORLD), y(D.owned, MPI_COMM_WORLD);
      Q.vmult(x, D.b);
      R.vmult(y, D.b);
      for (const auto i : D.owned)
        EXPECT_EQ(x[i], y[i]);

      const double before = Q.omega();
      EXPECT_THROW(Q.initialize(D.matrix, Fields{.l1_weights = true, .omega_is_tau = true}), InvalidInput);
      // one entry at a time: within a rank, between ranks wherever rows are divided; the diagonal; too large beside it
      for (unsigned int row = D.n; row < D.matrix.m(); row += D.n)
        {
          const DistributedLaplacian other([&](unsigned int i, unsigned int j, double value) { return i == row && j == row - D.n ? -0.99 : value; });
          EXPECT_THROW(Q.initialize(other.matrix, Fields{.omega_is_tau = true}), InvalidInput) << row;
        }
      const DistributedLaplacian negative([](unsigned int i, unsigned int j, double value) { return i == 7 && j == 7 ? -4. : value; });
      EXPECT_THROW(Q.initialize(negative.matrix, Fields{.omega_is_tau = true}), InvalidInput);
      const DistributedLaplacian indefinite([](unsigned int i, unsigned int j, double value) { return i == j ? 3. : value; });
      EXPECT_THROW(Q.initialize(indefinite.matrix, Fields{.omega_is_tau = true}), InvalidInput);
      EXPECT_EQ(Q.omega(), before); // what was there is still there
    }

    TEST(Trilinos, ServesKrylovSolvers)
    {
      const DistributedLaplacian D;
      TrilinosVector             x(D.owned, MPI_COMM_WORLD), r(D.owned, MPI_COMM_WORLD);
      PreconditionBlockAsync     P;
      dealii::SolverControl      control(50, 1e-8 * D.b.l2_norm());
      P.initialize(D.matrix, AdditionalData(2, 5, 16));
      dealii::SolverCG<TrilinosVector>(control).solve(D.matrix, x, D.b, P);
      EXPECT_LT(D.matrix.residual(r, x, D.b), 1e-7 * D.b.l2_norm());
      x = 0.;
      P.initialize(D.matrix, AdditionalData(2, 5, 16, 1., false, Schedule::chaotic, Backend::host, BlockShape::metis));
      dealii::SolverFGMRES<TrilinosVector>(control).solve(D.matrix, x, D.b, P);
      EXPECT_LT(D.matrix.residual(r, x, D.b), 1e-7 * D.b.l2_norm());
    }

    TEST(Trilinos, AllowsRanksWithoutRows)
    {
      const dealii::IndexSet owned = dealii::Utilities::MPI::create_evenly_distributed_partitioning(MPI_COMM_WORLD, 1);
      TrilinosMatrix         A(owned, MPI_COMM_WORLD, 1);
      for (const auto i : owned)
        A.set(i, i, 4.);
      A.compress(dealii::VectorOperation::insert);
      TrilinosVector x(owned, MPI_COMM_WORLD), b(owned, MPI_COMM_WORLD);
      b = 2.;
      for (const BlockShape shape : all_shapes)
        {
          PreconditionBlockAsync P;
          P.initialize(A, AdditionalData(1, 1, 16, 1., false, Schedule::synchronous, Backend::host, shape));
          P.Tvmult(x, b);
          P.step(x, b);
          EXPECT_EQ(x.l2_norm(), 0.5);
        }
    }

    TEST(Trilinos, LeavesZeroRowsAloneAndRejectsZeroDiagonals)
    {
      const unsigned int         last = DistributedLaplacian::n * DistributedLaplacian::n - 1;
      const DistributedLaplacian zero_row([&](unsigned int i, unsigned int j, double value) { return i == last || j == last ? 0. : value; });
      PreconditionBlockAsync     P;
      P.initialize(zero_row.matrix);
      TrilinosVector x(zero_row.b);
      P.step(x, zero_row.b);
      for (const auto i : zero_row.owned)
        EXPECT_EQ(x[i] == zero_row.b[i], i == last);

      const DistributedLaplacian zero_diagonal([&](unsigned int i, unsigned int j, double value) { return i == last && j == last ? 0. : value; });
      EXPECT_THROW(P.initialize(zero_diagonal.matrix), InvalidInput); // on all ranks

      const DistributedLaplacian not_symmetric([&](unsigned int i, unsigned int j, double value) { return i == last && j < i ? 2. * value : value; });
      P.initialize(not_symmetric.matrix);
      EXPECT_THROW(P.Tvmult(x, zero_row.b), InvalidInput);
    }
  } // namespace
} // namespace leopard
