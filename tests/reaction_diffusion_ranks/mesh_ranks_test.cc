// SPDX-License-Identifier: Apache-2.0
// The time loop of reaction-diffusion systems on a mesh that ranks share, against the same on one.
#include "shared_mesh.h"

#include <applications/reaction_diffusion/mesh/mesh_ghosts.h>
#include <applications/reaction_diffusion/mesh/mesh_hierarchy.h>
#include <applications/reaction_diffusion_mpi/make_mesh_ranks.h>
#include <solvers/base/errors.h>
#include <solvers/device/device_array.h>
#include <solvers/distributed/mpi/own_range.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

namespace leopard::reaction_diffusion
{
  namespace
  {
    INSTANTIATE_TEST_SUITE_P(Ways, MeshRanksTest, all_ways, name_of_way);
  } // namespace

  /** Coarser levels shared, or whole on every rank. */
  TEST_P(MeshRanksTest, FixedStepsAreThoseOfOneRank)
  {
    const Triangles mesh(40, 0.3, 1);
    for (const LinearMethod method : {LinearMethod::sweeps, LinearMethod::multigrid})
      for (const int smallest_shared : {100, nobody})
        for (const Scheme scheme : multistep_schemes())
          {
            if (method == LinearMethod::sweeps && smallest_shared != nobody)
              continue;
            const double   dt              = method == LinearMethod::sweeps ? 1e-4 : 3e-3;
            StepperOptions options         = fixed_steps(backend(), scheme, dt);
            options.stepping.linear_method = method;
            options.stepping.newton_floor  = 1e-13;
            options.local_iterations       = 3;
            compare(mesh.laplacian,
                    owners_of(mesh, n_ranks(), false),
                    smallest_shared,
                    options,
                    smooth_fields(mesh),
                    4. * dt,
                    1e-8,
                    "scheme " + std::to_string(static_cast<int>(scheme)) + ", method " + std::to_string(static_cast<int>(method)) + ", shared from " +
                      std::to_string(smallest_shared) + " nodes on");
          }
  }

  /**
   * Nearly all neighbours of a node belong to other ranks. Short steps: sweeps are those of Jacobi then, which is no
   * smoother.
   */
  TEST_P(MeshRanksTest, GhostsEverywhere)
  {
    const Triangles mesh(40, 0.3, 1);
    StepperOptions  options        = fixed_steps(backend(), Scheme::bdf2, 1e-4);
    options.stepping.linear_method = LinearMethod::sweeps;
    options.stepping.newton_floor  = 1e-13;
    compare(mesh.laplacian, owners_of(mesh, n_ranks(), true), nobody, options, smooth_fields(mesh), 4e-4, 1e-8, "scattered", 10.);
  }

  TEST_P(MeshRanksTest, ErrorControlledStepsAreThoseOfOneRank)
  {
    const Triangles mesh(50, 0.2, 2);
    MeshLaplacian   with_coordinates = mesh.laplacian;
    for (const auto &[x, y] : mesh.nodes)
      with_coordinates.coordinates.insert(with_coordinates.coordinates.end(), {x, y});
    for (const Scheme scheme : {Scheme::bdf2, Scheme::bdf3})
      {
        StepperOptions options            = fixed_steps(backend(), scheme, 1e-5);
        options.kinetics.gamma            = 300.;
        options.growth                    = {GrowthLaw::exponential, 0.5, 2};
        options.stepping.error_controlled = true;
        options.stepping.error_tolerance  = 1e-4;
        options.stepping.newton_tolerance = 1e-8;
        compare(with_coordinates,
                owners_of(mesh, n_ranks(), false),
                100,
                options,
                smooth_fields(mesh),
                0.05,
                1e-5,
                "error-controlled, scheme " + std::to_string(static_cast<int>(scheme)));
      }
  }

  /**
   * A rank sends each neighbour the nodes that its rows of matrix and transfers read, once, and other ranks nothing.
   */
  TEST_P(MeshRanksTest, NeighboursGetTheirGhostsAndNobodyElseAnything)
  {
    constexpr int   n_fields = 2;
    const Triangles mesh(60, 0.2, 8);
    for (const bool scattered : {false, true})
      {
        const SharedMesh shared = share(mesh.laplacian, owners_of(mesh, n_ranks(), scattered), 1, GetParam());
        if (shared.ranks == nullptr)
          GTEST_SKIP() << "one rank";
        const std::vector<MeshLevel> &levels = shared.ranks->levels;
        for (std::size_t l = 0; l < levels.size() && levels[l].part.shared; ++l)
          {
            const MeshLevel &level = levels[l];
            const OwnRange   own   = own_range(level.mesh.n_nodes(), MPI_COMM_WORLD);
            const int        n_own = own.n(), n_ghosts = level.mesh.matrix.n_columns - n_own;
            EXPECT_EQ(own.n_all(), level.n_all);
            std::set<int> read; // ghosts
            for (const CrsMatrix<double> *A : {&level.mesh.matrix, &level.restriction, l > 0 ? &levels[l - 1].prolongation : &level.mesh.matrix})
              for (const int column : A->columns)
                if (column >= n_own)
                  read.insert(column);
            EXPECT_EQ(static_cast<int>(read.size()), n_ghosts) << "level " << l;
            const ExchangePattern &pattern = level.part.pattern;
            ASSERT_EQ(static_cast<int>(pattern.received.size()), n_ghosts);
            std::vector<int> wanted(n_ranks(), 0), sent(n_ranks(), 0), wanted_of_this(n_ranks());
            for (const auto &from : pattern.from)
              wanted[from.rank] = from.count;
            for (const auto &to : pattern.to)
              sent[to.rank] = to.count;
            MPI_Alltoall(wanted.data(), 1, MPI_INT, wanted_of_this.data(), 1, MPI_INT, MPI_COMM_WORLD);
            int is_wrong = sent != wanted_of_this;
            MPI_Allreduce(MPI_IN_PLACE, &is_wrong, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
            ASSERT_EQ(is_wrong, 0) << "level " << l << ": ranks do not send as many nodes as others read";

            MeshGhosts exchange(level.part, shared.ranks.get());
            exchange.connect(n_fields);
            Vector v;
            for (int i = own.first(); i < own.first() + n_own; ++i)
              v.insert(v.end(), {1. * i, -1. * i});
            const Traffic before = shared.ranks->transport->traffic();
            v.resize(v.size() + n_fields * n_ghosts, 0.5);
            if (backend() == Backend::cuda)
              {
                const device::Array<double> there(v);
                exchange.update(there.data());
                device::copy_to_host(v.data(), there.data(), v.size() * sizeof(double));
              }
            else
              exchange.update(v.data());
            const Traffic &after = shared.ranks->transport->traffic();
            EXPECT_EQ(after.bytes - before.bytes, sizeof(double) * n_fields * pattern.sent.size()) << "level " << l;
            EXPECT_EQ(after.calls, before.calls + 1);
            int last = -1;
            for (const auto &from : pattern.from)
              for (int k = from.offset; k < from.offset + from.count; ++k)
                {
                  const int place = n_fields * pattern.received[k], node = static_cast<int>(v[place]);
                  ASSERT_EQ(own.owner_of(node), from.rank) << "level " << l;
                  ASSERT_EQ(v[place + 1], -1. * node);
                  ASSERT_GT(node, last) << "each once";
                  last = node;
                }
            if (!scattered && l == 0)
              {
                for (const auto &to : pattern.to)
                  EXPECT_EQ(std::abs(to.rank - my_rank()), 1) << "of stripes only those beside this one";
                EXPECT_LE(pattern.sent.size(), 2u * 3u * 61u) << "some lines of nodes a side, not " << level.n_all;
              }
          }
      }
  }

  /** In the time loop as well: no exchange of a run sends more than the ghosts of the neighbours, or the sums. */
  TEST_P(MeshRanksTest, TheTimeLoopSendsGhostsToNeighboursOnly)
  {
    if (backend() == Backend::cuda)
      GTEST_SKIP() << "replays of a graph do not count";
    const Triangles mesh(60, 0.2, 8);
    StepperOptions  options = fixed_steps(backend(), Scheme::bdf2, 2e-5);
    const auto      shared  = share(mesh.laplacian, owners_of(mesh, n_ranks(), false), nobody, GetParam(), false);
    if (shared.ranks == nullptr)
      GTEST_SKIP() << "one rank";
    const std::vector<int> &owner  = shared.owner;
    options.n_threads              = 1;
    options.stepping.linear_method = LinearMethod::sweeps;
    std::set<std::pair<int, int>> sent; // the reader and the node
    const CrsMatrix<double>      &A = mesh.laplacian.matrix;
    for (int i = 0; i < A.n_rows; ++i)
      for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
        if (const int j = A.columns[p]; owner[j] == my_rank() && owner[i] != my_rank())
          sent.insert({owner[i], j});
    EXPECT_EQ(shared.ranks->levels.front().part.pattern.sent.size(), sent.size());
    Stepper stepper(shared.part(), options, shared.ranks);
    stepper.start(shared.own(smooth_fields(mesh)).data());
    const Traffic before = shared.ranks->transport->traffic();
    stepper.advance(6e-5, 100, 1e-5);
    const Traffic    &after     = shared.ranks->transport->traffic();
    const std::size_t of_ghosts = 2 * sizeof(double) * sent.size(), of_sums = Sums::n * sizeof(double) * (n_ranks() - 1);
    const long        n_exchanges = after.calls - before.calls;
    EXPECT_GT(n_exchanges, stepper.totals().sweeps);
    EXPECT_GT(of_ghosts, of_sums);
    EXPECT_LE(after.bytes - before.bytes, n_exchanges * of_ghosts);
  }

  /** One field and three: vectors whose parts have odd lengths. */
  TEST_P(MeshRanksTest, AnyNumberOfSpecies)
  {
    const Triangles mesh(23, 0.2, 3);
    for (const std::uint16_t species : {1, 3})
      for (const LinearMethod method : {LinearMethod::sweeps, LinearMethod::multigrid})
        {
          StepperOptions options         = fixed_steps(backend(), Scheme::bdf2, method == LinearMethod::sweeps ? 1e-4 : 1e-3);
          options.kinetics               = {"expressions", {}, 3., logistic(species)};
          options.stepping.linear_method = method;
          options.stepping.newton_floor  = 1e-13;
          options.diffusion.clear();
          Vector u;
          for (int c = 0; c < species; ++c)
            {
              options.diffusion.push_back(1. + c);
              for (int i = 0; i < mesh.laplacian.n_nodes(); ++i)
                u.push_back(0.5 + 0.1 * c + 0.05 * std::sin(i));
            }
          compare(mesh.laplacian,
                  owners_of(mesh, n_ranks(), false),
                  100,
                  options,
                  u,
                  10. * options.stepping.step_size,
                  1e-8,
                  std::to_string(species) + " species");
        }
  }

  /** A mesh of a component a rank: nobody reads anything of others, but sums and steps are common. */
  TEST_P(MeshRanksTest, NothingToExchange)
  {
    const Triangles  one(12, 0.2, 10);
    const Vector     u = smooth_fields(one);
    const int        n = one.laplacian.n_nodes();
    MeshLaplacian    mesh;
    Vector           initial(2l * n * n_ranks());
    std::vector<int> owner;
    for (int r = 0; r < n_ranks(); ++r)
      for (int i = 0; i < n; ++i)
        {
          for (int p = one.laplacian.matrix.row_offsets[i]; p < one.laplacian.matrix.row_offsets[i + 1]; ++p)
            {
              mesh.matrix.columns.push_back(r * n + one.laplacian.matrix.columns[p]);
              mesh.matrix.values.push_back(one.laplacian.matrix.values[p]);
            }
          mesh.matrix.row_offsets.push_back(static_cast<int>(mesh.matrix.columns.size()));
          mesh.weight.push_back(one.laplacian.weight[i]);
          for (int c = 0; c < 2; ++c)
            initial[c * n * n_ranks() + r * n + i] = (1. + 0.02 * r) * u[c * n + i];
          owner.push_back(r);
        }
    mesh.matrix.n_rows = mesh.matrix.n_columns = n * n_ranks();
    for (const LinearMethod method : {LinearMethod::sweeps, LinearMethod::multigrid})
      {
        StepperOptions options         = fixed_steps(backend(), Scheme::bdf2, method == LinearMethod::sweeps ? 1e-4 : 3e-3);
        options.stepping.linear_method = method;
        options.stepping.newton_floor  = 1e-13;
        for (const int smallest_shared : {1, nobody})
          compare(mesh, owner, smallest_shared, options, initial, 10. * options.stepping.step_size, 1e-8, "components");
      }
  }

  /** So few nodes that the mesh is the coarsest level, and more of them on one rank than on another. */
  TEST_P(MeshRanksTest, CoarseMeshes)
  {
    for (const int n : {5, 12, 17})
      {
        const Triangles  mesh(n, 0.2, 9);
        std::vector<int> owner = owners_of(mesh, n_ranks(), false);
        for (int i = 0; i < n; ++i)
          owner[mesh.laplacian.n_nodes() - 1 - i] = n_ranks() - 1;
        StepperOptions options         = fixed_steps(backend(), Scheme::bdf2, 3e-3);
        options.stepping.linear_method = LinearMethod::multigrid;
        options.kinetics.gamma         = 300.;
        options.stepping.newton_floor  = 1e-13;
        for (const int smallest_shared : {1, nobody})
          compare(mesh.laplacian, owner, smallest_shared, options, smooth_fields(mesh), 0.03, 1e-8, std::to_string(n) + " nodes a side", 20.);
      }
  }

  TEST_P(MeshRanksTest, GoesOnAfterAResume)
  {
    const Triangles      mesh(30, 0.2, 4);
    const SharedMesh     shared = share(mesh.laplacian, owners_of(mesh, n_ranks(), false), 100, GetParam());
    const MeshLaplacian &part   = shared.ranks != nullptr ? shared.part() : mesh.laplacian;
    const Vector         mine   = shared.own(smooth_fields(mesh));
    for (const Scheme scheme : {Scheme::bdf2, Scheme::bdf3})
      {
        const StepperOptions options = fixed_steps(backend(), scheme, 1e-3);
        Stepper              first(part, options, shared.ranks), second(part, options, shared.ranks);
        first.start(mine.data());
        first.advance(0.01, 1000, 5e-4);
        ASSERT_EQ(first.state().step_sizes.size(), scheme == Scheme::bdf2 ? 2u : 3u); // one solution more than the order is for the error estimate
        std::vector<Vector> solutions(first.state().step_sizes.size() + 1, Vector(mine.size()));
        for (std::size_t l = 0; l < solutions.size(); ++l)
          first.solution(solutions[l].data(), static_cast<int>(l));
        second.resume(first.state(), solutions);
        Vector one(mine.size()), two(mine.size());
        for (Stepper *stepper : {&first, &second})
          EXPECT_EQ(stepper->advance(0.02, 1000, 5e-4), StopReason::time_reached);
        first.solution(one.data());
        second.solution(two.data());
        EXPECT_LT(largest_difference(one, two), 1e-9) << "scheme " << static_cast<int>(scheme);
        EXPECT_EQ(first.step_number(), 20);
        EXPECT_EQ(second.step_number(), 20);
      }
  }

  namespace
  {
    /** What a rank has of a vector on a level, with ghosts; on the first whole level that of all ranks. */
    Vector complete(const MeshLevel &level, const OwnRange &own, MeshRanks *ranks, const Vector &of_own)
    {
      const int n_rows = level.mesh.n_nodes();
      Vector    v(level.mesh.matrix.n_columns, 0.);
      std::copy(of_own.begin(), of_own.end(), v.begin() + (level.part.shared ? 0 : own.first()));
      EXPECT_EQ(n_rows, level.part.shared ? own.n() : level.n_all);
      MeshGhosts exchange(level.part, ranks);
      exchange.connect(1);
      exchange.update(v.data());
      exchange.gather(v.data());
      return v;
    }

    Vector times(const CrsMatrix<double> &A, const Vector &x)
    {
      EXPECT_EQ(A.n_columns, static_cast<int>(x.size()));
      Vector y(A.n_rows);
      multiply(A, x.data(), y.data());
      return y;
    }

    /** A rank's own part of a vector on a level that may be whole. */
    Vector own_of(const MeshLevel &level, const OwnRange &own, const Vector &v)
    {
      const auto begin = v.begin() + (level.part.shared ? 0 : own.first());
      return Vector(begin, begin + own.n());
    }

    double sum_of_ranks(const Vector &weight, const Vector &x, const Vector &y)
    {
      double sum = 0.;
      for (std::size_t i = 0; i < x.size(); ++i)
        sum += weight[i] * x[i] * y[i];
      MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
      return sum;
    }
  } // namespace

  /**
   * L_c = R L P over all ranks, R is the adjoint of P by the masses, constants survive, and there are hardly more nodes
   * than of the levels of the whole mesh.
   */
  TEST(DistributedMeshLevels, AreGalerkinProductsOfAllRanks)
  {
    const Triangles mesh(50, 0.2, 5);
    MeshLaplacian   with_coordinates = mesh.laplacian;
    for (const auto &[x, y] : mesh.nodes)
      with_coordinates.coordinates.insert(with_coordinates.coordinates.end(), {x, y});
    const std::vector<MeshLevel> whole = make_levels(mesh.laplacian);
    ASSERT_GE(whole.size(), 3u);
    std::vector<int> apart; // of four or eight ranks no node has a neighbour of its own rank
    const int        n_lines = n_ranks() > 4 ? 4 : 2;
    for (int i = 0; i < mesh.laplacian.n_nodes(); ++i)
      apart.push_back((i % 50 % 2 + 2 * (i / 50 % n_lines)) % n_ranks());
    for (const auto &owner : {owners_of(mesh, n_ranks(), false), owners_of(mesh, n_ranks(), true), apart})
      for (const int smallest_shared : {1, 200, nobody})
        {
          const SharedMesh shared = share(with_coordinates, owner, smallest_shared);
          if (shared.ranks == nullptr)
            GTEST_SKIP() << "one rank";
          MeshRanks *const              ranks  = shared.ranks.get();
          const std::vector<MeshLevel> &levels = ranks->levels;
          EXPECT_TRUE(levels[0].part.shared);
          EXPECT_LE(levels.back().n_all, coarse_nodes);
          if (owner == apart && (n_ranks() == 4 || n_ranks() == 8))
            {
              EXPECT_TRUE(levels[1].part.gathered);
              EXPECT_EQ(levels[1].n_all, levels[0].n_all);
            }
          const bool in_stripes = owner == owners_of(mesh, n_ranks(), false);
          if (in_stripes)
            {
              EXPECT_EQ(levels[1].part.shared, smallest_shared != nobody);
            }
          for (std::size_t l = 0; l < std::min(levels.size(), whole.size()) && in_stripes; ++l)
            EXPECT_LE(levels[l].n_all, 1.3 * whole[l].n_all + 20) << "level " << l;
          for (std::size_t l = 0; l < levels.size(); ++l)
            {
              const MeshLevel &level = levels[l];
              EXPECT_NO_THROW(level.mesh.validate(level.part.shared));
              if (!level.part.shared)
                { // the same on all ranks
                  expect_same(static_cast<double>(level.n_all), "nodes");
                  expect_same(std::accumulate(level.mesh.matrix.values.begin(), level.mesh.matrix.values.end(), 0.), "sum of the matrix");
                  expect_same(std::accumulate(level.mesh.coordinates.begin(), level.mesh.coordinates.end(), 0.), "sum of the coordinates");
                  continue;
                }
              EXPECT_GE(level.n_all, l == 0 ? 0 : smallest_shared);
              if (l + 1 == levels.size())
                continue;
              const MeshLevel &coarse       = levels[l + 1];
              const OwnRange   own          = own_range(level.mesh.n_nodes(), MPI_COMM_WORLD);
              int              n_own_coarse = 0;
              for (int i = 0; i < level.restriction.n_rows; ++i)
                n_own_coarse += level.restriction.row_offsets[i + 1] > level.restriction.row_offsets[i];
              const OwnRange own_coarse = own_range(n_own_coarse, MPI_COMM_WORLD);
              EXPECT_EQ(own_coarse.n_all(), coarse.n_all);
              EXPECT_EQ(level.restriction.n_rows, coarse.mesh.n_nodes());

              const auto values = [](const OwnRange &range, double k) {
                Vector v;
                for (int i = range.first(); i < range.first() + range.n(); ++i)
                  v.push_back(std::sin(1. + k * i));
                return v;
              };
              const auto restrict_to = [&](const Vector &own_fine) {
                return own_of(coarse, own_coarse, times(level.restriction, complete(level, own, ranks, own_fine)));
              };
              const Vector x = values(own_coarse, 1.), all_x = complete(coarse, own_coarse, ranks, x), Px = times(level.prolongation, all_x);
              const Vector expected = restrict_to(times(level.mesh.matrix, complete(level, own, ranks, Px)));
              const Vector found    = own_of(coarse, own_coarse, times(coarse.mesh.matrix, all_x));
              for (std::size_t i = 0; i < found.size(); ++i)
                ASSERT_NEAR(found[i], expected[i], 1e-11 * coarse.mesh.largest_row()) << "level " << l;

              const Vector &w = level.mesh.weight, w_coarse = own_of(coarse, own_coarse, coarse.mesh.weight);
              const Vector  y     = values(own, 2.), one(own.n(), 1.), one_coarse(own_coarse.n(), 1.);
              const double  scale = sum_of_ranks(w, one, one) / sum_of_ranks(w_coarse, one_coarse, one_coarse);
              EXPECT_NEAR(sum_of_ranks(w, Px, y), scale * sum_of_ranks(w_coarse, x, restrict_to(y)), 1e-12 * sum_of_ranks(w, one, one));
              for (const double value : restrict_to(one))
                EXPECT_NEAR(value, 1., 1e-13);
              for (const double value : times(level.prolongation, complete(coarse, own_coarse, ranks, one_coarse)))
                EXPECT_NEAR(value, 1., 1e-13);
              for (int d = 0; d < 2; ++d)
                {
                  Vector fine_x, coarse_x;
                  for (int i = 0; i < own.n(); ++i)
                    fine_x.push_back(level.mesh.coordinates[2l * i + d]);
                  for (int i = 0; i < own_coarse.n(); ++i)
                    coarse_x.push_back(coarse.mesh.coordinates[2l * (i + (coarse.part.shared ? 0 : own_coarse.first())) + d]);
                  EXPECT_LT(largest_difference(coarse_x, restrict_to(fine_x)), 1e-13) << "level " << l;
                }
            }
        }
  }

  TEST(DistributedMeshLevels, BadInputIsNamed)
  {
    const Triangles  mesh(15, 0.1, 6);
    std::vector<int> owner = owners_of(mesh, n_ranks(), false);
    std::string      why_not;
    if (n_ranks() > 1)
      {
        MeshLaplacian bad = own_rows(mesh.laplacian, owner);
        if (my_rank() == 1)
          bad.matrix.columns.back() = mesh.laplacian.n_nodes();
        EXPECT_THROW(make_mesh_ranks(bad, true, 1, Backend::host, MPI_COMM_WORLD, why_not), InvalidInput) << "on all ranks";
        const SharedMesh alone = share(mesh.laplacian, owner, 1, {Backend::host}, false);
        EXPECT_EQ(alone.ranks->levels.size(), 1u);
        StepperOptions options         = fixed_steps(Backend::host, Scheme::bdf2, 1e-3);
        options.stepping.linear_method = LinearMethod::multigrid;
        EXPECT_THROW(Stepper(alone.part(), options, alone.ranks), InvalidInput);
        std::replace(owner.begin(), owner.end(), 1, 0);
        EXPECT_EQ(make_mesh_ranks(own_rows(mesh.laplacian, owner), true, 1, Backend::host, MPI_COMM_WORLD, why_not), nullptr);
        EXPECT_EQ(why_not, "rank 1 owns no node of the mesh");
      }
    const auto ranks = std::make_shared<MeshRanks>(make_levels(mesh.laplacian), true, 1., 0., 0, 2, nullptr);
    EXPECT_THROW(Stepper(mesh.laplacian, fixed_steps(Backend::reference, Scheme::bdf2, 1e-3), ranks), InvalidInput);
    EXPECT_THROW(Stepper(Triangles(6, 0.1, 6).laplacian, fixed_steps(Backend::host, Scheme::bdf2, 1e-3), ranks), InvalidInput);
  }
} // namespace leopard::reaction_diffusion
