// SPDX-License-Identifier: Apache-2.0
// Multigrid by smoothed aggregation for elasticity and other systems.
#include "systems_test.h"

#include <solvers/base/errors.h>
#include <solvers/krylov/cg.h>
#include <solvers/multigrid/device_aggregation.h>

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <map>
#include <random>
#include <string>

namespace leopard
{
  namespace
  {
    using Vectors = std::vector<Vector>;

    int iterations(const CrsMatrix<double> &A, const AggregationOptions &aggregation, const Vector &b)
    {
      return iterations_of_cg(A, aggregation, v_cycle(), b);
    }

    int iterations(const CrsMatrix<double> &A, const AggregationOptions &aggregation)
    {
      return iterations(A, aggregation, random_vector(A.n_rows, 7));
    }

    std::string refusal(const CrsMatrix<double> &A, const AggregationOptions &options)
    {
      try
        {
          Multigrid<double>(A, options, v_cycle());
        }
      catch (const InvalidInput &error)
        {
          return error.what();
        }
      return "";
    }

    /** G^T G + I with a sparse random G: symmetric positive definite, with signs of all kinds. */
    CrsMatrix<double> random_definite_matrix(int n, int seed)
    {
      std::mt19937 random(seed);
      Dense        G(n, n);
      for (int i = 0; i < n; ++i)
        for (int t = 0; t < 3; ++t)
          G(i, std::min(n - 1, i / 3 * 3 + static_cast<int>(random() % 9))) = (random() % 2001) / 1000. - 1.;
      return crs(transpose(G) * G + identity(n));
    }

    void expect_equal(const MultigridHierarchy &a, const MultigridHierarchy &b)
    {
      ASSERT_EQ(a.levels.size(), b.levels.size());
      for (std::size_t l = 0; l < a.levels.size(); ++l)
        for (const auto part : {&MultigridLevel::matrix, &MultigridLevel::prolongation})
          {
            EXPECT_EQ((a.levels[l].*part).row_offsets, (b.levels[l].*part).row_offsets) << l;
            EXPECT_EQ((a.levels[l].*part).columns, (b.levels[l].*part).columns) << l;
            EXPECT_EQ((a.levels[l].*part).values, (b.levels[l].*part).values) << l;
          }
    }
  } // namespace

  /**
   * 16 to 20 are measured with rotations; 27 to 70 with translations alone, 111 to 472 of the finest with one unknown a
   * node.
   */
  TEST(AggregationOfSystems, IterationsDoNotGrowWithTheMesh)
  {
    struct Case
    {
      const char             *name;
      std::vector<Elasticity> meshes;
    };
    const std::vector<Case> cases = {{"square", {{2, {24, 24, 0}}, {2, {48, 48, 0}}, {2, {96, 96, 0}}}},
                                     {"beam", {{2, {64, 8, 0}}, {2, {128, 16, 0}}, {2, {256, 32, 0}}}},
                                     {"cube", {{3, {8, 8, 8}}, {3, {12, 12, 12}}, {3, {18, 18, 18}}}},
                                     {"bar", {{3, {24, 4, 4}}, {3, {36, 6, 6}}, {3, {54, 9, 9}}}}};
    for (const Case &c : cases)
      {
        for (const Elasticity &problem : c.meshes)
          {
            const CrsMatrix<double> A = problem.matrix();
            EXPECT_LE(iterations(A, with_rotations(problem)), 24) << c.name << ", " << problem.n_cells[0];
            EXPECT_LE(iterations(A, blocks_of(problem)), 85) << c.name << ", " << problem.n_cells[0];
          }
        EXPECT_GE(iterations(c.meshes.back().matrix(), {}), 100) << c.name;
      }
  }

  /**
   * Cells so long that half of the couplings are weak, and still are coarsened where they are strong only. 34 and 43
   * are measured.
   */
  TEST(AggregationOfSystems, FollowsStrongCouplingsOfNodes)
  {
    for (const Elasticity &problem : {Elasticity{2, {64, 64, 0}, {1., 10., 1.}}, Elasticity{3, {16, 16, 16}, {1., 0.1, 0.1}}})
      {
        const CrsMatrix<double>  A         = problem.matrix();
        const MultigridHierarchy hierarchy = aggregation_hierarchy(A, with_rotations(problem));
        double                   sum       = 0.;
        for (const MultigridLevel &level : hierarchy.levels)
          sum += static_cast<double>(level.matrix.values.size());
        EXPECT_LT(sum, 2.6 * A.values.size()) << problem.dim; // 7 and 2.6 if the prolongation is smoothed with weak ones
        EXPECT_LE(iterations(A, with_rotations(problem)), 50) << problem.dim;
      }
  }

  TEST(AggregationOfSystems, LevelsAreGalerkinProducts)
  {
    const Elasticity   problem         = {3, {10, 10, 10}};
    AggregationOptions options         = with_rotations(problem);
    options.max_coarse                 = 60;
    const MultigridHierarchy hierarchy = aggregation_hierarchy(problem.matrix(), options);
    ASSERT_GE(hierarchy.levels.size(), 3u);
    EXPECT_NO_THROW(hierarchy.validate());
    for (std::size_t l = 1; l < hierarchy.levels.size(); ++l)
      {
        const CrsMatrix<double> &P = hierarchy.levels[l].prolongation, &A = hierarchy.levels[l].matrix, &coarse = hierarchy.levels[l - 1].matrix;
        const Vector             x = random_vector(P.n_columns, 3);
        Vector                   fine(P.n_rows), product(A.n_rows), expected(P.n_columns), found(P.n_columns);
        multiply(P, x.data(), fine.data());
        multiply(A, fine.data(), product.data());
        multiply(transpose(P), product.data(), expected.data());
        multiply(coarse, x.data(), found.data());
        EXPECT_LT(norm(found - expected), 1e-13 * norm(expected)) << l;
      }
  }

  /**
   * 19 to 26 are measured, with stiffnesses 1 : 100 40; with translations alone 31 to 137, with one unknown a node 52
   * to 287.
   */
  TEST(AggregationOfSystems, NetworksOfBarsAreSolvedInAFewIterations)
  {
    for (const std::array<int, 3> &n : {std::array<int, 3>{8, 8, 8}, {16, 16, 16}, {40, 3, 3}})
      {
        const Network network(n, 1.);
        EXPECT_LE(iterations(network.A, network.options()), 30) << n[0];
      }
    const Network jumps({30, 10, 3}, 100.);
    EXPECT_LE(iterations(jumps.A, jumps.options()), 48);
  }

  /** Clamped nodes are in no aggregate; where one direction only is prescribed, that row alone. */
  TEST(AggregationOfSystems, PrescribedUnknownsAreNotCorrected)
  {
    const Elasticity  problem = {2, {40, 40, 0}};
    CrsMatrix<double> A       = problem.matrix();
    std::vector<char> is_prescribed(A.n_rows, 0);
    for (int i = 0; i < A.n_rows; ++i) // rollers below
      is_prescribed[i] = static_cast<char>(problem.place(i / 2, 0) == 0 || (i % 2 == 1 && problem.place(i / 2, 1) == 0));
    for (int i = 0; i < A.n_rows; ++i)
      for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
        if (is_prescribed[i] != 0 || is_prescribed[A.columns[p]] != 0)
          A.values[p] = A.columns[p] == i ? 1. : 0.;
    A                               = without_zeros(A);
    const MultigridHierarchy levels = aggregation_hierarchy(A, with_rotations(problem));
    const CrsMatrix<double> &P      = levels.levels.back().prolongation;
    for (int i = 0; i < A.n_rows; ++i)
      {
        double largest = 0.;
        for (int p = P.row_offsets[i]; p < P.row_offsets[i + 1]; ++p)
          largest = std::max(largest, std::abs(P.values[p]));
        EXPECT_EQ(largest == 0., is_prescribed[i] != 0) << i;
      }
    EXPECT_LE(iterations(A, with_rotations(problem)), 24);
  }

  /** Bodies that nothing holds, or rollers on one side do, with loads in equilibrium. 15 to 27 are measured. */
  TEST(AggregationOfSystems, BodiesThatMayMoveAreSolvedFor)
  {
    for (const Elasticity &problem : {Elasticity{2, {40, 30, 0}, {1., 1., 1.}, false},
                                      Elasticity{2, {60, 60, 0}, {1., 3., 1.}, false},
                                      Elasticity{3, {9, 9, 9}, {1., 1., 1.}, false}})
      for (const bool rolls : {false, true})
        {
          CrsMatrix<double> A = problem.matrix();
          for (int i = 0; i < A.n_rows && rolls; ++i) // 0 in direction x for all nodes at x = 0
            for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
              for (const int j : {i, A.columns[p]})
                if (j % problem.dim == 0 && problem.place(j / problem.dim, 0) == 0)
                  A.values[p] = A.columns[p] == i ? 1. : 0.;
          const NearNullSpace space = make_near_null_space(A.n_rows, problem.dim, problem.rigid_body_modes());
          const Vector        y     = random_vector(A.n_rows, 11);
          Vector              b(A.n_rows);
          const int           expected = problem.dim == 2 ? (rolls ? 1 : 3) : (rolls ? 3 : 6);
          EXPECT_EQ(static_cast<int>(free_motions(A, space).size()), expected);
          multiply(A, y.data(), b.data());
          EXPECT_LE(iterations(A, with_rotations(problem), b), 35) << problem.dim << ", " << rolls;
        }
    const Elasticity held = {2, {9, 9, 0}}, small = {2, {9, 9, 0}, {1., 1., 1.}, false};
    EXPECT_TRUE(free_motions(held.matrix(), make_near_null_space(200, 2, held.rigid_body_modes())).empty());
    EXPECT_NE(refusal(small.matrix(), with_rotations(small)).find("maps 3 of the vectors"), std::string::npos);
    EXPECT_NE(refusal(small.matrix(), blocks_of(small)).find("maps 2 of the vectors"), std::string::npos);
  }

  /** Then x solves A x = b, and is orthogonal to the motions as b is. */
  TEST(AggregationOfSystems, HeldMotionsAreNotInTheSolution)
  {
    const Elasticity        problem = {2, {5, 4, 0}, {1., 1., 1.}, false};
    const CrsMatrix<double> A       = problem.matrix();
    const Vectors           motions = free_motions(A, make_near_null_space(A.n_rows, 2, problem.rigid_body_modes()));
    ASSERT_EQ(motions.size(), 3u);
    Vector b(A.n_rows);
    multiply(A, random_vector(A.n_rows, 5).data(), b.data());
    const Vector x = inverse(dense(with_held_motions(A, motions))) * b;
    EXPECT_LT(relative_residual(A, x, b), 1e-11);
    for (const Vector &v : motions)
      {
        double with_x = 0., with_itself = 0.;
        for (int i = 0; i < A.n_rows; ++i)
          {
            with_x += v[i] * x[i];
            with_itself += v[i] * v[i];
          }
        EXPECT_LT(std::abs(with_x), 1e-11 * norm(x));
        EXPECT_NEAR(with_itself, 1., 1e-12);
      }
  }

  TEST(AggregationOfSystems, RandomMatricesAreSolvedAsByElimination)
  {
    for (int seed = 1; seed <= 12; ++seed)
      {
        const int               n = 60 + 6 * seed, n_vectors = seed % 5;
        const CrsMatrix<double> A = random_definite_matrix(n, seed);
        AggregationOptions      options;
        options.block_unknowns = seed % 3 + 1;
        options.max_coarse     = 8;
        options.n_threads      = 2;
        for (int k = 0; k < n_vectors; ++k)
          options.near_null_space.push_back(random_vector(n, 50 + k));
        const Vector b = random_vector(n, 7), expected = inverse(dense(A)) * b;
        CgOptions    cg;
        cg.backend           = Backend::host;
        cg.n_threads         = 2;
        cg.tolerance         = 1e-12;
        cg.max_iterations    = 200;
        const auto multigrid = std::make_shared<Multigrid<double>>(A, options, v_cycle());
        Vector     x(n, 0.);
        EXPECT_TRUE(make_cg<double>(A, cg, make_preconditioner<double>(multigrid))->solve(x.data(), b.data()).converged) << seed;
        EXPECT_LT(norm(x - expected), 1e-9 * norm(expected)) << seed;
      }
  }

  /** What is given twice, as a sum, or in other units changes the coarse unknowns only. */
  TEST(AggregationOfSystems, ABasisIsAsGoodAsAnother)
  {
    const Elasticity        problem   = {2, {30, 20, 0}, {1., 2., 1.}};
    const CrsMatrix<double> A         = problem.matrix();
    AggregationOptions      options   = with_rotations(problem);
    options.max_coarse                = 100;
    const MultigridHierarchy expected = aggregation_hierarchy(A, options);
    ASSERT_GE(expected.levels.size(), 3u);

    Vectors &modes = options.near_null_space;
    modes.push_back(modes[1]);
    modes.push_back(Vector(A.n_rows, 0.));
    expect_equal(aggregation_hierarchy(A, options), expected);
    for (double &v : modes[2])
      v = std::ldexp(v, 1015);
    expect_equal(aggregation_hierarchy(A, options), expected);

    for (int i = 0; i < A.n_rows; ++i)
      {
        const double x = modes[0][i], y = modes[1][i], turn = std::ldexp(modes[2][i], -1015);
        modes[0][i] = turn + 1000. * x;
        modes[1][i] = 3. * x - y;
        modes[2][i] = 1e-3 * y;
      }
    const MultigridHierarchy other = aggregation_hierarchy(A, options);
    ASSERT_EQ(other.levels.size(), expected.levels.size());
    const auto map_of = [](const MultigridHierarchy &hierarchy) { // whatever the coarse unknowns are
      const Dense P = dense(hierarchy.levels.back().prolongation);
      return P * transpose(P);
    };
    EXPECT_LT(largest_difference(map_of(other), map_of(expected)), 1e-9);
  }

  TEST(AggregationOfSystems, LevelsDoNotDependOnThreads)
  {
    const Elasticity        problem = {2, {129, 100, 0}, {1., 3., 1.}}; // 13,130 nodes are several parts
    const CrsMatrix<double> A       = problem.matrix();
    AggregationOptions      one = with_rotations(problem), several = one;
    one.n_threads     = 1;
    several.n_threads = 3;
    expect_equal(aggregation_hierarchy(A, one), aggregation_hierarchy(A, several));
  }

  TEST(AggregationOfSystems, BadInputIsSaid)
  {
    const Elasticity        problem = {2, {4, 4, 0}};
    const CrsMatrix<double> A       = problem.matrix();
    const auto              says    = [&](const AggregationOptions &options, const std::vector<std::string> &texts) {
      const std::string found = refusal(A, options);
      for (const std::string &text : texts)
        EXPECT_NE(found.find(text), std::string::npos) << text << " is not in: " << found;
    };
    AggregationOptions options;
    options.block_unknowns = 3;
    says(options, {"block_unknowns is 3", "50 rows", "divides"});
    options.block_unknowns = 0;
    says(options, {"block_unknowns is 0"});
    options = with_rotations(problem);
    options.near_null_space[2].pop_back();
    says(options, {"vector 2 of the near null space", "49 entries", "50"});
    for (const double value : {std::nan(""), HUGE_VAL})
      {
        options                        = with_rotations(problem);
        options.near_null_space[1][17] = value;
        says(options, {"vector 1 of the near null space", "row 17", "finite"});
      }
    options.near_null_space = {Vector(50, 0.)};
    says(options, {"near null space are zero"});
  }

  class AggregationOfSystemsOn : public MultigridBackend
  {
  };

  /**
   * The device makes levels for up to 16 unknowns a node, and as many vectors; of others the host does, and it is said.
   */
  TEST_P(AggregationOfSystemsOn, WhoMakesTheLevelsIsSaid)
  {
    const Elasticity        problem = {2, {40, 40, 0}};
    const CrsMatrix<double> A       = problem.matrix();
    for (const int n_vectors : {0, 3, 16, 17})
      {
        AggregationOptions options = with_rotations(problem);
        options.near_null_space.resize(std::min(n_vectors, 3));
        while (static_cast<int>(options.near_null_space.size()) < n_vectors)
          options.near_null_space.push_back(options.near_null_space[options.near_null_space.size() % 3]);
        Multigrid<double> multigrid(A, options, v_cycle(GetParam()));
        const bool        is_said = multigrid.description().find("made on the host for nodes") != std::string::npos;
        EXPECT_EQ(is_said, n_vectors == 17 && GetParam() == Backend::cuda) << multigrid.description();
        const Vector b = random_vector(A.n_rows, 3);
        Vector       x(A.n_rows, 0.);
        EXPECT_EQ(solve(multigrid, x, b, 1e-8, 300).status, SolveStatus::converged);
        EXPECT_LT(relative_residual(A, x, b), 1e-7);
      }
  }

  TEST_P(AggregationOfSystemsOn, ProductsAreThoseOfTheHost)
  {
    const Elasticity        problem   = {3, {12, 11, 10}};
    const CrsMatrix<double> A         = problem.matrix();
    AggregationOptions      options   = with_rotations(problem);
    options.max_coarse                = 50;
    const auto               galerkin = GetParam() == Backend::cuda ? device::galerkin_on_device : galerkin_on_host;
    const MultigridHierarchy found    = aggregation_hierarchy(A, options, galerkin(options, A.n_entries())),
                             expected = aggregation_hierarchy(A, options);
    ASSERT_GE(expected.levels.size(), 3u);
    ASSERT_EQ(found.levels.size(), expected.levels.size());
    for (std::size_t l = found.levels.size() - 2; l < found.levels.size(); ++l) // on coarser ones aggregates depend on rounding
      {
        const CrsMatrix<double> &a = found.levels[l].matrix, &b = expected.levels[l].matrix;
        ASSERT_EQ(a.columns, b.columns) << l;
        double largest = 0.;
        for (const double v : b.values)
          largest = std::max(largest, std::abs(v));
        for (std::size_t p = 0; p < a.values.size(); ++p)
          ASSERT_NEAR(a.values[p], b.values[p], 1e-10 * largest) << l;
      }
  }

  INSTANTIATE_TEST_SUITE_P(Backends, AggregationOfSystemsOn, testing::Values(Backend::host, Backend::cuda));
} // namespace leopard
