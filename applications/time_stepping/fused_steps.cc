// SPDX-License-Identifier: Apache-2.0
#include "fused_steps.h"

#include <applications/discretization/semi_discrete_system.h>
#include <applications/linear_solvers/level_source.h>
#include <applications/linear_solvers/linear_solver.h>
#include <applications/problems/problem.h>
#include <solvers/distributed/stencil/make_grid_slabs.h>
#include <solvers/reaction_diffusion/kinetics.h>

#include <deal.II/base/mpi.h>
#include <deal.II/base/point.h>

#include <algorithm>
#include <numeric>
#include <set>

namespace leopard
{
  namespace
  {
    using namespace reaction_diffusion;

    StepperOptions options_for(const Problem                &problem,
                               const Growth                 &growth,
                               const TimeParameters         &time,
                               const NewtonParameters       &newton,
                               const LinearSolverParameters &linear,
                               double                        step_size)
    {
      StepperOptions options;
      options.backend   = linear.backend == "cuda" ? Backend::cuda : Backend::host;
      options.n_threads = linear.block_async.n_threads;
      options.kinetics  = *problem.library_kinetics();
      options.growth    = growth.uniform();
      options.diffusion.clear();
      for (unsigned int c = 0; c < problem.fields().size(); ++c)
        options.diffusion.push_back(problem.diffusion(c, dealii::Point<3>()));
      SteppingOptions &s = options.stepping;
      s.scheme           = time.explicit_reaction() ? Scheme::imex_bdf2 : time.order() == 2 ? Scheme::bdf2 : Scheme::implicit_euler;
      s.error_controlled = time.adaptive();
      s.step_size        = step_size;
      s.error_tolerance  = time.error_tolerance;
      s.smallest_step    = time.smallest_step;
      s.largest_step     = time.largest_step;
      s.bound_fraction   = time.follows_bound() ? time.bound_fraction : 0.;
      s.steady_tolerance = time.steady_tolerance;
      // a step of SBDF2 is a linear solve: its tolerance is that of the linear solver, against what is known of the equation
      s.newton_tolerance = time.explicit_reaction() ? 0. : newton.relative_tolerance;
      s.newton_floor     = time.explicit_reaction() ? std::max(linear.relative_tolerance, newton.absolute_tolerance) : newton.absolute_tolerance;
      s.max_newton_steps = newton.max_steps;
      s.omega            = linear.omega;
      s.max_sweeps       = linear.max_iterations;
      s.stop_at_negative_values = time.negative_values == "stop" && problem.fields_are_concentrations();
      return options;
    }

    Stepper make_stepper(const FusedSteps::Domain &domain, const StepperOptions &options)
    {
      if (domain.mesh != nullptr)
        return Stepper(*domain.mesh, options);
      return Stepper(domain.grid, options, domain.slabs);
    }
  } // namespace

  std::string
  FusedSteps::why_not(const Problem &problem, const TimeParameters &time, const NewtonParameters &newton, const LinearSolverParameters &linear)
  {
    const auto kinetics = problem.library_kinetics();
    if (!kinetics)
      return "it needs built-in kinetics or expressions";
    if (const std::string reason = kinetics->why_not(); !reason.empty())
      return "of the expressions of 'Turing/Kinetics': " + reason;
    for (const Expression &source : problem.source)
      if (!source.is_zero())
        return "it knows no sources";
    for (unsigned int c = 0; c < problem.fields().size(); ++c)
      if (problem.absorption(c) != 0.)
        return "it knows no absorption";
    if (time.negative_values == "clip")
      return "it does not clip negative values";
    if (!linear.uses_block_async())
      return "'Linear solver/Method' asks for another solver than async, and no preconditioner async";
    if (newton.forcing == "fixed iterations" && !time.explicit_reaction())
      return "'Newton/Forcing' asks for a fixed number of linear iterations";
    if (linear.backend == "reference" || linear.block_async.schedule == Schedule::replay)
      return "a reproducible computation is asked for";
    return "";
  }

  FusedSteps::Domain FusedSteps::on_grid(const UniformGrid            &grid,
                                         const Problem                &problem,
                                         const TimeParameters         &time,
                                         const LinearSolverParameters &linear,
                                         MPI_Comm                      comm,
                                         std::string                  &why_not)
  {
    const bool on_gpu   = linear.backend == "cuda";
    const int  n_fields = static_cast<int>(problem.fields().size());
    if (on_gpu && n_fields != 2 && dealii::Utilities::MPI::n_mpi_processes(comm) > 1)
      why_not = "several ranks on GPUs share systems of two species only, and there are " + std::to_string(n_fields);
    else if (on_gpu && time.engine != "fused")
      {
        const std::vector<int> devices = dealii::Utilities::MPI::all_gather(comm, linear.device);
        if (std::set<int>(devices.begin(), devices.end()).size() < devices.size())
          why_not = "ranks share a GPU, and would wait for one another there";
      }
    if (!why_not.empty())
      return {};
    return {grid.grid, make_grid_slabs(grid.grid, n_fields, on_gpu ? Backend::cuda : Backend::host, comm, why_not), nullptr, grid.nodes};
  }

  FusedSteps::Domain FusedSteps::on_mesh(
    const SemiDiscreteSystem &system, bool lumped_mass, const LevelSource &discretization, const Problem &problem, std::string &why_not)
  {
    const HostVector &m = system.lumped_mass;
    if (dealii::Utilities::MPI::n_mpi_processes(m.get_mpi_communicator()) > 1)
      why_not = "several ranks can share a rectangle or a box of finite differences only";
    else if (!lumped_mass)
      why_not = "it needs a lumped mass matrix";
    else if (!(*std::min_element(m.begin(), m.end()) > 0.))
      why_not = "it needs a mesh without hanging nodes and positive lumped masses";
    if (!why_not.empty())
      return {};
    const CrsMatrix K         = local_matrix(system.stiffness).matrix; // of each field the same, times its diffusion coefficient
    const int       n_fields  = static_cast<int>(problem.fields().size());
    const double    diffusion = problem.diffusion(0, dealii::Point<3>()), largest = m.linfty_norm();
    Domain          domain;
    domain.mesh  = std::make_shared<MeshLaplacian>();
    CrsMatrix &A = domain.mesh->matrix;
    A.n_rows = A.n_columns = K.n_rows / n_fields;
    for (int i = 0; i < A.n_rows; ++i)
      {
        const int row = i * n_fields;
        for (int p = K.row_offsets[row]; p < K.row_offsets[row + 1]; ++p)
          if (K.columns[p] % n_fields == 0 && K.values[p] != 0.)
            {
              A.columns.push_back(K.columns[p] / n_fields);
              A.values.push_back(K.values[p] / (diffusion * m.begin()[row]));
            }
        A.row_offsets.push_back(static_cast<int>(A.columns.size()));
        domain.mesh->weight.push_back(m.begin()[row] / largest);
      }
    domain.mesh->coordinates = discretization.nodes();
    domain.mesh->dimension   = discretization.dimension();
    domain.nodes.resize(A.n_rows);
    std::iota(domain.nodes.begin(), domain.nodes.end(), 0);
    return domain;
  }

  FusedSteps::FusedSteps(const Domain                 &domain,
                         MPI_Comm                      comm,
                         const Problem                &problem,
                         const Growth                 &growth,
                         const TimeParameters         &time,
                         const NewtonParameters       &newton,
                         const LinearSolverParameters &linear,
                         double                        step_size)
    : stepper(make_stepper(domain, options_for(problem, growth, time, newton, linear, step_size)))
    , n_fields(problem.fields().size())
    , n_unknowns(domain.nodes.size())
    , field_by_field(n_fields * stepper.n_nodes())
    , values_of_field(n_unknowns)
  {
    const GridSlabs *const                       slabs = domain.slabs.get();
    std::vector<dealii::types::global_dof_index> slab(stepper.n_nodes());
    std::iota(slab.begin(), slab.end(), slabs != nullptr ? slabs->first() * (domain.grid.n_nodes() / domain.grid.n[slabs->direction]) : 0);
    to_unknowns.reinit(slab, domain.nodes, comm);
    to_slab.reinit(domain.nodes, slab, comm);
  }

  void FusedSteps::load(const Stepper::State &state, const std::vector<HostVector> &levels)
  {
    const std::size_t                n_nodes = stepper.n_nodes();
    std::vector<std::vector<double>> solutions(state.step_sizes.size() + 1, std::vector<double>(field_by_field.size()));
    for (std::size_t l = 0; l < solutions.size(); ++l)
      for (unsigned int c = 0; c < n_fields; ++c)
        {
          for (unsigned int i = 0; i < n_unknowns; ++i)
            values_of_field[i] = levels[l].begin()[n_fields * i + c];
          to_slab.export_to_ghosted_array(dealii::ArrayView<const double>(values_of_field.data(), n_unknowns),
                                          dealii::ArrayView<double>(solutions[l].data() + c * n_nodes, n_nodes));
        }
    stepper.resume(state, solutions);
  }

  void FusedSteps::store(int level, HostVector &u)
  {
    const std::size_t n_nodes = stepper.n_nodes();
    stepper.solution(field_by_field.data(), level);
    for (unsigned int c = 0; c < n_fields; ++c)
      {
        to_unknowns.export_to_ghosted_array(dealii::ArrayView<const double>(field_by_field.data() + c * n_nodes, n_nodes),
                                            dealii::ArrayView<double>(values_of_field.data(), n_unknowns));
        for (unsigned int i = 0; i < n_unknowns; ++i)
          u.begin()[n_fields * i + c] = values_of_field[i];
      }
  }
} // namespace leopard
