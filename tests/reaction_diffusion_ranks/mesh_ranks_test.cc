// SPDX-License-Identifier: Apache-2.0
// The time loop of reaction-diffusion systems on a mesh that ranks share, against the same on one.
#include "../reaction_diffusion/triangles.h"
#include "../solvers_distributed/ranks_test.h"

#include <applications/reaction_diffusion/mesh/mesh_ghosts.h>
#include <applications/reaction_diffusion/mesh/mesh_hierarchy.h>
#include <applications/reaction_diffusion_mpi/make_mesh_ranks.h>
#include <solvers/base/errors.h>
#include <solvers/device/device_array.h>

#include <algorithm>
#include <cmath>
#include <set>

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
      std::shared_ptr<MeshRanks> ranks_for(const std::vector<int> &owner, int smallest_shared)
      {
        std::string why_not;
        const auto  made = make_mesh_ranks(owner, GetParam(), MPI_COMM_WORLD, why_not);
        EXPECT_EQ(why_not, "");
        EXPECT_EQ(made == nullptr, n_ranks() == 1);
        return made != nullptr ? std::make_shared<MeshRanks>(owner, smallest_shared, my_rank(), n_ranks(), made->transport) : nullptr;
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
            compare(mesh.laplacian,
                    ranks_for(owners_of(mesh, n_ranks(), false), smallest_shared),
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
    compare(mesh.laplacian, ranks_for(owners_of(mesh, n_ranks(), true), nobody), options, smooth_fields(mesh), 4e-4, 1e-8, "scattered", 10.);
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
    compare(with_coordinates, ranks_for(owners_of(mesh, n_ranks(), false), 100), options, smooth_fields(mesh), 0.05, 1e-5, "error-controlled");
  }

  /**
   * A rank sends each neighbour the nodes that its rows of matrix and transfers read, once, and other ranks nothing:
   * counted on the levels of the whole mesh.
   */
  TEST_P(MeshRanksTest, NeighboursGetTheirGhostsAndNobodyElseAnything)
  {
    constexpr int                n_fields = 2;
    const Triangles              mesh(60, 0.2, 8);
    const std::vector<MeshLevel> whole = make_levels(mesh.laplacian);
    for (const bool scattered : {false, true})
      {
        const auto ranks = ranks_for(owners_of(mesh, n_ranks(), scattered), 1);
        if (ranks == nullptr)
          GTEST_SKIP() << "one rank";
        const std::vector<MeshLevel> levels = make_levels(mesh.laplacian, true, ranks.get());
        for (std::size_t l = 0; l < levels.size() && levels[l].part.shared; ++l)
          {
            const std::vector<int>       &owner = levels[l].owner;
            std::set<std::pair<int, int>> sent, ghosts; // with the other rank
            const auto                    read = [&](const CrsMatrix<double> &A, const std::vector<int> &row_owner) {
              for (int i = 0; i < A.n_rows; ++i)
                for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
                  if (const int j = A.columns[p]; owner[j] == my_rank() && row_owner[i] != my_rank())
                    sent.insert({row_owner[i], j});
                  else if (owner[j] != my_rank() && row_owner[i] == my_rank())
                    ghosts.insert({owner[j], j});
            };
            read(whole[l].mesh.matrix, owner);
            if (l + 1 < levels.size())
              read(whole[l].restriction, levels[l + 1].owner);
            if (l > 0)
              read(whole[l - 1].prolongation, levels[l - 1].owner);

            const ExchangePattern &pattern  = levels[l].part.pattern;
            int                    is_wrong = pattern.sent.size() != sent.size() || pattern.received.size() != ghosts.size();
            MPI_Allreduce(MPI_IN_PLACE, &is_wrong, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
            ASSERT_EQ(is_wrong, 0) << "level " << l << ": " << pattern.sent.size() << " nodes are sent, " << sent.size() << " are read, "
                                   << pattern.received.size() << " are received, " << ghosts.size() << " are ghosts";
            MeshGhosts exchange(levels[l].part, ranks.get());
            exchange.connect(n_fields);
            Vector v;
            for (int i = 0; i < static_cast<int>(owner.size()); ++i)
              if (owner[i] == my_rank())
                v.insert(v.end(), {1. * i, -1. * i});
            const std::size_t n_own  = v.size();
            const Traffic     before = ranks->transport->traffic();
            v.resize(n_own + n_fields * ghosts.size(), 0.5);
            if (GetParam() == Backend::cuda)
              {
                const device::Array<double> there(v);
                exchange.update(there.data());
                device::copy_to_host(v.data(), there.data(), v.size() * sizeof(double));
              }
            else
              exchange.update(v.data());
            std::size_t e = n_own;
            for (const auto &[rank, node] : ghosts)
              {
                ASSERT_EQ(v[e++], 1. * node) << "level " << l << ", from rank " << rank;
                ASSERT_EQ(v[e++], -1. * node);
              }
            const Traffic &after = ranks->transport->traffic();
            EXPECT_EQ(after.bytes - before.bytes, sizeof(double) * n_fields * sent.size()) << "level " << l;
            EXPECT_EQ(after.calls, before.calls + 1);
            if (!scattered && l == 0)
              {
                for (const auto &to : pattern.to)
                  EXPECT_EQ(std::abs(to.rank - my_rank()), 1) << "of stripes only those beside this one";
                EXPECT_LE(sent.size(), 2u * 3u * 61u) << "some lines of nodes a side, not " << owner.size();
              }
          }
      }
  }

  /** In the time loop as well: no exchange of a run sends more than the ghosts of the neighbours, or the sums. */
  TEST_P(MeshRanksTest, TheTimeLoopSendsGhostsToNeighboursOnly)
  {
    if (GetParam() == Backend::cuda)
      GTEST_SKIP() << "replays of a graph do not count";
    const Triangles mesh(60, 0.2, 8);
    StepperOptions  options = fixed_steps(GetParam(), Scheme::bdf2, 2e-5);
    const auto      ranks   = ranks_for(owners_of(mesh, n_ranks(), false), nobody);
    if (ranks == nullptr)
      GTEST_SKIP() << "one rank";
    options.n_threads              = 1;
    options.stepping.linear_method = LinearMethod::sweeps;
    std::set<std::pair<int, int>> sent; // the reader and the node
    const CrsMatrix<double>      &A = mesh.laplacian.matrix;
    for (int i = 0; i < A.n_rows; ++i)
      for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
        if (const int j = A.columns[p]; ranks->owner[j] == my_rank() && ranks->owner[i] != my_rank())
          sent.insert({ranks->owner[i], j});
    Stepper stepper(mesh.laplacian, options, ranks);
    stepper.start(own_part(*ranks, smooth_fields(mesh)).data());
    const Traffic before = ranks->transport->traffic();
    stepper.advance(6e-5, 100, 1e-5);
    const Traffic    &after     = ranks->transport->traffic();
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
                  ranks_for(owners_of(mesh, n_ranks(), false), 100),
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
          compare(mesh, ranks_for(owner, smallest_shared), options, initial, 10. * options.stepping.step_size, 1e-8, "components");
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
            mesh.laplacian, ranks_for(owner, smallest_shared), options, smooth_fields(mesh), 0.03, 1e-8, std::to_string(n) + " nodes a side", 20.);
      }
  }

  TEST_P(MeshRanksTest, GoesOnAfterAResume)
  {
    const Triangles      mesh(30, 0.2, 4);
    const StepperOptions options = fixed_steps(GetParam(), Scheme::bdf2, 1e-3);
    const auto           ranks   = ranks_for(owners_of(mesh, n_ranks(), false), 100);
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
              Vector          result;
              if (part.shared)
                for (const int i : own_nodes(l, r))
                  result.push_back(value(i));
              else
                for (int i = 0; i < whole[l].mesh.n_nodes(); ++i)
                  result.push_back(!part.gathered || parts[r][l].owner[i] == r ? value(i) : 0.);
              result.resize(result.size() + (part.shared ? part.pattern.received.size() : 0), 0.);
              for (const auto &from : part.pattern.from)
                {
                  const std::vector<int> own    = own_nodes(l, from.rank);
                  const ExchangePattern &theirs = parts[from.rank][l].part.pattern;
                  const auto             to = std::find_if(theirs.to.begin(), theirs.to.end(), [&](const auto &other) { return other.rank == r; });
                  EXPECT_NE(to, theirs.to.end());
                  EXPECT_EQ(to->count, from.count);
                  for (int k = 0; k < from.count; ++k)
                    {
                      const int node                                 = theirs.sent[to->offset + k];
                      result[part.pattern.received[from.offset + k]] = value(part.shared ? own[node] : node);
                    }
                }
              return result;
            };
            const auto expect_rows = [&](const CrsMatrix<double> &A, const CrsMatrix<double> &A_part, const Vector &x, const std::vector<int> &rows) {
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
