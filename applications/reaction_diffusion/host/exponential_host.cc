// SPDX-License-Identifier: Apache-2.0
#include "exponential_host.h"
#include "dense_modes.h"
#include "mode_transform.h"

namespace leopard::reaction_diffusion
{
  std::unique_ptr<Engine> make_exponential_host_engine(const NodeGrid &grid, const StepperOptions &options)
  {
    auto       pool  = shared_thread_pool(options.n_threads);
    const auto words = std::to_string(pool->size()) + " host threads, exponential steps in " + std::to_string(grid.n_nodes()) +
                       " modes of the Laplacian, " + (grid.is_periodic() ? "Fourier" : "cosine") + " transforms by FFTW";
    return with_kinetics(options.kinetics, [&](const auto &kinetics) -> std::unique_ptr<Engine> {
      return std::make_unique<ExponentialHost<std::decay_t<decltype(kinetics)>, ModeTransform>>(
        std::make_unique<ModeTransform>(grid, pool), pool, options, kinetics, words);
    });
  }

  std::unique_ptr<Engine> make_exponential_reference_engine(const MeshLaplacian &mesh, const StepperOptions &options)
  {
    return with_kinetics(options.kinetics, [&](const auto &kinetics) -> std::unique_ptr<Engine> {
      return std::make_unique<ExponentialHost<std::decay_t<decltype(kinetics)>, DenseModes>>(
        std::make_unique<DenseModes>(mesh), std::make_shared<ThreadPool>(1), options, kinetics, "sequential, exponential steps, dense eigenvectors");
    });
  }
} // namespace leopard::reaction_diffusion
