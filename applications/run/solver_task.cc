// SPDX-License-Identifier: Apache-2.0
#include "solver_task.h"

#include "choices.h"
#include "parameters.h"

#include <solvers/device/device.h>

#include <deal.II/base/mpi.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace leopard
{
  using namespace dealii;

  namespace
  {
    /**
     * A lattice in the box around the domain; of a mesh file, whose box is not known yet, in the unit square or cube.
     */
    std::vector<Point<3>> sample_points(const MeshParameters &mesh, int dimension)
    {
      constexpr int         n_in_plane = 17, n_in_space = 7; // 289 and 343 points
      const bool            in_space = dimension == 3 || mesh.is_surface(), by_corners = mesh.is_uniform() || !mesh.file.empty();
      const int             n     = in_space ? n_in_space : n_in_plane;
      const double          reach = mesh.domain == "torus" ? mesh.radius + mesh.tube_radius : std::max(mesh.radius, mesh.half_length);
      std::vector<Point<3>> points;
      for (int k = 0; k < (in_space ? n : 1); ++k)
        for (int j = 0; j < n; ++j)
          for (int i = 0; i < n; ++i)
            {
              Point<3>  p;
              const int index[] = {i, j, k};
              for (int d = 0; d < (in_space ? 3 : 2); ++d)
                {
                  const double low = by_corners ? mesh.lower[d] : -reach, high = by_corners ? mesh.upper[d] : reach;
                  p[d] = low + (high - low) * index[d] / (n - 1.);
                }
              points.push_back(p);
            }
      return points;
    }

    /** The largest derivative of the reaction of a problem of one field; infinite if one is not finite. */
    double largest_derivative(const Problem &problem, const std::vector<Point<3>> &points)
    {
      std::vector<double> values, at_points, coordinates;
      for (const Point<3> &p : points)
        {
          at_points.push_back(problem.initial_value(0, p));
          if (!problem.exact_solution.empty())
            values.push_back(problem.exact_solution[0].value(p));
          coordinates.insert(coordinates.end(), {p[0], p[1], p[2]});
        }
      values.insert(values.end(), at_points.begin(), at_points.end());
      values.insert(values.end(), problem.steady_state().begin(), problem.steady_state().end());
      const auto [least, greatest] = std::minmax_element(values.begin(), values.end());
      const double        low = *least, high = *greatest;
      std::vector<double> derivatives(points.size());
      double              largest = std::numeric_limits<double>::lowest();
      const auto          look    = [&](const std::vector<double> &u) {
        problem.reaction(u.size(), u.data(), nullptr, derivatives.data(), {coordinates.data(), 3, 0.});
        for (const double d : derivatives)
          largest = std::isfinite(d) ? std::max(largest, d) : std::numeric_limits<double>::infinity();
      };
      look(at_points);
      constexpr int n_between = 16;
      for (int k = 0; k <= (high > low ? n_between : 0); ++k)
        look(std::vector<double>(points.size(), low + (high - low) * k / n_between));
      return largest;
    }
  } // namespace

  double indefiniteness(const Parameters &parameters)
  {
    const Problem              &problem = *parameters.problem;
    const MeshParameters       &mesh    = parameters.mesh;
    const std::vector<Point<3>> points  = sample_points(mesh, parameters.dimension);
    const double                growth  = largest_derivative(problem, points) - problem.absorption(0);
    double                      bound   = 0.;
    if ((mesh.domain == "hypercube" || mesh.domain == "box") && !mesh.is_periodic() && problem.boundary(0).fluxes.empty() &&
        problem.boundary(0).values.for_all())
      {
        double least_diffusion = std::numeric_limits<double>::max();
        for (const Point<3> &p : points)
          least_diffusion = std::min(least_diffusion, problem.diffusion(0, p));
        for (int d = 0; d < parameters.dimension; ++d)
          bound += std::pow(numbers::PI / (mesh.upper[d] - mesh.lower[d]), 2) * least_diffusion;
      }
    return growth - (bound > 0. ? bound : 0.);
  }

  namespace
  {
    /**
     * Of the general time loop; the fused one has solvers of its own. Whoever asks for a schedule asks for
     * block-asynchronous iteration.
     */
    bool has_long_steps(const Parameters &parameters)
    {
      LinearSolverParameters linear = parameters.linear_solver;
      if (!parameters.problem->time_dependent() || !parameters.time.adaptive() || linear.block_async.schedule != Schedule::chaotic)
        return false;
      linear.free    = true;
      linear.backend = "automatic";
      return !why_general_time_loop(parameters, linear).empty();
    }

    /** Whether all reactions are given as zero. */
    bool has_zero_reaction(const Problem &problem)
    {
      for (unsigned int c = 0; c < problem.fields().size(); ++c)
        {
          const std::string text   = problem.reaction_entry(c).text;
          std::size_t       length = 0;
          try
            {
              if (!(std::stod(text, &length) == 0.) || length != text.size())
                return false;
            }
          catch (const std::logic_error &) // no number
            {
              return false;
            }
        }
      return true;
    }
  } // namespace

  bool has_gpu_of_its_own(MPI_Comm comm)
  {
    MPI_Comm node;
    MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    int n_ranks = 1;
    MPI_Comm_size(node, &n_ranks);
    MPI_Comm_free(&node);
    return Utilities::MPI::min(device::n_devices() >= n_ranks ? 1 : 0, comm) == 1;
  }

  SolverTask solver_task(const Parameters &parameters, double n_nodes_of_file)
  {
    const Problem                  &problem        = *parameters.problem;
    const MeshParameters           &mesh           = parameters.mesh;
    const DiscretizationParameters &discretization = parameters.discretization;
    SolverTask                      task;
    task.is_needed         = parameters.has_linear_solver() && !(problem.time_dependent() && parameters.time.exponential()); // which solves no system
    task.in_time           = problem.time_dependent();
    task.follows_bound     = parameters.time.follows_bound();
    task.consistent_mass   = !discretization.lumped_mass && !discretization.finite_differences;
    task.quasi_stationary  = problem.quasi_stationary().size();
    task.long_steps        = has_long_steps(parameters);
    task.reaction_is_zero  = problem.transport() != nullptr && has_zero_reaction(problem);
    task.has_newton        = problem.has_reaction() && !(task.in_time && parameters.time.explicit_reaction());
    task.fixed_iterations  = task.has_newton && parameters.newton.forcing == "fixed iterations";
    task.dimension         = parameters.dimension;
    task.is_singular       = problem.may_be_singular(mesh.is_closed());
    task.is_of_file        = !mesh.file.empty();
    task.may_be_indefinite = !task.in_time && problem.has_reaction() && (!problem.initial_from.empty() || !(indefiniteness(parameters) <= 0.));
    const double cells     = mesh.file.empty() ? mesh.n_coarse_cells(parameters.dimension) : n_nodes_of_file; // about as many unknowns
    if (!mesh.adaptive && cells > 0.)
      task.n_unknowns = problem.fields().size() * cells *
                        std::pow(std::ldexp(discretization.degree,
                                            mesh.global_refinements + (parameters.verification.in_time ? 0 : parameters.verification.refinements)),
                                 parameters.dimension);
    constexpr double small_enough = 1000.; // unknowns of the coarsest level for any coarse solver
    constexpr double even_edges   = 1.5;   // at 4 multigrid needs twice the iterations, and is no faster than amg
    task.has_levels = !mesh.is_surface() && !(mesh.adaptive && (problem.has_reaction() || mesh.is_periodic())) && mesh.global_refinements >= 2 &&
                      cells * std::pow(discretization.degree, parameters.dimension) < small_enough;
    const double ratio   = mesh.edge_ratio(parameters.dimension);
    task.has_even_levels = task.has_levels && cells > 0. && !mesh.adaptive && discretization.degree == 1 && ratio > 0. && ratio <= even_edges &&
                           problem.has_constant_coefficients();
    return task;
  }
} // namespace leopard
