// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../block_async/host_scheduler.h"
#include "axis_modes.h"
#include "grid.h"
#include "node_system.h"

#include <memory>
#include <vector>

namespace leopard::reaction_diffusion
{
  /** A line of nodes in x: where its neighbours are, and their weights. Outside the grid a weight is 0 and the offset points to the line itself. */
  struct Line
  {
    Line(const GridLevel &grid, int line)
      : y(line % grid.n[1])
      , z(line / grid.n[1])
      , begin(static_cast<long>(line) * grid.n[0])
      , below(y > 0 ? -grid.n[0] : 0)
      , above(y + 1 < grid.n[1] ? grid.n[0] : 0)
      , front(z > 0 ? -static_cast<long>(grid.n[0]) * grid.n[1] : 0)
      , back(z + 1 < grid.n[2] ? static_cast<long>(grid.n[0]) * grid.n[1] : 0)
      , w_below(grid.axis[1].lower[y])
      , w_above(grid.axis[1].upper[y])
      , w_front(grid.axis[2].lower[z])
      , w_back(grid.axis[2].upper[z])
      , diagonal(w_below + w_above + w_front + w_back)
      , weight(grid.axis[1].weight[y] * grid.axis[2].weight[z])
    {
    }

    int    y, z;
    long   begin, below, above, front, back;
    double w_below, w_above, w_front, w_back, diagonal, weight;
  };

  /** Sum over the neighbours of a node, p[0], of weight times value. Values are read with relaxed atomic loads: others may be writing them. */
  template <bool flat>
  double neighbour_sum(const Line &l, const double *p, double w_left, double w_right, bool left, bool right)
  {
    double sum = l.w_below * load(p[l.below]) + l.w_above * load(p[l.above]);
    if constexpr (!flat)
      sum += l.w_front * load(p[l.front]) + l.w_back * load(p[l.back]);
    return sum + w_left * load(p[left ? -1 : 0]) + w_right * load(p[right ? 1 : 0]);
  }

  /** A linear system A d = rhs on a grid of the hierarchy, A being the Jacobian there, and who works on it. Arrays: entry e of node i at e * n + i. */
  template <typename Kinetics>
  class HostLevel
  {
  public:
    static constexpr int N = Kinetics::n_species;

    HostLevel(const GridLevel &grid_, bool finest, bool with_multigrid, int n_threads)
      : grid(grid_)
      , n(grid_.n_nodes())
      , n_lines(grid_.n[1] * grid_.n[2])
      , lines_per_block(std::max(1, std::min(4096 / grid_.n[0], n_lines / 16)))
      , n_blocks((n_lines + lines_per_block - 1) / lines_per_block)
      , scheduler(n_blocks, n >= 8000 ? n : 1, n_threads)
      , u(finest ? 0 : N * n)
      , d(N * n)
      , rhs(N * n)
      , matrix(N * N * n)
      , block(with_multigrid ? N * N * n : 0)
      , residual(with_multigrid ? N * n : 0)
    {
    }

    /** f(line) for all lines, in parallel. */
    template <typename F>
    void for_lines(const F &f)
    {
      scheduler.run(1, [&](int b, int /*thread*/) {
        const int end = std::min(n_lines, (b + 1) * lines_per_block);
        for (int line = b * lines_per_block; line < end; ++line)
          f(line, b);
      });
    }

    /** f(i, block) for all entries of all fields, in parallel. */
    template <typename F>
    void for_entries(const F &f)
    {
      for_lines([&](int line, int b) {
        for (int c = 0; c < N; ++c)
          for (long i = c * n + static_cast<long>(line) * grid.n[0]; i < c * n + static_cast<long>(line + 1) * grid.n[0]; ++i)
            f(i, b);
      });
    }

    /** d = 0. */
    void clear()
    {
      for_entries([&](long i, int /*b*/) { d[i] = 0.; });
    }

    /** Block-asynchronous sweeps: blocks of lines, each sweeps k times in red-black order when its turn comes; nobody waits. */
    void sweep(const NodeSystem<Kinetics> &system, double implicit, int n_sweeps, int k)
    {
      scheduler.run((n_sweeps + k - 1) / k, [&](int b, int /*thread*/) {
        const int end = std::min(n_lines, (b + 1) * lines_per_block);
        for (int s = 0; s < k; ++s)
          for (int colour = 0; colour < 2; ++colour)
            for (int line = b * lines_per_block; line < end; ++line)
              relax_line(system, implicit, line, colour);
      });
    }

    /** A red-black sweep: all nodes of a colour, then all of the other one. With several threads a better smoother than sweep(), where blocks meet. */
    void sweep_by_colour(const NodeSystem<Kinetics> &system, double implicit)
    {
      for (int colour = 0; colour < 2; ++colour)
        for_lines([&](int line, int /*b*/) { relax_line(system, implicit, line, colour); });
    }

    /** residual = rhs - A d. */
    void compute_residual(const NodeSystem<Kinetics> &system, double implicit)
    {
      multiply(system, implicit, d.data(), residual.data());
      for_entries([&](long i, int /*b*/) { residual[i] = rhs[i] - residual[i]; });
    }

    /** result = A v. */
    void multiply(const NodeSystem<Kinetics> &system, double implicit, const double *v, double *result)
    {
      for_lines([&](int line, int /*b*/) {
        const Line    l(grid, line);
        const double *lower = grid.axis[0].lower.data(), *upper = grid.axis[0].upper.data(), *entries = block.data();
        for (int c = 0; c < N; ++c)
          {
            const double factor = implicit * system.diffusion[c];
            for (int x = 0; x < grid.n[0]; ++x)
              {
                const long i = l.begin + x;
                double     r = -factor * sum_at(l, v + c * n + i, x, lower[x], upper[x]);
                for (int e = 0; e < N; ++e)
                  r += entries[(c * N + e) * n + i] * v[e * n + i];
                result[c * n + i] = r;
              }
          }
      });
    }

    /** neighbour_sum() at the node x of a line, p pointing to its value. */
    double sum_at(const Line &l, const double *p, int x, double w_left, double w_right) const
    {
      const bool left = x > 0, right = x + 1 < grid.n[0];
      return grid.n[2] == 1 ? neighbour_sum<true>(l, p, w_left, w_right, left, right) : neighbour_sum<false>(l, p, w_left, w_right, left, right);
    }

    const GridLevel     grid;
    const long          n; ///< nodes
    const int           n_lines, lines_per_block, n_blocks;
    HostScheduler       scheduler;
    std::vector<double> u;              ///< coarse levels: the restricted solution
    std::vector<double> d, rhs, matrix; ///< matrix: NodeSystem::relaxation_matrix()
    std::vector<double> block;          ///< the Jacobian's diagonal blocks
    std::vector<double> residual;

  private:
    void relax_line(const NodeSystem<Kinetics> &system, double implicit, int line, int colour)
    {
      if (grid.n[2] == 1)
        relax_line<true>(system, implicit, line, colour);
      else
        relax_line<false>(system, implicit, line, colour);
    }

    template <bool flat>
    void relax_line(const NodeSystem<Kinetics> &system, double implicit, int line, int colour)
    {
      const Line    l(grid, line);
      const int     n_x   = grid.n[0];
      const double *lower = grid.axis[0].lower.data(), *upper = grid.axis[0].upper.data(), *matrices = matrix.data(), *right_hand_side = rhs.data();
      double       *values = d.data(), factor[N];
      for (int c = 0; c < N; ++c)
        factor[c] = implicit * system.diffusion[c];
      const bool   together = system.fields_together; // in a register
      const double omega    = system.omega;
      for (int x = (colour + l.y + l.z) & 1; x < n_x; x += 2)
        {
          const long i = l.begin + x;
          double     b[N], m[N * N], value[N];
          for (int c = 0; c < N; ++c)
            {
              b[c]     = right_hand_side[c * n + i] + factor[c] * neighbour_sum<flat>(l, values + c * n + i, lower[x], upper[x], x > 0, x + 1 < n_x);
              value[c] = values[c * n + i];
            }
          for (int e = 0; e < N * N; ++e)
            m[e] = matrices[e * n + i];
          NodeSystem<Kinetics>::relax(together, omega, b, m, value);
          for (int c = 0; c < N; ++c)
            store(values[c * n + i], value[c]);
        }
    }
  };

  /**
   * GCR (generalized conjugate residuals, Eisenstat, Elman and Schultz 1983): the smallest residual in the space of the preconditioner's results, for matrices of any
   * kind. The directions are given up when there are n_directions of them.
   */
  template <typename Kinetics>
  class Gcr
  {
  public:
    /** Allocates for systems on this level. */
    void allocate(const HostLevel<Kinetics> &level, int n_directions)
    {
      for (auto *vectors : {&p, &q})
        vectors->assign(n_directions, std::vector<double>(level.d.size()));
      solution.resize(level.d.size());
      partial_sums.resize(level.n_blocks * (n_directions + 1));
      factors.resize(n_directions + 1);
    }

    /**
     * Adds to d until the residual is `reduction` times as large as at first. @param r the residual of d, before and after. precondition() is to find an
     * approximate solution of A d = r from d = 0. @return the number of iterations.
     */
    template <typename Precondition>
    int solve(const NodeSystem<Kinetics> &system,
              double                      implicit,
              HostLevel<Kinetics>        &level,
              std::vector<double>        &r,
              double                      reduction,
              int                         max_iterations,
              const Precondition         &precondition)
    {
      const auto residual_of = [&](int) -> const std::vector<double> & { return r; };
      products(level, 1, r, residual_of);
      double       norm = factors[0];
      const double goal = reduction * reduction * norm;
      std::swap(solution, level.d); // d is what the preconditioner works on
      int iteration = 0;
      for (; iteration < max_iterations && norm > goal; ++iteration)
        {
          const int k = iteration % static_cast<int>(p.size());
          level.clear();
          precondition();
          std::swap(p[k], level.d);
          level.multiply(system, implicit, p[k].data(), q[k].data());
          products(level, k, q[k], [&](int j) -> const std::vector<double> & { return q[j]; });
          orthogonalize(level, k);
          products(level, 2, q[k], [&](int j) -> const std::vector<double> & { return j == 0 ? q[k] : r; });
          if (!(factors[0] > 0.))
            break;
          const double inverse = 1. / std::sqrt(factors[0]), alpha = factors[1] * inverse;
          double      *p_k = p[k].data(), *q_k = q[k].data(), *x = solution.data(), *residual = r.data();
          level.for_entries([&](long i, int /*block*/) {
            p_k[i] *= inverse;
            q_k[i] *= inverse;
            x[i] += alpha * p_k[i];
            residual[i] -= alpha * q_k[i];
          });
          products(level, 1, r, residual_of);
          norm = factors[0];
        }
      std::swap(solution, level.d);
      return iteration;
    }

  private:
    /** factors[j] = a . vectors(j) */
    template <typename Vectors>
    void products(HostLevel<Kinetics> &level, int n, const std::vector<double> &a, const Vectors &vectors)
    {
      std::fill(partial_sums.begin(), partial_sums.end(), 0.);
      const std::size_t stride = factors.size();
      for (int j = 0; j < n; ++j)
        {
          const double *b = vectors(j).data();
          level.for_entries([&, j](long i, int block) { partial_sums[block * stride + j] += a[i] * b[i]; });
        }
      for (int j = 0; j < n; ++j)
        {
          factors[j] = 0.;
          for (int block = 0; block < level.n_blocks; ++block)
            factors[j] += partial_sums[block * stride + j];
        }
    }

    /** Takes from p[k] and q[k] their parts along the directions before. */
    void orthogonalize(HostLevel<Kinetics> &level, int k)
    {
      for (int j = 0; j < k; ++j)
        {
          const double *p_j = p[j].data(), *q_j = q[j].data(), beta = factors[j];
          double       *p_k = p[k].data(), *q_k = q[k].data();
          level.for_entries([&](long i, int) {
            p_k[i] -= beta * p_j[i];
            q_k[i] -= beta * q_j[i];
          });
        }
    }

    std::vector<std::vector<double>> p, q; ///< directions, and A times them, orthonormal
    std::vector<double>              solution, partial_sums, factors;
  };

  /**
   * Solves with the Jacobian whose reaction is the same at all nodes, the mean: small systems, one for each mode of the Laplacian (Lynch, Rice and Thomas,
   * Direct solution of partial difference equations by tensor product methods, 1964). A preconditioner where reaction and diffusion are alike in size.
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

  /** GCR with V-cycles as preconditioner on levels[0 ...]; the blocks of all levels must be up to date. One sweep before and one after. */
  template <typename Kinetics>
  class HostMultigrid
  {
  public:
    static constexpr int N = Kinetics::n_species;
    using Levels           = std::vector<std::unique_ptr<HostLevel<Kinetics>>>;

    /** Cycles go down to this grid. */
    void set_coarsest(std::size_t coarsest_, const Levels &levels)
    {
      coarsest = coarsest_;
      mean_reaction.allocate(*levels[coarsest]);
      coarse_solver.allocate(*levels[coarsest], max_coarse_iterations);
      solver.allocate(*levels[0], max_directions);
    }

    /** Solves A d = rhs on the finest level. @return the number of cycles. */
    int solve(const NodeSystem<Kinetics> &system, double implicit, Levels &levels, double reduction, int max_cycles)
    {
      mean_reaction.set_up(system, implicit, *levels[coarsest]);
      return solver.solve(system, implicit, *levels[0], levels[0]->rhs, reduction, max_cycles, [&] { cycle(system, implicit, levels, 0); });
    }

    /** One cycle from d = 0. */
    void cycle(const NodeSystem<Kinetics> &system, double implicit, Levels &levels, std::size_t l)
    {
      HostLevel<Kinetics> &fine = *levels[l];
      if (l == coarsest)
        {
          fine.residual = fine.rhs;
          coarse_solver.solve(system, implicit, fine, fine.residual, coarse_reduction, max_coarse_iterations, [&] {
            mean_reaction.solve(system, implicit, fine, fine.residual);
          });
          return;
        }
      HostLevel<Kinetics> &coarse = *levels[l + 1];
      fine.sweep_by_colour(system, implicit);
      fine.compute_residual(system, implicit);
      restrict_to(coarse, fine, fine.residual.data(), coarse.rhs.data());
      coarse.clear();
      cycle(system, implicit, levels, l + 1);
      prolongate(coarse, fine);
      fine.sweep_by_colour(system, implicit);
    }

    /** result = R f, all fields. */
    static void restrict_to(HostLevel<Kinetics> &coarse, const HostLevel<Kinetics> &fine, const double *f, double *result)
    {
      const auto &axis = fine.grid.axis;
      const long  n_x = fine.grid.n[0], plane = n_x * fine.grid.n[1];
      coarse.for_lines([&](int line, int /*b*/) {
        const Line l(coarse.grid, line);
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
    }

    std::size_t coarsest = 0;

  private:
    MeanReaction<Kinetics> mean_reaction;
    Gcr<Kinetics>          solver, coarse_solver;

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
