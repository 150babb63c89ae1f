// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "grid_kernels.cuh"

#include <applications/reaction_diffusion/mesh/mesh_parts.h>
#include <solvers/device/cuda_error.cuh>
#include <solvers/device/device_array.h>

#include <algorithm>
#include <vector>

namespace leopard::reaction_diffusion
{
  // Values of the nodes of a level travel between ranks as doubles.

  template <typename Number>
  __device__ Number *newest_if_null(Number *values, const GraphState *state)
  {
    if constexpr (sizeof(Number) == sizeof(double))
      return values != nullptr ? values : state->slots[state->controller.slot(-1)];
    else
      return values;
  }

  /** to[N k + c] = field c at node nodes[k], for k < n. @param values N a node; null: the newest solution. */
  template <int N, typename Number>
  __global__ void __launch_bounds__(grid_threads) pack_nodes(Number *values, const GraphState *state, const int *nodes, int n, double *to)
  {
    values = newest_if_null(values, state);
    for (int e = blockIdx.x * grid_threads + threadIdx.x; e < N * n; e += gridDim.x * grid_threads)
      to[e] = values[static_cast<long>(nodes[e / N]) * N + e % N];
  }

  /** Field c at node nodes[k] = from[N places[k] + c], for k < n: the inverse of pack_nodes(). */
  template <int N, typename Number>
  __global__ void __launch_bounds__(grid_threads)
    unpack_nodes(Number *values, const GraphState *state, const int *nodes, const int *places, int n, const double *from)
  {
    values = newest_if_null(values, state);
    for (int e = blockIdx.x * grid_threads + threadIdx.x; e < N * n; e += gridDim.x * grid_threads)
      values[static_cast<long>(nodes[e / N]) * N + e % N] = static_cast<Number>(from[static_cast<long>(places[e / N]) * N + e % N]);
  }

  /** What MeshPart says, for values in device memory; queued. With one rank nothing happens. */
  template <int N>
  class MeshExchange
  {
  public:
    /** @param part in the order of the level's blocks. @param ranks_ null: one rank. */
    MeshExchange(const MeshPart &part, const Ranks *ranks_, const GraphState *state_)
      : ranks(ranks_)
      , state(state_)
      , shared(part.shared)
      , sent(part.sent)
      , received(part.received)
      , places(part.places)
    {
      for (const int o : part.offsets)
        offsets.push_back(N * o);
      values = device::Array<double>(offsets.empty() ? 0 : offsets.back());
    }

    /** Brings the ghosts of v up to date; does nothing on a level that is whole. @param v null: the newest solution. */
    template <typename Number>
    void update_ghosts(cudaStream_t stream, Number *v) const
    {
      if (shared)
        exchange(stream, v);
    }

    /** To be called when the ghosts are zero: what has not arrived counts as zero from now on. */
    void clear(cudaStream_t stream) const
    {
      if (shared && values.size() > 0)
        LEOPARD_CHECK(cudaMemsetAsync(values.data(), 0, values.size() * sizeof(double), stream));
    }

    /**
     * As update_ghosts(), without waiting: ghosts for which nothing has arrived keep their values. clear() or
     * update_ghosts() must have come before. @param begins true in the first call after these: values that were sent
     * earlier are too old and are thrown away.
     */
    void update_ghosts_loosely(cudaStream_t stream, float *d, bool begins) const
    {
      if (!shared || values.size() == 0)
        return;
      pack(stream, d);
      ranks->exchange->gather_loosely(values.data(), offsets, begins);
      unpack(stream, d);
    }

    /**
     * On the finest level that is whole on every rank: fetches the values that other ranks have restricted to their
     * nodes. Does nothing on other levels.
     */
    void gather(cudaStream_t stream, float *v) const
    {
      if (!shared && !offsets.empty())
        exchange(stream, v);
    }

  private:
    template <typename Number>
    void exchange(cudaStream_t stream, Number *v) const
    {
      if (values.size() == 0) // on all ranks: no row reads a node of another one
        return;
      pack(stream, v);
      ranks->exchange->gather(values.data(), offsets);
      unpack(stream, v);
    }

    template <typename Number>
    void pack(cudaStream_t stream, Number *v) const
    {
      if (const int n = static_cast<int>(sent.size()); n > 0)
        pack_nodes<N><<<blocks(n), grid_threads, 0, stream>>>(v, state, sent.data(), n, values.data() + offsets[ranks->rank]);
    }

    template <typename Number>
    void unpack(cudaStream_t stream, Number *v) const
    {
      if (const int n = static_cast<int>(received.size()); n > 0)
        unpack_nodes<N><<<blocks(n), grid_threads, 0, stream>>>(v, state, received.data(), places.data(), n, values.data());
    }

    static int blocks(int n) { return std::min(1024, (N * n + grid_threads - 1) / grid_threads); }

    const Ranks *const       ranks; ///< or null
    const GraphState *const  state;
    const bool               shared;
    const device::Array<int> sent, received, places;
    std::vector<int>         offsets;
    device::Array<double>    values; ///< that all ranks send
  };
} // namespace leopard::reaction_diffusion
