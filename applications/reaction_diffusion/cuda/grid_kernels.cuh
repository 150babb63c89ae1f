// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <applications/reaction_diffusion/grid/node_grid.h>
#include <applications/reaction_diffusion/rules/node_system.h>
#include <solvers/device/block_sum.cuh>
#include <solvers/krylov/gcr_kernels.cuh>

namespace leopard::reaction_diffusion
{
  // Time steps on grids of any size, as kernels of a CUDA graph that loops by itself (see graph_engine.cuh).
  // Corrections, right-hand sides and relaxation matrices are floats, each in an array padded to whole tiles, field by
  // field side by side: a sweep moves 40 bytes a node.

  /** Scalars of GCR on the finest grid (see grid_gcr.cuh). */
  using GcrState = GcrScalars<float, max_directions>;

  /** What lives on the device between kernels. */
  struct GraphState
  {
    Controller controller;
    GcrState   gcr;
    Action     action;
    int        iterations_left; ///< global iterations of the linear solve under way
    int        first_iteration;
    double    *slots[max_levels + 1]; ///< the controller's slots, as many as it has; field c of node i at c * stride + i
    double    *newest;                ///< for exchanges of its ghosts: what has been evaluated; of a grid's slab with the plane below it
    double    *spare;                 ///< what the update of slot(-1) is written to; then the two change places; null: it is updated in place
  };

  /**
   * The place in a direction with n nodes that `place` stands for, which may be one before the first or behind the
   * last: at the other end where the direction is periodic. @param period n where it is, else 0: the place stays.
   */
  __device__ inline int around(int place, int n, int period)
  {
    return place < 0 ? place + period : place < n ? place : place - period;
  }

  struct GridView
  {
    int         n[3];               ///< the rank's nodes
    int         first[3], end[3];   ///< with those beyond: -1 instead of 0, and n + 1 instead of n, where there is a rank beside it or it is periodic
    int         period[3];          ///< see around()
    long        stride;             ///< from one field to the next in the slots
    long        ghosts;             ///< values of a neighbour's plane in the slots; 0: there are no other ranks
    int         padded_x, padded_y; ///< nodes a line and lines a plane of d, constant and matrix
    int         tiles_x, tiles_y, tiles_z;
    double      weight[3]; ///< 1 / spacing^2; 0 where there is one node
    int         local_iterations;
    float       omega;
    float2     *d, *constant;
    float4     *matrix;
    float2     *rhs;      ///< for multigrid, padded as the others: -G
    float4     *reaction; ///< and the Jacobian's diagonal blocks less the diffusion's part
    double     *parts;    ///< sums of the thread blocks of evaluate_grid, Sums::n each
    GraphState *state;

    __device__ int padded(int x, int y, int z) const { return (z * padded_y + y) * padded_x + x; }
    __device__ int padded_around(int x, int y, int z) const
    {
      return padded(around(x, n[0], period[0]), around(y, n[1], period[1]), around(z, n[2], period[2]));
    }
    /** With the places beyond. */
    __device__ bool has(int x, int y, int z) const
    {
      return x >= first[0] && x < end[0] && y >= first[1] && y < end[1] && z >= first[2] && z < end[2];
    }
    /** Whether a periodic direction ends within a tile of this size that begins at `begin`. */
    __device__ bool closes_within(int direction, int begin, int size) const { return period[direction] > 0 && begin + size > n[direction]; }
  };

  constexpr int grid_threads = 256;

  using leopard::write_part;

  __device__ inline void write_part(const Sums &sums, double *parts)
  {
    double value[Sums::n];
    sums.copy_to(value);
    write_part<Sums>(value, parts, Sums::n);
  }

  /** The part of a rank. */
  template <typename Merger, int n>
  __global__ void __launch_bounds__(grid_threads) merge_rank(const double *parts, int n_parts, double *result)
  {
    double value[n] = {};
    merge_parts<Merger>(parts, n_parts, value);
    if (threadIdx.x == 0)
      for (int q = 0; q < n; ++q)
        result[q] = value[q];
  }

  /** The values that evaluate_grid() looks at: the prediction, or the solution plus its correction. */
  template <bool predicting, int n_levels>
  struct NewValues
  {
    const GridView &v;
    const double   *level[n_levels], *u;
    double          prediction[n_levels];

    __device__ double2 at(int x, int y, int z) const
    {
      const int i = (z * v.n[1] + y) * v.n[0] + x;
      if constexpr (predicting)
        {
          double2 sum = make_double2(prediction[0] * level[0][i], prediction[0] * level[0][v.stride + i]);
          for (int l = 1; l < n_levels; ++l)
            if (prediction[l] != 0.)
              sum = make_double2(sum.x + prediction[l] * level[l][i], sum.y + prediction[l] * level[l][v.stride + i]);
          return sum;
        }
      const float2 d = v.d[v.padded(x, y, z)];
      return make_double2(u[i] + d.x, u[v.stride + i] + d.y);
    }
  };

  /**
   * The new values, G there (as the sweeps want it), the relaxation matrices and the sums. Two fields. @tparam n_levels
   * old solutions that the scheme keeps.
   */
  template <typename Kinetics, bool predicting, int n_levels>
  __global__ void __launch_bounds__(grid_threads, 3)
    evaluate_grid(const __grid_constant__ GridView v, const __grid_constant__ NodeSystem<Kinetics> system)
  {
    const Controller                           &c = v.state->controller;
    const typename NodeSystem<Kinetics>::Scheme scheme(c);
    const long                                  stride = v.stride;
    double                                     *target = predicting ? v.state->slots[c.slot(-1)] : v.state->spare;
    NewValues<predicting, n_levels>             values{v, {}, v.state->slots[c.slot(-1)], {}};
    if (blockIdx.x == 0 && threadIdx.x == 0)
      v.state->newest = target - v.ghosts;
    for (int l = 0; l < n_levels; ++l)
      {
        values.level[l]      = v.state->slots[c.slot(l)];
        values.prediction[l] = scheme.prediction[l];
      }
    Sums      sums;
    const int blocks_x = (v.n[0] + 31) / 32, blocks_y = (v.n[1] + 7) / 8, n_blocks = blocks_x * blocks_y * v.n[2];
    for (int block = blockIdx.x; block < n_blocks; block += gridDim.x)
      {
        const int x = block % blocks_x * 32 + threadIdx.x % 32, y = block / blocks_x % blocks_y * 8 + threadIdx.x / 32,
                  z = block / (blocks_x * blocks_y);
        if (x >= v.n[0] || y >= v.n[1])
          continue;
        const int     place[3]   = {x, y, z};
        const double2 here       = values.at(x, y, z);
        double        laplace[2] = {0., 0.}, diagonal = 0., node_weight = 1.;
        for (int direction = 0; direction < 3; ++direction)
          {
            const double w = v.weight[direction];
            if (w == 0.)
              continue;
            const bool first = place[direction] == v.first[direction], last = place[direction] == v.end[direction] - 1;
            diagonal += 2. * w;
            node_weight *= first || last ? 0.5 : 1.;
            for (int side = -1; side <= 1; side += 2)
              {
                const int     mirrored = (side < 0 ? first : last) ? -side : side; // at the boundary
                const int     to       = around(place[direction] + mirrored, v.n[direction], v.period[direction]);
                const double2 u        = values.at(direction == 0 ? to : x, direction == 1 ? to : y, direction == 2 ? to : z);
                laplace[0] += w * (u.x - here.x);
                laplace[1] += w * (u.y - here.y);
              }
          }
        const int    i    = (z * v.n[1] + y) * v.n[0] + x;
        const double u[2] = {here.x, here.y}, u_n[2] = {values.level[0][i], values.level[0][stride + i]};
        double       u_o[2] = {0., 0.}, older[n_levels - 2][2] = {}, g[2], block_here[4], m[4];
        if (scheme.history[1] != 0. || scheme.prediction[1] != 0.)
          for (int s = 0; s < 2; ++s)
            u_o[s] = values.level[1][s * stride + i];
        const double *levels[n_levels] = {u_n, u_o}; // arrays apart, as kinetics that are tapes have those that they read in memory
        for (int l = 2; l < n_levels; ++l)
          {
            levels[l] = older[l - 2];
            if ((l < n_levels - 1 && scheme.history[l] != 0.) || (!predicting && scheme.prediction[l] != 0.))
              for (int s = 0; s < 2; ++s)
                older[l - 2][s] = values.level[l][s * stride + i];
          }
        system.residual(scheme, u, levels, laplace, NodeRow{diagonal, node_weight, 0., i}, g, block_here, sums);
        system.inverse(block_here, m);
        target[i]          = u[0];
        target[stride + i] = u[1];
        const int    j     = v.padded(x, y, z);
        const double f0 = scheme.implicit * system.diffusion[0], f1 = scheme.implicit * system.diffusion[1];
        if (c.uses_multigrid)
          {
            v.rhs[j]      = make_float2(static_cast<float>(-g[0]), static_cast<float>(-g[1]));
            v.reaction[j] = make_float4(static_cast<float>(block_here[0] - f0 * diagonal),
                                        static_cast<float>(block_here[1]),
                                        static_cast<float>(block_here[2]),
                                        static_cast<float>(block_here[3] - f1 * diagonal));
          }
        else
          {
            v.constant[j] = make_float2(static_cast<float>(-m[0] * g[0] - m[1] * g[1]), static_cast<float>(-m[2] * g[0] - m[3] * g[1]));
            v.matrix[j] =
              make_float4(static_cast<float>(m[0] * f0), static_cast<float>(m[1] * f1), static_cast<float>(m[2] * f0), static_cast<float>(m[3] * f1));
          }
      }
    write_part(sums, v.parts);
  }

  /**
   * A tile of nodes that a thread block relaxes: n_x x n_y x n_z, handled as pairs of neighbours in x, one red and one
   * black.
   */
  template <bool flat_>
  struct SweepTile
  {
    static constexpr bool flat = flat_;
    static constexpr int  n_x = flat ? 64 : 32, n_y = flat ? 32 : 8, n_z = flat ? 1 : 8, n_pairs = n_x / 2;
    static constexpr int  margin_z = flat ? 0 : 1;
    static constexpr int  line = n_pairs + 2, plane = line * (n_y + 2), cells = plane * (n_z + 2 * margin_z); ///< of one colour, with the margin
    static constexpr int  pairs_a_thread = n_pairs * n_y * n_z / grid_threads;

    /**
     * Where the value of colour (x + y + z) mod 2 at x = 2 pair or 2 pair + 1 is, counted within its colour; -1 <= y <=
     * n_y and so on.
     */
    static __device__ int cell(int pair, int y, int z) { return (z + margin_z) * plane + (y + 1) * line + pair + 1; }
  };

  __device__ inline float2 load_newest(const float2 *p)
  {
    float2 v;
    asm volatile("ld.relaxed.gpu.global.v2.f32 {%0, %1}, [%2];" : "=f"(v.x), "=f"(v.y) : "l"(p) : "memory");
    return v;
  }

  /** The newest values beside the tile; zero beyond the grid, where nothing reads them. */
  template <typename Tile>
  __device__ void load_margin(const GridView &v, float2 *shared, int x0, int y0, int z0)
  {
    constexpr int side = Tile::n_y * Tile::n_z, front = Tile::n_x * Tile::n_z, bottom = Tile::flat ? 0 : Tile::n_x * Tile::n_y;
    for (int m = threadIdx.x; m < 2 * (side + front + bottom); m += grid_threads)
      {
        int x, y, z;
        if (m < 2 * side)
          {
            x = m < side ? -1 : Tile::n_x;
            y = m % side % Tile::n_y;
            z = m % side / Tile::n_y;
          }
        else if (m < 2 * (side + front))
          {
            const int k = m - 2 * side;
            y           = k < front ? -1 : Tile::n_y;
            x           = k % front % Tile::n_x;
            z           = k % front / Tile::n_x;
          }
        else
          {
            const int k = m - 2 * (side + front);
            z           = k < bottom ? -1 : Tile::n_z;
            x           = k % (Tile::n_x * Tile::n_y) % Tile::n_x;
            y           = k % (Tile::n_x * Tile::n_y) / Tile::n_x;
          }
        const int gx = x0 + x, gy = y0 + y, gz = z0 + z, pair = x < 0 ? -1 : x / 2;
        shared[((x + y + z) & 1) * Tile::cells + Tile::cell(pair, y, z)] =
          v.has(gx, gy, gz) ? load_newest(v.d + v.padded_around(gx, gy, gz)) : make_float2(0.f, 0.f);
      }
  }

  /**
   * Of a tile in which a periodic direction ends: the padding behind its last nodes takes the newest values of the
   * first ones, and keeps them, as `constant`, through the sweeps.
   */
  template <typename Tile>
  __device__ void load_other_end(const GridView &v, float2 *shared, float2 (&constant)[Tile::pairs_a_thread][2], int x0, int y0, int z0)
  {
#pragma unroll
    for (int k = 0; k < Tile::pairs_a_thread; ++k)
      {
        const int q = threadIdx.x + k * grid_threads, pair = q % Tile::n_pairs, y = q / Tile::n_pairs % Tile::n_y,
                  z = q / (Tile::n_pairs * Tile::n_y);
#pragma unroll
        for (int colour = 0; colour < 2; ++colour)
          {
            const int  gx = x0 + 2 * pair + ((colour + y + z) & 1), gy = y0 + y, gz = z0 + z;
            const bool is_node = gx < v.n[0] && gy < v.n[1] && gz < v.n[2];
            if (!is_node && v.has(gx, gy, gz))
              shared[colour * Tile::cells + Tile::cell(pair, y, z)] = constant[k][colour] = load_newest(v.d + v.padded_around(gx, gy, gz));
          }
      }
  }

  /**
   * The neighbours' sum of a node of a pair: `other` holds the values of the other colour. Mirrored at the boundary of
   * the grid.
   */
  template <typename Tile, bool inside>
  __device__ float2
  sum_of_neighbours(const GridView &v, const float2 *other, const float (&w)[3], int pair, int px, int y, int z, int gx, int gy, int gz)
  {
    int left = px - 1, right = px, below = -Tile::line, above = Tile::line, front = -Tile::plane, back = Tile::plane;
    if constexpr (!inside)
      {
        left  = gx == v.first[0] ? px : px - 1;
        right = gx == v.end[0] - 1 ? px - 1 : px;
        if (gy == v.first[1])
          below = Tile::line;
        if (gy == v.end[1] - 1)
          above = -Tile::line;
        if (gz == v.first[2])
          front = Tile::plane;
        if (gz == v.end[2] - 1)
          back = -Tile::plane;
      }
    const float2 *p = other + Tile::cell(pair, y, z);
    const float2  l = p[left], r = p[right], b = p[below], a = p[above];
    float2        sum = make_float2(w[0] * (l.x + r.x) + w[1] * (b.x + a.x), w[0] * (l.y + r.y) + w[1] * (b.y + a.y));
    if constexpr (!Tile::flat)
      {
        const float2 f = p[front], k = p[back];
        sum.x += w[2] * (f.x + k.x);
        sum.y += w[2] * (f.y + k.y);
      }
    return sum;
  }

  template <typename Tile, bool inside, bool plain>
  __device__ void sweep_in_tile(const GridView &v,
                                float2         *shared,
                                const float2 (&constant)[Tile::pairs_a_thread][2],
                                const float4 (&matrix)[Tile::pairs_a_thread][2],
                                int x0,
                                int y0,
                                int z0)
  {
    const float w[3] = {static_cast<float>(v.weight[0]), static_cast<float>(v.weight[1]), static_cast<float>(v.weight[2])};
    for (int sweep = 0; sweep < v.local_iterations; ++sweep)
#pragma unroll
      for (int colour = 0; colour < 2; ++colour)
        {
#pragma unroll
          for (int k = 0; k < Tile::pairs_a_thread; ++k)
            {
              const int q = threadIdx.x + k * grid_threads, pair = q % Tile::n_pairs, y = q / Tile::n_pairs % Tile::n_y,
                        z     = q / (Tile::n_pairs * Tile::n_y);
              const int    px = (colour + y + z) & 1;
              const float2 sum =
                sum_of_neighbours<Tile, inside>(v, shared + (1 - colour) * Tile::cells, w, pair, px, y, z, x0 + 2 * pair + px, y0 + y, z0 + z);
              float2      *here = shared + colour * Tile::cells + Tile::cell(pair, y, z);
              const float4 m    = matrix[k][colour];
              const float2 c    = constant[k][colour];
              float2       next = make_float2(c.x + m.x * sum.x + m.y * sum.y, c.y + m.z * sum.x + m.w * sum.y);
              if constexpr (!plain)
                {
                  const float2 old = *here;
                  next             = make_float2(old.x + v.omega * (next.x - old.x), old.y + v.omega * (next.y - old.y));
                }
              *here = next;
            }
          __syncthreads();
        }
  }

  /**
   * A global iteration, if more than `position` are left: each thread block relaxes a tile, local_iterations red-black
   * sweeps, with the newest values around it.
   */
  template <bool flat>
  __global__ void __launch_bounds__(grid_threads, 3) sweep_grid(const __grid_constant__ GridView v, int position)
  {
    if (position >= v.state->iterations_left)
      return;
    using Tile = SweepTile<flat>;
    __shared__ float2 shared[2 * Tile::cells];
    const int         tile = blockIdx.x, x0 = tile % v.tiles_x * Tile::n_x, y0 = tile / v.tiles_x % v.tiles_y * Tile::n_y,
              z0     = tile / (v.tiles_x * v.tiles_y) * Tile::n_z;
    const bool fresh = position == 0 && v.state->first_iteration != 0;
    float2     constant[Tile::pairs_a_thread][2];
    float4     matrix[Tile::pairs_a_thread][2];
#pragma unroll
    for (int k = 0; k < Tile::pairs_a_thread; ++k)
      {
        const int q = threadIdx.x + k * grid_threads, pair = q % Tile::n_pairs, y = q / Tile::n_pairs % Tile::n_y,
                  z        = q / (Tile::n_pairs * Tile::n_y);
        const int    i     = v.padded(x0 + 2 * pair, y0 + y, z0 + z);
        const bool   swap  = ((y + z) & 1) != 0; // the first node is black
        const float4 both  = __ldcs(reinterpret_cast<const float4 *>(v.constant + i));
        const float4 first = __ldcs(v.matrix + i), second = __ldcs(v.matrix + i + 1);
        constant[k][0]               = swap ? make_float2(both.z, both.w) : make_float2(both.x, both.y);
        constant[k][1]               = swap ? make_float2(both.x, both.y) : make_float2(both.z, both.w);
        matrix[k][0]                 = swap ? second : first;
        matrix[k][1]                 = swap ? first : second;
        const float4 d               = fresh ? make_float4(0.f, 0.f, 0.f, 0.f) : *reinterpret_cast<const float4 *>(v.d + i);
        float2      *here            = shared + Tile::cell(pair, y, z);
        here[swap ? Tile::cells : 0] = make_float2(d.x, d.y);
        here[swap ? 0 : Tile::cells] = make_float2(d.z, d.w);
      }
    if (fresh)
      for (int m = threadIdx.x; m < 2 * Tile::cells; m += grid_threads)
        shared[m] = make_float2(0.f, 0.f);
    else
      {
        load_margin<Tile>(v, shared, x0, y0, z0);
        if (v.closes_within(0, x0, Tile::n_x) || v.closes_within(1, y0, Tile::n_y) || v.closes_within(2, z0, Tile::n_z))
          load_other_end<Tile>(v, shared, constant, x0, y0, z0);
      }
    __syncthreads();

    const bool inside = x0 > v.first[0] && y0 > v.first[1] && (flat || z0 > v.first[2]) && x0 + Tile::n_x < v.end[0] && y0 + Tile::n_y < v.end[1] &&
                        (flat || z0 + Tile::n_z < v.end[2]);
    if (v.omega == 1.f)
      inside ? sweep_in_tile<Tile, true, true>(v, shared, constant, matrix, x0, y0, z0)
             : sweep_in_tile<Tile, false, true>(v, shared, constant, matrix, x0, y0, z0);
    else
      inside ? sweep_in_tile<Tile, true, false>(v, shared, constant, matrix, x0, y0, z0)
             : sweep_in_tile<Tile, false, false>(v, shared, constant, matrix, x0, y0, z0);

#pragma unroll
    for (int k = 0; k < Tile::pairs_a_thread; ++k)
      {
        const int q = threadIdx.x + k * grid_threads, pair = q % Tile::n_pairs, y = q / Tile::n_pairs % Tile::n_y,
                  z         = q / (Tile::n_pairs * Tile::n_y);
        const bool    swap  = ((y + z) & 1) != 0;
        const float2 *here  = shared + Tile::cell(pair, y, z);
        const float2  first = here[swap ? Tile::cells : 0], second = here[swap ? 0 : Tile::cells];
        asm volatile("st.relaxed.gpu.global.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(v.d + v.padded(x0 + 2 * pair, y0 + y, z0 + z)),
                     "f"(first.x),
                     "f"(first.y),
                     "f"(second.x),
                     "f"(second.y)
                     : "memory");
      }
  }
} // namespace leopard::reaction_diffusion
