// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../block_async/host_scheduler.h"
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

    /** residual = rhs - A d. */
    void compute_residual(const NodeSystem<Kinetics> &system, double implicit)
    {
      multiply(system, implicit, d.data(), residual.data());
      for_lines([&](int line, int /*b*/) {
        for (int c = 0; c < N; ++c)
          for (long i = c * n + static_cast<long>(line) * grid.n[0]; i < c * n + static_cast<long>(line + 1) * grid.n[0]; ++i)
            residual[i] = rhs[i] - residual[i];
      });
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
      const NodeSystem<Kinetics> local = system; // in registers
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
          local.relax(b, m, value);
          for (int c = 0; c < N; ++c)
            store(values[c * n + i], value[c]);
        }
    }
  };

  /** GCR (generalized conjugate residuals, Eisenstat, Elman and Schultz 1983) with two sweeps as preconditioner, on the coarsest grid. */
  template <typename Kinetics>
  class CoarseSolver
  {
  public:
    void allocate(std::size_t n)
    {
      for (auto *vectors : {&p, &q})
        vectors->assign(max_iterations, std::vector<double>(n));
      solution.resize(n);
    }

    /** Adds to d, to a tenth of the residual. rhs is the residual of d, before and after: several cycles may follow each other on one grid. */
    void solve(const NodeSystem<Kinetics> &system, double implicit, HostLevel<Kinetics> &level)
    {
      std::vector<double> &r    = level.rhs;
      const double         goal = 1e-2 * dot(r, r);
      solution                  = level.d;
      for (int k = 0; k < max_iterations && dot(r, r) > goal; ++k)
        {
          std::fill(level.d.begin(), level.d.end(), 0.);
          level.sweep(system, implicit, 2, 1);
          p[k] = level.d;
          level.multiply(system, implicit, p[k].data(), q[k].data());
          for (int j = 0; j < k; ++j)
            {
              const double beta = -dot(q[k], q[j]);
              add(beta, p[j], p[k]);
              add(beta, q[j], q[k]);
            }
          const double norm = std::sqrt(dot(q[k], q[k]));
          if (!(norm > 0.))
            break;
          for (double &x : p[k])
            x /= norm;
          for (double &x : q[k])
            x /= norm;
          const double alpha = dot(r, q[k]);
          add(alpha, p[k], solution);
          add(-alpha, q[k], r);
        }
      level.d = solution;
    }

  private:
    static constexpr int max_iterations = 30;

    static double dot(const std::vector<double> &a, const std::vector<double> &b) { return std::inner_product(a.begin(), a.end(), b.begin(), 0.); }
    static void   add(double s, const std::vector<double> &a, std::vector<double> &b)
    {
      for (std::size_t i = 0; i < b.size(); ++i)
        b[i] += s * a[i];
    }

    std::vector<std::vector<double>> p, q; ///< directions, and A times them, orthonormal
    std::vector<double>              solution;
  };

  /** A V-cycle on levels[0 ...]; the blocks of all levels must be up to date. One sweep before and one after. */
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
      solver.allocate(N * levels[coarsest]->n);
    }

    void cycle(const NodeSystem<Kinetics> &system, double implicit, Levels &levels, std::size_t l = 0)
    {
      HostLevel<Kinetics> &fine = *levels[l];
      if (l == coarsest)
        {
          solver.solve(system, implicit, fine);
          return;
        }
      HostLevel<Kinetics> &coarse = *levels[l + 1];
      fine.sweep(system, implicit, 1, 1);
      fine.compute_residual(system, implicit);
      restrict_to(coarse, fine, fine.residual.data(), coarse.rhs.data());
      coarse.for_lines([&](int line, int /*b*/) {
        const long begin = static_cast<long>(line) * coarse.grid.n[0];
        for (int c = 0; c < N; ++c)
          std::fill_n(coarse.d.begin() + c * coarse.n + begin, coarse.grid.n[0], 0.);
      });
      cycle(system, implicit, levels, l + 1);
      prolongate(coarse, fine);
      fine.sweep(system, implicit, 1, 1);
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
    CoarseSolver<Kinetics> solver;

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
