// SPDX-License-Identifier: Apache-2.0
// One cycle against dense algebra.
#include "multigrid_test.h"

#include <solvers/base/errors.h>
#include <solvers/multigrid/cycle.h>

#include <gtest/gtest.h>

namespace leopard
{
  namespace
  {
    /**
     * The textbook's recursion for error propagation, with Jacobi as smoother (Trottenberg, Oosterlee, Schueller 2001,
     * section 2.4).
     */
    class Textbook
    {
    public:
      Textbook(const MultigridHierarchy &hierarchy_, const MultigridOptions &options_, double omega_)
        : hierarchy(hierarchy_)
        , options(options_)
        , omega(omega_)
      {
      }

      Dense A(int l) const { return dense(hierarchy.levels[l].matrix); }
      Dense P(int l) const { return dense(hierarchy.levels[l].prolongation); }

      /** e_new = M e. */
      Dense error_propagation(int l, CycleType type) const
      {
        const int n = hierarchy.levels[l].matrix.n_rows;
        if (l == 0)
          return Dense(n, n);
        Dense coarse = error_propagation(l - 1, type);
        if (type == CycleType::w)
          coarse = coarse * coarse;
        else if (type == CycleType::f)
          coarse = error_propagation(l - 1, CycleType::v) * coarse;
        const Dense solved = (identity(coarse.n_rows) - coarse) * inverse(A(l - 1));
        const Dense C      = identity(n) - P(l) * solved * transpose(P(l)) * A(l);
        return smoothing(l, options.post_smoothing) * C * smoothing(l, options.pre_smoothing);
      }

      /** Full multigrid: x of level l. */
      Vector full_multigrid(int l, const Vector &b) const
      {
        if (l == 0)
          return inverse(A(0)) * b;
        const Vector start    = P(l) * full_multigrid(l - 1, transpose(P(l)) * b);
        const Vector solution = inverse(A(l)) * b;
        return solution + error_propagation(l, options.cycle) * (start - solution);
      }

    private:
      Dense smoothing(int l, int n_steps) const
      {
        const Dense matrix = A(l);
        Dense       S      = identity(matrix.n_rows);
        for (int i = 0; i < matrix.n_rows; ++i)
          for (int j = 0; j < matrix.n_rows; ++j)
            S(i, j) -= omega * matrix(i, j) / matrix(i, i);
        Dense result = identity(matrix.n_rows);
        for (int step = 0; step < n_steps * options.smoother.iterations_per_step; ++step)
          result = result * S;
        return result;
      }

      const MultigridHierarchy &hierarchy;
      const MultigridOptions    options;
      const double              omega;
    };

    class MultigridCycle : public MultigridBackend
    {
    protected:
      /** vmult() and cycle() of stored matrices and of the stencil, both against the textbook. */
      void expect_textbook(const Stencil<double> &stencil, int n_levels, const MultigridOptions &options)
      {
        const MultigridHierarchy hierarchy = make_hierarchy(stencil, n_levels);
        const Textbook           textbook(hierarchy, options, options.smoother.omega);
        const int                n   = stencil.n_rows();
        const Dense              M   = textbook.error_propagation(n_levels - 1, options.cycle);
        const Dense              C   = (identity(n) - M) * inverse(dense(stencil.to_crs()));
        const Vector             x_0 = random_vector(n, 1), b = random_vector(n, 2);
        const Vector             solution = inverse(dense(stencil.to_crs())) * b;
        for_each_number([&](auto number) {
          using Number = decltype(number);
          Multigrid<Number> stored(hierarchy, options), stencils(stencil, n_levels, options);
          const double      rounding = bound<Number>(1e-12, 1e-5); // of solutions that are some ten large
          for (Multigrid<Number> *multigrid : {&stored, &stencils})
            {
              EXPECT_TRUE(multigrid->is_fixed_linear_map());
              EXPECT_EQ(multigrid->n_levels(), n_levels);
              EXPECT_LT(largest_difference(C, matrix_of(n, [&](const Vector &v) { return vmult(*multigrid, v); })), rounding);
              EXPECT_LT(largest_difference(cycle(*multigrid, x_0, b), solution + M * (x_0 - solution)), rounding);
            }
        });
      }
    };

    /**
     * Writes down what a cycle asks for: b and a for smoothing, r, z, c for restriction, zero, correction, each with
     * its level, and S for the coarsest one.
     */
    struct Recorder
    {
      std::string calls;

      void note(char what, int level) { calls += what + std::to_string(level) + ' '; }
      void smooth_before(int level) { note('b', level); }
      void smooth_after(int level) { note('a', level); }
      void restrict_residual(int level) { note('r', level); }
      void set_zero(int level) { note('z', level); }
      void correct(int level) { note('c', level); }
      void restrict_right_hand_side(int level) { note('R', level); }
      void interpolate(int level) { note('I', level); }
      void solve_coarsest() { calls += "S "; }
    };

    std::string calls_of_cycle(int level, CycleType type)
    {
      Recorder recorder;
      multigrid_cycle(recorder, level, type);
      return recorder.calls;
    }

    TEST(MultigridCycle, AsksForItsPartsInOrder)
    {
      using Type = CycleType;
      for (const Type type : {Type::v, Type::w, Type::f})
        {
          EXPECT_EQ(calls_of_cycle(0, type), "S ");
          EXPECT_EQ(calls_of_cycle(1, type), "b1 r1 z0 S c1 a1 ");
        }
      const std::string one = "b1 r1 z0 S c1 a1 ";
      EXPECT_EQ(calls_of_cycle(2, Type::v), "b2 r2 z1 " + one + "c2 a2 ");
      EXPECT_EQ(calls_of_cycle(2, Type::w), "b2 r2 z1 " + one + one + "c2 a2 ");
      EXPECT_EQ(calls_of_cycle(3, Type::w), "b3 r3 z2 " + calls_of_cycle(2, Type::w) + calls_of_cycle(2, Type::w) + "c3 a3 ");
      EXPECT_EQ(calls_of_cycle(3, Type::f), "b3 r3 z2 " + calls_of_cycle(2, Type::f) + calls_of_cycle(2, Type::v) + "c3 a3 ");
      Recorder recorder;
      full_multigrid(recorder, 2, Type::v);
      EXPECT_EQ(recorder.calls, "R2 R1 S I1 " + one + "I2 " + calls_of_cycle(2, Type::v));
    }

    TEST_P(MultigridCycle, PropagatesErrorsAsTheTextbookSays)
    {
      for (const CycleType type : {CycleType::v, CycleType::w, CycleType::f})
        for (const auto &[pre, post] : {std::pair(2, 1), std::pair(0, 2), std::pair(1, 0)})
          {
            MultigridOptions options = jacobi_multigrid(GetParam(), 0.7);
            options.cycle            = type;
            options.pre_smoothing    = pre;
            options.post_smoothing   = post;
            SCOPED_TRACE(to_string(type) + "(" + std::to_string(pre) + "," + std::to_string(post) + ")");
            expect_textbook(three_point_stencil(15), 4, options);
            expect_textbook(five_point_stencil(7, 6, 0.1), 3, options);
          }
    }

    TEST_P(MultigridCycle, OfEveryShapeOfGridAndStencil)
    {
      MultigridOptions options             = jacobi_multigrid(GetParam(), 0.6);
      options.smoother.iterations_per_step = 2;
      Stencil<double> variable             = five_point_stencil(6, 5, 0.);
      for (int i = 0; i < variable.n_rows(); ++i)
        variable.diagonal.push_back(4. + 0.1 * (i % 7));
      for (const Stencil<double> &stencil : {three_point_stencil(14),
                                             three_point_stencil(9, 0.2),
                                             five_point_stencil(5, 8, 0.),
                                             nine_point_stencil(6, 7, 0.),
                                             variable,
                                             seven_point_stencil(3, 4, 5, 0.),
                                             seven_point_stencil(4, 3, 3, 0.3),
                                             twenty_seven_point_stencil(4, 3, 3, 0.),
                                             twenty_seven_point_stencil(5, 3, 2, 0.1),
                                             five_point_stencil(1, 9, 0.), // some directions have one node, on the finest level or on others
                                             five_point_stencil(2, 11, 0.),
                                             five_point_stencil(11, 2, 0.),
                                             seven_point_stencil(2, 2, 7, 0.),
                                             seven_point_stencil(1, 3, 7, 0.)})
        {
          SCOPED_TRACE(std::to_string(stencil.n_x) + " x " + std::to_string(stencil.n_y) + " x " + std::to_string(stencil.n_z));
          expect_textbook(stencil, 3, options);
        }
    }

    /** Lines of more nodes than are worked on at once, on both sides of the limits. */
    TEST_P(MultigridCycle, StencilsEqualStoredMatricesOnLongLines)
    {
      MultigridOptions options = jacobi_multigrid(GetParam(), 0.7);
      options.coarse_solver    = "direct";
      for (const Stencil<double> &stencil : {three_point_stencil(4095, 0.1),
                                             three_point_stencil(4096, 0.1),
                                             three_point_stencil(4097, 0.1),
                                             three_point_stencil(40001, 0.1),
                                             five_point_stencil(8195, 6, 0.1),
                                             five_point_stencil(5, 9000, 0.1),
                                             seven_point_stencil(40, 30, 50, 0.)})
        {
          Multigrid<double> stored(make_hierarchy(stencil, 4), options), stencils(stencil, 4, options);
          const Vector      x = random_vector(stencil.n_rows(), 1), b = random_vector(stencil.n_rows(), 2);
          EXPECT_LT(largest_difference(cycle(stored, x, b), cycle(stencils, x, b)), 1e-12) << stencil.n_x << " x " << stencil.n_y;
          EXPECT_LT(largest_difference(multiply(stored, x), multiply(stencils, x)), 1e-13);
          Vector y(x.size());
          leopard::multiply(stencil.to_crs(), x.data(), y.data());
          EXPECT_LT(largest_difference(multiply(stored, x), y), 1e-13);
        }
    }

    /** Where kernels work inside the grid and at its boundary, with long and with short marches, in pairs and not. */
    TEST(MultigridCycle, OfTheGpuEqualsThatOfTheHostOnLargeGrids)
    {
      if (device::n_devices() == 0)
        GTEST_SKIP() << "no GPU here";
      Stencil<double> variable = five_point_stencil(300, 291, 0.);
      variable.diagonal        = random_vector(variable.n_rows(), 5);
      for (double &d : variable.diagonal)
        d += 5.;
      Stencil<double> skewed = seven_point_stencil(150, 41, 39, 0.5);
      skewed.coefficient(1, 0, 0) *= 0.8;
      skewed.coefficient(0, -1, 0) *= 0.7;
      skewed.coefficient(0, 0, 1) *= 0.6;
      for (const Stencil<double> &stencil : {five_point_stencil(301, 290, 0.1),
                                             variable,
                                             nine_point_stencil(300, 290, 0.1),
                                             skewed,
                                             seven_point_stencil(151, 40, 39, 0.1),
                                             twenty_seven_point_stencil(70, 30, 31, 0.1),
                                             five_point_stencil(2101, 2049, 0.1),
                                             nine_point_stencil(2048, 2100, 0.1),
                                             seven_point_stencil(170, 163, 161, 0.1),
                                             seven_point_stencil(160, 160, 160, 0.1)})
        {
          MultigridOptions options = jacobi_multigrid(Backend::host, 0.7);
          options.coarse_solver    = "direct";
          Multigrid<double> on_host(stencil, 4, options);
          options.backend = Backend::cuda;
          Multigrid<double> on_device(stencil, 4, options);
          Multigrid<float>  rounded(stencil, 4, options);
          const Vector      x = random_vector(stencil.n_rows(), 1), b = random_vector(stencil.n_rows(), 2), expected = cycle(on_host, x, b);
          EXPECT_LT(largest_difference(cycle(on_device, x, b), expected), 1e-12) << stencil.n_x << " x " << stencil.n_y << " x " << stencil.n_z;
          EXPECT_LT(largest_difference(cycle(rounded, x, b), expected), 1e-4) << stencil.n_x << " x " << stencil.n_y << " x " << stencil.n_z;
        }
    }

    /**
     * Two smoothing iterations with tiles that move are worth four with tiles that stay. These would contract by 0.2 to
     * 0.25 a cycle with V(1,1), which is 14 cycles and more.
     */
    TEST(MultigridCycle, TilesOfTheGpuMove)
    {
      if (device::n_devices() == 0)
        GTEST_SKIP() << "no GPU here";
      Stencil<double> variable = five_point_stencil(250, 310, 0.);
      variable.diagonal        = random_vector(variable.n_rows(), 5);
      for (double &d : variable.diagonal)
        d += 5.;
      for (const auto &[stencil, most] : {std::pair(five_point_stencil(512, 512, 0.), 9),
                                          std::pair(five_point_stencil(511, 300, 0.), 10), // lines that are not aligned
                                          std::pair(five_point_stencil(390, 130, 0.), 10), // tiles at the edge that are cut
                                          std::pair(variable, 10),
                                          std::pair(nine_point_stencil(384, 500, 0.), 9),
                                          std::pair(nine_point_stencil(255, 257, 0.), 9),
                                          std::pair(seven_point_stencil(128, 128, 128, 0.), 11),
                                          std::pair(seven_point_stencil(91, 77, 66, 0.), 11),
                                          std::pair(twenty_seven_point_stencil(96, 90, 64, 0.), 10)})
        {
          MultigridOptions options;
          options.backend = Backend::cuda;
          const Vector b  = random_vector(stencil.n_rows(), 3);
          for_each_number([&, &stencil = stencil, most = most](auto number) {
            using Number = decltype(number);
            Multigrid<Number> multigrid(stencil, 0, options);
            SCOPED_TRACE(multigrid.description());
            EXPECT_NE(multigrid.description().find("V(1,1)"), std::string::npos);
            EXPECT_NE(multigrid.description().find("move by half a tile"), std::string::npos);
            EXPECT_NE(multigrid.description().find("weights that differ from sweep to sweep"), std::string::npos);
            Vector            x(stencil.n_rows(), 0.);
            const SolveResult result = solve(multigrid, x, b, bound<Number>(1e-10, 1e-4));
            EXPECT_TRUE(result.status == SolveStatus::converged);
            EXPECT_LE(result.n_iterations, bound<Number>(most, (most + 1) / 2));
          });
        }
    }

    TEST(MultigridCycle, WeightsOfTheSweepsAreNotTakenWhereOmegaIsGiven)
    {
      if (device::n_devices() == 0)
        GTEST_SKIP() << "no GPU here";
      const auto has_weights = [](const Stencil<double> &stencil, double omega, int k) {
        MultigridOptions options;
        options.backend                               = Backend::cuda;
        options.smoother.omega                        = omega;
        options.smoother.block_async.local_iterations = k;
        return Multigrid<double>(stencil, 0, options).description().find("weights that differ from sweep to sweep") != std::string::npos;
      };
      Stencil<double> convection = five_point_stencil(256, 256, 0.);
      convection.coefficient(1, 0, 0) -= 0.1;
      convection.coefficient(-1, 0, 0) += 0.1;
      EXPECT_TRUE(has_weights(five_point_stencil(256, 256, 0.), 0., 5));
      EXPECT_FALSE(has_weights(five_point_stencil(256, 256, 0.), 0.85, 5));
      EXPECT_FALSE(has_weights(five_point_stencil(256, 256, 0.), 0., 2));
      EXPECT_FALSE(has_weights(five_point_stencil(256, 256, 0.), 0., 9));
      EXPECT_FALSE(has_weights(convection, 0., 5));
    }

    TEST_P(MultigridCycle, FullStartIsTheTextbooks)
    {
      for (const CycleType type : {CycleType::v, CycleType::w})
        {
          MultigridOptions options = jacobi_multigrid(GetParam(), 0.7);
          options.cycle            = type;
          options.full_start       = true;
          for (const Stencil<double> &stencil : {three_point_stencil(21), five_point_stencil(7, 7, 0.)})
            {
              const MultigridHierarchy hierarchy = make_hierarchy(stencil, 3);
              const Vector             b         = random_vector(stencil.n_rows(), 3);
              const Vector             expected  = Textbook(hierarchy, options, 0.7).full_multigrid(2, b);
              Multigrid<double>        stored(hierarchy, options), stencils(stencil, 3, options);
              for (Multigrid<double> *multigrid : {&stored, &stencils})
                {
                  Vector            x(b.size(), NAN); // not read
                  const SolveResult result = solve(*multigrid, x, b, 0., 1);
                  EXPECT_EQ(result.n_iterations, 1);
                  EXPECT_LT(largest_difference(x, expected), 1e-12);
                  EXPECT_NEAR(result.initial_residual, norm(b), 1e-12);
                }
            }
        }
    }

    /** A cycle is a cycle, recorded as a graph or queued piece by piece, the first time and the third. */
    TEST_P(MultigridCycle, RepeatsItself)
    {
      const Stencil<double> stencil = five_point_stencil(30, 25, 0.);
      MultigridOptions      options = jacobi_multigrid(GetParam(), 0.8);
      const Vector          b       = random_vector(stencil.n_rows(), 4);
      for (const std::string &method : method_names(as_smoother))
        if (find_method(method).runs_on(GetParam(), as_smoother))
          for (const bool stored : {true, false})
            {
              options.smoother.method               = method;
              options.smoother.omega                = 0.;
              options.smoother.block_async.schedule = Schedule::synchronous;
              options.use_graph                     = true;
              const auto make                       = [&] {
                return stored ? Multigrid<double>(make_hierarchy(stencil, 3), options) : Multigrid<double>(stencil, 3, options);
              };
              Multigrid<double> multigrid = make();
              options.use_graph           = false;
              Multigrid<double> plain     = make();
              const Vector      first     = vmult(multigrid, b);
              EXPECT_LT(largest_difference(first, vmult(plain, b)), 1e-13) << method;
              for (int i = 0; i < 3; ++i)
                EXPECT_LT(largest_difference(first, vmult(multigrid, b)), 1e-13) << method;
              EXPECT_LT(largest_difference(cycle(multigrid, first, b), cycle(plain, first, b)), 1e-12) << method;
            }
    }

    TEST_P(MultigridCycle, OneLevelIsTheCoarseSolver)
    {
      const Stencil<double> stencil = five_point_stencil(9, 8, 0.);
      const Vector          b = random_vector(stencil.n_rows(), 5), solution = inverse(dense(stencil.to_crs())) * b;
      for (const std::string solver : {"dense", "direct"})
        {
          MultigridOptions options = jacobi_multigrid(GetParam(), 0.7);
          options.coarse_solver    = solver;
          Multigrid<double> stored(make_hierarchy(stencil, 1), options), stencils(stencil, 1, options);
          for (Multigrid<double> *multigrid : {&stored, &stencils})
            {
              EXPECT_LT(largest_difference(vmult(*multigrid, b), solution), 1e-12);
              Vector            x(b.size(), 0.);
              const SolveResult result = solve(*multigrid, x, b, 1e-10);
              EXPECT_EQ(result.status, SolveStatus::converged);
              EXPECT_EQ(result.n_iterations, 1);
            }
        }
    }

    TEST_P(MultigridCycle, AllCoarseSolversAgree)
    {
      const Stencil<double>    stencil   = five_point_stencil(31, 31, 0.);
      const MultigridHierarchy hierarchy = make_hierarchy(stencil, 3);
      MultigridOptions         options   = jacobi_multigrid(GetParam(), 0.7);
      const Vector             b         = random_vector(stencil.n_rows(), 6);
      Multigrid<double>        inverse(hierarchy, options);
      options.coarse_solver = "direct";
      Multigrid<double> direct(hierarchy, options);
      const MemorySpace space = inverse.memory_space();
      Multigrid<double> users(hierarchy, options, dense_coarse_solver(hierarchy.levels[0].matrix, space));
      const Vector      expected = vmult(inverse, b);
      EXPECT_LT(largest_difference(vmult(direct, b), expected), 1e-12);
      EXPECT_LT(largest_difference(vmult(users, b), expected), 1e-12);
      EXPECT_NE(inverse.description().find("dense inverse"), std::string::npos);
      EXPECT_NE(direct.description().find("direct"), std::string::npos);
      EXPECT_NE(users.description().find("the user's"), std::string::npos);
    }

    /** Levels in the order of blocks, and vectors that enter and leave in the user's. */
    TEST_P(MultigridCycle, DoesNotDependOnTheOrderOfTheLevels)
    {
      const Stencil<double> stencil   = five_point_stencil(23, 23, 0.);
      MultigridHierarchy    hierarchy = make_hierarchy(stencil, 2);
      MultigridOptions      options   = jacobi_multigrid(GetParam(), 0.7);
      const Vector          b = random_vector(stencil.n_rows(), 7), x = random_vector(stencil.n_rows(), 8);
      Multigrid<double>     jacobi(hierarchy, options);
      // synchronous async-(1) is Jacobi in whatever blocks
      options.smoother.method                       = "async";
      options.smoother.block_async.schedule         = Schedule::synchronous;
      options.smoother.block_async.local_iterations = 1;
      options.smoother.block_async.block_size       = 50;
      const Vector after_vmult = vmult(jacobi, b), after_cycle = cycle(jacobi, x, b);
      for (const BlockShape shape : {BlockShape::contiguous, BlockShape::rcm, BlockShape::tiles, BlockShape::metis})
        {
          options.smoother.block_shape = shape;
          Multigrid<double> blocks(hierarchy, options);
          EXPECT_LT(largest_difference(vmult(blocks, b), after_vmult), 1e-12);
          EXPECT_LT(largest_difference(cycle(blocks, x, b), after_cycle), 1e-12);
          Vector y(b.size(), 0.), z = y;
          solve(blocks, y, b, 1e-12);
          solve(jacobi, z, b, 1e-12);
          EXPECT_LT(largest_difference(y, z), 1e-10);
        }
      // without coordinates tiles become METIS blocks, and the description says so
      hierarchy.levels[1].coordinates.clear();
      options.smoother.block_shape = BlockShape::tiles;
      Multigrid<double> blocks(hierarchy, options);
      EXPECT_NE(blocks.description().find("METIS blocks (no coordinates for tiles)"), std::string::npos) << blocks.description();
      EXPECT_LT(largest_difference(vmult(blocks, b), after_vmult), 1e-12);
    }

    INSTANTIATE_TEST_SUITE_P(Backends, MultigridCycle, testing::Values(Backend::host, Backend::cuda), backend_name);
  } // namespace
} // namespace leopard
