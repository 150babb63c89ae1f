// SPDX-License-Identifier: Apache-2.0
#include "host_mesh.h"
#include "host_engine.h"

namespace leopard::reaction_diffusion
{
  std::unique_ptr<Engine> make_host_engine(const MeshLaplacian &mesh, const StepperOptions &options, const std::shared_ptr<MeshRanks> &ranks)
  {
    const std::vector<MeshLevel> levels = make_levels(mesh, options.stepping.linear_method != LinearMethod::sweeps, ranks.get());
    return with_kinetics(options.kinetics, [&](const auto &kinetics) -> std::unique_ptr<Engine> {
      return std::make_unique<HostEngine<std::decay_t<decltype(kinetics)>, HostMesh>>(levels, options, kinetics, ranks);
    });
  }
} // namespace leopard::reaction_diffusion
