// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mesh_laplacian.h"
#include "stepper.h"

namespace leopard::reaction_diffusion
{
  /** The fields of a Stepper and what happens to them, on one backend. */
  class Engine
  {
  public:
    virtual ~Engine() = default;
    /** Does what the controller says until it says stop. */
    virtual void run(Controller &controller) = 0;
    /** Host memory, the rank's nodes of all fields of one of the four slots. Setting is collective. */
    virtual void        set_slot(int slot, const double *u) = 0;
    virtual void        get_slot(int slot, double *u) const = 0;
    virtual bool        has_multigrid() const               = 0;
    virtual double      smallest_reduction() const { return 1e-10; }
    virtual std::string description() const = 0;
  };

  /** Of the sums of a host engine's blocks, on all ranks. Collective. @param ranks null: one rank. */
  inline Sums total_of(const std::vector<Sums> &of_blocks, Ranks *ranks)
  {
    Sums total;
    for (const Sums &sums : of_blocks)
      total.add(sums);
    if (ranks == nullptr)
      return total;
    double values[Sums::n];
    total.copy_to(values);
    ranks->merge(values, Sums::n, Sums::merge);
    return Sums(values);
  }

  /** @param slabs, ranks null: one rank. */
  std::unique_ptr<Engine> make_host_engine(const NodeGrid &grid, const StepperOptions &options, const std::shared_ptr<GridSlabs> &slabs);
  std::unique_ptr<Engine> make_host_engine(const MeshLaplacian &mesh, const StepperOptions &options, const std::shared_ptr<MeshRanks> &ranks);
  std::unique_ptr<Engine> make_reference_engine(const MeshLaplacian &mesh, const StepperOptions &options);
  /** @throws DeviceError without CUDA. */
  std::unique_ptr<Engine> make_cuda_engine(const NodeGrid &grid, const StepperOptions &options, const std::shared_ptr<GridSlabs> &slabs);
  std::unique_ptr<Engine> make_cuda_engine(const MeshLaplacian &mesh, const StepperOptions &options, const std::shared_ptr<MeshRanks> &ranks);
} // namespace leopard::reaction_diffusion
