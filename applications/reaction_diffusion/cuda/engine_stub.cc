// SPDX-License-Identifier: Apache-2.0
#include <applications/reaction_diffusion/engine.h>
#include <solvers/device/no_cuda.h>

namespace leopard::reaction_diffusion
{
  std::unique_ptr<Engine>
  make_cuda_engine(const NodeGrid & /*grid*/, const StepperOptions & /*options*/, const std::shared_ptr<GridSlabs> & /*slabs*/)
  {
    no_cuda();
  }

  std::unique_ptr<Engine>
  make_cuda_engine(const MeshLaplacian & /*mesh*/, const StepperOptions & /*options*/, const std::shared_ptr<MeshRanks> & /*ranks*/)
  {
    no_cuda();
  }

  std::unique_ptr<Engine> make_exponential_cuda_engine(const NodeGrid & /*grid*/, const StepperOptions & /*options*/)
  {
    no_cuda();
  }
} // namespace leopard::reaction_diffusion
