// SPDX-License-Identifier: Apache-2.0
// Multigrid cycles in single precision as corrections of a solution in double.
#include "refinement_test.h"

namespace leopard
{
  class MixedMultigrid : public RefinementBackend
  {
  };

  TEST_P(MixedMultigrid, TakesAtMostACycleMoreThanDouble)
  {
    MultigridOptions o;
    o.backend                       = GetParam();
    o.n_threads                     = 4;
    o.smoother.block_async.schedule = Schedule::synchronous; // the same cycles in each run
    for (const Stencil<double> &stencil : {five_point_stencil(63, 63, 0.),
                                           five_point_stencil(64, 50, 0.1),
                                           nine_point_stencil(63, 31, 0.),
                                           seven_point_stencil(15, 15, 31, 0.),
                                           twenty_seven_point_stencil(15, 14, 13, 0.)})
      for (const double unit : {1., 1e-60, 1e60}) // of the matrix, beyond the range of float
        for (const bool stored : {false, true})
          {
            Stencil<double> A = stencil;
            for (double &value : A.coefficients)
              value *= unit;
            const Vector             b         = random_vector(A.n_rows(), 10);
            const MultigridHierarchy hierarchy = stored ? make_hierarchy(A, 3) : MultigridHierarchy();
            StoppingCriteria         criteria;
            criteria.relative_tolerance = 1e-11;
            Multigrid<double> in_double = stored ? Multigrid<double>(hierarchy, o) : Multigrid<double>(stencil, 3, o);
            const SolveResult cycles    = solved(in_double, b, criteria);
            ASSERT_EQ(cycles.status, SolveStatus::converged);

            auto mixed = stored ? make_refinement<float>(hierarchy, o, tolerance(1e-11, 1)) : make_refinement<float>(A, 3, o, tolerance(1e-11, 1));
            const Refined solution = refined(*mixed, b);
            ASSERT_TRUE(solution.result.converged()) << to_string(solution.result.reason) << " " << unit << " " << stored;
            EXPECT_LE(solution.result.n_corrections, cycles.n_iterations + 1) << unit << " " << stored;
            EXPECT_LE(relative_residual(A.to_crs(), solution.x, b), 1.01e-11);
            const Refined two = refined(
              *(stored ? make_refinement<float>(hierarchy, o, tolerance(1e-11, 2)) : make_refinement<float>(A, 3, o, tolerance(1e-11, 2))), b);
            EXPECT_TRUE(two.result.converged());
            EXPECT_LE(two.result.n_corrections, (solution.result.n_corrections + 1) / 2 + 1);
          }
  }

  TEST_P(MixedMultigrid, TakesAtMostACycleMoreForEachOfManyRightHandSides)
  {
    MultigridOptions o;
    o.backend                       = GetParam();
    o.n_threads                     = 2;
    o.pre_smoothing                 = 2;
    o.post_smoothing                = 2;
    o.smoother.block_async.schedule = Schedule::synchronous;
    const unsigned int n_seeds      = GetParam() == Backend::reference ? 20 : 200; // it is slow
    StoppingCriteria   criteria;
    criteria.relative_tolerance = 1e-10;
    for (const Stencil<double> &A : {five_point_stencil(63, 63, 0.), seven_point_stencil(15, 15, 15, 0.)})
      for (const bool stored : {false, true})
        {
          o.smoother.method           = stored ? "async" : "damped-jacobi"; // whose blocks stay, for momentum
          const auto        levels    = make_hierarchy(A, 3);
          Multigrid<double> in_double = stored ? Multigrid<double>(levels, o) : Multigrid<double>(A, 3, o);
          std::vector<int>  cycles;
          for (unsigned int seed = 0; seed < n_seeds; ++seed)
            {
              const SolveResult result = solved(in_double, random_vector(A.n_rows(), seed), criteria);
              ASSERT_EQ(result.status, SolveStatus::converged);
              cycles.push_back(result.n_iterations);
            }
          for (const bool momentum : {false, true})
            {
              RefinementOptions options = tolerance(criteria.relative_tolerance, 1);
              options.momentum          = momentum;
              const auto mixed          = stored ? make_refinement<float>(levels, o, options) : make_refinement<float>(A, 3, o, options);
              for (unsigned int seed = 0; seed < n_seeds; ++seed)
                {
                  const RefinementResult result = refined(*mixed, random_vector(A.n_rows(), seed)).result;
                  ASSERT_TRUE(result.converged()) << to_string(result.reason) << ", seed " << seed;
                  ASSERT_EQ(result.has_momentum, momentum);
                  ASSERT_LE(result.n_corrections, cycles[seed] + 1)
                    << A.dim() << "D, stored " << stored << ", momentum " << momentum << ", seed " << seed;
                }
            }
        }
  }

  TEST_P(MixedMultigrid, SolvesSingularProblems)
  {
    MultigridOptions o;
    o.backend                          = GetParam();
    o.n_threads                        = 4;
    const MultigridHierarchy hierarchy = neumann_hierarchy(5);
    const CrsMatrix<double> &A         = hierarchy.finest_matrix();
    const auto               mean      = [](const Vector &v) { return std::accumulate(v.begin(), v.end(), 0.) / static_cast<double>(v.size()); };
    Vector                   exact     = random_vector(A.n_rows, 3), b(A.n_rows);
    const double             of_exact  = mean(exact);
    for (double &value : exact)
      value -= of_exact;
    multiply(A, exact.data(), b.data());
    Refined solution = refined(*make_refinement<float>(hierarchy, o, tolerance(1e-12, 1)), b);
    EXPECT_TRUE(solution.result.converged()) << to_string(solution.result.reason);
    const double m = mean(solution.x); // but for rounding of the corrections
    EXPECT_LE(std::abs(m), 1e-7);
    for (double &value : solution.x)
      value -= m;
    EXPECT_LE(largest_difference(solution.x, exact), 1e-9);
  }

  TEST_P(MixedMultigrid, TakesLevelsWithAnOrderOfTheirOwn)
  {
    MultigridOptions o;
    o.backend                      = GetParam();
    o.n_threads                    = 2;
    const Stencil<double> A        = five_point_stencil(303, 303, 0.); // as stored matrix of few values and with compact blocks
    const Vector          b        = random_vector(A.n_rows(), 11);
    const Refined         solution = refined(*make_refinement<float>(make_hierarchy(A, 6), o, tolerance(1e-10, 2)), b);
    EXPECT_TRUE(solution.result.converged()) << to_string(solution.result.reason);
    EXPECT_LE(solution.result.n_corrections, 6);
    EXPECT_LE(relative_residual(A.to_crs(), solution.x, b), 1.01e-10);
  }

  TEST(MixedMultigridOf, GlobalRefinementOnOneRank)
  {
    EXPECT_THROW(make_refinement<float>(adaptive_hierarchy(3), MultigridOptions(), RefinementOptions()), InvalidInput);
    Stencil<double> slab = five_point_stencil(15, 15, 0.);
    slab.ghost_above     = true;
    EXPECT_THROW(make_refinement<float>(slab, 2, MultigridOptions(), RefinementOptions()), InvalidInput);
  }

  INSTANTIATE_TEST_SUITE_P(Backends, MixedMultigrid, testing::Values(Backend::reference, Backend::host, Backend::cuda), backend_name);
} // namespace leopard
