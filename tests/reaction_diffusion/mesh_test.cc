// SPDX-License-Identifier: Apache-2.0
// The time loop on meshes that are no grid.
#include "triangles.h"

#include <applications/reaction_diffusion/mesh/mesh_hierarchy.h>
#include <solvers/base/errors.h>

#include <cstdint>
#include <map>

namespace leopard::reaction_diffusion
{
  class ReactionDiffusionMesh : public BackendTest
  {
  };
  INSTANTIATE_TEST_SUITE_P(Backends, ReactionDiffusionMesh, testing::Values(Backend::reference, Backend::host, Backend::cuda), backend_name);

  TEST_P(ReactionDiffusionMesh, TheRowsOfAGridStepAsTheGrid)
  {
    NodeGrid grid            = unit_grid(21, 2);
    grid.n[1]                = 15;
    const Vector        u    = smooth_fields(grid);
    const MeshLaplacian mesh = laplacian_of(grid);
    EXPECT_EQ(mesh.largest_excess(), 0.);
    EXPECT_NEAR(mesh.largest_row(), largest_row(grid), 1e-9);
    for (const Scheme scheme : multistep_schemes())
      {
        const double dt = 1e-3;
        EXPECT_LT(largest_difference(solution_at(mesh, fixed_steps(GetParam(), scheme, dt), u, 10. * dt),
                                     solution_at(grid, fixed_steps(Backend::reference, scheme, dt), u, 10. * dt)),
                  1e-9)
          << static_cast<int>(scheme);
      }
  }

  TEST_P(ReactionDiffusionMesh, StepsAreThoseOfTheDirectSolver)
  {
    const Triangles mesh(30, 0.3, 1); // several blocks, obtuse angles
    EXPECT_GT(mesh.laplacian.largest_excess(), 0.);
    const Vector u = smooth_fields(mesh);
    for (const Scheme scheme : multistep_schemes())
      for (const LinearMethod method : {LinearMethod::sweeps, LinearMethod::multigrid})
        {
          const double   dt                = method == LinearMethod::sweeps ? 1e-4 : 3e-3;
          StepperOptions oracle            = fixed_steps(Backend::reference, scheme, dt);
          oracle.stepping.newton_tolerance = 0.;
          oracle.stepping.newton_floor     = 1e-13;
          const Vector exact               = solution_at(mesh.laplacian, oracle, u, 5. * dt);
          for (const int local_iterations : {1, 3})
            {
              StepperOptions options         = fixed_steps(GetParam(), scheme, dt);
              options.stepping.linear_method = method;
              options.local_iterations       = local_iterations;
              EXPECT_LT(largest_difference(solution_at(mesh.laplacian, options, u, 5. * dt), exact), 1e-8)
                << "scheme " << static_cast<int>(scheme) << ", local iterations " << local_iterations << ", method " << static_cast<int>(method);
            }
        }
  }

  TEST_P(ReactionDiffusionMesh, AnyNumberOfSpeciesStepsAsTheDirectSolver)
  {
    const Triangles mesh(14, 0.2, 2);
    const int       n = mesh.laplacian.n_nodes();
    for (const std::uint16_t species : {1, 3, 6})
      {
        StepperOptions options = fixed_steps(GetParam(), Scheme::bdf2, 1e-3);
        options.kinetics       = {"expressions", {}, 3., logistic(species)};
        options.diffusion.clear();
        Vector u;
        for (int c = 0; c < species; ++c)
          {
            options.diffusion.push_back(1. + c);
            for (int i = 0; i < n; ++i)
              u.push_back(0.5 + 0.1 * c + 0.05 * std::sin(i));
          }
        StepperOptions oracle = options;
        oracle.backend        = Backend::reference;
        EXPECT_LT(largest_difference(solution_at(mesh.laplacian, options, u, 1e-2), solution_at(mesh.laplacian, oracle, u, 1e-2)), 1e-8) << species;
      }
  }

  /** Second order in the mesh size: a decaying mode, see ReactionDiffusion.OrderInSpace. */
  TEST_P(ReactionDiffusionMesh, OrderInSpace)
  {
    const auto error = [&](int n) {
      const Triangles mesh(n, 0.15, 3);
      StepperOptions  options = fixed_steps(GetParam(), Scheme::bdf2, 1e-3 / 16.);
      options.kinetics        = {"FitzHugh-Nagumo", {0., 1., 1.}, 1.};
      options.diffusion       = {1., 1.};
      const double amplitude = 1e-5, k2 = 5. * M_PI * M_PI, t = 0.02;
      Vector       u;
      for (int field = 0; field < 2; ++field)
        for (const auto &[x, y] : mesh.nodes)
          u.push_back(amplitude * std::cos(M_PI * x) * std::cos(2. * M_PI * y));
      const Vector found = solution_at(mesh.laplacian, options, u, t);
      double       sum = 0., mass = 0.;
      for (std::size_t i = 0; i < mesh.nodes.size(); ++i)
        {
          sum += mesh.laplacian.weight[i] * std::pow((found[i] - std::exp(-k2 * t) * u[i]) / amplitude, 2.);
          mass += mesh.laplacian.weight[i];
        }
      return std::sqrt(sum / mass);
    };
    const double coarse = error(12), fine = error(45);
    EXPECT_NEAR(std::log(coarse / fine) / std::log(4.), 2., 0.35);
  }

  /**
   * The pattern's wavelength is 17 nodes: on coarser levels the reaction outweighs the diffusion of the activator, but
   * not that of the inhibitor.
   */
  TEST_P(ReactionDiffusionMesh, StepsOfAPatternAreAsLongAsThoseOfTheDirectSolver)
  {
    if (GetParam() == Backend::reference)
      GTEST_SKIP() << "is what is compared with";
    const Triangles mesh(40, 0.25, 4);
    const auto      totals_of = [&](Backend backend) {
      StepperOptions options            = fixed_steps(backend, Scheme::bdf2, 1e-6);
      options.stepping.error_controlled = true;
      options.stepping.newton_tolerance = 1e-6;
      options.diffusion                 = {1., 20.};
      options.kinetics.gamma            = 1000.;
      Totals totals;
      solution_at(mesh.laplacian, options, smooth_fields(mesh), 0.5, &totals);
      return totals;
    };
    const Totals oracle = totals_of(Backend::reference), found = totals_of(GetParam());
    EXPECT_NEAR(found.steps, oracle.steps, 0.1 * oracle.steps);
    EXPECT_LE(found.rejected.total(), oracle.rejected.total() + 2);
    EXPECT_LE(found.cycles, 20 * found.newton_steps);
  }

  TEST_P(ReactionDiffusionMesh, LongStepsAreSolvedByMultigrid)
  {
    if (GetParam() == Backend::reference)
      GTEST_SKIP() << "solves directly";
    const Triangles mesh(40, 0.25, 4);
    StepperOptions  options           = fixed_steps(GetParam(), Scheme::bdf2, 1e-6);
    options.stepping.error_controlled = true;
    options.stepping.newton_tolerance = 1e-6;
    Stepper stepper(mesh.laplacian, options);
    stepper.start(smooth_fields(mesh).data());
    EXPECT_EQ(stepper.advance(0.05, 100000, 0.), StopReason::time_reached);
    EXPECT_GT(stepper.totals().multigrid_steps, 10);
    EXPECT_LT(stepper.totals().multigrid_steps, stepper.totals().steps) << "the first steps are short";
    EXPECT_LT(stepper.totals().steps, 300);
    EXPECT_LT(stepper.totals().cycles, 20 * stepper.totals().multigrid_steps);
    EXPECT_LE(stepper.totals().worst_reduction, 1.);
  }

  /**
   * The largest step of implicit Euler with dominant rows, from all rows of the Jacobian: obtuse angles and reaction
   * together.
   */
  TEST_P(ReactionDiffusionMesh, TheAsynchronousBoundCountsWhatDiffusionLacks)
  {
    const Triangles mesh(20, 0.4, 5);
    const double    excess = mesh.laplacian.largest_excess();
    ASSERT_GT(excess, 1.);
    StepperOptions options            = fixed_steps(GetParam(), Scheme::implicit_euler, 1e-6);
    options.kinetics                  = {"FitzHugh-Nagumo", {0., 1., 0.25}, 8.};
    options.diffusion                 = {1., 3.};
    options.stepping.bound_fraction   = 0.5;
    options.stepping.linear_method    = LinearMethod::sweeps;
    options.stepping.newton_tolerance = 1e-8;
    Stepper stepper(mesh.laplacian, options);
    stepper.start(Vector(2 * mesh.nodes.size(), 0.).data()); // derivatives at 0: 1, -1; 1/4, -1/4
    EXPECT_EQ(stepper.advance(1., 1, 0.), StopReason::step_limit);
    const double rate = std::max(excess + 8. * 2., 3. * excess + 8. * (0.25 - 0.25));
    EXPECT_NEAR(stepper.last_step().bound, 1. / rate, 1e-9 / rate);
    EXPECT_NEAR(stepper.time(), 0.5 / rate, 1e-9 / rate);
  }

  TEST_P(ReactionDiffusionMesh, ResumedRunsGoOnAsIfNothingHadHappened)
  {
    const Triangles mesh(20, 0.2, 6);
    for (const Scheme scheme : {Scheme::bdf2, Scheme::bdf3})
      {
        StepperOptions options = fixed_steps(GetParam(), scheme, 1e-3);
        expect_that_a_resumed_run_goes_on(mesh.laplacian, options, smooth_fields(mesh), 1e-9);
        options.stepping.error_controlled = true;
        expect_that_a_resumed_run_goes_on(mesh.laplacian, options, smooth_fields(mesh), 1e-7);
      }
  }

  /**
   * Constants and symmetry survive; each level is a MeshLaplacian, and a smooth function has an energy of the same size
   * on all of them.
   */
  TEST(ReactionDiffusionMeshLevels, AreLaplaciansWithAnEnergyAlike)
  {
    const Triangles mesh(80, 0.1, 8);
    MeshLaplacian   with_coordinates = mesh.laplacian;
    for (const auto &[x, y] : mesh.nodes)
      with_coordinates.coordinates.insert(with_coordinates.coordinates.end(), {x, y});
    const auto levels = make_levels(with_coordinates);
    ASSERT_GE(levels.size(), 3u);
    EXPECT_LE(levels.back().mesh.n_nodes(), coarse_nodes);
    double     first_energy = 0.;
    const auto energy_of    = [](const MeshLaplacian &level) { // of cos(pi x), weights over their sum
      double sum = 0., mass = 0.;
      Vector u, Lu(level.n_nodes());
      for (int i = 0; i < level.n_nodes(); ++i)
        u.push_back(std::cos(M_PI * level.coordinates[2 * i]));
      multiply(level.matrix, u.data(), Lu.data());
      for (int i = 0; i < level.n_nodes(); ++i)
        {
             sum += level.weight[i] * u[i] * Lu[i];
             mass += level.weight[i];
        }
      return sum / mass;
    };
    for (std::size_t l = 0; l < levels.size(); ++l)
      {
        const MeshLaplacian &level = levels[l].mesh;
        EXPECT_NO_THROW(level.validate());
        EXPECT_EQ(*std::max_element(level.weight.begin(), level.weight.end()), 1.);
        const double energy = energy_of(level);
        first_energy        = l == 0 ? energy : first_energy;
        EXPECT_GT(energy / first_energy, 0.99) << "level " << l; // of an interpolant, which is rougher
        EXPECT_LT(energy / first_energy, 2.5) << "level " << l;
        if (l == 0)
          {
            EXPECT_NEAR(energy, 0.5 * M_PI * M_PI, 0.01 * M_PI * M_PI);
          }
        std::map<std::pair<int, int>, double> entries; // m_i L_ij
        for (int i = 0; i < level.n_nodes(); ++i)
          for (int p = level.matrix.row_offsets[i]; p < level.matrix.row_offsets[i + 1]; ++p)
            entries[{i, level.matrix.columns[p]}] = level.weight[i] * level.matrix.values[p];
        for (const auto &[where, value] : entries)
          EXPECT_NEAR(value, (entries[{where.second, where.first}]), 1e-9 * std::abs(entries[{where.first, where.first}]));
        if (l + 1 == levels.size())
          continue;
        for (const CrsMatrix<double> *transfer : {&levels[l].restriction, &levels[l].prolongation})
          for (int i = 0; i < transfer->n_rows; ++i)
            {
              double sum = 0.;
              for (int p = transfer->row_offsets[i]; p < transfer->row_offsets[i + 1]; ++p)
                sum += transfer->values[p];
              EXPECT_NEAR(sum, 1., 1e-12);
            }
      }
  }

  TEST(ReactionDiffusionMeshInput, BadInputIsNamed)
  {
    const auto message = [](const MeshLaplacian &mesh) -> std::string {
      try
        {
          Stepper stepper(mesh, StepperOptions());
        }
      catch (const InvalidInput &error)
        {
          return error.what();
        }
      return "";
    };
    const MeshLaplacian good = Triangles(5, 0.1, 7).laplacian;
    EXPECT_EQ(message(good), "");
    MeshLaplacian bad = good;
    bad.matrix.values[3] *= 1.01;
    EXPECT_NE(message(bad).find("row 0 of the Laplacian sums to"), std::string::npos);
    bad           = good;
    bad.weight[7] = 0.;
    EXPECT_NE(message(bad).find("the weight of node 7 is 0"), std::string::npos);
    bad = good;
    bad.weight.pop_back();
    EXPECT_NE(message(bad).find("there are 24 weights"), std::string::npos);
    bad = good;
    ++bad.matrix.n_columns;
    EXPECT_NE(message(bad).find("25 rows and 26 columns"), std::string::npos);
    bad             = good;
    bad.coordinates = Vector(49, 0.);
    EXPECT_NE(message(bad).find("there are 49 coordinates"), std::string::npos);
  }

  // Growing domains, grids and meshes

  class ReactionDiffusionGrowth : public BackendTest
  {
  };
  INSTANTIATE_TEST_SUITE_P(Backends, ReactionDiffusionGrowth, testing::Values(Backend::reference, Backend::host, Backend::cuda), backend_name);

  /**
   * Without reaction a mode cos(pi x) decays by diffusion, which growth slows down, and by dilution: log(u / u_0) = -D
   * pi^2 int L^-2 - dim log L.
   */
  TEST_P(ReactionDiffusionGrowth, ModesDecayByDiffusionAndDilution)
  {
    NodeGrid     grid = unit_grid(33, 2);
    const double h = grid.spacing[0], k2 = std::pow(2. / h * std::sin(M_PI * h / 2.), 2.), t = 0.05, r = 3.;
    Vector       u(2 * grid.n_nodes());
    for (long i = 0; i < 2 * grid.n_nodes(); ++i)
      u[i] = std::cos(M_PI * h * static_cast<double>(i % 33));
    for (const GrowthLaw law : {GrowthLaw::exponential, GrowthLaw::linear})
      for (const Scheme scheme : multistep_schemes())
        {
          const auto error = [&](int steps, bool as_mesh) {
            StepperOptions options = fixed_steps(GetParam(), scheme, t / steps);
            options.kinetics.gamma = 0.;
            options.diffusion      = {2., 1.};
            options.growth         = {law, r, 2};
            const auto factor      = [&](int c, double time) {
              const double L = options.growth.length(time), integral = law == GrowthLaw::linear ? time / L : (1. - 1. / (L * L)) / (2. * r);
              return std::exp(-options.diffusion[c] * k2 * integral) / (L * L);
            };
            const auto exact = [&](int step) {
              Vector v = u;
              for (long i = 0; i < 2 * grid.n_nodes(); ++i)
                v[i] *= factor(i < grid.n_nodes() ? 0 : 1, step * t / steps);
              return v;
            };
            const Vector found =
              as_mesh ? solution_of_full_order(laplacian_of(grid), options, exact, t) : solution_of_full_order(grid, options, exact, t);
            double largest = 0.;
            for (int c = 0; c < 2; ++c)
              largest = larger_or_nan(largest, std::abs(found[c * grid.n_nodes()] - factor(c, t)));
            return largest;
          };
          const double coarse = error(20, false), fine = error(40, false);
          EXPECT_NEAR(std::log2(coarse / fine), order_of(scheme), 0.25) << static_cast<int>(law) << ", scheme " << static_cast<int>(scheme);
          EXPECT_NEAR(error(40, true), fine, 1e-8);
        }
  }

  /**
   * The reaction is as strong as without growth: uniform fields obey u' = gamma f(u) - s u. Error control keeps its
   * tolerance, and the bound has the dilution.
   */
  TEST_P(ReactionDiffusionGrowth, ReactionIsNotDiluted)
  {
    const NodeGrid grid               = unit_grid(9, 2);
    StepperOptions options            = fixed_steps(GetParam(), Scheme::bdf2, 1e-4);
    options.kinetics                  = {"FitzHugh-Nagumo", {0.2, 0.5, 0.1}, 10.};
    options.growth                    = {GrowthLaw::exponential, 1.5, 3};
    options.stepping.error_controlled = true;
    options.stepping.error_tolerance  = 1e-6;
    const auto system                 = FitzHughNagumo{0.2, 0.5, 0.1};
    double     u[2] = {0.3, 0.1}, t = 0.2; // classical Runge and Kutta
    const int  steps = 2000;
    for (int step = 0; step < steps; ++step)
      {
        double k[5][2] = {}, at[2];
        for (int stage = 1; stage <= 4; ++stage)
          {
            for (int c = 0; c < 2; ++c)
              at[c] = u[c] + (stage == 1 ? 0. : stage == 4 ? 1. : 0.5) * t / steps * k[stage - 1][c];
            system.evaluate(at, {}, k[stage], nullptr);
            for (int c = 0; c < 2; ++c)
              k[stage][c] = 10. * k[stage][c] - 4.5 * at[c];
          }
        for (int c = 0; c < 2; ++c)
          u[c] += t / steps / 6. * (k[1][c] + 2. * k[2][c] + 2. * k[3][c] + k[4][c]);
      }
    Vector initial(2 * grid.n_nodes(), 0.3);
    std::fill(initial.begin() + grid.n_nodes(), initial.end(), 0.1);
    for (const Scheme scheme : {Scheme::bdf2, Scheme::imex_bdf2})
      {
        options.stepping.scheme = scheme;
        const Vector found      = solution_at(grid, options, initial, t);
        EXPECT_NEAR(found[0], u[0], 3e-5);
        EXPECT_NEAR(found.back(), u[1], 3e-5);
      }

    // rows of the reaction: 10 (1 - 3 u^2 + 1) and 10 (0.1 - 0.05), less the dilution 4.5
    options.stepping.scheme           = Scheme::implicit_euler;
    options.stepping.error_controlled = false;
    options.stepping.bound_fraction   = 0.9;
    Stepper stepper(grid, options);
    stepper.start(initial.data());
    stepper.advance(1., 1, 0.);
    EXPECT_NEAR(stepper.last_step().bound, 1. / (10. * (2. - 0.27) - 4.5), 1e-10);
  }
} // namespace leopard::reaction_diffusion
