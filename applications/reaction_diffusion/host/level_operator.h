// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <applications/reaction_diffusion/rules/node_system.h>

namespace leopard::reaction_diffusion
{
  /**
   * Calls use(entry, product) for the entries of A v on a level, in parallel. @param level a HostLevel or HostRows:
   *
   *   block                       the diagonal blocks of A
   *   for_nodes(f)                f(node, piece) for all own nodes, in parallel
   *   node.entry(c)               where field c of the node stands in a vector
   *   node.block_entry(e)         where entry e of its N x N block stands
   *   node.sum_of_neighbours(v, sum)   sum_c = of the weights of -laplace times the neighbours' v, field c; values are
   *                               read with relaxed atomic loads: others may be writing them
   *   node.row()                  its NodeRow
   */
  template <typename Level, typename Kinetics, typename Use>
  void multiply(Level &level, const NodeSystem<Kinetics> &system, double implicit, const double *v, const Use &use)
  {
    constexpr int N = Kinetics::n_species;
    level.for_nodes([&](const auto &node, int /*piece*/) {
      double sum[N];
      node.sum_of_neighbours(v, sum);
      for (int c = 0; c < N; ++c)
        {
          double product = -implicit * system.diffusion[c] * sum[c];
          for (int e = 0; e < N; ++e)
            product += level.block[node.block_entry(c * N + e)] * v[node.entry(e)];
          use(node.entry(c), product);
        }
    });
  }

  /** residual = rhs - A d on a level. */
  template <typename Level, typename Kinetics>
  void compute_residual(Level &level, const NodeSystem<Kinetics> &system, double implicit)
  {
    multiply(level, system, implicit, level.d.data(), [&](long i, double product) { level.residual[i] = level.rhs[i] - product; });
  }
} // namespace leopard::reaction_diffusion
