// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <applications/reaction_diffusion/mesh/mesh_ghosts.h>
#include <applications/reaction_diffusion/mesh/mesh_hierarchy.h>
#include <applications/reaction_diffusion/rules/node_system.h>
#include <solvers/block_async/host_scheduler.h>
#include <solvers/matrix/blocks.h>
#include <solvers/matrix/colouring.h>

#include <algorithm>
#include <set>
#include <vector>

namespace leopard::reaction_diffusion
{
  /**
   * A linear system A d = rhs at the nodes of a level of a mesh, A being the Jacobian, and who works on it. Nodes are
   * in the order of blocks; the fields of a node stand together, field c of node i at i * N + c, and so do the entries
   * of its N x N blocks. Of several ranks each has its own nodes, and behind them its ghosts in vectors.
   */
  template <typename Kinetics>
  class HostRows
  {
  public:
    static constexpr int N               = Kinetics::n_species;
    static constexpr int nodes_per_block = 256;

    /** @param ranks_ null: one rank. */
    HostRows(const MeshLevel &level, bool finest, int n_threads, MeshRanks *ranks_)
      : HostRows(level, finest, level.mesh.blocks(nodes_per_block), n_threads, ranks_)
    {
    }

    /** A node, see multiply(). */
    struct Node
    {
      const HostRows &level;
      int             i;

      long           entry(int c) const { return static_cast<long>(i) * N + c; }
      long           block_entry(int e) const { return static_cast<long>(i) * N * N + e; }
      const NodeRow &row() const { return level.rows[i]; }

      void sum_of_neighbours(const double *v, double *sum) const
      {
        const CrsMatrix<double> &A = level.neighbours;
        std::fill_n(sum, N, 0.);
        for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
          {
            const double *v_j = v + static_cast<long>(A.columns[p]) * N;
            for (int c = 0; c < N; ++c)
              sum[c] += A.values[p] * load(v_j[c]);
          }
      }
    };

    /** f(node, piece) for all own nodes, in parallel; pieces are blocks. */
    template <typename F>
    void for_nodes(const F &f)
    {
      for_blocks([&](int b) {
        for (int i = offsets[b]; i < offsets[b + 1]; ++i)
          f(Node{*this, i}, b);
      });
    }

    /**
     * Stores a node's diagonal block of the Jacobian, and what the node is relaxed with: in cycles
     * NodeSystem::stable_block().
     */
    void set_block(const NodeSystem<Kinetics> &system, double implicit, const Node &node, const NodeRow &row, const double *here, bool in_cycles)
    {
      double stable[N * N];
      if (in_cycles)
        system.stable_block(here, implicit, row, stable);
      system.relaxation_matrix(in_cycles ? stable : here, implicit, row, &matrix[node.block_entry(0)]);
      std::copy_n(here, N * N, &block[node.block_entry(0)]);
    }

    /** f(begin, end, block) for ranges that hold all entries of all fields, in parallel. */
    template <typename F>
    void for_ranges(const F &f)
    {
      for_blocks([&](int b) { f(static_cast<long>(offsets[b]) * N, static_cast<long>(offsets[b + 1]) * N, b); });
    }

    /** d = 0, also at the ghosts. */
    void clear()
    {
      for_ranges([&](long begin, long end, int /*block*/) { std::fill(d.begin() + begin, d.begin() + end, 0.); });
      std::fill(d.begin() + static_cast<long>(n_nodes()) * N, d.end(), 0.);
    }

    /** Before the first exchange. Collective. */
    void connect() { ghosts.connect(N); }

    /** On a shared level: the values of the ghosts. */
    void update_ghosts(double *values) { ghosts.update(values); }

    /** See MeshGhosts::gather(). */
    void gather(double *values) { ghosts.gather(values); }

    /** Entries become their sums over all ranks. */
    void sum_over_ranks(double *values, int n)
    {
      if (ghosts.is_shared())
        ranks->sum(values, n);
    }

    int n_nodes() const { return offsets.back(); } ///< the rank's own
    int n_pieces() const { return n_blocks; }      ///< of loops

    /**
     * Block-asynchronous sweeps: k in a block when its turn comes, its nodes in ascending and in descending order by
     * turns, with the newest values and without waiting. Ranks that share the level take the values of others that have
     * arrived and wait for them in every fourth exchange only; at the end ghosts are not up to date.
     */
    void sweep(const NodeSystem<Kinetics> &system, double implicit, int n_sweeps, int k)
    {
      const int  n_iterations = (n_sweeps + k - 1) / k;
      const auto relax_block  = [&](int b, int /*thread*/) {
        for (int s = 0; s < k; ++s)
          for (int t = offsets[b]; t < offsets[b + 1]; ++t)
            relax(system, implicit, s % 2 == 0 ? t : offsets[b] + offsets[b + 1] - 1 - t);
      };
      if (!ghosts.is_shared())
        scheduler.run(n_iterations, relax_block);
      for (int i = 0; i < n_iterations && ghosts.is_shared(); ++i)
        {
          if (i > 0)
            ghosts.update_between_sweeps(d.data(), i - 1);
          scheduler.run(1, relax_block);
        }
    }

    /**
     * A sweep over blocks of one colour after the other, in which no two are neighbours: it is the same whatever the
     * number of threads, where sweep() leaves steps of the old values along the blocks that are relaxed together. Nodes
     * and colours in ascending order, or in descending order; at the end ghosts are not up to date.
     */
    void sweep_by_colour(const NodeSystem<Kinetics> &system, double implicit, bool descending)
    {
      const int n_colours = colours.n_colours(), in_parallel = scheduler.n_threads() > 1 ? 1 : n_blocks;
      for (int step = 0; step < n_colours; ++step)
        {
          const int colour = descending ? n_colours - 1 - step : step, first = colours.offsets[colour];
          parallel_for(*pool, colours.offsets[colour + 1] - first, in_parallel, [&](long begin, long end) {
            for (long k = begin; k < end; ++k)
              {
                const int b = colours.rows[first + k];
                for (int t = offsets[b]; t < offsets[b + 1]; ++t)
                  relax(system, implicit, descending ? offsets[b] + offsets[b + 1] - 1 - t : t);
              }
          });
        }
    }

    const int                         n_all;    ///< nodes of all ranks
    const std::vector<int>            old_node; ///< of each node the level's
    const std::vector<int>            offsets;  ///< of the blocks
    const int                         n_blocks;
    HostScheduler                     scheduler; ///< of sweeps
    const std::shared_ptr<ThreadPool> pool;
    const int                         blocks_per_thread; ///< in loops, at least
    std::vector<NodeRow>              rows;
    std::vector<double>               d, rhs, residual;
    std::vector<double>               matrix; ///< NodeSystem::relaxation_matrix(), in cycles of the stable blocks
    std::vector<double>               block;  ///< the Jacobian's diagonal blocks; on coarse levels NodeSystem::stable_block()

  private:
    HostRows(const MeshLevel &level, bool finest, const Partition &partition, int n_threads, MeshRanks *ranks_)
      : n_all(level.n_all)
      , old_node(partition.old_row)
      , offsets(partition.block_offsets)
      , n_blocks(static_cast<int>(offsets.size()) - 1)
      , scheduler(n_blocks, level.mesh.n_nodes() >= 8000 ? static_cast<long>(N) * level.mesh.n_nodes() : 1, n_threads) // as on grids
      , pool(shared_thread_pool(n_threads))
      , blocks_per_thread(level.mesh.n_nodes() >= (finest ? 8000 : 2000) ? 1000 / nodes_per_block : n_blocks)
      , d(static_cast<std::size_t>(N) * level.mesh.matrix.n_columns)
      , rhs(d.size())
      , residual(d.size())
      , matrix(N * d.size())
      , block(N * d.size())
      , ghosts(level.part.in_order(old_node), ranks_)
      , ranks(ranks_)
    {
      const CrsMatrix<double> A = permute(level.mesh.matrix, partition);
      for (int i = 0; i < A.n_rows; ++i)
        {
          rows.push_back(level.mesh.row(old_node[i]));
          for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
            if (A.columns[p] != i)
              {
                neighbours.columns.push_back(A.columns[p]);
                neighbours.values.push_back(-A.values[p]);
              }
          neighbours.row_offsets.push_back(static_cast<int>(neighbours.columns.size()));
        }
      neighbours.n_rows    = A.n_rows;
      neighbours.n_columns = A.n_columns;
      colours              = colour_blocks();
    }

    /** Colours of the blocks, as rows of the graph in which those are neighbours that have neighbouring nodes. */
    Colouring colour_blocks() const
    {
      const std::vector<int> own = block_of_nodes();
      CrsMatrix<double>      graph;
      graph.n_rows = graph.n_columns = n_blocks;
      for (int b = 0; b < n_blocks; ++b)
        {
          std::set<int> beside = {b};
          for (int p = neighbours.row_offsets[offsets[b]]; p < neighbours.row_offsets[offsets[b + 1]]; ++p)
            if (neighbours.columns[p] < neighbours.n_rows)
              beside.insert(own[neighbours.columns[p]]);
          graph.columns.insert(graph.columns.end(), beside.begin(), beside.end());
          graph.row_offsets.push_back(static_cast<int>(graph.columns.size()));
        }
      graph.values.resize(graph.columns.size());
      return greedy_colouring(graph);
    }

    std::vector<int> block_of_nodes() const
    {
      std::vector<int> result(n_nodes());
      for (int b = 0; b < n_blocks; ++b)
        std::fill(result.begin() + offsets[b], result.begin() + offsets[b + 1], b);
      return result;
    }

    /** f(block) for all of them, in parallel. */
    template <typename F>
    void for_blocks(const F &f)
    {
      parallel_for(*pool, n_blocks, blocks_per_thread, [&](long begin, long end) {
        for (long b = begin; b < end; ++b)
          f(static_cast<int>(b));
      });
    }

    void relax(const NodeSystem<Kinetics> &system, double implicit, int i)
    {
      const long first = static_cast<long>(i) * N;
      double     b[N], value[N];
      Node{*this, i}.sum_of_neighbours(d.data(), b);
      for (int c = 0; c < N; ++c)
        {
          value[c] = d[first + c];
          b[c]     = rhs[first + c] + implicit * system.diffusion[c] * (b[c] + rows[i].damping() * value[c]);
        }
      NodeSystem<Kinetics>::relax(system.omega, b, &matrix[first * N], value);
      for (int c = 0; c < N; ++c)
        store(d[first + c], value[c]);
    }

    CrsMatrix<double> neighbours; ///< laplace without its diagonal: the weights
    Colouring         colours;    ///< of the blocks
    MeshGhosts        ghosts;
    MeshRanks *const  ranks; ///< or null
  };
} // namespace leopard::reaction_diffusion
