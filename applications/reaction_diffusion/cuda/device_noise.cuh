// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "grid_kernels.cuh"

#include <applications/reaction_diffusion/kinetics/kinetics_on_device.h>
#include <applications/reaction_diffusion/rules/noise.h>
#include <solvers/device/cuda_error.cuh>
#include <solvers/device/device_array.h>

#include <algorithm>

namespace leopard::reaction_diffusion
{
  /** Where a slot has the fields of a rank's own nodes: that of node i at i * node_stride + field * field_stride. */
  struct NodeOrder
  {
    long           n, node_stride, field_stride;
    const NodeRow *rows; ///< NodeRow::node of the nodes, device memory; null: node i is i
  };

  /** NodeNoise::set() of all nodes, for the attempt that begins. */
  template <int N>
  __global__ void __launch_bounds__(grid_threads)
    set_increments(const GraphState *state, const __grid_constant__ NodeNoise<N> noise, const __grid_constant__ NodeOrder order, double *increments)
  {
    const Controller   &c = state->controller;
    const double *const u = state->slots[c.slot(0)];
    for (long i = blockIdx.x * static_cast<long>(grid_threads) + threadIdx.x; i < order.n; i += gridDim.x * static_cast<long>(grid_threads))
      {
        double u_n[N];
        for (int s = 0; s < N; ++s)
          u_n[s] = u[i * order.node_stride + s * order.field_stride];
        noise.set(c, order.rows != nullptr ? order.rows[i].node : static_cast<int>(i), u_n, increments);
      }
  }

  /** The noise of an engine on the device, and its increments in the step under way. */
  template <int N>
  class DeviceNoise
  {
  public:
    /** @param choice valid, with noise. */
    explicit DeviceNoise(const NoiseChoice &choice)
      : strength(make_node_noise<N>(choice).strength)
      , places(*choice.places)
      , mass(*choice.mass)
      , values(N * choice.n_nodes())
      , noise(make_node_noise<N>(choice))
    {
      noise.strength = strength.kinetics;
      noise.places   = places.data();
      noise.mass     = mass.data();
      LEOPARD_CHECK(cudaMemset(values.data(), 0, values.size() * sizeof(double)));
    }

    /** Device memory, NodeSystem::increments. */
    double *increments() const { return values.data(); }

    /** Launches what sets them from the old values. */
    void set(cudaStream_t stream, const GraphState *state, const NodeOrder &order) const
    {
      const long n_blocks = std::min<long>((order.n + grid_threads - 1) / grid_threads, 8 * device::n_multiprocessors());
      set_increments<N><<<static_cast<unsigned int>(n_blocks), grid_threads, 0, stream>>>(state, noise, order, values.data());
    }

  private:
    const KineticsOnDevice<TapeKinetics<N>> strength;
    const device::Array<RoundedPlace>       places;
    const device::Array<double>             mass, values;
    NodeNoise<N>                            noise; ///< with pointers to these
  };
} // namespace leopard::reaction_diffusion
