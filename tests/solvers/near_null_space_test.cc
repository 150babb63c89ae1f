// SPDX-License-Identifier: Apache-2.0
// Smoothed aggregation for systems: nodes of several unknowns, and vectors that are nearly mapped to zero.
#include "multigrid_test.h"

#include <solvers/matrix/elasticity.h>
#include <solvers/multigrid/aggregation.h>

#include <gtest/gtest.h>

#include <cmath>

namespace leopard
{
  namespace
  {
    using Vectors = std::vector<Vector>;

    /** n_rows x n_vectors. */
    Dense basis(const NearNullSpace &space)
    {
      Dense B(static_cast<int>(space.values.size()) / space.n_vectors, space.n_vectors);
      B.values = space.values;
      return B;
    }

    Vectors random_vectors(int n, int n_vectors)
    {
      Vectors result;
      for (int k = 0; k < n_vectors; ++k)
        result.push_back(random_vector(n, 100 + k));
      return result;
    }

    /** P_0 R = B, where rows are in aggregates, and P_0^T P_0 = I; else P_0 is zero. */
    void expect_factors(const std::vector<int> &of_row, int n, const NearNullSpace &space)
    {
      const TentativeProlongation tentative = tentative_prolongation(of_row, n, space, 2);
      ASSERT_EQ(static_cast<int>(tentative.coarse.first_row.size()), n + 1);
      EXPECT_EQ(tentative.coarse.first_row.back(), tentative.prolongation.n_columns);
      const Dense P = dense(tentative.prolongation);
      Dense       B = basis(space);
      for (int i = 0; i < B.n_rows; ++i)
        for (int k = 0; k < B.n_columns; ++k)
          B(i, k) = of_row[i] >= 0 ? B(i, k) : 0.;
      EXPECT_LT(largest_difference(P * basis(tentative.coarse), B), 1e-14);
      EXPECT_LT(largest_difference(transpose(P) * P, identity(P.n_columns)), 1e-14);
      for (int i = 0; i < P.n_rows; ++i)
        for (int k = 0; k < P.n_columns; ++k)
          if (of_row[i] < 0 || k < tentative.coarse.first_row[of_row[i]] || k >= tentative.coarse.first_row[of_row[i] + 1])
            {
              EXPECT_EQ(P(i, k), 0.) << i << ", " << k;
            }
    }
  } // namespace

  /** The blocks of bilinear elements, as those of the Laplacian: 8/3 and -1/3, times lambda + 3 mu. */
  TEST(NearNullSpace, CouplingsAreTraces)
  {
    const Elasticity        problem = {2, {6, 5, 0}, {1., 1., 1.}, false};
    const CrsMatrix<double> A       = problem.matrix();
    for (const bool with_translations : {false, true})
      {
        Vectors translations = problem.rigid_body_modes();
        translations.pop_back();
        const NearNullSpace     space  = make_near_null_space(A.n_rows, 2, with_translations ? translations : Vectors());
        const double            factor = 4.5 / (with_translations ? problem.n_nodes() : 1); // of unit vectors
        const CrsMatrix<double> N      = couplings_of_nodes(A, space, 2);
        ASSERT_EQ(N.n_rows, problem.n_nodes());
        const Dense entries = dense(N);
        const int   middle  = 2 * problem.n(0) + 3;
        for (int j = 0; j < N.n_rows; ++j)
          {
            const bool near = std::abs(problem.place(j, 0) - 3) <= 1 && std::abs(problem.place(j, 1) - 2) <= 1;
            EXPECT_NEAR(entries(middle, j), j == middle ? factor * 8. / 3. : near ? -factor / 3. : 0., 1e-13 * factor) << j;
          }
      }
    const CrsMatrix<double> scalar = five_point_stencil(4, 4, 0.).to_crs();
    EXPECT_LT(largest_difference(dense(couplings_of_nodes(scalar, {})), dense(scalar)), 1e-16);
  }

  TEST(NearNullSpace, TentativeProlongationReproducesItAndIsOrthogonal)
  {
    for (const int dim : {2, 3})
      {
        const Elasticity        problem = {dim, {9, 8, 7}, {1., 2., 0.5}};
        const CrsMatrix<double> A       = problem.matrix();
        const NearNullSpace     space   = make_near_null_space(A.n_rows, dim, problem.rigid_body_modes());
        const Aggregates        fine    = aggregate(A, 0.3, 2, space);
        ASSERT_GT(fine.n, 2);
        expect_factors(fine.of_row, fine.n, space);
      }
    std::vector<int> of_row;
    for (int i = 0; i < 60; ++i)
      of_row.push_back(i % 7 - 1); // rows that are not neighbours
    expect_factors(of_row, 6, make_near_null_space(60, 1, random_vectors(60, 4)));
    NearNullSpace nearly_the_same;
    nearly_the_same.n_vectors = 3;
    for (const double v : random_vector(180, 3))
      nearly_the_same.values.push_back(1. + 1e-6 * v);
    expect_factors(of_row, 6, nearly_the_same);
  }

  /** Fewer rows than vectors, rows that are zero, columns that are equal there, and no row at all. */
  TEST(NearNullSpace, AggregatesOfLowerRankHaveFewerUnknowns)
  {
    NearNullSpace space;
    space.n_vectors               = 3;
    space.first_row               = {0, 2, 4, 6, 8, 10};
    space.values                  = {1.,     0.,       5., 0.,  1.,       -3.,                                        // a single node: rank 2
                                     0.,     0.,       0., 0.,  0.,       0.,                                         // zero: rank 0
                                     0.1,    0.1 / 3., 0., 0.2, 0.2 / 3., 1.,   0.7, 0.7 / 3., 3., 1.1, 1.1 / 3., 7., // second column a third of the first: rank 2
                                     1e-200, 0.,       0., 0.,  0.,       1e200};                                     // as good as any
    const std::vector<int> of_row = {0, 0, 1, 1, 2, 2, 2, 2, 4, 4};
    expect_factors({of_row.begin(), of_row.begin() + 8}, 4, {space.first_row, 3, Vector(space.values.begin(), space.values.begin() + 24)});
    const TentativeProlongation tentative = tentative_prolongation(of_row, 5, space);
    EXPECT_EQ(tentative.coarse.first_row, (std::vector<int>{0, 2, 2, 4, 4, 6}));
    for (const double value : tentative.prolongation.values)
      EXPECT_TRUE(std::abs(value) <= 1. + 1e-15) << value;
  }

  /** As of a rank that has none. */
  TEST(NearNullSpace, NoRowsHaveNoNodes)
  {
    const NearNullSpace space = make_near_null_space(0, 3, {{}, {}});
    EXPECT_EQ(space.n_nodes(0), 0);
    EXPECT_TRUE(free_motions({}, space).empty());
  }

  TEST(NearNullSpace, ConstantsOfUnknownsStayConstants)
  {
    const Elasticity            problem   = {3, {8, 8, 8}, {1., 1., 1.}, false};
    const CrsMatrix<double>     A         = problem.matrix();
    const NearNullSpace         space     = make_near_null_space(A.n_rows, 3, {});
    const Aggregates            fine      = aggregate(A, 0.3, 2, space);
    const TentativeProlongation tentative = tentative_prolongation(fine.of_row, fine.n, space);
    ASSERT_EQ(tentative.prolongation.n_columns, 3 * fine.n);
    for (int i = 0; i < A.n_rows; ++i)
      {
        ASSERT_EQ(tentative.prolongation.row_offsets[i + 1], i + 1);
        EXPECT_EQ(tentative.prolongation.columns[i], 3 * fine.of_row[i] + i % 3);
        EXPECT_EQ(tentative.prolongation.values[i], 1.);
      }
    const Dense P = dense(smoothed_prolongation(fine, tentative));
    for (int c = 0; c < 3; ++c)
      {
        Vector coarse(P.n_columns), fine_vector(P.n_rows);
        for (int k = 0; k < P.n_columns; ++k)
          coarse[k] = k % 3 == c ? 1. : 0.;
        for (int i = 0; i < P.n_rows; ++i)
          fine_vector[i] = i % 3 == c ? 1. : 0.;
        EXPECT_LT(norm(P * coarse - fine_vector), 1e-12);
      }
  }

  /** Free bodies, also with cells so long that couplings are weak: rotations turn what is weakly coupled, too. */
  TEST(NearNullSpace, SmoothedProlongationReproducesItWhereAMapsItToZero)
  {
    for (const Elasticity &problem : {Elasticity{2, {24, 12, 0}, {1., 1., 1.}, false},
                                      Elasticity{2, {24, 12, 0}, {1., 4., 1.}, false},
                                      Elasticity{3, {9, 6, 6}, {1., 1., 1.}, false},
                                      Elasticity{3, {9, 6, 6}, {1., 5., 5.}, false}})
      {
        CrsMatrix<double> A       = problem.matrix();
        NearNullSpace     space   = make_near_null_space(A.n_rows, problem.dim, problem.rigid_body_modes());
        double            largest = 0.;
        Dense             before  = basis(space);
        for (int level = 0; level < 2; ++level)
          {
            const Aggregates fine = aggregate(A, 0.3, 2, space);
            ASSERT_GT(fine.n, 1);
            TentativeProlongation   tentative = tentative_prolongation(fine.of_row, fine.n, space);
            const CrsMatrix<double> P         = smoothed_prolongation(fine, tentative, 2);
            for (const double lost : fine.lost)
              largest = std::max(largest, std::abs(lost));
            EXPECT_LT(largest_difference(dense(P) * basis(tentative.coarse), before), 1e-12);
            A      = crs(transpose(dense(P)) * (dense(A) * dense(P)));
            space  = tentative.coarse;
            before = basis(space);
            EXPECT_LT(largest_difference(dense(A) * before, Dense(A.n_rows, space.n_vectors)), 1e-12);
          }
        EXPECT_GT(largest, 1e-3) << "there is no weak coupling that tells anything";
      }
  }

  TEST(NearNullSpace, SmoothedProlongationIsOneStepOfJacobiForItElsewhere)
  {
    const Elasticity            problem   = {2, {20, 12, 0}, {1., 3., 1.}};
    const CrsMatrix<double>     A         = problem.matrix();
    const NearNullSpace         space     = make_near_null_space(A.n_rows, 2, problem.rigid_body_modes());
    const Aggregates            fine      = aggregate(A, 0.3, 1, space);
    const TentativeProlongation tentative = tentative_prolongation(fine.of_row, fine.n, space);
    const Dense                 B = basis(space), PR = dense(smoothed_prolongation(fine, tentative)) * basis(tentative.coarse), AB = dense(A) * B;
    const Dense                 a     = dense(A);
    double                      omega = 0.;
    int                         n     = 0;
    for (int i = 0; i < A.n_rows; ++i)
      for (int k = 0; k < 3; ++k)
        if (fine.of_row[i] < 0)
          EXPECT_EQ(PR(i, k), 0.); // clamped
        else if (std::abs(AB(i, k)) < 1e-12)
          EXPECT_NEAR(PR(i, k), B(i, k), 1e-12);
        else
          {
            const double found = (B(i, k) - PR(i, k)) * a(i, i) / AB(i, k);
            omega              = omega == 0. ? found : omega;
            EXPECT_NEAR(found, omega, 1e-8 * omega);
            ++n;
          }
    EXPECT_GT(omega, 0.1);
    EXPECT_GT(n, 20);
  }
} // namespace leopard
