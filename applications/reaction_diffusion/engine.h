// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mesh/mesh_laplacian.h"
#include "stepper.h"

#include <functional>
#include <vector>

namespace leopard::reaction_diffusion
{
  /**
   * Thrown by an engine in the middle of a step when it is asked to stop; the step is lost, the solutions before it are
   * not.
   */
  struct AskedToStop
  {
  };

  /** The fields of a Stepper and what happens to them, on one backend. */
  class Engine
  {
  public:
    virtual ~Engine() = default;
    /** What ranks agree upon when all have made their engines. Collective. */
    virtual void connect() {}
    /** Does what the controller says until it says stop. */
    virtual void run(Controller &controller) = 0;
    /** Host memory, the rank's nodes of all fields of one of the Controller's slots. Setting is collective. */
    virtual void        set_slot(int slot, const double *u) = 0;
    virtual void        get_slot(int slot, double *u) const = 0;
    virtual bool        has_multigrid() const               = 0;
    virtual double      smallest_reduction() const { return 1e-10; }
    virtual std::string description() const = 0;

    std::function<bool()> asked_to_stop; ///< see Stepper::advance(); may be empty

  protected:
    using Slots = std::vector<std::vector<double>>; ///< of an engine in host memory, as many as the scheme needs

    static Slots make_slots(Scheme scheme, std::size_t n) { return Slots(levels_kept(scheme) + 1, std::vector<double>(n, 0.)); }

    /** The old solutions; those that are not kept are level 0 again, which nobody reads as another one. */
    static void get_levels(const Controller &c, const Slots &slots, const double *(&levels)[max_levels])
    {
      for (int l = 0; l < max_levels; ++l)
        levels[l] = slots[c.slot(l < c.n_slots() - 1 ? l : 0)].data();
    }

    /** @throws AskedToStop. Collective. */
    void look_for_stop() const
    {
      if (asked_to_stop && asked_to_stop())
        throw AskedToStop();
    }
  };

  /** @param slabs, ranks null: one rank. */
  std::unique_ptr<Engine> make_host_engine(const NodeGrid &grid, const StepperOptions &options, const std::shared_ptr<GridSlabs> &slabs);
  std::unique_ptr<Engine> make_host_engine(const MeshLaplacian &mesh, const StepperOptions &options, const std::shared_ptr<MeshRanks> &ranks);
  std::unique_ptr<Engine> make_reference_engine(const MeshLaplacian &mesh, const StepperOptions &options);
  // of an exponential scheme, one rank
  std::unique_ptr<Engine> make_exponential_host_engine(const NodeGrid &grid, const StepperOptions &options);
  std::unique_ptr<Engine> make_exponential_reference_engine(const MeshLaplacian &mesh, const StepperOptions &options);
  std::unique_ptr<Engine> make_exponential_cuda_engine(const NodeGrid &grid, const StepperOptions &options);
  /** @throws DeviceError without CUDA. */
  std::unique_ptr<Engine> make_cuda_engine(const NodeGrid &grid, const StepperOptions &options, const std::shared_ptr<GridSlabs> &slabs);
  std::unique_ptr<Engine> make_cuda_engine(const MeshLaplacian &mesh, const StepperOptions &options, const std::shared_ptr<MeshRanks> &ranks);
} // namespace leopard::reaction_diffusion
