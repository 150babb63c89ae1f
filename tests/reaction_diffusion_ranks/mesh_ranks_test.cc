// SPDX-License-Identifier: Apache-2.0
// The time loop of reaction-diffusion systems on a mesh that ranks share, against the same on one.
#include "../reaction_diffusion/triangles.h"
#include "../solvers_distributed/ranks_test.h"

#include <applications/reaction_diffusion/mesh/mesh_hierarchy.h>
#include <applications/reaction_diffusion_mpi/make_mesh_ranks.h>
#include <solvers/base/errors.h>

#include <algorithm>

namespace leopard::reaction_diffusion
{
  namespace
  {
    constexpr int nobody = 1000000000;

    /** Stripes, or (scattered) a rank at random for each node. */
    std::vector<int> owners_of(const Triangles &mesh, int n, bool scattered)
    {
      std::mt19937     generator(7);
      std::vector<int> owner;
      for (const auto &node : mesh.nodes)
        owner.push_back(scattered ? static_cast<int>(generator() % n) : std::min(n - 1, static_cast<int>(n * node[1])));
      return owner;
    }

    /** The rank's part of fields on the whole mesh. */
    Vector own_part(const MeshRanks &ranks, const Vector &whole)
    {
      const std::size_t n = ranks.owner.size();
      Vector            part;
      for (std::size_t field = 0; field < whole.size() / n; ++field)
        for (const int i : ranks.own_nodes())
          part.push_back(whole[field * n + i]);
      return part;
    }

    class MeshRanksTest : public BackendTest
    {
    protected:
      /** @param smallest_shared as of MeshRanks. */
      std::shared_ptr<MeshRanks> ranks_for(const std::vector<int> &owner, int n_fields, int smallest_shared)
      {
        std::string why_not;
        const auto  made = make_mesh_ranks(owner, n_fields, GetParam(), MPI_COMM_WORLD, why_not);
        EXPECT_EQ(why_not, "");
        EXPECT_EQ(made == nullptr, n_ranks() == 1);
        return made != nullptr ? std::make_shared<MeshRanks>(owner, smallest_shared, my_rank(), n_ranks(), made->exchange) : nullptr;
      }

      /** Steps on all ranks and on one alone. @param more times as many sweeps or cycles as there may be, at most. */
      void compare(const MeshLaplacian              &mesh,
                   const std::shared_ptr<MeshRanks> &ranks,
                   StepperOptions                    options,
                   const Vector                     &initial,
                   double                            time,
                   double                            bound,
                   const std::string                &what,
                   double                            more = 4.)
      {
        if (ranks == nullptr)
          GTEST_SKIP() << "one rank";
        options.backend   = GetParam();
        options.n_threads = 2;
        Totals         whole_totals;
        StepperOptions on_host = options;
        on_host.backend        = Backend::host;
        const Vector whole     = solution_at(mesh, on_host, initial, time, &whole_totals);

        Stepper      stepper(mesh, options, ranks);
        const Vector mine = own_part(*ranks, initial), expected = own_part(*ranks, whole);
        EXPECT_EQ(stepper.n_nodes() * stepper.n_species(), static_cast<long>(mine.size()));
        stepper.start(mine.data());
        const double slack = options.stepping.error_controlled ? 1e-12 * time : 0.5 * options.stepping.step_size;
        EXPECT_EQ(stepper.advance(time, 100000, slack), StopReason::time_reached) << what;
        Vector found(mine.size());
        stepper.solution(found.data());
        EXPECT_LT(largest_difference(found, expected), bound) << what;
        const Totals &totals = stepper.totals();
        expect_same(stepper.time(), what);
        expect_same(static_cast<double>(totals.steps), what);
        expect_same(static_cast<double>(totals.sweeps + totals.cycles), what);
        expect_same(stepper.last_step().residual, what);
        EXPECT_LE(totals.worst_reduction, 1.);
        EXPECT_NEAR(static_cast<double>(totals.steps), static_cast<double>(whole_totals.steps), 1.) << what;
        EXPECT_LE(static_cast<double>(totals.cycles), 0.5 * more * static_cast<double>(whole_totals.cycles) + 4.) << what;
        // others' values may be up to waited_exchange_interval iterations old
        EXPECT_LE(static_cast<double>(totals.sweeps), more * static_cast<double>(whole_totals.sweeps) + 4.) << what;
      }
    };
    INSTANTIATE_TEST_SUITE_P(Backends, MeshRanksTest, testing::Values(Backend::host, Backend::cuda), backend_name);
  } // namespace

  /** Coarser levels shared, or whole on every rank. */
  TEST_P(MeshRanksTest, FixedStepsAreThoseOfOneRank)
  {
    const Triangles mesh(40, 0.3, 1);
    for (const LinearMethod method : {LinearMethod::sweeps, LinearMethod::multigrid})
      for (const int smallest_shared : {100, nobody})
        for (const Scheme scheme : {Scheme::implicit_euler, Scheme::bdf2, Scheme::imex_bdf2})
          {
            if (method == LinearMethod::sweeps && smallest_shared != nobody)
              continue;
            const double   dt              = method == LinearMethod::sweeps ? 1e-4 : 3e-3;
            StepperOptions options         = fixed_steps(GetParam(), scheme, dt);
            options.stepping.linear_method = method;
            options.stepping.newton_floor  = 1e-13;
            options.local_iterations       = 3;
            options.fields_together        = scheme != Scheme::bdf2;
            compare(mesh.laplacian,
                    ranks_for(owners_of(mesh, n_ranks(), false), 2, smallest_shared),
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
    StepperOptions  options        = fixed_steps(GetParam(), Scheme::bdf2, 1e-4);
    options.stepping.linear_method = LinearMethod::sweeps;
    options.stepping.newton_floor  = 1e-13;
    compare(mesh.laplacian, ranks_for(owners_of(mesh, n_ranks(), true), 2, nobody), options, smooth_fields(mesh), 4e-4, 1e-8, "scattered", 10.);
  }

  TEST_P(MeshRanksTest, ErrorControlledStepsAreThoseOfOneRank)
  {
    const Triangles mesh(50, 0.2, 2);
    MeshLaplacian   with_coordinates = mesh.laplacian;
    for (const auto &[x, y] : mesh.nodes)
      with_coordinates.coordinates.insert(with_coordinates.coordinates.end(), {x, y});
    StepperOptions options            = fixed_steps(GetParam(), Scheme::bdf2, 1e-5);
    options.kinetics.gamma            = 300.;
    options.growth                    = {GrowthLaw::exponential, 0.5, 2};
    options.stepping.error_controlled = true;
    options.stepping.error_tolerance  = 1e-4;
    options.stepping.newton_tolerance = 1e-8;
    compare(with_coordinates, ranks_for(owners_of(mesh, n_ranks(), false), 2, 100), options, smooth_fields(mesh), 0.05, 1e-5, "error-controlled");
  }

  /** One field and three: vectors whose parts have odd lengths. */
  TEST_P(MeshRanksTest, AnyNumberOfSpecies)
  {
    const Triangles mesh(23, 0.2, 3);
    for (const std::uint16_t species : {1, 3})
      for (const LinearMethod method : {LinearMethod::sweeps, LinearMethod::multigrid})
        {
          StepperOptions options         = fixed_steps(GetParam(), Scheme::bdf2, method == LinearMethod::sweeps ? 1e-4 : 1e-3);
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
                  ranks_for(owners_of(mesh, n_ranks(), false), species, 100),
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
        StepperOptions options         = fixed_steps(GetParam(), Scheme::bdf2, method == LinearMethod::sweeps ? 1e-4 : 3e-3);
        options.stepping.linear_method = method;
        options.stepping.newton_floor  = 1e-13;
        for (const int smallest_shared : {1, nobody})
          compare(mesh, ranks_for(owner, 2, smallest_shared), options, initial, 10. * options.stepping.step_size, 1e-8, "components");
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
        StepperOptions options         = fixed_steps(GetParam(), Scheme::bdf2, 3e-3);
        options.stepping.linear_method = LinearMethod::multigrid;
        options.kinetics.gamma         = 300.;
        options.stepping.newton_floor  = 1e-13;
        for (const int smallest_shared : {1, nobody})
          compare(
            mesh.laplacian, ranks_for(owner, 2, smallest_shared), options, smooth_fields(mesh), 0.03, 1e-8, std::to_string(n) + " nodes a side", 20.);
      }
  }

  TEST_P(MeshRanksTest, GoesOnAfterAResume)
  {
    const Triangles      mesh(30, 0.2, 4);
    const StepperOptions options = fixed_steps(GetParam(), Scheme::bdf2, 1e-3);
    const auto           ranks   = ranks_for(owners_of(mesh, n_ranks(), false), 2, 100);
    const Vector         whole = smooth_fields(mesh), mine = ranks != nullptr ? own_part(*ranks, whole) : whole;
    Stepper              first(mesh.laplacian, options, ranks), second(mesh.laplacian, options, ranks);
    first.start(mine.data());
    first.advance(0.01, 1000, 5e-4);
    ASSERT_EQ(first.state().step_sizes.size(), 2u); // BDF2 and its error estimate need three solutions
    std::vector<Vector> solutions(first.state().step_sizes.size() + 1, Vector(mine.size()));
    for (std::size_t l = 0; l < solutions.size(); ++l)
      first.solution(solutions[l].data(), static_cast<int>(l));
    second.resume(first.state(), solutions);
    Vector one(mine.size()), two(mine.size());
    for (Stepper *stepper : {&first, &second})
      EXPECT_EQ(stepper->advance(0.02, 1000, 5e-4), StopReason::time_reached);
    first.solution(one.data());
    second.solution(two.data());
    EXPECT_LT(largest_difference(one, two), 1e-9);
    EXPECT_EQ(first.step_number(), 20);
    EXPECT_EQ(second.step_number(), 20);
  }

  /**
   * Matrix and transfers of a part times a vector with its ghosts are the rows of the whole ones times the whole
   * vector.
   */
  TEST(MeshParts, ActAsTheWhole)
  {
    const Triangles mesh(45, 0.2, 5);
    for (const int n : {2, 3, 5})
      for (const bool scattered : {false, true})
        for (const int smallest_shared : {1, 200, nobody})
          {
            const std::vector<int>              owner = owners_of(mesh, n, scattered);
            std::vector<std::vector<MeshLevel>> parts;
            std::vector<MeshLevel>              whole;
            for (int r = 0; r < n; ++r)
              {
                const MeshRanks ranks(owner, smallest_shared, r, n, nullptr);
                parts.push_back(make_levels(mesh.laplacian, true, &ranks));
              }
            whole = make_levels(mesh.laplacian);
            ASSERT_GE(whole.size(), 3u);
            const auto own_nodes = [&](std::size_t l, int r) { // of all levels: that they are whole does not change who owns what
              std::vector<int> nodes;
              for (int i = 0; i < whole[l].mesh.n_nodes(); ++i)
                if (parts[0][l].owner[i] == r)
                  nodes.push_back(i);
              return nodes;
            };
            const auto value = [](int node) { return std::sin(1. + node); };
            // what a rank has of value() on a level, its ghosts filled by an exchange
            const auto values_of = [&](std::size_t l, int r) {
              const MeshPart &part = parts[r][l].part;
              Vector          result, all(part.offsets.empty() ? 0 : part.offsets.back());
              for (int s = 0; s < n && !all.empty(); ++s)
                {
                  const std::vector<int> own  = own_nodes(l, s);
                  const MeshPart        &sent = parts[s][l].part;
                  EXPECT_EQ(sent.offsets, part.offsets);
                  for (std::size_t t = 0; t < sent.sent.size(); ++t)
                    all[part.offsets[s] + t] = value(part.shared ? own[sent.sent[t]] : sent.sent[t]);
                }
              if (part.shared)
                for (const int i : own_nodes(l, r))
                  result.push_back(value(i));
              else
                for (int i = 0; i < whole[l].mesh.n_nodes(); ++i)
                  result.push_back(all.empty() || parts[r][l].owner[i] == r ? value(i) : 0.);
              result.resize(result.size() + (part.shared ? part.received.size() : 0), 0.);
              for (std::size_t g = 0; g < part.received.size(); ++g)
                result[part.received[g]] = all[part.places[g]];
              return result;
            };
            const auto expect_rows = [&](const CrsMatrix &A, const CrsMatrix &A_part, const Vector &x, const std::vector<int> &rows) {
              Vector whole_x, whole_y(A.n_rows), y(A_part.n_rows);
              for (int i = 0; i < A.n_columns; ++i)
                whole_x.push_back(value(i));
              multiply(A, whole_x.data(), whole_y.data());
              ASSERT_EQ(static_cast<int>(x.size()), A_part.n_columns);
              multiply(A_part, x.data(), y.data());
              const bool all = A_part.n_rows == A.n_rows;
              ASSERT_TRUE(all || A_part.n_rows == static_cast<int>(rows.size()));
              for (std::size_t t = 0; t < rows.size(); ++t)
                ASSERT_NEAR(y[all ? rows[t] : t], whole_y[rows[t]], 1e-12 * (1. + std::abs(whole_y[rows[t]])));
            };
            for (int r = 0; r < n; ++r)
              {
                ASSERT_EQ(parts[r].size(), whole.size());
                EXPECT_TRUE(parts[r][0].part.shared);
                for (std::size_t l = 0; l < whole.size(); ++l)
                  {
                    const bool all_own_some = MeshRanks::why_not(parts[0][l].owner, n).empty();
                    EXPECT_EQ(parts[r][l].part.shared,
                              l == 0 || (parts[r][l - 1].part.shared && whole[l].mesh.n_nodes() >= smallest_shared && all_own_some));
                    const Vector x = values_of(l, r);
                    expect_rows(whole[l].mesh.matrix, parts[r][l].mesh.matrix, x, own_nodes(l, r));
                    if (l + 1 == whole.size())
                      continue;
                    expect_rows(whole[l].restriction, parts[r][l].restriction, x, own_nodes(l + 1, r));
                    expect_rows(whole[l].prolongation, parts[r][l].prolongation, values_of(l + 1, r), own_nodes(l, r));
                  }
              }
          }
  }

  TEST(MeshParts, BadInputIsNamed)
  {
    EXPECT_EQ(MeshRanks::why_not({0, 1, 1}, 2), "");
    EXPECT_EQ(MeshRanks::why_not({0, 2, 2}, 3), "rank 1 owns no node of the mesh");
    EXPECT_EQ(MeshRanks::why_not({0, 1, 2}, 2), "node 2 of the mesh belongs to rank 2 of 2");
    EXPECT_THROW(MeshRanks({0, 0}, 1, 0, 2, nullptr), InvalidInput);
    const Triangles mesh(5, 0.1, 6);
    const auto      ranks = std::make_shared<MeshRanks>(owners_of(mesh, 2, false), 1, 0, 2, nullptr);
    EXPECT_THROW(Stepper(mesh.laplacian, fixed_steps(Backend::reference, Scheme::bdf2, 1e-3), ranks), InvalidInput);
    EXPECT_THROW(Stepper(Triangles(6, 0.1, 6).laplacian, fixed_steps(Backend::host, Scheme::bdf2, 1e-3), ranks), InvalidInput);
  }
} // namespace leopard::reaction_diffusion
