// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "host_rows.h"
#include "level_gcr.h"

#include <applications/reaction_diffusion/mesh/mesh_hierarchy.h>
#include <applications/reaction_diffusion/stepper.h>

#include <memory>
#include <string>
#include <vector>

namespace leopard::reaction_diffusion
{
  /**
   * A mesh and its coarser levels as the domain of a HostEngine. Cycles work with NodeSystem::stable_block(): before
   * the coarse correction a sweep by colours of blocks with nodes in ascending order, after it one in descending order.
   */
  template <typename Kinetics>
  class HostMesh
  {
  public:
    static constexpr int         N            = Kinetics::n_species;
    static constexpr const char *level_name   = "levels";
    static constexpr int         n_directions = mesh_directions; ///< of GCR
    using Level                               = HostRows<Kinetics>;
    using System                              = NodeSystem<Kinetics>;

    /** @param meshes as make_levels() makes them. @param ranks null: one rank. */
    HostMesh(const std::vector<MeshLevel> &meshes, const System &system_, const StepperOptions &options, MeshRanks *ranks)
      : system(system_)
      , coarsest(meshes.size() - 1)
      , transfers(meshes.size())
    {
      for (std::size_t l = 0; l < meshes.size(); ++l)
        {
          levels.push_back(std::make_unique<Level>(meshes[l], l == 0, options.n_threads, ranks));
          if (l == 0)
            continue;
          const std::vector<int> &fine = levels[l - 1]->old_node, &coarse = levels[l]->old_node;
          transfers[l] = {permute(meshes[l - 1].restriction, coarse, fine),
                          permute(meshes[l - 1].prolongation, fine, coarse),
                          std::vector<double>(levels[l]->d.size())};
        }
    }

    void connect()
    {
      for (const auto &level : levels)
        level->connect();
    }

    std::string blocks() const { return "up to " + std::to_string(Level::nodes_per_block) + " nodes of a mesh"; }

    /** f(entry, place) for all own entries of the mesh: where the caller's arrays have them. */
    template <typename F>
    void for_places(const F &f) const
    {
      const long n = levels[0]->n_nodes();
      for (long i = 0; i < n; ++i)
        for (int c = 0; c < N; ++c)
          f(i * N + c, c * n + levels[0]->old_node[i]);
    }

    void choose_coarsest(const double * /*u*/) {}

    /**
     * The Jacobian's stable part on the coarse levels, with the reaction's derivative at the restricted solution.
     * @param u on the mesh.
     */
    void linearize(const typename System::Scheme &scheme, const double *u)
    {
      const System without_noise = system.without_noise();
      for (std::size_t l = 1; l <= coarsest; ++l)
        {
          Level        &level      = *levels[l];
          double *const restricted = transfers[l].u.data();
          restrict_to(l, u, restricted);
          level.update_ghosts(restricted);
          level.for_nodes([&](const auto &node, int /*piece*/) {
            double *const here = restricted + node.entry(0), *const block = &level.block[node.block_entry(0)];
            double              zero[N] = {}, g[N], jacobian[N * N];
            Sums                unused;
            const double *const old[max_levels] = {here, here, here, here}; // the block does not depend on them
            without_noise.residual(scheme, here, old, zero, node.row(), g, jacobian, unused);
            system.stable_block(jacobian, scheme.implicit, node.row(), block);
            system.relaxation_matrix(block, scheme.implicit, node.row(), &level.matrix[node.block_entry(0)]);
          });
          u = restricted;
        }
    }

    void smooth(Level &level, double implicit, bool after) const
    {
      level.sweep_by_colour(system, implicit, after);
      level.update_ghosts(level.d.data());
    }

    void solve_coarsest(double implicit) const
    {
      Level &level = *levels[coarsest];
      level.sweep(system, implicit, level.n_all <= most_coarse_nodes ? coarse_level_sweeps : 4, 2); // as many on all ranks
      level.update_ghosts(level.d.data());
    }

    /** result = R f, all fields, on the rank's part of level l. @param f on level l - 1, with its ghosts. */
    void restrict_to(std::size_t l, const double *f, double *result)
    {
      levels[l]->for_nodes([&](const auto &node, int /*piece*/) { multiply_row(transfers[l].restriction, node.i, f, result + node.entry(0)); });
      levels[l]->gather(result);
    }

    /** On level l - 1: d += P d of level l. */
    void prolongate(std::size_t l)
    {
      Level &fine = *levels[l - 1];
      fine.for_nodes([&](const auto &node, int /*piece*/) {
        double correction[N];
        multiply_row(transfers[l].prolongation, node.i, levels[l]->d.data(), correction);
        for (int c = 0; c < N; ++c)
          fine.d[node.entry(c)] += correction[c];
      });
    }

    const System                        system;
    std::vector<std::unique_ptr<Level>> levels;
    const std::size_t                   coarsest;

  private:
    struct Transfers
    {
      CrsMatrix<double>   restriction, prolongation; ///< from and to the next finer level
      std::vector<double> u;                         ///< the restricted solution
    };

    /** result = (A x)_i, all fields. */
    static void multiply_row(const CrsMatrix<double> &A, int i, const double *x, double *result)
    {
      std::fill_n(result, N, 0.);
      for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
        for (int c = 0; c < N; ++c)
          result[c] += A.values[p] * x[static_cast<long>(A.columns[p]) * N + c];
    }

    std::vector<Transfers> transfers; ///< of the coarser levels
  };
} // namespace leopard::reaction_diffusion
