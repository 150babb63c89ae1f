// SPDX-License-Identifier: Apache-2.0
// Field after field: FieldSweep, and PreconditionAggregation with it. Run with 2 and 4 ranks, too; one rank is a rank.

#include <solvers/dealii/field_sweep.h>
#include <solvers/dealii/precondition_aggregation.h>
#include <solvers/device/device.h>
#include <solvers/matrix/stencil.h>

#include <deal.II/base/mpi.h>
#include <deal.II/lac/solver_cg.h>
#include <deal.II/lac/solver_gmres.h>
#include <deal.II/lac/sparse_direct.h>
#include <deal.II/lac/sparse_matrix.h>
#include <deal.II/lac/vector.h>

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

namespace leopard::several_fields
{
  namespace
  {
    using dealii::IndexSet;
    using dealii::SparseMatrix;
    using dealii::Vector;

    constexpr int n_side = 24, n_nodes = n_side * n_side;

    /** Of node i's field c with node j's field d, where j is i or one of its neighbours; zero: no entry. */
    using Entry = std::function<double(int c, int d, int i, int j)>;

    CrsMatrix<double> system(int n_fields, const Entry &entry)
    {
      const CrsMatrix<double> neighbours = five_point_stencil(n_side, n_side, 0.).to_crs();
      CrsMatrix<double>       A;
      A.n_rows = A.n_columns = n_fields * n_nodes;
      for (int i = 0; i < n_nodes; ++i)
        for (int c = 0; c < n_fields; ++c)
          {
            for (int p = neighbours.row_offsets[i]; p < neighbours.row_offsets[i + 1]; ++p)
              for (int d = 0; d < n_fields; ++d)
                if (const double value = entry(c, d, i, neighbours.columns[p]); value != 0.)
                  {
                    A.columns.push_back(n_fields * neighbours.columns[p] + d);
                    A.values.push_back(value);
                  }
            A.row_offsets.push_back(A.n_entries());
          }
      return A;
    }

    double laplace(int i, int j)
    {
      return i == j ? 4. : -1.;
    }

    /** A Turing system's step that is far too long for each field by itself: u feeds v, which consumes u. */
    CrsMatrix<double> coupled_at_nodes(double strength)
    {
      return system(2, [=](int c, int d, int i, int j) {
        if (c == d)
          return (c == 0 ? 1. : 20.) * laplace(i, j) + (i == j ? 0.3 * strength : 0.);
        return i == j ? (c == 0 ? -strength : 0.9 * strength) : 0.;
      });
    }

    /** Fluxes of one field along the gradient of the other, alike both ways: positive definite. */
    CrsMatrix<double> coupled_by_fluxes(double strength)
    {
      return system(2, [=](int c, int d, int i, int j) { return (c == d ? 1. : strength) * laplace(i, j) + (c == d && i == j ? 1e-3 : 0.); });
    }

    struct DealiiMatrix
    {
      explicit DealiiMatrix(const CrsMatrix<double> &A)
      {
        dealii::DynamicSparsityPattern entries(A.n_rows);
        for_entries(A, [&](int i, int j, double) { entries.add(i, j); });
        pattern.copy_from(entries);
        matrix.reinit(pattern);
        for_entries(A, [&](int i, int j, double value) { matrix.set(i, j, value); });
      }
      static void for_entries(const CrsMatrix<double> &A, const std::function<void(int, int, double)> &f)
      {
        for (int i = 0; i < A.n_rows; ++i)
          for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
            f(i, A.columns[p], A.values[p]);
      }
      dealii::SparsityPattern pattern;
      SparseMatrix<double>    matrix;
    };

    Vector<double> rough(unsigned int n, int seed = 0)
    {
      Vector<double> v(n);
      for (unsigned int i = 0; i < n; ++i)
        v[i] = std::sin(1. + seed + 3. * i);
      return v;
    }

    /** What PreconditionAggregation was before: its levels, each field by itself. */
    class EachByItself
    {
    public:
      EachByItself(const PreconditionAggregation &levels_, unsigned int n_fields_)
        : levels(levels_)
        , n_fields(n_fields_)
      {
      }

      void vmult(Vector<double> &dst, const Vector<double> &src) const
      {
        Vector<double> of_field(src.size()), x(src.size());
        for (unsigned int c = 0; c < n_fields; ++c)
          {
            of_field = 0.;
            for (unsigned int i = c; i < src.size(); i += n_fields)
              of_field[i] = src[i];
            levels.vmult(x, of_field); // of zeros before it, so that nothing comes to field c from there
            for (unsigned int i = c; i < src.size(); i += n_fields)
              dst[i] = x[i];
          }
      }

    private:
      const PreconditionAggregation &levels;
      const unsigned int             n_fields;
    };

    using Cg    = dealii::SolverCG<Vector<double>>;
    using Gmres = dealii::SolverGMRES<Vector<double>>;

    /** The solution is compared with that of a direct solver. */
    template <typename Solver, typename Preconditioner>
    unsigned int iterations(const SparseMatrix<double> &A, const Preconditioner &preconditioner)
    {
      Vector<double>              x(A.m()), right(A.m());
      const Vector<double>        b = rough(A.m());
      dealii::SolverControl       control(2000, 1e-10 * b.l2_norm(), false, false);
      dealii::SparseDirectUMFPACK direct;
      Solver(control).solve(A, x, b, preconditioner);
      direct.initialize(A);
      direct.vmult(right, b);
      x -= right;
      EXPECT_LT(x.l2_norm(), 1e-7 * right.l2_norm());
      return control.last_step();
    }

    PreconditionAggregation::AdditionalData of_fields(int n)
    {
      PreconditionAggregation::AdditionalData data;
      data.n_fields = n;
      return data;
    }

    TEST(FieldSweep, FewerIterationsWhereFieldsHoldTogether)
    {
      for (const double strength : {0.5, 2., 8.})
        {
          const DealiiMatrix      A(coupled_at_nodes(strength));
          PreconditionAggregation levels;
          levels.initialize(A.matrix, of_fields(2));
          EXPECT_FALSE(levels.is_symmetric_map());
          EXPECT_NE(levels.description().find(", field after field"), std::string::npos) << levels.description();
          EXPECT_EQ(levels.description().find(" and back"), std::string::npos) << levels.description();
          const unsigned int found = iterations<Gmres>(A.matrix, levels), apart = iterations<Gmres>(A.matrix, EachByItself(levels, 2));
          EXPECT_LE(3 * found, 2 * apart) << strength;
        }
    }

    /** CG takes it, and GMRES: fluxes couple neighbours, too. */
    TEST(FieldSweep, GoesBackWhereCgNeedsASymmetricMap)
    {
      const DealiiMatrix      A(coupled_by_fluxes(0.9));
      PreconditionAggregation levels;
      levels.initialize(A.matrix, of_fields(2));
      EXPECT_TRUE(levels.is_symmetric_map());
      EXPECT_NE(levels.description().find(", field after field and back"), std::string::npos) << levels.description();
      Vector<double>       x(A.matrix.m()), y(A.matrix.m());
      const Vector<double> b = rough(A.matrix.m()), c = rough(A.matrix.m(), 5);
      levels.vmult(x, b);
      levels.vmult(y, c);
      EXPECT_NEAR(x * c, y * b, 1e-12 * x.l2_norm() * c.l2_norm());
      EXPECT_GT(x * b, 0.);
      const unsigned int apart = iterations<Cg>(A.matrix, EachByItself(levels, 2));
      EXPECT_LE(3 * iterations<Cg>(A.matrix, levels), 2 * apart);
      EXPECT_LE(3 * iterations<Gmres>(A.matrix, levels), 2 * iterations<Gmres>(A.matrix, EachByItself(levels, 2)));

      // other values: fields that are not coupled, and that are not coupled alike
      const DealiiMatrix alone(coupled_by_fluxes(0.));
      levels.update_values(alone.matrix);
      EXPECT_TRUE(levels.is_symmetric_map());
      EXPECT_NE(levels.description().find(", for each field"), std::string::npos) << levels.description();
      levels.vmult(x, b);
      EachByItself(levels, 2).vmult(y, b);
      y -= x;
      EXPECT_EQ(y.l2_norm(), 0.);
      levels.update_values(DealiiMatrix(coupled_at_nodes(1.)).matrix);
      EXPECT_FALSE(levels.is_symmetric_map());
    }

    /** Three fields; B_c is the inverse of A's diagonal times the field's share. */
    struct ThreeFields
    {
      explicit ThreeFields(bool symmetric)
        : A(system(3,
                   [=](int c, int d, int i, int j) {
                     const int    first = c < d ? i : j, second = c < d ? j : i; // the transposed entry is the same
                     const double value = std::sin(1. + 7. * first + 3. * second + c * d);
                     return c == d ? (i == j ? 8. + c : -1.) : symmetric || c < d ? value : 0.5 + value;
                   }))
        , inverse(A.n_rows)
      {
        for (int i = 0; i < A.n_rows; ++i)
          for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
            if (A.columns[p] == i)
              inverse[i] = (1. + 0.1 * (i % 3)) / A.values[p];
      }

      /** The definition, on one rank: forward, and back. */
      std::vector<double> expected(const std::vector<double> &b, bool back) const
      {
        std::vector<double> x(A.n_rows, 0.);
        const auto          sum = [&](int i, bool behind) {
          double result = 0.;
          for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
            if (const int d = A.columns[p] % 3; behind ? d > i % 3 : d < i % 3)
              result += A.values[p] * x[A.columns[p]];
          return result;
        };
        for (int c = 0; c < 3; ++c)
          for (int i = c; i < A.n_rows; i += 3)
            x[i] = inverse[i] * (b[i] - sum(i, false));
        for (int c = 1; c >= 0 && back; --c)
          for (int i = c; i < A.n_rows; i += 3)
            x[i] -= inverse[i] * sum(i, true);
        return x;
      }

      /** The rows of one rank of several. */
      LocalMatrix local(const IndexSet &rows) const
      {
        LocalMatrix result{{}, rows, IndexSet(A.n_rows)};
        for (const auto i : rows)
          for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
            if (!rows.is_element(A.columns[p]))
              result.ghosts.add_index(A.columns[p]);
        result.ghosts.compress();
        CrsMatrix<double> &matrix = result.matrix;
        matrix.n_rows             = static_cast<int>(rows.n_elements());
        matrix.n_columns          = matrix.n_rows + static_cast<int>(result.ghosts.n_elements());
        for (const auto i : rows)
          {
            for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
              {
                const int j = A.columns[p];
                matrix.columns.push_back(
                  static_cast<int>(rows.is_element(j) ? rows.index_within_set(j) : matrix.n_rows + result.ghosts.index_within_set(j)));
                matrix.values.push_back(A.values[p]);
              }
            matrix.row_offsets.push_back(matrix.n_entries());
          }
        return result;
      }

      CrsMatrix<double>   A;
      std::vector<double> inverse;
    };

    /** @param first_rank the ranks before it have no rows, where there are others. */
    IndexSet rows_of_rank(int n_ranks_without)
    {
      const int ranks = static_cast<int>(dealii::Utilities::MPI::n_mpi_processes(MPI_COMM_WORLD)),
                first = ranks > n_ranks_without ? n_ranks_without : 0,
                rank = static_cast<int>(dealii::Utilities::MPI::this_mpi_process(MPI_COMM_WORLD)) - first, n = ranks - first;
      IndexSet rows(3 * n_nodes);
      if (rank >= 0)
        rows.add_range(3 * (n_nodes * rank / n), 3 * (n_nodes * (rank + 1) / n));
      rows.compress();
      return rows;
    }

    TEST(FieldSweep, OnRanksAsItIsDefined)
    {
      for (const int without : {0, 1})
        for (const bool symmetric : {false, true})
          {
            const ThreeFields   problem(symmetric);
            const IndexSet      rows  = rows_of_rank(without);
            const LocalMatrix   local = problem.local(rows);
            FieldSweep<double>  sweep(local, 3, Backend::host, 2, MPI_COMM_WORLD);
            FieldSweep<float>   in_single(local, 3, Backend::host, 2, MPI_COMM_WORLD, {1., 0.5, 2.});
            std::vector<double> b(problem.A.n_rows), own_b;
            for (int i = 0; i < problem.A.n_rows; ++i)
              b[i] = std::sin(1. + 3. * i);
            for (const auto i : rows)
              own_b.push_back(b[i]);
            EXPECT_EQ(sweep.is_symmetric(), symmetric);
            EXPECT_EQ(sweep.description(), symmetric ? "field after field and back" : "field after field");

            const int                 first  = rows.n_elements() > 0 ? static_cast<int>(rows.nth_index_in_set(0)) : 0;
            const std::vector<double> scale  = {1., 0.5, 2.};
            const double              unset  = std::nan(""); // what of x is not yet known is not read
            const auto                expect = [&](const std::vector<double> &right, double factor, double tolerance, const char *what) {
              std::vector<double> x(own_b.size(), unset);
              sweep.vmult(x.data(), own_b.data(), [&](int c, double *of_x, const double *of_b) {
                for (int i = c; i < static_cast<int>(own_b.size()); i += 3)
                  of_x[i] = factor * problem.inverse[first + i] * of_b[i];
              });
              for (std::size_t i = 0; i < x.size(); ++i)
                ASSERT_NEAR(x[i], right[first + i], tolerance) << what << ", symmetric " << symmetric << ", row " << i;
            };
            expect(problem.expected(b, symmetric), 1., 1e-12, "first values");

            // S A S with B_c divided by s_c^2 has S^-1 times the result for S b
            std::vector<float> low_x(own_b.size(), static_cast<float>(unset)), low_b;
            for (std::size_t i = 0; i < own_b.size(); ++i)
              low_b.push_back(static_cast<float>(scale[i % 3] * own_b[i]));
            in_single.vmult(low_x.data(), low_b.data(), [&](int c, float *of_x, const float *of_b) {
              for (int i = c; i < static_cast<int>(low_x.size()); i += 3)
                of_x[i] = static_cast<float>(problem.inverse[first + i] / (scale[c] * scale[c]) * of_b[i]);
            });
            const std::vector<double> right = problem.expected(b, symmetric);
            for (std::size_t i = 0; i < low_x.size(); ++i)
              ASSERT_NEAR(scale[i % 3] * low_x[i], right[first + i], 1e-5) << "in single precision, row " << i;

            ThreeFields other(true);
            for (double &value : other.A.values)
              value *= 0.5;
            sweep.update_values(other.local(rows).matrix.values.data());
            EXPECT_TRUE(sweep.is_symmetric());
            std::vector<double> of_other = ThreeFields(true).expected(b, true);
            for (double &value : of_other)
              value *= 2.;
            expect(of_other, 2., 1e-12, "other values");
          }
    }

    TEST(FieldSweep, OnTheDeviceAsOnTheHost)
    {
      if (device::n_devices() == 0)
        GTEST_SKIP() << "no GPU";
      for (const bool symmetric : {false, true})
        {
          const DealiiMatrix A(symmetric ? coupled_by_fluxes(0.9) : coupled_at_nodes(2.));
          const unsigned int n = A.matrix.m();

          // B_c of diagonals, by products alone
          const ThreeFields        problem(symmetric);
          const LocalMatrix        local{problem.A, dealii::complete_index_set(problem.A.n_rows), IndexSet(problem.A.n_rows)};
          const FieldSweep<double> sweep(local, 3, Backend::cuda, 1, MPI_COMM_SELF);
          std::vector<double>      b(problem.A.n_rows), x(b.size()), here(b.size()), of_x(b.size()), of_b(b.size());
          for (std::size_t i = 0; i < b.size(); ++i)
            b[i] = std::sin(1. + 3. * static_cast<double>(i));
          DeviceVector<double> there_x(x.size()), there_b(x.size());
          there_b.copy_from_host(b.data());
          sweep.vmult(there_x.data(), there_b.data(), [&](int c, double *to, const double *from) {
            device::copy_to_host(of_x.data(), to, of_x.size() * sizeof(double));
            device::copy_to_host(of_b.data(), from, of_b.size() * sizeof(double));
            for (std::size_t i = c; i < of_x.size(); i += 3)
              of_x[i] = problem.inverse[i] * of_b[i];
            device::copy_to_device(to, of_x.data(), of_x.size() * sizeof(double));
          });
          there_x.copy_to_host(x.data());
          here = problem.expected(b, symmetric);
          for (std::size_t i = 0; i < x.size(); ++i)
            ASSERT_NEAR(x[i], here[i], 1e-12) << "symmetric " << symmetric << ", row " << i;

          PreconditionAggregation levels;
          auto                    data = of_fields(2);
          data.multigrid.backend       = Backend::cuda;
          levels.initialize(A.matrix, data);
          EXPECT_EQ(levels.is_symmetric_map(), symmetric);
          EXPECT_LE(3 * iterations<Gmres>(A.matrix, levels), 2 * iterations<Gmres>(A.matrix, EachByItself(levels, 2))) << n;
        }
    }
  } // namespace
} // namespace leopard::several_fields
