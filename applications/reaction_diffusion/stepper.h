// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "grid/grid_slabs.h"
#include "kinetics/kinetics_choice.h"
#include "mesh/mesh_laplacian.h"
#include "rules/controller.h"
#include "rules/noise.h"

#include <solvers/block_async/block_async.h>
#include <solvers/multigrid/cycle.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace leopard::reaction_diffusion
{
  class MeshRanks;

  /** Diffusion, reaction and method of a Stepper. */
  struct StepperOptions
  {
    Backend             backend   = Backend::host;
    int                 n_threads = 0;         ///< host; 0: as many as this process may use
    std::vector<double> diffusion = {1., 10.}; ///< one coefficient a field (1 to 6), positive, dimensionless
    KineticsChoice      kinetics;
    NoiseChoice         noise;  ///< with implicit Euler and fixed steps
    UniformGrowth       growth; ///< of the domain
    SteppingOptions     stepping;
    int                 local_iterations = 1;            ///< sweeps that a block does before the next one's turn
    CycleType           cycle            = CycleType::v; ///< of multigrid, in steps that are too long for sweeps
    int                 n_beside         = 1;            ///< cuda: Steppers that use the GPU at the same time, this one among them
    /**
     * cuda: many steps in one launch, where the grid fits on the chip. False takes the engine of large grids for small
     * ones: no entry of parameter files does, but tests and benchmarks compare the two.
     */
    bool persistent = true;

    double largest_diffusion() const;
    /** @throws InvalidInput saying what was found and what is expected. */
    void validate() const;
  };

  /**
   * The whole time loop of a reaction-diffusion system
   *
   *   du_c/dt = diffusion_c laplace u_c + gamma f_c(u),   c = 1 ... n_s,   zero flux,
   *
   * (on a domain that grows: UniformGrowth; with random forces: NoiseChoice) on a grid of nodes: 5- or 7-point
   * differences, symmetric boundary rows, the reaction at the nodes (thesis, section 4.14.2.1); or on a mesh of any
   * kind, by the rows of its Laplacian. Steps by Newton's method, tested by its true residual in each step; linear
   * systems by block-asynchronous sweeps in red-black order, all fields of a node together, with values of other blocks
   * read as they are at the moment; or by multigrid with these sweeps where the step is too long for them. On the
   * backend cuda everything happens on the GPU; the host sees scalars at the end of advance() and fields when it asks.
   * Nothing is allocated and no field is copied in a step. The backend reference is sequential and solves its linear
   * systems directly (sparse LU): the oracle.
   */
  class Stepper
  {
  public:
    /**
     * Allocates all. @param slabs several ranks (host and cuda): then everything is collective, arrays are those of the
     * rank's own nodes (GridSlabs::own_grid()), and step sizes, counts and decisions are the same on all ranks.
     * make_grid_slabs() of applications/reaction_diffusion_mpi makes them.
     * @throws InvalidInput; DeviceError; on all ranks alike, also if only one of them has failed.
     */
    Stepper(const NodeGrid &grid, const StepperOptions &options, const std::shared_ptr<GridSlabs> &slabs = nullptr);
    /**
     * The same on a mesh. @param ranks several ranks: mesh is the rank's part of it, that of their finest level, whose
     * nodes arrays have. make_mesh_ranks() of applications/reaction_diffusion_mpi makes them.
     */
    Stepper(const MeshLaplacian &mesh, const StepperOptions &options, const std::shared_ptr<MeshRanks> &ranks = nullptr);
    ~Stepper();

    int  n_species() const;
    long n_nodes() const; ///< the rank's own

    /** Starts at time zero. @param u host memory, field c of node i at c * n_nodes() + i. */
    void start(const double *u);

    /**
     * Steps until `stop_time` (within `slack`; error-controlled steps and those at the asynchronous bound hit it, fixed
     * ones end nearest to it if slack is half a step), at most `max_steps` steps. @param asked_to_stop on all ranks
     * alike; asked before the first step, and on the host backends some times a second, in the middle of a step, too:
     * once it is true, advance() ends.
     */
    StopReason advance(double stop_time, long max_steps, double slack, const std::function<bool()> &asked_to_stop = {});

    double             time() const;
    long               step_number() const;
    double             next_step_size() const;
    double             attempted_step_size() const; ///< of the last step that was tried, accepted or not
    const StepFigures &last_step() const;
    const Totals      &totals() const; ///< since the constructor

    /** The solution `level` steps ago. @param u host memory, n_species() * n_nodes() values. */
    void solution(double *u, int level = 0) const;

    using State = StepState;
    State state() const;
    /** Continues. @param solutions state.step_sizes.size() + 1 arrays as for start(), newest first. */
    void resume(const State &state, const std::vector<std::vector<double>> &solutions);

    /** Whether the engine can do cycles of multigrid: not where many steps are one launch, which is for short ones. */
    bool has_multigrid() const;

    /** Whether the steps run in one launch, what the blocks are, threads: one line for a log. */
    std::string description() const;

  private:
    class Implementation;
    std::unique_ptr<Implementation> implementation;
  };
} // namespace leopard::reaction_diffusion
