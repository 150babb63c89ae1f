// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "host_level.h"

#include <applications/reaction_diffusion/grid/axis_modes.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace leopard::reaction_diffusion
{
  /**
   * Solves with the Jacobian whose reaction is the same at all nodes, the mean: small systems, one for each mode of the
   * Laplacian (Lynch, Rice and Thomas, Direct solution of partial difference equations by tensor product methods,
   * 1964). A preconditioner where reaction and diffusion are alike in size.
   */
  template <typename Kinetics>
  class MeanReaction
  {
  public:
    static constexpr int N = Kinetics::n_species;

    void allocate(const HostLevel<Kinetics> &level)
    {
      for (int a = 0; a < 3; ++a)
        modes[a] = make_modes(level.grid.axis[a]);
      buffer.resize(level.d.size());
    }

    /** The mean of the reaction's part of the diagonal blocks. */
    void set_up(const NodeSystem<Kinetics> &system, double implicit, HostLevel<Kinetics> &level)
    {
      std::fill_n(mean, N * N, 0.);
      for (int line = 0; line < level.n_lines; ++line)
        {
          const Line  l(level.grid, line);
          const Axis &axis = level.grid.axis[0];
          for (int x = 0; x < level.grid.n[0]; ++x)
            for (int e = 0; e < N * N; ++e)
              {
                const double diffusion =
                  e % (N + 1) == 0 ? implicit * system.diffusion[e / (N + 1)] * (l.diagonal + axis.lower[x] + axis.upper[x]) : 0.;
                mean[e] += (level.block[e * level.n + l.begin + x] - diffusion) / static_cast<double>(level.n);
              }
        }
    }

    /** Solves for d with the right-hand side b. */
    void solve(const NodeSystem<Kinetics> &system, double implicit, HostLevel<Kinetics> &level, const std::vector<double> &b)
    {
      transform(level, 0, modes[0].to_modes, b.data(), level.d.data());
      transform(level, 1, modes[1].to_modes, level.d.data(), buffer.data());
      transform(level, 2, modes[2].to_modes, buffer.data(), level.d.data());
      level.for_lines([&](int line, int /*b*/) {
        for (int x = 0; x < level.grid.n[0]; ++x)
          solve_mode(system, implicit, level, line, x);
      });
      transform(level, 0, modes[0].from_modes, level.d.data(), buffer.data());
      transform(level, 1, modes[1].from_modes, buffer.data(), level.d.data());
      transform(level, 2, modes[2].from_modes, level.d.data(), buffer.data());
      std::swap(buffer, level.d);
    }

  private:
    void solve_mode(const NodeSystem<Kinetics> &system, double implicit, HostLevel<Kinetics> &level, int line, int x) const
    {
      const int    n_y        = level.grid.n[1];
      const double eigenvalue = modes[0].eigenvalue[x] + modes[1].eigenvalue[line % n_y] + modes[2].eigenvalue[line / n_y];
      const long   i          = static_cast<long>(line) * level.grid.n[0] + x;
      double       block[N * N], inverse[N * N], b[N];
      for (int e = 0; e < N * N; ++e)
        block[e] = mean[e] + (e % (N + 1) == 0 ? implicit * system.diffusion[e / (N + 1)] * eigenvalue : 0.);
      system.inverse(block, inverse);
      for (int c = 0; c < N; ++c)
        b[c] = level.d[c * level.n + i];
      for (int c = 0; c < N; ++c)
        {
          double sum = 0.;
          for (int e = 0; e < N; ++e)
            sum += inverse[c * N + e] * b[e];
          level.d[c * level.n + i] = sum;
        }
    }

    /** to = the matrix times from along one direction. */
    static void transform(HostLevel<Kinetics> &level, int direction, const std::vector<double> &matrix, const double *from, double *to)
    {
      const int  n_x = level.grid.n[0], n_y = level.grid.n[1], n = level.grid.n[direction];
      const long step = direction == 1 ? n_x : static_cast<long>(n_x) * n_y;
      level.for_lines([&](int line, int /*b*/) {
        const int  place = direction == 1 ? line % n_y : line / n_y; // of the line in this direction
        const long begin = static_cast<long>(line) * n_x;
        for (int c = 0; c < N; ++c)
          {
            double       *result = to + c * level.n + begin;
            const double *first  = from + c * level.n + begin - (direction == 0 ? 0 : place * step);
            std::fill_n(result, n_x, 0.);
            for (int j = 0; j < n; ++j)
              for (int x = 0; x < n_x; ++x)
                result[x] += direction == 0 ? matrix[static_cast<std::size_t>(j) * n + x] * first[j]
                                            : matrix[static_cast<std::size_t>(j) * n + place] * first[j * step + x];
          }
      });
    }

    AxisModes           modes[3];
    double              mean[N * N] = {};
    std::vector<double> buffer;
  };
} // namespace leopard::reaction_diffusion
