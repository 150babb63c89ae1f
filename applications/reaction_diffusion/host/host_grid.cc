// SPDX-License-Identifier: Apache-2.0
#include "host_grid.h"
#include "host_engine.h"

namespace leopard::reaction_diffusion
{
  std::unique_ptr<Engine> make_host_engine(const NodeGrid &grid, const StepperOptions &options, const std::shared_ptr<GridSlabs> &slabs)
  {
    const std::vector<GridLevel> levels = make_levels(grid, options.stepping.linear_method != LinearMethod::sweeps);
    return with_kinetics(options.kinetics, [&](const auto &kinetics) -> std::unique_ptr<Engine> {
      return std::make_unique<HostEngine<std::decay_t<decltype(kinetics)>, HostGrid>>(levels, options, kinetics, slabs);
    });
  }
} // namespace leopard::reaction_diffusion
