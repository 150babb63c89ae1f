// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "grid_gcr.cuh"

namespace leopard::reaction_diffusion
{
  // Time steps and multigrid on meshes of any kind, as kernels of the time loop's graph. Nodes are in the order of
  // blocks, one of which a thread block relaxes. Solutions are doubles; corrections, right-hand sides and matrices are
  // floats. Fields of a node stand together.

  constexpr int mesh_threads = 128; ///< and nodes of a block, at most

  /**
   * A level of a mesh (MeshLevel). Of several ranks each has its own nodes, and behind them its ghosts in d, residual,
   * u and solutions. Device memory.
   */
  struct MeshView
  {
    int            n, n_blocks;
    const int     *offsets;   ///< of the blocks' nodes
    const int     *row_begin; ///< of the blocks: entry e of its node t is number row_begin + e * (nodes of the block) + t
    const int     *columns;   ///< those within the block first
    const double  *weights;   ///< -matrix_ij of MeshLaplacian
    const float   *short_weights;
    const ushort2 *n_entries; ///< of a row: within the block, all; without the diagonal
    const NodeRow *row;
    float         *d, *rhs, *residual; ///< field c of node i at i * N + c
    float         *u;                  ///< coarse levels only, likewise: the restricted solution
    float         *relaxation;         ///< NodeSystem::relaxation_matrix(), in cycles of NodeSystem::stable_block(), entry e of node i at e * n + i
    float         *reaction;           ///< the Jacobian's diagonal blocks (coarse levels: the stable ones) less the diffusion's part, likewise
    double        *parts;              ///< the mesh only: sums of the thread blocks of evaluate_mesh, Sums::n each
    GraphState    *state;
  };

  /**
   * Entries of a row whose loads a thread has on their way at once. A level of a mesh is small, and its kernels take as
   * long as the loads that wait for each other.
   */
  constexpr int entries_at_once = 8;

  /** A transfer between levels, in compressed rows. Device memory. */
  struct TransferView
  {
    int          n_rows, lanes; ///< threads a row, a power of two: rows of restrictions have dozens of entries
    const int   *offsets, *columns;
    const float *values;

    int n_blocks() const { return (n_rows * lanes + mesh_threads - 1) / mesh_threads; }

    /**
     * use(i, result) with result = row i times x, all fields, for the rows of a thread block. All its threads call it.
     */
    template <int N, typename Number, typename Use>
    __device__ void multiply(const Number *x, const Use &use) const
    {
      float result[N];
      for (int c = 0; c < N; ++c)
        result[c] = 0.f;
      const int i = static_cast<int>(blockIdx.x * mesh_threads + threadIdx.x) / lanes, end = i < n_rows ? offsets[i + 1] : 0;
      for (int first = i < n_rows ? offsets[i] + static_cast<int>(threadIdx.x) % lanes : 0; first < end; first += entries_at_once * lanes)
        {
          float value[entries_at_once];
          int   column[entries_at_once];
#pragma unroll
          for (int k = 0; k < entries_at_once; ++k)
            {
              const int p = min(first + k * lanes, end - 1);
              value[k]    = first + k * lanes < end ? values[p] : 0.f;
              column[k]   = columns[p];
            }
#pragma unroll
          for (int k = 0; k < entries_at_once; ++k)
            for (int c = 0; c < N; ++c)
              result[c] += value[k] * static_cast<float>(x[static_cast<long>(column[k]) * N + c]);
        }
      for (int distance = lanes / 2; distance > 0; distance /= 2)
        for (int c = 0; c < N; ++c)
          result[c] += __shfl_down_sync(0xffffffff, result[c], distance);
      if (i < n_rows && threadIdx.x % lanes == 0)
        use(i, result);
    }
  };

  template <typename Weight>
  struct RowEntries;

  /** A node of the thread's own in a block. */
  struct MeshNode
  {
    int i, entry, stride, begin;

    __device__ MeshNode(const MeshView &v, int block)
      : i(v.offsets[block] + threadIdx.x)
      , entry(v.row_begin[block] + threadIdx.x)
      , stride(v.offsets[block + 1] - v.offsets[block])
      , begin(v.offsets[block])
    {
    }
    __device__ bool exists() const { return threadIdx.x < stride; }
    __device__ int  number(int e) const { return entry + e * stride; }

    /**
     * add(weight, j) for the entries e with first <= e < end of the node's row, and with a weight of zero for some
     * more.
     */
    template <typename Weight, typename Add>
    __device__ void for_entries(const MeshView &v, const Weight *weights, int first, int end, const Add &add) const
    {
      if (first >= end)
        return;
      RowEntries<Weight> next(v, weights, *this, first, end);
      for (int e = first; e < end; e += entries_at_once)
        {
          const RowEntries<Weight> now = next;
          next                         = RowEntries<Weight>(v, weights, *this, e + entries_at_once, end);
          now.for_each(add);
        }
    }
  };

  /** Entries of a node's row in registers: entries_at_once of them, those that are not there with a weight of zero. */
  template <typename Weight>
  struct RowEntries
  {
    Weight weight[entries_at_once];
    int    column[entries_at_once];

    __device__ RowEntries(const MeshView &v, const Weight *weights, const MeshNode &node, int first, int end)
    {
#pragma unroll
      for (int k = 0; k < entries_at_once; ++k)
        {
          const bool exists = first + k < end;
          weight[k]         = exists ? weights[node.number(first + k)] : Weight(0);
          column[k]         = exists ? v.columns[node.number(first + k)] : node.i;
        }
    }

    template <typename Add>
    __device__ void for_each(const Add &add) const
    {
#pragma unroll
      for (int k = 0; k < entries_at_once; ++k)
        add(weight[k], column[k]);
    }
  };

  /**
   * The new values: the prediction, or the present ones with their corrections. @tparam n_levels old solutions that the
   * scheme keeps.
   */
  template <typename Kinetics, bool predicting, int n_levels>
  __global__ void __launch_bounds__(grid_threads) update_mesh(const __grid_constant__ MeshView v)
  {
    const Controller                           &c = v.state->controller;
    const typename NodeSystem<Kinetics>::Scheme scheme(c);
    double                                     *u = v.state->slots[c.slot(-1)];
    const double                               *old[n_levels];
    for (int l = 0; l < n_levels; ++l)
      old[l] = v.state->slots[c.slot(l)];
    if (blockIdx.x == 0 && threadIdx.x == 0)
      v.state->newest = u;
    for (int e = blockIdx.x * grid_threads + threadIdx.x; e < Kinetics::n_species * v.n; e += gridDim.x * grid_threads)
      if constexpr (predicting)
        u[e] = scheme.predict(old, e);
      else
        u[e] += v.d[e];
  }

  /**
   * Stores what node i is relaxed with, and the reaction's part of its diagonal block.
   * @param relaxed the block that the relaxation matrix is made from, @param jacobian the Jacobian's; is changed.
   */
  template <typename Kinetics>
  __device__ void store_blocks(
    const MeshView &v, const NodeSystem<Kinetics> &system, double implicit, const NodeRow &row, int i, const double *relaxed, double *jacobian)
  {
    constexpr int N = Kinetics::n_species;
    double        relaxation[N * N];
    system.relaxation_matrix(relaxed, implicit, row, relaxation);
    for (int c = 0; c < N; ++c)
      jacobian[c * N + c] -= implicit * system.diffusion[c] * row.diagonal;
    for (int e = 0; e < N * N; ++e)
      {
        v.relaxation[static_cast<long>(e) * v.n + i] = static_cast<float>(relaxation[e]);
        v.reaction[static_cast<long>(e) * v.n + i]   = static_cast<float>(jacobian[e]);
      }
  }

  /** G at the new values, the Jacobian's blocks, their relaxation matrices, and the sums. @tparam n_levels as above. */
  template <typename Kinetics, int n_levels>
  __global__ void __launch_bounds__(mesh_threads)
    evaluate_mesh(const __grid_constant__ MeshView v, const __grid_constant__ NodeSystem<Kinetics> system)
  {
    constexpr int                               N = Kinetics::n_species;
    const Controller                           &c = v.state->controller;
    const typename NodeSystem<Kinetics>::Scheme scheme(c);
    const double                               *u = v.state->slots[c.slot(-1)];
    const double                               *level[n_levels];
    for (int l = 0; l < n_levels; ++l)
      level[l] = v.state->slots[c.slot(l)];
    Sums sums;
    for (int block = blockIdx.x; block < v.n_blocks; block += gridDim.x)
      {
        const MeshNode node(v, block);
        if (!node.exists())
          continue;
        const long first = static_cast<long>(node.i) * N;
        double     here[N], laplace[N] = {}, g[N], jacobian[N * N];
        for (int s = 0; s < N; ++s)
          here[s] = u[first + s];
        node.for_entries(v, v.weights, 0, v.n_entries[node.i].y, [&](double w, int j) {
          for (int s = 0; s < N; ++s)
            laplace[s] += w * (u[static_cast<long>(j) * N + s] - here[s]);
        });
        const NodeRow row = v.row[node.i];
        const double *old[n_levels];
        for (int l = 0; l < n_levels; ++l)
          old[l] = level[l] + first;
        system.residual(scheme, here, old, laplace, row, g, jacobian, sums);
        for (int s = 0; s < N; ++s)
          v.rhs[first + s] = static_cast<float>(-g[s]);
        double relaxed[N * N];
        if (c.uses_multigrid)
          system.stable_block(jacobian, scheme.implicit, row, relaxed);
        store_blocks(v, system, scheme.implicit, row, node.i, c.uses_multigrid ? relaxed : jacobian, jacobian);
      }
    write_part(sums, v.parts);
  }

  /**
   * A global iteration: each thread block does local_iterations Jacobi sweeps in its block, with the values outside of
   * it as they were when it began. Does nothing if no more than `position` iterations are left; a negative position
   * means always. @param from_zero start from zero and not from d.
   */
  template <typename Kinetics>
  __global__ void __launch_bounds__(mesh_threads) relax_mesh(
    const __grid_constant__ MeshView v, const __grid_constant__ NodeSystem<Kinetics> system, int position, int local_iterations, bool from_zero)
  {
    constexpr int     N     = Kinetics::n_species;
    const GraphState &state = *v.state;
    if (position >= 0 && position >= state.iterations_left)
      return;
    const MeshNode   node(v, blockIdx.x);
    __shared__ float shared[mesh_threads * N];
    float            frozen[N] = {}, mine[N] = {}, matrix[N * N], factor[N];
    const long       first     = static_cast<long>(node.i) * N;
    const ushort2    n_entries = node.exists() ? v.n_entries[node.i] : make_ushort2(0, 0);
    const int        n_inner   = n_entries.x;
    // of all sweeps
    const RowEntries<float> kept(v, v.short_weights, node, 0, n_inner);
    float                   damping = 0.f;
    if (node.exists())
      {
        damping = static_cast<float>(v.row[node.i].damping());
        for (int c = 0; c < N; ++c)
          factor[c] = static_cast<float>(state.controller.implicit * system.diffusion[c]);
        if (!from_zero)
          node.for_entries(v, v.short_weights, n_inner, n_entries.y, [&](float w, int j) {
            const volatile float *d_j = v.d + static_cast<long>(j) * N;
            for (int c = 0; c < N; ++c)
              frozen[c] += w * d_j[c];
          });
        for (int c = 0; c < N; ++c)
          {
            frozen[c] = v.rhs[first + c] + factor[c] * frozen[c];
            mine[c]   = from_zero ? 0.f : v.d[first + c];
          }
        for (int e = 0; e < N * N; ++e)
          matrix[e] = v.relaxation[static_cast<long>(e) * v.n + node.i];
      }
    const float omega = static_cast<float>(system.omega);
    for (int k = 0; k < local_iterations; ++k)
      {
        for (int c = 0; c < N; ++c)
          shared[threadIdx.x * N + c] = mine[c];
        __syncthreads();
        if (node.exists())
          {
            float      b[N] = {};
            const auto add  = [&](float w, int j) {
              for (int c = 0; c < N; ++c)
                b[c] += w * shared[(j - node.begin) * N + c];
            };
            kept.for_each(add);
            node.for_entries(v, v.short_weights, entries_at_once, n_inner, add);
            for (int c = 0; c < N; ++c)
              b[c] = frozen[c] + factor[c] * (b[c] + damping * mine[c]);
            NodeSystem<Kinetics>::relax(omega, b, matrix, mine);
          }
        __syncthreads();
      }
    if (node.exists())
      for (int c = 0; c < N; ++c)
        static_cast<volatile float *>(v.d)[first + c] = mine[c];
  }

  /** (A d)_i */
  template <typename Kinetics>
  __device__ void multiply_row(const MeshView &v, const NodeSystem<Kinetics> &system, const MeshNode &node, const float *d, float *result)
  {
    constexpr int N     = Kinetics::n_species;
    const long    first = static_cast<long>(node.i) * N;
    float         here[N], laplace[N] = {};
    for (int c = 0; c < N; ++c)
      here[c] = d[first + c];
    node.for_entries(v, v.short_weights, 0, v.n_entries[node.i].y, [&](float w, int j) {
      for (int c = 0; c < N; ++c)
        laplace[c] += w * (d[static_cast<long>(j) * N + c] - here[c]);
    });
    for (int c = 0; c < N; ++c)
      {
        result[c] = -static_cast<float>(v.state->controller.implicit * system.diffusion[c]) * laplace[c];
        for (int e = 0; e < N; ++e)
          result[c] += v.reaction[static_cast<long>(c * N + e) * v.n + node.i] * here[e];
      }
  }

  /** residual = rhs - A d */
  template <typename Kinetics>
  __global__ void __launch_bounds__(mesh_threads)
    compute_mesh_residual(const __grid_constant__ MeshView v, const __grid_constant__ NodeSystem<Kinetics> system)
  {
    constexpr int  N = Kinetics::n_species;
    const MeshNode node(v, blockIdx.x);
    if (!node.exists())
      return;
    float product[N];
    multiply_row(v, system, node, v.d, product);
    for (int c = 0; c < N; ++c)
      v.residual[static_cast<long>(node.i) * N + c] = v.rhs[static_cast<long>(node.i) * N + c] - product[c];
  }

  /** coarse.rhs = R fine.residual */
  template <int N>
  __global__ void __launch_bounds__(mesh_threads)
    restrict_mesh_residual(const __grid_constant__ MeshView fine, const __grid_constant__ MeshView coarse, const TransferView R)
  {
    R.multiply<N>(fine.residual, [&](int i, const float *sum) {
      for (int c = 0; c < N; ++c)
        coarse.rhs[static_cast<long>(i) * N + c] = sum[c];
    });
  }

  /** fine.d += P coarse.d */
  template <int N>
  __global__ void __launch_bounds__(mesh_threads)
    prolongate_mesh(const __grid_constant__ MeshView coarse, const __grid_constant__ MeshView fine, const TransferView P)
  {
    P.multiply<N>(coarse.d, [&](int i, const float *correction) {
      for (int c = 0; c < N; ++c)
        fine.d[static_cast<long>(i) * N + c] += correction[c];
    });
  }

  /** coarse.u = R u. `finest`: the fine level is the mesh, whose solution is in the slots. */
  template <int N, bool finest>
  __global__ void __launch_bounds__(mesh_threads)
    restrict_mesh_solution(const __grid_constant__ MeshView fine, const __grid_constant__ MeshView coarse, const TransferView R)
  {
    const auto store = [&](int i, const float *u) {
      for (int c = 0; c < N; ++c)
        coarse.u[static_cast<long>(i) * N + c] = u[c];
    };
    if constexpr (finest)
      R.multiply<N>(fine.state->slots[fine.state->controller.slot(-1)], store);
    else
      R.multiply<N>(fine.u, store);
  }

  /** The stable blocks of a coarse level's Jacobian, at the restricted solution. */
  template <typename Kinetics>
  __global__ void __launch_bounds__(mesh_threads)
    linearize_mesh(const __grid_constant__ MeshView v, const __grid_constant__ NodeSystem<Kinetics> system)
  {
    constexpr int N = Kinetics::n_species;
    const int     i = blockIdx.x * mesh_threads + threadIdx.x;
    if (i >= v.n)
      return;
    const typename NodeSystem<Kinetics>::Scheme scheme(v.state->controller);
    double                                      here[N], zero[N] = {}, g[N], jacobian[N * N], stable[N * N];
    for (int c = 0; c < N; ++c)
      here[c] = v.u[static_cast<long>(i) * N + c];
    Sums                unused;
    const NodeRow       row    = v.row[i];
    const double *const old[3] = {here, here, here};
    system.residual(scheme, here, old, zero, row, g, jacobian, unused);
    system.stable_block(jacobian, scheme.implicit, row, stable);
    store_blocks(v, system, scheme.implicit, row, i, stable, stable);
  }

  /** q_k = A d; parts of q_k . q_j: what multiply_direction() is on a grid. @param d floats, as all vectors here. */
  template <typename Kinetics>
  __global__ void __launch_bounds__(mesh_threads) multiply_mesh_direction(const __grid_constant__ MeshView v,
                                                                          const __grid_constant__ NodeSystem<Kinetics> system,
                                                                          const float                                 *d,
                                                                          const __grid_constant__ GcrView              g)
  {
    constexpr int     N     = Kinetics::n_species;
    const GraphState &state = *v.state;
    const int         k = state.gcr.iteration % max_directions, n_filled = min(state.gcr.iteration, max_directions);
    float *const      q_k                 = reinterpret_cast<float *>(g.image(k));
    double            sum[max_directions] = {};
    for (int block = blockIdx.x; block < v.n_blocks; block += gridDim.x)
      {
        const MeshNode node(v, block);
        if (!node.exists())
          continue;
        const long first = static_cast<long>(node.i) * N;
        float      product[N];
        multiply_row(v, system, node, d, product);
        for (int c = 0; c < N; ++c)
          {
            const float q  = product[c];
            q_k[first + c] = q;
#pragma unroll
            for (int j = 0; j < max_directions; ++j)
              if (j < n_filled && j != k)
                sum[j] += static_cast<double>(q) * reinterpret_cast<const float *>(g.image(j))[first + c];
          }
      }
    write_part<Addition>(sum, g.parts, max_directions);
  }
} // namespace leopard::reaction_diffusion
