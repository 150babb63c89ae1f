// SPDX-License-Identifier: Apache-2.0
// What is by node where ranks share a mesh: reactions, noise, what is beside prescribed values. Against the same on
// one.
#include "../reaction_diffusion/inside.h"
#include "../reaction_diffusion/noise_on.h"
#include "shared_mesh.h"

#include <cmath>

namespace leopard::reaction_diffusion
{
  namespace
  {
    class MeshRanksByNode : public MeshRanksTest
    {
    };
    INSTANTIATE_TEST_SUITE_P(Ways, MeshRanksByNode, all_ways, name_of_way);
  } // namespace

  /** A reaction with values by node, which coarser levels need as well, shared or whole on every rank. */
  TEST_P(MeshRanksByNode, Reaction)
  {
    const Triangles mesh(40, 0.3, 1);
    TapeWriter      w(5, {1., 0.}); // u, v, t, k, m: k (1 - u) (1 + t), m (u - v)
    w.tape.outputs = {w.times(w.times(3, w.add(w.constant(0), 2)), w.minus(w.constant(0), 0)), w.times(4, w.minus(0, 1))};
    for (const std::uint16_t derivative : {w.negate(w.times(3, w.add(w.constant(0), 2))), w.constant(1), std::uint16_t(4), w.negate(4)})
      w.tape.outputs.push_back(derivative);
    Vector values;
    for (const auto &node : mesh.nodes) // fast in some places
      values.push_back(node[0] < 0.3 || node[1] > 0.6 ? 3e4 : 1.);
    for (const auto &node : mesh.nodes)
      values.push_back(100. * (1. + node[0]));
    for (const bool scattered : {false, true})
      for (const LinearMethod method : {LinearMethod::sweeps, LinearMethod::multigrid})
        for (const int smallest_shared : {100, nobody})
          for (const Scheme scheme : {Scheme::bdf2, Scheme::imex_bdf2})
            {
              if (method == LinearMethod::sweeps && smallest_shared != nobody)
                continue;
              StepperOptions options = fixed_steps(backend(), scheme, method == LinearMethod::sweeps || scheme != Scheme::bdf2 ? 1e-5 : 3e-3);
              options.kinetics       = {"expressions", {}, 1., w.tape};
              options.kinetics.n_further_inputs = 3;
              options.kinetics.by_node          = std::make_shared<const Vector>(values);
              options.stepping.linear_method    = method;
              options.stepping.newton_floor     = 1e-13;
              compare(mesh.laplacian,
                      owners_of(mesh, n_ranks(), scattered),
                      smallest_shared,
                      options,
                      smooth_fields(mesh),
                      4. * options.stepping.step_size,
                      1e-8,
                      "scheme " + std::to_string(static_cast<int>(scheme)) + ", method " + std::to_string(static_cast<int>(method)) +
                        ", shared from " + std::to_string(smallest_shared) + " nodes on" + (scattered ? ", scattered" : ""),
                      scattered ? 10. : 4.);
            }
  }

  /** Values prescribed on a part of the boundary, of which one rank has more nodes than another. */
  TEST_P(MeshRanksByNode, BesidePrescribedValues)
  {
    const Triangles   mesh(40, 0.3, 1);
    std::vector<bool> is_free;
    for (const auto &node : mesh.nodes)
      is_free.push_back(node[1] > 0.001 && (node[0] > 0.001 || node[1] > 0.5));
    const Inside           inside(mesh.laplacian, is_free);
    const std::vector<int> owner_of_all = owners_of(mesh, n_ranks(), false);
    std::vector<int>       owner;
    const Vector           all = smooth_fields(mesh);
    Vector                 initial;
    for (const int i : inside.nodes)
      owner.push_back(owner_of_all[i]);
    for (int c = 0; c < 2; ++c)
      for (const int i : inside.nodes)
        initial.push_back(all[c * mesh.nodes.size() + i]);
    for (const LinearMethod method : {LinearMethod::sweeps, LinearMethod::multigrid})
      for (const int smallest_shared : {100, nobody})
        for (const Scheme scheme : {Scheme::implicit_euler, Scheme::bdf2, Scheme::imex_bdf2})
          {
            StepperOptions options         = fixed_steps(backend(), scheme, method == LinearMethod::sweeps ? 1e-4 : 3e-3);
            options.stepping.linear_method = method;
            options.stepping.newton_floor  = 1e-13;
            if (method == LinearMethod::sweeps && smallest_shared != nobody)
              continue;
            compare(inside.laplacian,
                    owner,
                    smallest_shared,
                    options,
                    initial,
                    4. * options.stepping.step_size,
                    1e-8,
                    "scheme " + std::to_string(static_cast<int>(scheme)) + ", method " + std::to_string(static_cast<int>(method)));
          }
  }

  /** Random numbers are those of the places, whoever owns them; strengths have values by node. */
  TEST_P(MeshRanksByNode, NoiseIsThatOfOneRank)
  {
    const Triangles mesh(40, 0.3, 1);
    MeshLaplacian   with_coordinates = mesh.laplacian;
    for (const auto &[x, y] : mesh.nodes)
      with_coordinates.coordinates.insert(with_coordinates.coordinates.end(), {x, y});
    for (const bool scattered : {false, true})
      for (const LinearMethod method : {LinearMethod::sweeps, LinearMethod::multigrid})
        {
          StepperOptions options         = fixed_steps(backend(), Scheme::implicit_euler, method == LinearMethod::sweeps ? 1e-4 : 3e-3);
          options.stepping.linear_method = method;
          options.stepping.newton_floor  = 1e-13;
          options.noise                  = multiplicative_noise(noise_on(with_coordinates, constant_strengths(2, {0.1, 0.1})));
          StepperOptions still           = options;
          still.noise                    = {};
          still.backend                  = Backend::host;
          const double time              = 4. * options.stepping.step_size;
          if (n_ranks() > 1)
            {
              StepperOptions on_host = options;
              on_host.backend        = Backend::host;
              EXPECT_GT(largest_difference(solution_at(with_coordinates, on_host, smooth_fields(mesh), time),
                                           solution_at(with_coordinates, still, smooth_fields(mesh), time)),
                        1e-3);
            }
          for (const int smallest_shared : {100, nobody})
            compare(with_coordinates,
                    owners_of(mesh, n_ranks(), scattered),
                    smallest_shared,
                    options,
                    smooth_fields(mesh),
                    time,
                    1e-8,
                    "method " + std::to_string(static_cast<int>(method)) + (scattered ? ", scattered" : ""),
                    scattered ? 10. : 4.);
        }
  }

  /**
   * What stands for a node of a coarser level is a node of the mesh near it: the rank's own one, or on levels that are
   * whole the one whose values with_gathered() has put behind those of own nodes. Decay there is that of the nodes
   * near.
   */
  TEST(DistributedMeshLevels, NodesStandForThoseOfCoarserLevels)
  {
    const Triangles mesh(60, 0.3, 12);
    MeshLaplacian   with_coordinates = mesh.laplacian;
    for (const auto &[x, y] : mesh.nodes)
      {
        with_coordinates.coordinates.insert(with_coordinates.coordinates.end(), {x, y});
        with_coordinates.decay.push_back(1. + x + y);
      }
    for (const bool scattered : {false, true})
      for (const int smallest_shared : {1, 200, nobody})
        {
          const SharedMesh shared = share(with_coordinates, owners_of(mesh, n_ranks(), scattered), smallest_shared);
          if (shared.ranks == nullptr)
            GTEST_SKIP() << "one rank";
          const std::vector<MeshLevel> &levels = shared.ranks->levels;
          const int                     n_own  = shared.part().n_nodes();
          Vector                        places(2l * n_own);
          for (int i = 0; i < 2 * n_own; ++i)
            places[i] = shared.part().coordinates[2l * (i % n_own) + i / n_own]; // field by field
          const Vector values = shared.ranks->with_gathered(places, 2);
          const auto   n      = static_cast<int>(values.size() / 2);
          ASSERT_GT(levels.size(), 2u);
          double distance = 0.3 / 59.; // in which nodes are that count
          for (std::size_t l = 1; l < levels.size(); ++l)
            {
              const MeshLaplacian &level = levels[l].mesh;
              distance += 3. * 2. / std::sqrt(levels[l].n_all);
              ASSERT_EQ(static_cast<int>(level.finest_node.size()), level.n_nodes());
              for (int i = 0; i < level.n_nodes(); ++i)
                {
                  const int node = level.row(i).node;
                  ASSERT_LT(node, levels[l].part.shared ? n_own : n);
                  for (int d = 0; d < 2; ++d)
                    EXPECT_LT(std::abs(values[d * n + node] - level.coordinates[2l * i + d]), distance) << "level " << l;
                  EXPECT_NEAR(level.row(i).decay, 1. + level.coordinates[2l * i] + level.coordinates[2l * i + 1], 1e-12) << "level " << l;
                }
            }
        }
  }
} // namespace leopard::reaction_diffusion
