// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reaction_diffusion_test.h"

#include <algorithm>
#include <memory>

namespace leopard::reaction_diffusion
{
  /** As a NoiseChoice wants it. @param coordinates `dimension` numbers a node, @param mass of the nodes. */
  inline NoiseChoice noise_at(const ExpressionTape &strengths, const Vector &coordinates, int dimension, const Vector &mass)
  {
    std::vector<RoundedPlace> places;
    for (std::size_t i = 0; i < mass.size(); ++i)
      {
        std::array<double, 3> x = {0., 0., 0.};
        std::copy_n(&coordinates[i * dimension], dimension, x.begin());
        places.push_back(rounded(x));
      }
    NoiseChoice result;
    result.strengths = strengths;
    result.seed      = 5;
    result.places    = std::make_shared<const std::vector<RoundedPlace>>(places);
    result.mass      = std::make_shared<const Vector>(mass);
    return result;
  }

  /** At the nodes of a mesh that has coordinates, whose largest node has the mass 0.1. */
  inline NoiseChoice noise_on(const MeshLaplacian &mesh, const ExpressionTape &strengths)
  {
    Vector mass = mesh.weight;
    for (double &m : mass)
      m *= 0.1;
    return noise_at(strengths, mesh.coordinates, mesh.dimension, mass);
  }

  inline NoiseChoice noise_on(const NodeGrid &grid, const ExpressionTape &strengths)
  {
    return noise_on(laplacian_of(grid), strengths);
  }

  /** Constant strengths of n fields. */
  inline ExpressionTape constant_strengths(std::uint16_t n, const Vector &values)
  {
    TapeWriter w(n, values);
    for (std::uint16_t c = 0; c < n; ++c)
      w.tape.outputs.push_back(w.constant(c));
    return w.tape;
  }

  /** sigma_u = (1 + t) g u, g by node, sigma_v = 0.3 v: inputs u, v, t, g. */
  inline NoiseChoice multiplicative_noise(NoiseChoice noise)
  {
    TapeWriter w(4, {1., 0.3});
    w.tape.outputs         = {w.times(w.times(w.add(w.constant(0), 2), 3), 0), w.times(w.constant(1), 1)};
    noise.strengths        = w.tape;
    noise.n_further_inputs = 2;
    Vector g(noise.mass->size());
    for (std::size_t i = 0; i < g.size(); ++i)
      g[i] = 0.2 + 0.3 * static_cast<double>((*noise.places)[i].x) * 1e-9;
    noise.by_node = std::make_shared<const Vector>(g);
    return noise;
  }
} // namespace leopard::reaction_diffusion
