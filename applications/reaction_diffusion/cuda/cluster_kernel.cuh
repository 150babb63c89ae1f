// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <applications/reaction_diffusion/rules/node_system.h>

#include <cstdint>

namespace leopard::reaction_diffusion
{
  // Many time steps in one launch. One cluster of thread blocks (up to 16 multiprocessors of one GPU cluster) holds the
  // whole grid: each block a tile, with four time levels (double) and the Newton correction (float) in its shared
  // memory, one node wider than the tile on each side. In the sweeps a block writes the values at its edges into its
  // neighbours' shared memory and goes on without waiting; they read what is there. Blocks wait for one another twice a
  // Newton step: before u is updated, and for the sums. Thread 0 of every block runs the same Controller on the same
  // sums.

  constexpr int cluster_slots = 4; ///< of schemes that keep three levels; a fifth would leave less room for nodes

  struct ClusterView
  {
    int           n_x, n_y, tiles_x, tiles_y;
    int           pitch, cells;                                                ///< of a tile with its margin: nodes a line, nodes in all
    int           local_iterations;                                            ///< sweeps between two writes to the neighbours
    double       *slots[cluster_slots];                                        ///< device memory, field c of node i at c * n + i
    const double *lower_x, *upper_x, *weight_x, *lower_y, *upper_y, *weight_y; ///< Axis
    Controller   *controller;                                                  ///< device memory: in and out
  };

  namespace cluster
  {
    __device__ inline int rank()
    {
      int r;
      asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(r));
      return r;
    }

    /** All threads of all blocks; what was written before is seen after. */
    __device__ inline void wait_for_all()
    {
      asm volatile("barrier.cluster.arrive.release;\n barrier.cluster.wait.acquire;" ::: "memory");
    }

    /** The address of the same place in another block's shared memory. */
    __device__ inline std::uint32_t map(const void *shared, int other)
    {
      std::uint32_t result;
      asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(result) : "r"(static_cast<std::uint32_t>(__cvta_generic_to_shared(shared))), "r"(other));
      return result;
    }

    __device__ inline void store(std::uint32_t address, float2 v)
    {
      asm volatile("st.relaxed.cluster.shared::cluster.v2.f32 [%0], {%1, %2};" ::"r"(address), "f"(v.x), "f"(v.y) : "memory");
    }

    __device__ inline void store(std::uint32_t address, double v)
    {
      asm volatile("st.relaxed.cluster.shared::cluster.f64 [%0], %1;" ::"r"(address), "d"(v) : "memory");
    }

    /** A value that another block may be writing. */
    __device__ inline float2 load(std::uint32_t address)
    {
      float2 v;
      asm volatile("ld.relaxed.cluster.shared::cta.v2.f32 {%0, %1}, [%2];" : "=f"(v.x), "=f"(v.y) : "r"(address) : "memory");
      return v;
    }
  } // namespace cluster

  constexpr int max_cluster_size = 16;
  /** Of a block, at most: threads that have four pairs of rows in registers need more of these. */
  constexpr int cluster_threads(int n_pairs)
  {
    return n_pairs == 4 ? 384 : 512;
  }
  constexpr int n_sums = 8; ///< Sums::n, and what is missing to a power of two
  static_assert(Sums::n <= n_sums);

  /** Shared memory that is not a field. */
  struct ClusterState
  {
    Controller controller;
    Action     action;
    int        parity;
    double     warp_sums[32][n_sums];
    double     block_sums[2][max_cluster_size][n_sums]; ///< written by all blocks
  };

  /** A tile: its place in the grid. */
  struct Tile
  {
    int x, y, width, height; ///< first node; nodes

    __device__ Tile(const ClusterView &v, int rank)
    {
      const int tx = rank % v.tiles_x, ty = rank / v.tiles_x;
      x      = static_cast<int>(static_cast<long>(tx) * v.n_x / v.tiles_x);
      y      = static_cast<int>(static_cast<long>(ty) * v.n_y / v.tiles_y);
      width  = static_cast<int>(static_cast<long>(tx + 1) * v.n_x / v.tiles_x) - x;
      height = static_cast<int>(static_cast<long>(ty + 1) * v.n_y / v.tiles_y) - y;
    }
    /** Nodes of the tile and its margin have indices -1 ... width and -1 ... height. */
    __device__ int cell(const ClusterView &v, int cx, int cy) const { return (cy + 1) * v.pitch + cx + 1; }
    /** Margin node m of n_margin() ones. */
    __device__ int n_margin() const { return 2 * (width + height); }
    __device__ int margin_cell(const ClusterView &v, int m) const
    {
      if (m < 2 * width)
        return cell(v, m % width, m < width ? -1 : height);
      m -= 2 * width;
      return cell(v, m < height ? -1 : width, m % height);
    }
  };

  /**
   * What a thread keeps of its column of nodes in registers. Entry [k][j] is the node of colour j in the k-th pair of
   * rows.
   */
  template <int n_pairs>
  struct Column
  {
    int           x, y; ///< of its first node in the tile
    bool          exists;
    int           parity; ///< colour of the first node
    float         w_left, w_right;
    float         w_below[n_pairs][2], w_above[n_pairs][2];
    float2        constant[n_pairs][2]; ///< relaxation matrix times right-hand side
    float4        matrix[n_pairs][2];   ///< inverse of the diagonal block times diag(implicit diffusion)
    float2        d[n_pairs][2];
    std::uint32_t to_side; ///< where the first node's value goes in the block beside, or 0
    std::uint32_t to_below, to_above;

    __device__ int row(int k, int j) const { return y + 2 * k + (j ^ parity); }
  };

  template <typename Kinetics, int n_pairs>
  class ClusterSolver
  {
    static_assert(Kinetics::n_species == 2);
    using Scheme = typename NodeSystem<Kinetics>::Scheme;

  public:
    __device__ ClusterSolver(const ClusterView &view, const NodeSystem<Kinetics> &system_, unsigned char *memory)
      : v(view)
      , system(system_)
      , rank(cluster::rank())
      , tile(view, rank)
      , state(*reinterpret_cast<ClusterState *>(memory))
      , levels(reinterpret_cast<double2 *>(memory + (sizeof(ClusterState) + 15) / 16 * 16))
      , d(reinterpret_cast<float2 *>(levels + cluster_slots * static_cast<std::size_t>(view.cells)))
    {
    }

    __device__ void run()
    {
      load_fields();
      set_column();
      if (threadIdx.x == 0)
        {
          state.controller = *v.controller;
          state.parity     = 0;
          state.action     = state.controller.start();
        }
      cluster::wait_for_all(); // the margins of d are zero before anybody writes to them
      while (state.action != Action::stop)
        {
          const Scheme scheme(state.controller);
          if (state.action == Action::predict)
            predict(scheme);
          else
            {
              sweep(state.controller.n_sweeps);
              cluster::wait_for_all();
              update();
            }
          __syncthreads();
          const Sums sums = evaluate(scheme);
          add_up(sums);
          __syncthreads();
        }
      store_fields();
    }

  private:
    __device__ double2 *level(int l) const { return levels + static_cast<std::size_t>(state.controller.slot(l)) * v.cells; }

    /** f(cell) for the thread's own nodes and its share of the margin. */
    template <typename F>
    __device__ void for_cells(const F &f) const
    {
      if (column.exists)
#pragma unroll
        for (int r = 0; r < 2 * n_pairs; ++r)
          if (column.y + r < tile.height)
            f(tile.cell(v, column.x, column.y + r));
      for (int m = threadIdx.x; m < tile.n_margin(); m += blockDim.x)
        f(tile.margin_cell(v, m));
    }

    __device__ void load_fields()
    {
      const int  n      = v.n_x * v.n_y;
      const auto inside = [&](int x, int y) { return x >= 0 && x < v.n_x && y >= 0 && y < v.n_y; };
      for (int i = threadIdx.x; i < v.cells; i += blockDim.x)
        {
          const int  x = tile.x + i % v.pitch - 1, y = tile.y + i / v.pitch - 1;
          const bool exists = inside(x, y);
          for (int s = 0; s < cluster_slots; ++s)
            levels[static_cast<std::size_t>(s) * v.cells + i] =
              exists ? make_double2(v.slots[s][y * v.n_x + x], v.slots[s][n + y * v.n_x + x]) : make_double2(0., 0.);
          d[i] = make_float2(0.f, 0.f);
        }
    }

    __device__ void store_fields() const
    {
      const int n = v.n_x * v.n_y;
      if (column.exists)
        for (int r = 0; r < 2 * n_pairs && column.y + r < tile.height; ++r)
          for (int s = 0; s < cluster_slots; ++s)
            {
              const int     i     = (tile.y + column.y + r) * v.n_x + tile.x + column.x;
              const double2 value = levels[static_cast<std::size_t>(s) * v.cells + tile.cell(v, column.x, column.y + r)];
              v.slots[s][i]       = value.x;
              v.slots[s][n + i]   = value.y;
            }
      if (rank == 0 && threadIdx.x == 0)
        *v.controller = state.controller;
    }

    __device__ void set_column()
    {
      const int column_number = threadIdx.x % tile.width, group = threadIdx.x / tile.width;
      column.x      = column_number;
      column.y      = group * 2 * n_pairs;
      column.exists = column.y < tile.height;
      const int gx = tile.x + column.x, gy = tile.y + column.y;
      column.parity = (gx + gy) & 1;
      if (!column.exists)
        return;
      column.w_left  = static_cast<float>(v.lower_x[gx]);
      column.w_right = static_cast<float>(v.upper_x[gx]);
#pragma unroll
      for (int k = 0; k < n_pairs; ++k)
#pragma unroll
        for (int j = 0; j < 2; ++j)
          {
            const int y          = tile.y + column.row(k, j);
            column.w_below[k][j] = y < v.n_y ? static_cast<float>(v.lower_y[y]) : 0.f;
            column.w_above[k][j] = y < v.n_y ? static_cast<float>(v.upper_y[y]) : 0.f;
            column.d[k][j]       = make_float2(0.f, 0.f);
          }
      const int tx = rank % v.tiles_x, ty = rank / v.tiles_x;
      column.to_side = column.to_below = column.to_above = 0;
      if (column.x == 0 && tx > 0)
        column.to_side = cluster::map(d + tile.cell(v, Tile(v, rank - 1).width, column.y), rank - 1);
      else if (column.x == tile.width - 1 && tx + 1 < v.tiles_x)
        column.to_side = cluster::map(d + tile.cell(v, -1, column.y), rank + 1);
      if (column.y == 0 && ty > 0)
        column.to_below = cluster::map(d + tile.cell(v, column.x, Tile(v, rank - v.tiles_x).height), rank - v.tiles_x);
      if (column.y + 2 * n_pairs >= tile.height && ty + 1 < v.tiles_y)
        column.to_above = cluster::map(d + tile.cell(v, column.x, -1), rank + v.tiles_x);
    }

    /**
     * Tiles compute the nodes of their margins, too, which must be to the last bit what the neighbours have: a
     * difference would grow in each extrapolation, unseen by the residual. So it is said which operations there are,
     * which the compiler otherwise chooses anew where it places this code.
     */
    __device__ void predict(const Scheme &scheme)
    {
      double2       *u   = level(-1);
      const double2 *u_n = level(0), *u_o = level(1), *u_p = level(2);
      for_cells([&](int i) {
        double2 sum = make_double2(__dmul_rn(scheme.prediction[0], u_n[i].x), __dmul_rn(scheme.prediction[0], u_n[i].y));
        if (scheme.prediction[1] != 0.)
          sum = make_double2(__fma_rn(scheme.prediction[1], u_o[i].x, sum.x), __fma_rn(scheme.prediction[1], u_o[i].y, sum.y));
        if (scheme.prediction[2] != 0.)
          sum = make_double2(__fma_rn(scheme.prediction[2], u_p[i].x, sum.x), __fma_rn(scheme.prediction[2], u_p[i].y, sum.y));
        u[i] = sum;
      });
    }

    /** See predict(). */
    __device__ void update()
    {
      double2 *u = level(-1);
      for_cells([&](int i) { u[i] = make_double2(__dadd_rn(u[i].x, d[i].x), __dadd_rn(u[i].y, d[i].y)); });
    }

    __device__ void sweep(int n_sweeps)
    {
      const std::uint32_t base = static_cast<std::uint32_t>(__cvta_generic_to_shared(d)), line = v.pitch * sizeof(float2);
      const float         omega      = static_cast<float>(system.omega);
      int                 until_push = v.local_iterations;
      for (int s = 0; s < n_sweeps; ++s)
        {
          const bool push = --until_push == 0 || s + 1 == n_sweeps;
          if (push)
            until_push = v.local_iterations;
#pragma unroll
          for (int j = 0; j < 2; ++j)
            {
              if (column.exists)
#pragma unroll
                for (int k = 0; k < n_pairs; ++k)
                  if (column.row(k, j) < tile.height)
                    relax_node(base, line, k, j, omega, push);
              __syncthreads();
            }
        }
    }

    __device__ void relax_node(std::uint32_t base, std::uint32_t line, int k, int j, float omega, bool push)
    {
      const int           row     = column.row(k, j);
      const std::uint32_t address = base + tile.cell(v, column.x, row) * sizeof(float2);
      const float2        left = cluster::load(address - sizeof(float2)), right = cluster::load(address + sizeof(float2));
      const float2        below = cluster::load(address - line), above = cluster::load(address + line);
      float2              sum;
      sum.x             = column.w_left * left.x + column.w_right * right.x + column.w_below[k][j] * below.x + column.w_above[k][j] * above.x;
      sum.y             = column.w_left * left.y + column.w_right * right.y + column.w_below[k][j] * below.y + column.w_above[k][j] * above.y;
      const float4 m    = column.matrix[k][j];
      const float2 old  = column.d[k][j];
      float2       next = make_float2(column.constant[k][j].x + m.x * sum.x + m.y * sum.y, column.constant[k][j].y + m.z * sum.x + m.w * sum.y);
      next.x            = old.x + omega * (next.x - old.x);
      next.y            = old.y + omega * (next.y - old.y);
      column.d[k][j]    = next;
      asm volatile("st.relaxed.cluster.shared::cta.v2.f32 [%0], {%1, %2};" ::"r"(address), "f"(next.x), "f"(next.y) : "memory");
      if (!push)
        return;
      if (column.to_side != 0)
        cluster::store(column.to_side + (row - column.y) * line, next);
      if (column.to_below != 0 && row == 0)
        cluster::store(column.to_below, next);
      if (column.to_above != 0 && row == tile.height - 1)
        cluster::store(column.to_above, next);
    }

    /** G and the relaxation matrices at the new level, and d = 0 for the next correction. */
    __device__ Sums evaluate(const Scheme &scheme)
    {
      Sums           sums;
      const double2 *u = level(-1), *u_n = level(0), *u_o = level(1), *u_p = level(2);
      if (column.exists)
#pragma unroll
        for (int k = 0; k < n_pairs; ++k)
#pragma unroll
          for (int j = 0; j < 2; ++j)
            {
              const int row = column.row(k, j);
              if (row >= tile.height)
                continue;
              const int     i = tile.cell(v, column.x, row), gx = tile.x + column.x, gy = tile.y + row;
              const double  left = v.lower_x[gx], right = v.upper_x[gx], below = v.lower_y[gy], above = v.upper_y[gy];
              const double  diagonal = left + right + below + above, weight = v.weight_x[gx] * v.weight_y[gy];
              const double2 l = u[i - 1], r = u[i + 1], b = u[i - v.pitch], a = u[i + v.pitch], c = u[i];
              const double  laplace[2] = {left * (l.x - c.x) + right * (r.x - c.x) + below * (b.x - c.x) + above * (a.x - c.x),
                                          left * (l.y - c.y) + right * (r.y - c.y) + below * (b.y - c.y) + above * (a.y - c.y)};
              const double  here[2] = {c.x, c.y}, old[2] = {u_n[i].x, u_n[i].y}, older[2] = {u_o[i].x, u_o[i].y}, oldest[2] = {u_p[i].x, u_p[i].y};
              double        g[2], block[4], m[4];
              const double *const levels[3] = {old, older, oldest};
              system.residual(scheme, here, levels, laplace, NodeRow{diagonal, weight, 0., gy * v.n_x + gx}, g, block, sums);
              system.inverse(block, m);
              keep(k, j, g, m, scheme.implicit);
              d[i] = make_float2(0.f, 0.f);
            }
      for (int m = threadIdx.x; m < tile.n_margin(); m += blockDim.x)
        d[tile.margin_cell(v, m)] = make_float2(0.f, 0.f);
      return sums;
    }

    __device__ void keep(int k, int j, const double *g, const double *m, double implicit)
    {
      const double f0 = implicit * system.diffusion[0], f1 = implicit * system.diffusion[1];
      column.constant[k][j] = make_float2(static_cast<float>(-m[0] * g[0] - m[1] * g[1]), static_cast<float>(-m[2] * g[0] - m[3] * g[1]));
      column.matrix[k][j] =
        make_float4(static_cast<float>(m[0] * f0), static_cast<float>(m[1] * f1), static_cast<float>(m[2] * f0), static_cast<float>(m[3] * f1));
      column.d[k][j] = make_float2(0.f, 0.f);
    }

    /**
     * Of what the lanes of a warp have, n_sums values each: entry lane % n_sums, merged over all lanes. Lanes share the
     * entries out before they merge them: 9 exchanges for 35.
     */
    static __device__ double merge_lanes(double (&part)[n_sums], int lane)
    {
#pragma unroll
      for (int half = n_sums / 2; half > 0; half /= 2)
        {
          const bool upper = (lane & half) != 0;
          const int  first = lane & (n_sums - half); // of the entries that are left
#pragma unroll
          for (int q = 0; q < half; ++q)
            {
              const double theirs = __shfl_xor_sync(all_lanes, upper ? part[q] : part[q + half], half);
              part[q]             = Sums::merge(first + q, upper ? part[q + half] : part[q], theirs);
            }
        }
      return merge_groups(part[0], lane);
    }

    /** Of entry lane % n_sums, of which each lane has a part: that of all lanes. */
    static __device__ double merge_groups(double part, int lane)
    {
#pragma unroll
      for (int step = n_sums; step < 32; step *= 2)
        part = Sums::merge(lane % n_sums, part, __shfl_xor_sync(all_lanes, part, step));
      return part;
    }

    /** Likewise, of n parts in shared memory. */
    static __device__ double merge_rows(const double (*parts)[n_sums], int n, int lane)
    {
      double result = 0.;
      for (int p = lane / n_sums; p < n; p += 32 / n_sums)
        result = Sums::merge(lane % n_sums, result, parts[p][lane % n_sums]);
      return merge_groups(result, lane);
    }

    /** Sums over all blocks, the same in all of them, and the controller's decision. */
    __device__ void add_up(const Sums &sums)
    {
      const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, n_blocks = v.tiles_x * v.tiles_y, q = lane % n_sums;
      double    part[n_sums] = {};
      sums.copy_to(part);
      const double of_warp = merge_lanes(part, lane);
      if (lane < n_sums)
        state.warp_sums[warp][q] = of_warp;
      __syncthreads();
      const int parity = state.parity;
      if (warp == 0)
        {
          const double of_block = merge_rows(state.warp_sums, blockDim.x / 32, lane);
          for (int other = lane / n_sums; other < n_blocks; other += 32 / n_sums)
            cluster::store(cluster::map(&state.block_sums[parity][rank][q], other), of_block);
        }
      cluster::wait_for_all();
      if (warp == 0)
        {
          const double of_all = merge_rows(state.block_sums[parity], n_blocks, lane);
          for (int r = 0; r < n_sums; ++r)
            part[r] = __shfl_sync(all_lanes, of_all, r);
          if (lane == 0)
            {
              state.action = state.controller.next(Sums(part));
              state.parity = 1 - parity;
            }
        }
    }

    static constexpr unsigned int all_lanes = 0xffffffffu;

    const ClusterView          &v;
    const NodeSystem<Kinetics> &system;
    const int                   rank;
    const Tile                  tile;
    ClusterState               &state;
    double2 *const              levels;
    float2 *const               d;
    Column<n_pairs>             column;
  };

  template <typename Kinetics, int n_pairs>
  __global__ void __launch_bounds__(cluster_threads(n_pairs), 1)
    run_in_cluster(const __grid_constant__ ClusterView view, const __grid_constant__ NodeSystem<Kinetics> system)
  {
    extern __shared__ __align__(16) unsigned char memory[];
    ClusterSolver<Kinetics, n_pairs>(view, system, memory).run();
  }
} // namespace leopard::reaction_diffusion
