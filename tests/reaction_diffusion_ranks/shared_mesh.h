// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../reaction_diffusion/triangles.h"
#include "../solvers_distributed/ranks_test.h"
#include "way.h"

#include <applications/reaction_diffusion/mesh/mesh_hierarchy.h>
#include <applications/reaction_diffusion/rules/noise.h>
#include <applications/reaction_diffusion_mpi/make_mesh_ranks.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace leopard::reaction_diffusion
{
  constexpr int nobody = 1000000000;

  /** Stripes, or (scattered) a rank at random for each node. */
  inline std::vector<int> owners_of(const Triangles &mesh, int n, bool scattered)
  {
    std::mt19937     generator(7);
    std::vector<int> owner;
    for (const auto &node : mesh.nodes)
      owner.push_back(scattered ? static_cast<int>(generator() % n) : std::min(n - 1, static_cast<int>(n * node[1])));
    return owner;
  }

  /** Of each node the number that it has where those of a rank follow those of the one before. */
  inline std::vector<int> numbers_by(const std::vector<int> &owner)
  {
    std::vector<int> order(owner.size()), number(owner.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return owner[a] < owner[b]; });
    for (std::size_t k = 0; k < order.size(); ++k)
      number[order[k]] = static_cast<int>(k);
    return number;
  }

  /** A rank's rows, as make_mesh_ranks() wants them. */
  inline MeshLaplacian own_rows(const MeshLaplacian &mesh, const std::vector<int> &owner)
  {
    const std::vector<int> number = numbers_by(owner);
    MeshLaplacian          result;
    result.dimension        = mesh.dimension;
    result.matrix.n_columns = mesh.n_nodes();
    for (int i = 0; i < mesh.n_nodes(); ++i)
      if (owner[i] == my_rank())
        {
          for (int p = mesh.matrix.row_offsets[i]; p < mesh.matrix.row_offsets[i + 1]; ++p)
            {
              result.matrix.columns.push_back(number[mesh.matrix.columns[p]]);
              result.matrix.values.push_back(mesh.matrix.values[p]);
            }
          result.matrix.row_offsets.push_back(static_cast<int>(result.matrix.columns.size()));
          result.weight.push_back(mesh.weight[i]);
          if (!mesh.decay.empty())
            result.decay.push_back(mesh.decay[i]);
          for (int d = 0; d < mesh.dimension && !mesh.coordinates.empty(); ++d)
            result.coordinates.push_back(mesh.coordinates[static_cast<std::size_t>(i) * mesh.dimension + d]);
        }
    result.matrix.n_rows = static_cast<int>(result.weight.size());
    return result;
  }

  /** A mesh that ranks share; of one rank, ranks is null. */
  struct SharedMesh
  {
    std::vector<int>           owner;
    std::shared_ptr<MeshRanks> ranks;

    const MeshLaplacian &part() const { return ranks->levels.front().mesh; }

    /** The rank's part of fields on the whole mesh. */
    Vector own(const Vector &whole) const
    {
      const std::size_t n = owner.size();
      Vector            part;
      for (std::size_t field = 0; field < whole.size() / n; ++field)
        for (std::size_t i = 0; i < n; ++i)
          if (owner[i] == my_rank())
            part.push_back(whole[field * n + i]);
      return part;
    }

    /** Options with the rank's part of all that is by node. */
    StepperOptions own(StepperOptions options) const
    {
      const auto part_of = [this](std::shared_ptr<const Vector> &values) {
        if (values != nullptr)
          values = std::make_shared<const Vector>(own(*values));
      };
      part_of(options.kinetics.by_node);
      part_of(options.noise.by_node);
      part_of(options.noise.mass);
      if (options.noise.places != nullptr)
        {
          std::vector<RoundedPlace> places;
          for (std::size_t i = 0; i < owner.size(); ++i)
            if (owner[i] == my_rank())
              places.push_back((*options.noise.places)[i]);
          options.noise.places = std::make_shared<const std::vector<RoundedPlace>>(places);
        }
      return options;
    }
  };

  inline SharedMesh
  share(const MeshLaplacian &mesh, const std::vector<int> &owner, int smallest_shared, Way way = {Backend::host}, bool with_coarser = true)
  {
    std::string why_not;
    SharedMesh  result = {owner,
                          make_mesh_ranks(own_rows(mesh, owner), with_coarser, smallest_shared, way.backend, MPI_COMM_WORLD, why_not, way.staged)};
    EXPECT_EQ(why_not, "");
    EXPECT_EQ(result.ranks == nullptr, n_ranks() == 1);
    return result;
  }

  class MeshRanksTest : public WayTest
  {
  protected:
    /** Steps on all ranks and on one alone. @param more times as many sweeps or cycles as there may be, at most. */
    void compare(const MeshLaplacian    &mesh,
                 const std::vector<int> &owner,
                 int                     smallest_shared,
                 StepperOptions          options,
                 const Vector           &initial,
                 double                  time,
                 double                  bound,
                 const std::string      &what,
                 double                  more = 4.)
    {
      const SharedMesh shared = share(mesh, owner, smallest_shared, GetParam(), options.stepping.linear_method != LinearMethod::sweeps);
      if (shared.ranks == nullptr)
        GTEST_SKIP() << "one rank";
      options.backend   = backend();
      options.n_threads = 2;
      Totals         whole_totals;
      StepperOptions on_host = options;
      on_host.backend        = Backend::host;
      const Vector whole     = solution_at(mesh, on_host, initial, time, &whole_totals);

      Stepper      stepper(shared.part(), shared.own(options), shared.ranks);
      const Vector mine = shared.own(initial), expected = shared.own(whole);
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
} // namespace leopard::reaction_diffusion
