// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "host_level.h"
#include "level_gcr.h"

#include <applications/reaction_diffusion/grid/axis_modes.h>
#include <solvers/multigrid/cycle.h>

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

  /**
   * GCR with V-cycles as preconditioner on levels[0 ...]; the blocks of all levels must be up to date. One sweep before
   * and one after.
   */
  template <typename Kinetics>
  class HostMultigrid
  {
  public:
    static constexpr int N = Kinetics::n_species;
    using Levels           = std::vector<std::unique_ptr<HostLevel<Kinetics>>>;

    /** Cycles go down to this grid. */
    void set_coarsest(std::size_t coarsest_, const Levels &levels)
    {
      coarsest = levels[0]->slabs != nullptr ? std::max<std::size_t>(1, coarsest_) : coarsest_; // it is whole on every rank
      mean_reaction.allocate(*levels[coarsest]);
      coarse_solver.allocate(*levels[coarsest], max_coarse_iterations);
      solver.allocate(*levels[0], max_directions);
    }

    /**
     * Solves A d = rhs on the finest level. @param before_cycle is called before each cycle. @return the number of
     * cycles.
     */
    template <typename BeforeCycle>
    int solve(const NodeSystem<Kinetics> &system, double implicit, Levels &levels, double reduction, int max_cycles, const BeforeCycle &before_cycle)
    {
      mean_reaction.set_up(system, implicit, *levels[coarsest]);
      return solver.solve(system, implicit, *levels[0], levels[0]->rhs, reduction, max_cycles, [&] {
        before_cycle();
        cycle(system, implicit, levels);
      });
    }

    /** One cycle from d = 0. */
    void cycle(const NodeSystem<Kinetics> &system, double implicit, Levels &levels, CycleType type = CycleType::v)
    {
      multigrid_cycle(Parts{*this, system, implicit, levels}, static_cast<int>(coarsest), type);
    }

    /** result = R f, all fields, on the whole coarse grid. f with the neighbours' values. */
    static void restrict_to(HostLevel<Kinetics> &coarse, const HostLevel<Kinetics> &fine, const double *f, double *result)
    {
      const auto &axis = fine.grid.axis;
      const long  n_x = fine.grid.n[0], plane = n_x * fine.grid.n[1];
      coarse.for_lines([&](int line, int /*b*/) {
        const Line l(coarse.grid, line);
        if (fine.slabs != nullptr && (l.begin < fine.coarse_offsets[fine.slabs->rank] || l.begin >= fine.coarse_offsets[fine.slabs->rank + 1]))
          return;
        for (int x = 0; x < coarse.grid.n[0]; ++x)
          for (int c = 0; c < N; ++c)
            {
              double sum = 0.;
              for (int kz = 0; kz < 3; ++kz)
                for (int ky = 0; ky < 3; ++ky)
                  {
                    const double w = axis[2].restriction[3 * l.z + kz] * axis[1].restriction[3 * l.y + ky];
                    if (w == 0.)
                      continue;
                    const double *p  = f + c * fine.n + (axis[2].fine_node[l.z] + kz - 1) * plane + (axis[1].fine_node[l.y] + ky - 1) * n_x;
                    const double *wx = &axis[0].restriction[3 * static_cast<std::size_t>(x)];
                    const int     fx = axis[0].fine_node[x];
                    for (int kx = 0; kx < 3; ++kx)
                      if (wx[kx] != 0.)
                        sum += w * wx[kx] * p[fx + kx - 1];
                  }
              result[c * coarse.n + l.begin + x] = sum;
            }
      });
      for (int c = 0; c < N && fine.slabs != nullptr; ++c)
        fine.slabs->exchange->gather(result + c * coarse.n, fine.coarse_offsets);
    }

    /**
     * coarse.block = R times the fine level's blocks without diffusion's part, R averaging over the nodes around one;
     * several ranks leave out their neighbours' nodes. The reaction's derivative is averaged and not taken at averaged
     * values: where a pattern has edges as narrow as the coarse mesh size, it would be that of values which occur
     * nowhere, and could make a coarse block singular.
     */
    static void restrict_reaction(const NodeSystem<Kinetics> &system, double implicit, HostLevel<Kinetics> &coarse, const HostLevel<Kinetics> &fine)
    {
      const auto &axis = fine.grid.axis;
      coarse.for_lines([&](int line, int /*b*/) {
        const Line l(coarse.grid, line);
        if (fine.slabs != nullptr && (l.begin < fine.coarse_offsets[fine.slabs->rank] || l.begin >= fine.coarse_offsets[fine.slabs->rank + 1]))
          return;
        const auto weight = [&](int k) { // of a fine line
          const int from = (axis[2].fine_node[l.z] + k / 3 - 1) * fine.grid.n[1] + axis[1].fine_node[l.y] + k % 3 - 1;
          return from < fine.first_line || from >= fine.first_line + fine.n_lines
                   ? 0.
                   : axis[2].restriction[3 * l.z + k / 3] * axis[1].restriction[3 * l.y + k % 3];
        };
        double total = 0.;
        for (int k = 0; k < 9; ++k)
          total += weight(k);
        for (int e = 0; e < N * N; ++e)
          std::fill_n(&coarse.block[e * coarse.n + l.begin], coarse.grid.n[0], 0.);
        for (int k = 0; k < 9; ++k)
          if (const double w = weight(k) / total; w != 0.)
            add_reaction(system,
                         implicit,
                         coarse,
                         l.begin,
                         fine,
                         Line(fine.grid, (axis[2].fine_node[l.z] + k / 3 - 1) * fine.grid.n[1] + axis[1].fine_node[l.y] + k % 3 - 1),
                         w);
      });
      for (int e = 0; e < N * N && fine.slabs != nullptr; ++e)
        fine.slabs->exchange->gather(coarse.block.data() + e * coarse.n, fine.coarse_offsets);
    }

    std::size_t coarsest = 0;

  private:
    /** What multigrid_cycle() asks for; its level 0 is the coarsest one. */
    struct Parts
    {
      HostMultigrid              &multigrid;
      const NodeSystem<Kinetics> &system;
      const double                implicit;
      Levels                     &levels;

      HostLevel<Kinetics> &at(int level) const { return *levels[multigrid.coarsest - level]; }

      void smooth_before(int level) const { at(level).sweep_by_colour(system, implicit); }
      void smooth_after(int level) const { at(level).sweep_by_colour(system, implicit); }
      void set_zero(int level) const { at(level).clear(); }

      void restrict_residual(int level) const
      {
        HostLevel<Kinetics> &fine = at(level), &coarse = at(level - 1);
        fine.compute_residual(system, implicit);
        fine.update_ghosts(fine.residual.data());
        restrict_to(coarse, fine, fine.residual.data(), coarse.rhs.data());
      }

      void correct(int level) const
      {
        HostLevel<Kinetics> &fine = at(level);
        prolongate(at(level - 1), fine);
        fine.update_ghosts(fine.d.data());
      }

      void solve_coarsest() const
      {
        HostLevel<Kinetics> &grid = at(0);
        grid.residual             = grid.rhs;
        multigrid.coarse_solver.solve(system, implicit, grid, grid.residual, coarse_reduction, max_coarse_iterations, [&] {
          multigrid.mean_reaction.solve(system, implicit, grid, grid.residual);
        });
      }
    };

    MeanReaction<Kinetics>        mean_reaction;
    LevelGcr<HostLevel<Kinetics>> solver, coarse_solver;

    /**
     * Adds w R (the fine line's blocks without diffusion's part) to those of the coarse line that begins at `begin`, R
     * along x only.
     */
    static void add_reaction(const NodeSystem<Kinetics> &system,
                             double                      implicit,
                             HostLevel<Kinetics>        &coarse,
                             long                        begin,
                             const HostLevel<Kinetics>  &fine,
                             const Line                 &line,
                             double                      w)
    {
      const Axis &axis = fine.grid.axis[0];
      for (int x = 0; x < coarse.grid.n[0]; ++x)
        for (int k = 0; k < 3; ++k)
          {
            const double weight = w * axis.restriction[3 * static_cast<std::size_t>(x) + k];
            if (weight == 0.)
              continue;
            const int    from     = axis.fine_node[x] + k - 1;
            const double diagonal = implicit * (line.diagonal + axis.lower[from] + axis.upper[from]);
            for (int e = 0; e < N * N; ++e)
              coarse.block[e * coarse.n + begin + x] +=
                weight * (fine.block[e * fine.n + line.begin + from] - (e % (N + 1) == 0 ? diagonal * system.diffusion[e / (N + 1)] : 0.));
          }
    }

    /** fine.d += P coarse.d */
    static void prolongate(const HostLevel<Kinetics> &coarse, HostLevel<Kinetics> &fine)
    {
      const auto &axis = fine.grid.axis;
      const long  n_x = coarse.grid.n[0], plane = n_x * coarse.grid.n[1];
      fine.for_lines([&](int line, int /*b*/) {
        const Line l(fine.grid, line);
        for (int c = 0; c < N; ++c)
          for (int kz = 0; kz < 2; ++kz)
            for (int ky = 0; ky < 2; ++ky)
              {
                const double wz = axis[2].interpolation[l.z], wy = axis[1].interpolation[l.y];
                const double w = (kz == 0 ? wz : 1. - wz) * (ky == 0 ? wy : 1. - wy);
                if (w == 0.)
                  continue;
                const double *p = coarse.d.data() + c * coarse.n + (axis[2].coarse_node[l.z] + kz) * plane + (axis[1].coarse_node[l.y] + ky) * n_x;
                double       *q = fine.d.data() + c * fine.n + l.begin;
                for (int x = 0; x < fine.grid.n[0]; ++x)
                  {
                    const int    j  = axis[0].coarse_node[x];
                    const double wx = axis[0].interpolation[x];
                    q[x] += w * (wx == 1. ? p[j] : wx * p[j] + (1. - wx) * p[j + 1]);
                  }
              }
      });
    }
  };
} // namespace leopard::reaction_diffusion
