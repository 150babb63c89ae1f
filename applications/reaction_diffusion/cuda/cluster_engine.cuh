// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cluster_kernel.cuh"

#include <applications/reaction_diffusion/engine.h>
#include <applications/reaction_diffusion/kinetics/kinetics_on_device.h>
#include <solvers/device/cuda_error.cuh>
#include <solvers/device/device_array.h>

#include <array>

namespace leopard::reaction_diffusion
{
  /** An Axis in device memory. */
  struct DeviceAxis
  {
    explicit DeviceAxis(const Axis &axis)
      : lower(axis.lower)
      , upper(axis.upper)
      , weight(axis.weight)
    {
    }
    device::Array<double> lower, upper, weight;
  };

  /** How a grid is cut into the tiles of a cluster; n_blocks = 0: it does not fit. */
  struct ClusterShape
  {
    int         n_blocks = 0, tiles_x = 0, tiles_y = 0, width = 0, height = 0, pairs = 0, threads = 0;
    int         n_at_a_time  = 0; ///< clusters of this shape that the GPU holds
    std::size_t shared_bytes = 0;

    int pitch() const { return width + 2; }
    int cells() const { return pitch() * (height + 2); }
  };

  /** Many steps a launch: see cluster_kernel.cuh. */
  template <typename Kinetics>
  class ClusterEngine : public Engine
  {
  public:
    /**
     * Whether this GPU can do it; what run() needs then. Alone the more blocks the faster; of n_beside clusters the GPU
     * holds more at a time if they are smaller.
     */
    static ClusterShape shape_for(const NodeGrid &grid, int n_beside)
    {
      ClusterShape best;
      if (!grid.is_flat())
        return best;
      // in that of the sweeps of a node, where barriers and waiting take that of 300 (measured with 100 x 100 nodes on
      // an H100)
      const auto time_of_all = [&](const ClusterShape &shape) {
        return ((n_beside - 1) / shape.n_at_a_time + 1) * (300 + shape.width * shape.height);
      };
      for (const int n_blocks : {16, 8, 4, 2, 1})
        if (const ClusterShape shape = shape_of(grid, n_blocks);
            shape.n_blocks > 0 && (best.n_blocks == 0 || (n_beside > 1 && time_of_all(shape) < time_of_all(best))))
          best = shape;
      return best;
    }

    ClusterEngine(const NodeGrid &grid, const StepperOptions &options_, const Kinetics &kinetics, const ClusterShape &shape_)
      : options(options_)
      , on_device(kinetics)
      , system(make_node_system(on_device.kinetics, options_))
      , shape(shape_)
      , n(grid.n_nodes())
      , controller(1)
    {
      const GridLevel level = make_levels(grid, false).front();
      for (int d = 0; d < 2; ++d)
        axes.emplace_back(level.axis[d]);
      for (auto &slot : slots)
        {
          slot = device::Array<double>(2 * n);
          LEOPARD_CHECK(cudaMemset(slot.data(), 0, 2 * n * sizeof(double)));
        }
      device::wait();
    }

    void        set_slot(int slot, const double *u) override { device::copy_to_device(slots[slot].data(), u, 2 * n * sizeof(double)); }
    void        get_slot(int slot, double *u) const override { device::copy_to_host(u, slots[slot].data(), 2 * n * sizeof(double)); }
    bool        has_multigrid() const override { return false; }
    double      smallest_reduction() const override { return 3e-6; } // corrections are floats
    std::string description() const override
    {
      return "one cluster of " + std::to_string(shape.n_blocks) + " thread blocks of " + std::to_string(shape.threads) + " threads, tiles of " +
             std::to_string(shape.width) + " x " + std::to_string(shape.height) + " nodes, many steps a launch, corrections in single precision";
    }

    void run(Controller &c) override
    {
      ClusterView view{};
      view.n_x              = static_cast<int>(axes[0].lower.size());
      view.n_y              = static_cast<int>(axes[1].lower.size());
      view.tiles_x          = shape.tiles_x;
      view.tiles_y          = shape.tiles_y;
      view.pitch            = shape.pitch();
      view.cells            = shape.cells();
      view.local_iterations = options.local_iterations;
      for (int s = 0; s < cluster_slots; ++s)
        view.slots[s] = slots[s].data();
      view.lower_x    = axes[0].lower.data();
      view.upper_x    = axes[0].upper.data();
      view.weight_x   = axes[0].weight.data();
      view.lower_y    = axes[1].lower.data();
      view.upper_y    = axes[1].upper.data();
      view.weight_y   = axes[1].weight.data();
      view.controller = controller.data();
      device::copy_to_device(controller.data(), &c, sizeof(Controller));
      launch(view);
      device::wait(); // a copy that waits for the kernel would hold up those of other threads
      device::copy_to_host(&c, controller.data(), sizeof(Controller));
    }

  private:
    /** With the shortest margins. */
    static ClusterShape shape_of(const NodeGrid &grid, int n_blocks)
    {
      ClusterShape best;
      for (int tiles_x = 1; tiles_x <= n_blocks; tiles_x *= 2)
        {
          ClusterShape shape;
          shape.n_blocks = n_blocks;
          shape.tiles_x  = tiles_x;
          shape.tiles_y  = n_blocks / tiles_x;
          shape.width    = (grid.n[0] + shape.tiles_x - 1) / shape.tiles_x;
          shape.height   = (grid.n[1] + shape.tiles_y - 1) / shape.tiles_y;
          if (grid.n[0] / shape.tiles_x < 2 || grid.n[1] / shape.tiles_y < 2)
            continue;
          if (complete(shape) && (best.n_blocks == 0 || shape.width + shape.height < best.width + best.height))
            best = shape;
        }
      return best;
    }

    using Kernel = void (*)(ClusterView, NodeSystem<Kinetics>);

    static Kernel kernel_for(int pairs)
    {
      return pairs == 1 ? run_in_cluster<Kinetics, 1> : pairs == 2 ? run_in_cluster<Kinetics, 2> : run_in_cluster<Kinetics, 4>;
    }

    /** Threads and memory of a shape, and whether the GPU can hold such a cluster. */
    static bool complete(ClusterShape &shape)
    {
      for (shape.pairs = 1; shape.pairs <= 4; shape.pairs *= 2)
        {
          const int columns = shape.width * ((shape.height + 2 * shape.pairs - 1) / (2 * shape.pairs));
          shape.threads     = (columns + 31) / 32 * 32;
          if (shape.threads <= cluster_threads(shape.pairs))
            break;
        }
      if (shape.pairs > 4)
        return false;
      shape.shared_bytes =
        (sizeof(ClusterState) + 15) / 16 * 16 + static_cast<std::size_t>(shape.cells()) * (cluster_slots * sizeof(double2) + sizeof(float2));
      const void *kernel = reinterpret_cast<const void *>(kernel_for(shape.pairs));
      if (shape.shared_bytes > device::allow_shared_memory(kernel))
        return false;
      LEOPARD_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
      cudaLaunchAttribute      attribute;
      const cudaLaunchConfig_t configuration = configure(shape, attribute);
      int                      n_clusters    = 0;
      const cudaError_t        code          = cudaOccupancyMaxActiveClusters(&n_clusters, kernel, &configuration);
      if (code != cudaSuccess)
        cudaGetLastError(); // a GPU without clusters: not an error, it only cannot do this
      shape.n_at_a_time = n_clusters;
      return code == cudaSuccess && n_clusters > 0;
    }

    static cudaLaunchConfig_t configure(const ClusterShape &shape, cudaLaunchAttribute &attribute)
    {
      attribute.id               = cudaLaunchAttributeClusterDimension;
      attribute.val.clusterDim.x = shape.n_blocks;
      attribute.val.clusterDim.y = 1;
      attribute.val.clusterDim.z = 1;
      cudaLaunchConfig_t configuration{};
      configuration.gridDim          = dim3(shape.n_blocks);
      configuration.blockDim         = dim3(shape.threads);
      configuration.dynamicSmemBytes = shape.shared_bytes;
      configuration.stream           = nullptr;
      configuration.attrs            = &attribute;
      configuration.numAttrs         = 1;
      return configuration;
    }

    void launch(const ClusterView &view) const
    {
      cudaLaunchAttribute      attribute;
      const cudaLaunchConfig_t configuration = configure(shape, attribute);
      LEOPARD_CHECK(cudaLaunchKernelEx(&configuration, kernel_for(shape.pairs), view, system));
    }

    const StepperOptions                             options;
    const KineticsOnDevice<Kinetics>                 on_device;
    const NodeSystem<Kinetics>                       system;
    const ClusterShape                               shape;
    const long                                       n;
    std::vector<DeviceAxis>                          axes;
    std::array<device::Array<double>, cluster_slots> slots;
    device::Array<Controller>                        controller;
  };
} // namespace leopard::reaction_diffusion
