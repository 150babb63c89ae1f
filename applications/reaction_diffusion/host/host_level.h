// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <applications/reaction_diffusion/grid/grid_slabs.h>
#include <applications/reaction_diffusion/rules/node_system.h>
#include <solvers/block_async/host_scheduler.h>

#include <memory>
#include <vector>

namespace leopard::reaction_diffusion
{
  /**
   * From a place to those before and behind it, `step` numbers apart; 0 where there is none, and round to the other end
   * of a periodic direction.
   */
  inline long to_before(const Axis &axis, int place, long step)
  {
    return place > 0 ? -step : axis.periodic ? (axis.n() - 1) * step : 0;
  }
  inline long to_behind(const Axis &axis, int place, long step)
  {
    return place + 1 < axis.n() ? step : axis.periodic ? -(axis.n() - 1) * step : 0;
  }

  /**
   * A line of nodes in x: where its neighbours are, and their weights. Outside the grid a weight is 0 and the offset
   * points to the line itself.
   */
  struct Line
  {
    Line(const GridLevel &grid, int line)
      : y(line % grid.n[1])
      , z(line / grid.n[1])
      , begin(static_cast<long>(line) * grid.n[0])
      , below(to_before(grid.axis[1], y, grid.n[0]))
      , above(to_behind(grid.axis[1], y, grid.n[0]))
      , front(to_before(grid.axis[2], z, static_cast<long>(grid.n[0]) * grid.n[1]))
      , back(to_behind(grid.axis[2], z, static_cast<long>(grid.n[0]) * grid.n[1]))
      , left_of_first(to_before(grid.axis[0], 0, 1))
      , right_of_last(to_behind(grid.axis[0], grid.n[0] - 1, 1))
      , w_below(grid.axis[1].lower[y])
      , w_above(grid.axis[1].upper[y])
      , w_front(grid.axis[2].lower[z])
      , w_back(grid.axis[2].upper[z])
      , diagonal(w_below + w_above + w_front + w_back)
      , weight(grid.axis[1].weight[y] * grid.axis[2].weight[z])
    {
    }

    int    y, z;
    long   begin, below, above, front, back, left_of_first, right_of_last;
    double w_below, w_above, w_front, w_back, diagonal, weight;
  };

  /**
   * Sum over the neighbours of a node, p[0], of weight times value. Values are read with relaxed atomic loads: others
   * may be writing them. @param left, right whether there are nodes of the line.
   */
  template <bool flat>
  [[gnu::always_inline]] inline double neighbour_sum(const Line &l, const double *p, double w_left, double w_right, bool left, bool right)
  {
    double sum = l.w_below * load(p[l.below]) + l.w_above * load(p[l.above]);
    if constexpr (!flat)
      sum += l.w_front * load(p[l.front]) + l.w_back * load(p[l.back]);
    return sum + w_left * load(p[left ? -1 : l.left_of_first]) + w_right * load(p[right ? 1 : l.right_of_last]);
  }

  /**
   * A linear system A d = rhs on a grid of the hierarchy, A being the Jacobian there, and who works on it. Arrays:
   * entry e of node i at e * n + i.
   */
  template <typename Kinetics>
  class HostLevel
  {
  public:
    static constexpr int N = Kinetics::n_species;

    /**
     * @param slabs_ null: the level is whole on every rank.
     * @param planes where each rank's planes begin, and their number, if it is not.
     */
    HostLevel(
      const GridLevel &grid_, bool finest, bool with_multigrid, int n_threads, GridSlabs *slabs_ = nullptr, const std::vector<int> &planes = {})
      : slabs(slabs_)
      , grid(slabs_ != nullptr ? slabs_->own_level(grid_, planes) : grid_)
      , n(grid.n_nodes())
      , lines_per_plane(grid.is_flat() ? 1 : grid.n[1])
      , first_known_plane(slabs_ != nullptr ? planes[slabs_->rank] - slabs_->has_below() : 0)
      , first_line(slabs_ != nullptr && slabs_->has_below() ? lines_per_plane : 0)
      , n_lines(slabs_ != nullptr ? (planes[slabs_->rank + 1] - planes[slabs_->rank]) * lines_per_plane : grid.n[1] * grid.n[2])
      , lines_per_block(std::max(1, std::min(4096 / grid.n[0], n_lines / 16)))
      , n_blocks((n_lines + lines_per_block - 1) / lines_per_block)
      , scheduler(n_blocks, n >= 8000 ? n : 1, n_threads)
      , pool(shared_thread_pool(n_threads))
      , lines_per_piece(std::max({1, 256 / grid.n[0], n_lines / 512}))
      , pieces_per_thread(n >= (finest ? 8000 : 2000) ? std::max(1, 1000 / (lines_per_piece * grid.n[0])) : n_pieces())
      , d(N * n)
      , rhs(N * n)
      , matrix(N * N * n)
      , block(with_multigrid ? N * N * n : 0)
      , residual(with_multigrid ? N * n : 0)
    {
    }

    long first_node() const { return static_cast<long>(first_line) * grid.n[0]; } ///< the first own one
    long n_own_nodes() const { return static_cast<long>(n_lines) * grid.n[0]; }

    /**
     * Loops go over pieces, smaller than the blocks of sweeps, of which small grids have too few for many threads. They
     * do not depend on the threads.
     */
    int n_pieces() const { return (n_lines + lines_per_piece - 1) / lines_per_piece; }

    /** f(line, piece) for all own lines, in parallel. */
    template <typename F>
    void for_lines(const F &f)
    {
      for_pieces([&](int piece) {
        for (int line = begin_of_piece(piece); line < begin_of_piece(piece + 1); ++line)
          f(line, piece);
      });
    }

    /** f(begin, end, piece) for ranges that hold all own entries of all fields, in parallel. */
    template <typename F>
    void for_ranges(const F &f)
    {
      for_pieces([&](int piece) {
        const long begin = static_cast<long>(begin_of_piece(piece)) * grid.n[0], end = static_cast<long>(begin_of_piece(piece + 1)) * grid.n[0];
        for (int c = 0; c < N; ++c)
          f(c * n + begin, c * n + end, piece);
      });
    }

    /** A node, see multiply(). */
    struct Node
    {
      const HostLevel &level;
      const Line      &line;
      int              x;
      long             i;

      long    entry(int c) const { return c * level.n + i; }
      long    block_entry(int e) const { return e * level.n + i; }
      NodeRow row() const
      {
        const Axis &axis = level.grid.axis[0];
        return {line.diagonal + axis.lower[x] + axis.upper[x], line.weight * axis.weight[x], 0., static_cast<int>(i - level.first_node())};
      }

      [[gnu::always_inline]] void sum_of_neighbours(const double *v, double *sum) const
      {
        const double w_left = level.grid.axis[0].lower[x], w_right = level.grid.axis[0].upper[x];
        const bool   left = x > 0, right = x + 1 < level.grid.n[0], flat = level.grid.is_flat();
        for (int c = 0; c < N; ++c)
          sum[c] = flat ? neighbour_sum<true>(line, v + entry(c), w_left, w_right, left, right)
                        : neighbour_sum<false>(line, v + entry(c), w_left, w_right, left, right);
      }
    };

    /** f(node, piece) for all own nodes, in parallel. */
    template <typename F>
    void for_nodes(const F &f)
    {
      for_lines([&](int line, int piece) {
        const Line l(grid, line);
        for (int x = 0; x < grid.n[0]; ++x)
          f(Node{*this, l, x, l.begin + x}, piece);
      });
    }

    /** Stores a node's diagonal block of the Jacobian, if cycles are to come, and what the node is relaxed with. */
    void
    set_block(const NodeSystem<Kinetics> &system, double /*implicit*/, const Node &node, const NodeRow & /*row*/, const double *here, bool in_cycles)
    {
      double relaxation[N * N];
      system.inverse(here, relaxation);
      for (int e = 0; e < N * N; ++e)
        matrix[node.block_entry(e)] = relaxation[e];
      for (int e = 0; e < N * N && in_cycles; ++e)
        block[node.block_entry(e)] = here[e];
    }

    /** d = 0, also at the neighbours' nodes. */
    void clear()
    {
      for_ranges([&](long begin, long end, int /*piece*/) { std::fill(d.begin() + begin, d.begin() + end, 0.); });
      for (int c = 0; c < N; ++c)
        {
          std::fill_n(d.begin() + c * n, first_node(), 0.);
          std::fill(d.begin() + c * n + first_node() + n_own_nodes(), d.begin() + (c + 1) * n, 0.);
        }
    }

    /** Before the first exchange, when all ranks have made theirs. Collective. */
    void connect()
    {
      if (slabs != nullptr)
        ghosts = slabs->transport->connect(
          slab_pattern({slabs->rank, slabs->n_ranks(), slabs->has_below(), n_lines / lines_per_plane, N, grid.n[slabs->direction]}),
          lines_per_plane * grid.n[0]);
    }

    /** Fetches the neighbours' values of the nodes beside the slab, and waits for them. */
    void update_ghosts(double *values)
    {
      if (slabs != nullptr)
        ghosts->update(values);
    }

    /** The same of `block`. */
    void update_ghosts_of_blocks()
    {
      for (int c = 0; c < N; ++c) // N of its N * N entries at a time
        update_ghosts(block.data() + c * N * n);
    }

    /** Entries become their sums over all ranks. */
    void sum_over_ranks(double *values, int n_values)
    {
      if (slabs != nullptr)
        slabs->sum(values, n_values);
    }

    /**
     * Block-asynchronous sweeps: blocks of lines, each sweeps k times in red-black order when its turn comes; nobody
     * waits, and ranks wait for one another seldom.
     */
    void sweep(const NodeSystem<Kinetics> &system, double implicit, int n_sweeps, int k)
    {
      const int  n_iterations = (n_sweeps + k - 1) / k;
      const auto relax_block  = [&](int b, int /*thread*/) {
        for (int s = 0; s < k; ++s)
          for (int colour = 0; colour < 2; ++colour)
            for (int line = begin_of_block(b); line < end_of_block(b); ++line)
              relax_line(system, implicit, line, colour);
      };
      if (slabs == nullptr)
        scheduler.run(n_iterations, relax_block);
      for (int i = 0; i < n_iterations && slabs != nullptr; ++i)
        {
          scheduler.run(1, relax_block);
          update_between_sweeps(*ghosts, d.data(), i);
        }
    }

    /**
     * A red-black sweep: all nodes of a colour, then all of the other one. With several threads a better smoother than
     * sweep(), where blocks meet.
     */
    void sweep_by_colour(const NodeSystem<Kinetics> &system, double implicit)
    {
      for (int colour = 0; colour < 2; ++colour)
        {
          for_lines([&](int line, int /*b*/) { relax_line(system, implicit, line, colour); });
          update_ghosts(d.data());
        }
    }

    GridSlabs *const                  slabs;  ///< or null
    std::unique_ptr<Exchange>         ghosts; ///< or null
    const GridLevel                   grid;   ///< own nodes and, beside them, the neighbours'
    const long                        n;      ///< nodes of it
    const int                         lines_per_plane;
    const int                         first_known_plane;   ///< of `grid`, as it is numbered on the grid of all ranks
    const int                         first_line, n_lines; ///< own lines
    const int                         lines_per_block, n_blocks;
    HostScheduler                     scheduler; ///< of sweeps
    const std::shared_ptr<ThreadPool> pool;
    const int                         lines_per_piece, pieces_per_thread; ///< the latter at least
    std::vector<double>               d, rhs, matrix;                     ///< matrix: the inverses of the diagonal blocks
    std::vector<double>               block;                              ///< the Jacobian's diagonal blocks
    std::vector<double>               residual;

  private:
    /** f(piece) for all of them, in parallel. */
    template <typename F>
    void for_pieces(const F &f)
    {
      parallel_for(*pool, n_pieces(), pieces_per_thread, [&](long begin, long end) {
        for (long piece = begin; piece < end; ++piece)
          f(static_cast<int>(piece));
      });
    }

    int begin_of_piece(int piece) const { return first_line + std::min(n_lines, piece * lines_per_piece); }
    int begin_of_block(int b) const { return first_line + b * lines_per_block; }
    int end_of_block(int b) const { return first_line + std::min(n_lines, (b + 1) * lines_per_block); }

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
      const double omega = system.omega;                                          // in a register
      for (int x = (colour + first_known_plane + l.y + l.z) & 1; x < n_x; x += 2) // colours are those of the grid of all ranks
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
          NodeSystem<Kinetics>::relax(omega, b, m, value);
          for (int c = 0; c < N; ++c)
            store(values[c * n + i], value[c]);
        }
    }
  };
} // namespace leopard::reaction_diffusion
