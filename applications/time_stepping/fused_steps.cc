// SPDX-License-Identifier: Apache-2.0
#include "fused_steps.h"

#include <applications/base/stop_signal.h>
#include <applications/base/turns.h>
#include <applications/discretization/level_source.h>
#include <applications/discretization/semi_discrete_system.h>
#include <applications/linear_solvers/linear_solver.h>
#include <applications/problems/places.h>
#include <applications/problems/problem.h>
#include <applications/reaction_diffusion/kinetics/kinetics_choice.h>
#include <applications/reaction_diffusion/kinetics/split_tape.h>
#include <applications/reaction_diffusion_mpi/make_grid_slabs.h>
#include <applications/reaction_diffusion_mpi/make_mesh_ranks.h>
#include <solvers/base/stopwatch.h>

#include <deal.II/base/mpi.h>
#include <deal.II/base/point.h>

#include <algorithm>
#include <limits>
#include <numeric>

namespace leopard
{
  namespace
  {
    using namespace reaction_diffusion;

    Backend backend_of(const LinearSolverParameters &linear)
    {
      return linear.backend == "cuda" ? Backend::cuda : Backend::host;
    }

    /** The factors of sources, given fluxes and boundary values; one that is 1 where they do not depend on the time. */
    ExpressionTape load_factors(const Problem &problem)
    {
      if (problem.load_depends_on_time())
        return problem.separated_load().factors;
      ExpressionTape one;
      one.n_inputs  = 1;
      one.constants = {1.};
      one.outputs   = {1};
      return one;
    }

    /** The reaction with such loads, if there are any; without values by node. */
    std::optional<KineticsChoice>
    kinetics_of(const Problem &problem, unsigned int n_nodes = 0, const Places &nodes = {}, const double *loads = nullptr)
    {
      if (!problem.has_sources_or_fluxes() && !problem.has_boundary_values())
        return problem.library_kinetics(n_nodes, nodes);
      const ExpressionTape factors = load_factors(problem);
      return problem.library_kinetics(n_nodes, nodes, &factors, loads);
    }

    /** Where the `unknowns` of a domain are. */
    std::vector<double> places_of_unknowns(const FusedSteps::Domain &domain, const LevelSource &discretization)
    {
      const std::size_t          dimension   = discretization.dimension();
      const std::vector<double> &coordinates = discretization.nodes();
      std::vector<double>        result;
      for (const unsigned int i : domain.unknowns)
        result.insert(result.end(), &coordinates[i * dimension], &coordinates[i * dimension] + dimension);
      return result;
    }

    /** @param values of the `unknowns`, one array after the other. @return of the `own_nodes`, likewise. Collective. */
    std::vector<double> at_own_nodes(const FusedSteps::Domain &domain, const std::vector<double> &values, std::size_t n_arrays, MPI_Comm comm)
    {
      const std::size_t                                n = domain.unknowns.size(), n_nodes = domain.own_nodes.size();
      std::vector<double>                              result(n_arrays * n_nodes);
      dealii::Utilities::MPI::NoncontiguousPartitioner to_nodes;
      to_nodes.reinit(domain.nodes, domain.own_nodes, comm);
      for (std::size_t p = 0; p < n_arrays; ++p)
        to_nodes.export_to_ghosted_array(dealii::ArrayView<const double>(values.data() + p * n, n),
                                         dealii::ArrayView<double>(result.data() + p * n_nodes, n_nodes));
      return result;
    }

    /** The same with values by node, in the order of the time loop's arrays. Collective. */
    KineticsChoice
    kinetics_on(const FusedSteps::Domain &domain, const Problem &problem, const LevelSource &discretization, const SemiDiscreteSystem &system)
    {
      KineticsChoice result = *kinetics_of(problem);
      if (result.n_by_node() == 0)
        return result;
      const std::size_t         n_fields = problem.fields().size();
      const auto                n        = static_cast<unsigned int>(domain.unknowns.size());
      const std::vector<double> places   = places_of_unknowns(domain, discretization);
      std::vector<double>       loads;
      for (const HostVector &load : domain.loads)
        for (std::size_t c = 0; c < n_fields; ++c)
          for (const unsigned int i : domain.unknowns)
            loads.push_back(load.begin()[i * n_fields + c] / system.lumped_mass.begin()[i * n_fields + c]);
      result = *kinetics_of(problem, n, {places.data(), static_cast<unsigned int>(discretization.dimension()), 0.}, loads.data());
      result.by_node =
        std::make_shared<const std::vector<double>>(at_own_nodes(domain, *result.by_node, result.n_by_node(), system.load.get_mpi_communicator()));
      return result;
    }

    /** The noise, if there is any, with all that is by node in the order of the time loop's arrays. Collective. */
    NoiseChoice
    noise_on(const FusedSteps::Domain &domain, const Problem &problem, const LevelSource &discretization, const SemiDiscreteSystem &system)
    {
      if (!problem.has_noise())
        return {};
      const std::size_t         n = domain.unknowns.size(), n_nodes = domain.own_nodes.size(), n_fields = problem.fields().size();
      const auto                dimension = static_cast<unsigned int>(discretization.dimension());
      const std::vector<double> places    = places_of_unknowns(domain, discretization);
      NoiseChoice               result    = problem.library_noise(static_cast<unsigned int>(n), {places.data(), dimension, 0.});
      const std::size_t         n_values  = result.n_by_node();
      std::vector<double>       of_unknowns(n_values > 0 ? *result.by_node : std::vector<double>()); // then three coordinates and the mass
      of_unknowns.resize((n_values + 4) * n);
      for (std::size_t i = 0; i < n; ++i)
        {
          for (unsigned int d = 0; d < dimension; ++d)
            of_unknowns[(n_values + d) * n + i] = places[i * dimension + d];
          of_unknowns[(n_values + 3) * n + i] = system.lumped_mass.begin()[domain.unknowns[i] * n_fields]; // the same of all fields
        }
      const std::vector<double> values = at_own_nodes(domain, of_unknowns, n_values + 4, system.load.get_mpi_communicator());
      const auto                array  = [&](std::size_t p) { return values.begin() + static_cast<std::ptrdiff_t>(p * n_nodes); };
      std::vector<RoundedPlace> rounded_places;
      for (std::size_t i = 0; i < n_nodes; ++i)
        rounded_places.push_back(rounded({array(n_values)[i], array(n_values + 1)[i], array(n_values + 2)[i]}));
      if (n_values > 0)
        result.by_node = std::make_shared<const std::vector<double>>(array(0), array(n_values));
      result.mass   = std::make_shared<const std::vector<double>>(array(n_values + 3), array(n_values + 4));
      result.places = std::make_shared<const std::vector<RoundedPlace>>(std::move(rounded_places));
      return result;
    }

    StepperOptions options_for(const KineticsChoice         &kinetics,
                               const NoiseChoice            &noise,
                               const Problem                &problem,
                               const Growth                 &growth,
                               const TimeParameters         &time,
                               const NewtonParameters       &newton,
                               const LinearSolverParameters &linear,
                               double                        step_size)
    {
      StepperOptions options;
      options.backend    = backend_of(linear);
      options.n_threads  = linear.block_async.n_threads;
      options.n_beside   = linear.runs_at_a_time;
      options.cycle      = linear.multigrid.options.cycle;
      options.kinetics   = kinetics;
      options.noise      = noise;
      options.growth     = growth.uniform();
      options.diffusion  = problem.proportional_diffusion();
      options.stepping   = time.stepping_to_end();
      SteppingOptions &s = options.stepping;
      s.step_size        = step_size;
      // a step with an explicit reaction is a linear solve: its tolerance is that of the linear solver, against what is
      // known of the equation
      s.newton_tolerance      = time.explicit_reaction() ? 0. : newton.relative_tolerance;
      s.newton_floor          = time.explicit_reaction() ? std::max(linear.relative_tolerance, newton.absolute_tolerance) : newton.absolute_tolerance;
      s.newton_error_fraction = newton.error_fraction;
      s.max_newton_steps      = newton.max_steps;
      s.omega                 = linear.omega;
      s.max_sweeps            = linear.max_iterations;
      s.stop_at_negative_values = time.negative_values == "stop" && problem.fields_are_concentrations();
      return options;
    }

    Stepper make_stepper(const FusedSteps::Domain &domain, const StepperOptions &options)
    {
      if (domain.mesh != nullptr)
        return Stepper(*domain.mesh, options, domain.mesh_ranks);
      return Stepper(domain.grid, options, domain.slabs);
    }

    bool by_messages(const TimeParameters &time)
    {
      return time.gpu_exchange == "messages";
    }

    /** Numbers of nodes: those of the scalar degrees of freedom, without what all ranks leave out. Collective. */
    dealii::IndexSet free_nodes(const dealii::IndexSet &left_out, MPI_Comm comm)
    {
      dealii::IndexSet                             result = dealii::complete_index_set(left_out.size());
      std::vector<dealii::types::global_dof_index> own;
      left_out.fill_index_vector(own);
      for (const std::vector<dealii::types::global_dof_index> &of_rank : dealii::Utilities::MPI::all_gather(comm, own))
        {
          dealii::IndexSet part(left_out.size());
          part.add_indices(of_rank.begin(), of_rank.end());
          result.subtract_set(part);
        }
      result.compress();
      return result;
    }

    /**
     * The rows of the rank's nodes, columns by their numbers among the free ones; what those beside boundary values
     * lack to a sum of zero is decay. @param unknowns of the rank.
     */
    MeshLaplacian
    own_rows(const SemiDiscreteSystem &system, const Problem &problem, const dealii::IndexSet &free, const std::vector<unsigned int> &unknowns)
    {
      const LocalMatrix K         = local_matrix(system.stiffness); // of each field the same, times its diffusion coefficient
      const HostVector &m         = system.lumped_mass;
      const int         n_fields  = static_cast<int>(problem.fields().size());
      const double      diffusion = problem.proportional_diffusion()[0], largest = m.linfty_norm();
      const auto        unknown = [&](int column) {
        return column < K.matrix.n_rows ? K.owned.nth_index_in_set(column) : K.ghosts.nth_index_in_set(column - K.matrix.n_rows);
      };
      MeshLaplacian      result;
      CrsMatrix<double> &A = result.matrix;
      A.n_rows             = static_cast<int>(unknowns.size());
      A.n_columns          = checked_count(static_cast<double>(free.n_elements()), "nodes of the mesh");
      for (const unsigned int i : unknowns)
        {
          const int row      = static_cast<int>(i) * n_fields;
          double    sum      = 0.;
          int       diagonal = 0;
          for (int p = K.matrix.row_offsets[row]; p < K.matrix.row_offsets[row + 1]; ++p)
            if (const auto j = unknown(K.matrix.columns[p]); j % n_fields == 0 && K.matrix.values[p] != 0.)
              {
                if (K.matrix.columns[p] == row)
                  diagonal = static_cast<int>(A.values.size());
                A.columns.push_back(static_cast<int>(free.index_within_set(j / n_fields)));
                A.values.push_back(K.matrix.values[p] / (diffusion * m.begin()[row]));
                sum += A.values.back();
              }
          if (problem.has_boundary_values())
            {
              result.decay.push_back(sum);
              A.values[diagonal] -= sum;
            }
          A.row_offsets.push_back(static_cast<int>(A.columns.size()));
          result.weight.push_back(m.begin()[row] / largest);
        }
      return result;
    }

    /** Whether all nodes beside boundary values have others, too: decay leaves more than rounding of the diagonal. */
    bool are_coupled(const MeshLaplacian &mesh, const std::vector<dealii::types::global_dof_index> &nodes)
    {
      const CrsMatrix<double> &A = mesh.matrix;
      for (std::size_t i = 0; i < mesh.decay.size(); ++i)
        for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
          if (static_cast<dealii::types::global_dof_index>(A.columns[p]) == nodes[i] && !(A.values[p] > 1e-10 * mesh.decay[i]))
            return false;
      return true;
    }
  } // namespace

  std::string
  FusedSteps::why_not(const Problem &problem, const TimeParameters &time, const NewtonParameters &newton, const LinearSolverParameters &linear)
  {
    if (problem.transport() != nullptr)
      return "it knows no cross-diffusion and advection";
    if (!problem.quasi_stationary().empty())
      return "it knows no species without a time derivative";
    for (unsigned int c = 0; c < problem.fields().size(); ++c)
      if (problem.does_not_diffuse(c))
        return "it knows no species that do not diffuse";
    if (problem.load_depends_on_time())
      if (const std::string reason = problem.separated_load().why_not; !reason.empty())
        return reason;
    if (problem.proportional_diffusion().empty())
      return "the diffusion of a field depends on x or on the direction, and that of the others is not the same times a number";
    if (problem.has_boundary_values() && time.exponential())
      return "with boundary values it does not know " + time.scheme;
    const auto kinetics = kinetics_of(problem);
    if (!kinetics)
      return "it knows the problem turing only";
    if (const std::string reason = kinetics->why_not(); !reason.empty())
      return "of the expressions of 'Turing/Kinetics'" +
             std::string(problem.has_boundary_conditions() || problem.has_sources_or_fluxes() ? " with sources and boundary conditions" : "") + ": " +
             reason;
    if (problem.has_noise() && time.follows_bound())
      return "its noise is for steps that do not follow the asynchronous bound";
    if (const std::string reason = problem.library_noise().why_not(); !reason.empty())
      return "of the expressions of 'Turing/Noise ...': " + reason;
    for (unsigned int c = 0; c < problem.fields().size(); ++c)
      if (problem.absorption(c) != 0.)
        return "it knows no absorption";
    if (time.negative_values == "clip")
      return "it does not clip negative values";
    if (linear.n_gpus > 1)
      return "'Linear solver/GPUs' is " + std::to_string(linear.n_gpus) + ", and its ranks have a GPU each";
    if (time.exponential()) // without linear solver and Newton's method
      return linear.backend == "reference" ? "'Linear solver/Backend' is reference" : "";
    if (!linear.free && (!linear.uses_block_async() || linear.has_factors()))
      return "'Linear solver/Method' asks for another solver than async, and no preconditioner async";
    if (linear.has_tau())
      return "'Linear solver/Omega' is tau, which is of a matrix, and it has none";
    if (linear.tunes())
      return "'Linear solver/Tuning time' is given, for measuring with a matrix, and it has none";
    if (newton.forcing == "fixed iterations" && !time.explicit_reaction())
      return "'Newton/Forcing' asks for a fixed number of linear iterations";
    if (linear.backend == "reference" || linear.block_async.schedule == Schedule::replay)
      return "a reproducible computation is asked for";
    if ((linear.free || linear.method == "async") && linear.block_async.schedule == Schedule::synchronous)
      return "'Linear solver/Schedule' is synchronous, and its sweeps are asynchronous";
    if (linear.block_async.has_asynchronous_inner_iteration())
      return "'Linear solver/Two stage' is " + to_string(linear.block_async.two_stage) + ", and its sweeps are block-asynchronous";
    return "";
  }

  FusedSteps::Domain
  FusedSteps::on_grid(const UniformGrid &grid, const TimeParameters &time, const LinearSolverParameters &linear, MPI_Comm comm, std::string &why_not)
  {
    Domain domain;
    domain.grid     = grid.grid;
    domain.nodes    = grid.nodes;
    domain.slabs    = make_grid_slabs(grid.grid, backend_of(linear), comm, why_not, by_messages(time));
    domain.unknowns = grid.unknowns;
    domain.own_nodes.resize(domain.slabs != nullptr ? domain.slabs->own_grid().n_nodes() : grid.grid.n_nodes());
    const dealii::types::global_dof_index plane = grid.grid.n_nodes() / grid.grid.n[grid.grid.is_flat() ? 1 : 2];
    std::iota(domain.own_nodes.begin(), domain.own_nodes.end(), domain.slabs != nullptr ? domain.slabs->first() * plane : 0);
    return domain;
  }

  FusedSteps::Domain FusedSteps::on_mesh(const SemiDiscreteSystem     &system,
                                         const LevelSource            &discretization,
                                         const Problem                &problem,
                                         const TimeParameters         &time,
                                         const LinearSolverParameters &linear,
                                         std::string                  &why_not)
  {
    const HostVector &m        = system.lumped_mass;
    const MPI_Comm    comm     = m.get_mpi_communicator();
    const int         n_fields = static_cast<int>(problem.fields().size());
    const auto        own      = m.locally_owned_elements();
    auto              left_out = discretization.periodic_copies();
    Domain            domain;
    double            own_min = std::numeric_limits<double>::max();
    for (unsigned int i = 0; i < m.locally_owned_size(); i += n_fields)
      if (const auto node = own.nth_index_in_set(i) / n_fields; !left_out.is_element(node))
        {
          const double largest = *std::max_element(m.begin() + i, m.begin() + i + n_fields);
          if (problem.has_boundary_values() && largest == 0.)
            {
              left_out.add_index(node);
              continue;
            }
          domain.unknowns.push_back(i / n_fields);
          own_min = std::min(own_min, *std::min_element(m.begin() + i, m.begin() + i + n_fields));
        }
    own_min = dealii::Utilities::MPI::min(own_min, comm);
    if (problem.has_boundary_values() && !(own_min > 0.))
      why_not =
        "at a node some fields have boundary values and others have not, or the mesh has hanging nodes or lumped masses that are not positive";
    else if (dealii::Utilities::MPI::sum(domain.unknowns.size(), comm) == 0)
      why_not = "all nodes have boundary values";
    else if (!(own_min > 0.))
      why_not = "it needs a mesh without hanging nodes and positive lumped masses";
    if (!why_not.empty())
      return {};
    const dealii::IndexSet     free        = free_nodes(left_out, comm);
    const std::vector<double> &coordinates = discretization.nodes();
    const int                  dimension   = discretization.dimension();
    MeshLaplacian              mesh        = own_rows(system, problem, free, domain.unknowns);
    mesh.dimension                         = dimension;
    for (const unsigned int i : domain.unknowns)
      {
        mesh.coordinates.insert(mesh.coordinates.end(), &coordinates[i * dimension], &coordinates[i * dimension] + dimension);
        domain.nodes.push_back(free.index_within_set(own.nth_index_in_set(i * n_fields) / n_fields));
      }
    domain.own_nodes = domain.nodes;
    if (dealii::Utilities::MPI::min(are_coupled(mesh, domain.nodes) ? 1 : 0, comm) == 0)
      {
        why_not = "a node is coupled with nodes only that have boundary values";
        return {};
      }
    if (dealii::Utilities::MPI::n_mpi_processes(comm) == 1)
      domain.mesh = std::make_shared<const MeshLaplacian>(std::move(mesh));
    else
      {
        const Backend backend      = backend_of(linear);
        const bool    with_coarser = time.stepping.linear_method != LinearMethod::sweeps;
        domain.mesh_ranks = make_mesh_ranks(std::move(mesh), with_coarser, smallest_shared_level(backend), backend, comm, why_not, by_messages(time));
        if (domain.mesh_ranks != nullptr)
          domain.mesh = {domain.mesh_ranks, &domain.mesh_ranks->levels.front().mesh};
      }
    return domain;
  }

  FusedSteps::FusedSteps(const Domain                 &domain,
                         MPI_Comm                      comm_,
                         const SemiDiscreteSystem     &system,
                         const LevelSource            &discretization,
                         const Problem                &problem,
                         const Growth                 &growth,
                         const TimeParameters         &time,
                         const NewtonParameters       &newton,
                         const LinearSolverParameters &linear,
                         double                        step_size)
    : stepper(make_stepper(domain,
                           options_for(kinetics_on(domain, problem, discretization, system),
                                       noise_on(domain, problem, discretization, system),
                                       problem,
                                       growth,
                                       time,
                                       newton,
                                       linear,
                                       step_size)))
    , comm(comm_)
    , n_fields(problem.fields().size())
    , unknowns(domain.unknowns)
    , field_by_field(n_fields * stepper.n_nodes())
    , values_of_field(unknowns.size())
  {
    to_unknowns.reinit(domain.own_nodes, domain.nodes, comm);
    to_nodes.reinit(domain.nodes, domain.own_nodes, comm);
  }

  StopReason FusedSteps::advance(double stop_time, long max_steps, double slack, double &seconds)
  {
    const TurnOfOthers turn;
    const Stopwatch    watch;
    const bool         alone  = takes_turns(); // one rank, and no turn for MPI now
    const StopReason   reason = stepper.advance(stop_time, max_steps, slack, [&] { return alone ? stop_requested_here() : stop_requested(comm); });
    seconds                   = watch.seconds();
    return reason;
  }

  void FusedSteps::load(const Stepper::State &state, const std::vector<HostVector> &levels)
  {
    const std::size_t                n_nodes = stepper.n_nodes();
    std::vector<std::vector<double>> solutions(state.step_sizes.size() + 1, std::vector<double>(field_by_field.size()));
    for (std::size_t l = 0; l < solutions.size(); ++l)
      for (unsigned int c = 0; c < n_fields; ++c)
        {
          for (std::size_t i = 0; i < unknowns.size(); ++i)
            values_of_field[i] = levels[l].begin()[n_fields * unknowns[i] + c];
          to_nodes.export_to_ghosted_array(dealii::ArrayView<const double>(values_of_field.data(), values_of_field.size()),
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
                                            dealii::ArrayView<double>(values_of_field.data(), values_of_field.size()));
        for (std::size_t i = 0; i < unknowns.size(); ++i)
          u.begin()[n_fields * unknowns[i] + c] = values_of_field[i];
      }
  }
} // namespace leopard
