// SPDX-License-Identifier: Apache-2.0
#include "cluster_engine.cuh"
#include "device_grid.cuh"
#include "graph_engine.cuh"

#include <solvers/base/errors.h>

namespace leopard::reaction_diffusion
{
  namespace
  {
    /** Whether steps may come for which sweeps do not suffice. */
    bool may_be_long(const NodeGrid &grid, const StepperOptions &options)
    {
      const SteppingOptions &s = options.stepping;
      if (s.linear_method != LinearMethod::automatic)
        return s.linear_method == LinearMethod::multigrid;
      const double rate = options.largest_diffusion() * largest_row(grid);
      return s.error_controlled || s.bound_fraction > 0. || Controller::row_sum_bound(s.step_size * rate, 0.) > Controller::slow_bound;
    }
  } // namespace

  std::unique_ptr<Engine> make_cuda_engine(const NodeGrid &grid, const StepperOptions &options, const std::shared_ptr<GridSlabs> &slabs)
  {
    if (device::n_devices() == 0)
      device::throw_no_device("the backend is cuda", "the backend host");
    if (options.diffusion.size() != 2)
      {
        if (slabs != nullptr)
          throw InvalidInput("several ranks on GPUs share " + std::to_string(options.diffusion.size()) +
                             " fields\n  expected: two fields, or the backend host");
        return make_cuda_engine(laplacian_of(grid), options, nullptr);
      }
    return with_two_species(options.kinetics, [&](const auto &kinetics) -> std::unique_ptr<Engine> {
      using Kinetics                = std::decay_t<decltype(kinetics)>;
      const ClusterShape shape      = ClusterEngine<Kinetics>::shape_for(grid, options.n_beside);
      const bool         long_steps = may_be_long(grid, options); // the cluster has sweeps only, walls, no noise and a few slots
      if (!options.persistent || slabs != nullptr || shape.n_blocks == 0 || long_steps || grid.is_periodic() || options.noise.acts() ||
          levels_kept(options.stepping.scheme) >= cluster_slots)
        return std::make_unique<GraphEngine<Kinetics, DeviceGrid>>(grid, options, kinetics, long_steps, slabs);
      return std::make_unique<ClusterEngine<Kinetics>>(grid, options, kinetics, shape);
    });
  }
} // namespace leopard::reaction_diffusion
