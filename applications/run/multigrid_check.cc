// SPDX-License-Identifier: Apache-2.0
// What section "Multigrid" asks for and the problem or its mesh do not have, as far as that can be told without a
// matrix.
#include "parameters.h"

#include <applications/base/log.h>
#include <applications/linear_solvers/field_multigrid.h>
#include <solvers/base/errors.h>

#include <deal.II/base/mpi.h>

#include <algorithm>
#include <cmath>

namespace leopard
{
  namespace
  {
    /**
     * Whether a coefficient that is no tensor has different values along the axes through the middle of a box; false,
     * too, where it may be one of images, which are not read yet.
     */
    bool varies(const Problem &problem, unsigned int c, const MeshParameters &mesh, int dimension)
    {
      constexpr int    n_places = 16;
      constexpr double rounding = 1e-9;
      if (problem.pictures != nullptr && !problem.pictures->names().empty())
        return false;
      dealii::Point<3> middle;
      for (int d = 0; d < dimension; ++d)
        middle[d] = 0.5 * (mesh.lower[d] + mesh.upper[d]);
      const double value = problem.diffusion(c, middle);
      for (int d = 0; d < dimension; ++d)
        for (int k = 0; k < n_places; ++k)
          {
            dealii::Point<3> place = middle;
            place[d]               = mesh.lower[d] + (mesh.upper[d] - mesh.lower[d]) * (k + 0.5) / n_places;
            if (std::abs(problem.diffusion(c, place) - value) > rounding * std::abs(value))
              return true;
          }
      return false;
    }

    /** Why the matrices of levels are no stencils; empty: they may be some, which the matrix itself tells. */
    std::string why_no_stencil(const Parameters &parameters)
    {
      const Problem        &problem = *parameters.problem;
      const MeshParameters &mesh    = parameters.mesh;
      if (mesh.adaptive)
        return "'Mesh/Adaptive' is true";
      if (mesh.domain != "hypercube" && mesh.domain != "box")
        return "'Mesh/Domain' is " + mesh.domain;
      if (mesh.is_periodic())
        return "'Mesh/Periodic' is given";
      if (parameters.discretization.degree > 1)
        return "'Discretization/Degree' is " + std::to_string(parameters.discretization.degree);
      for (unsigned int c = 0; c < problem.fields().size(); ++c)
        {
          const BoundaryConditions &boundary = problem.boundary(c);
          for (int id = 0; id < 2 * parameters.dimension; ++id)
            if (boundary.value(id) == nullptr)
              return "of " + problem.fields()[c] + " no values are prescribed at the boundary " + std::to_string(id);
          const Diffusion *const tensor = problem.diffusion_tensor(c);
          if (tensor != nullptr ? !tensor->is_constant() : varies(problem, c, mesh, parameters.dimension))
            return "the diffusion coefficient of " + problem.fields()[c] + " varies from place to place";
        }
      return "";
    }

    /** Levels of the grid of nodes inside, which are halved down to one. */
    unsigned int n_stencil_levels(const Parameters &parameters)
    {
      double n = 0.;
      for (const unsigned int cells : parameters.mesh.cells)
        n = std::max(n, std::ldexp(cells, static_cast<int>(parameters.mesh.global_refinements)) - 1.);
      unsigned int levels = 1;
      for (; n > 1.; n = std::floor(n / 2.))
        ++levels;
      return levels;
    }

    /** @param most levels that there are. @param more about them. @throws Error if more are asked for. */
    void check_number_of_levels(const Parameters &parameters, unsigned int most, const std::string &more)
    {
      const unsigned int wanted = parameters.linear_solver.multigrid.n_levels;
      if (!parameters.mesh.adaptive && wanted > most)
        throw Error("'Multigrid/Levels' is " + std::to_string(wanted) + ", but the mesh, 'Mesh/Global refinements' = " +
                    std::to_string(parameters.mesh.global_refinements) + ", has " + std::to_string(most) + " levels" + more +
                    "\n  expected: at most " + std::to_string(most) + ", 0 for all, or more refinements of a coarser mesh");
    }

    /** @throws Error. */
    void check_form_and_levels(const Parameters &parameters)
    {
      const MultigridParameters &multigrid = parameters.linear_solver.multigrid;
      const std::string          why_not   = multigrid.form == "stored" ? "the form is stored" : why_no_stencil(parameters);
      if (multigrid.form == "stencil" && !why_not.empty())
        throw Error(
          "'Multigrid/Form' is stencil, but the matrix is not one: " + why_not +
          "\n  expected: a uniform mesh of a box, constant coefficients, and values prescribed on the whole boundary; or the form stored or "
          "automatic");
      const unsigned int of_mesh = parameters.mesh.global_refinements + 1, of_stencil = why_not.empty() ? n_stencil_levels(parameters) : 0;
      const unsigned int most = multigrid.form == "stencil" ? of_stencil : std::max(of_mesh, of_stencil);
      check_number_of_levels(parameters, most, most == of_stencil && most != of_mesh ? " down to one node" : "");
    }

    /** 'Linear solver/Method' is multigrid, or the preconditioner. */
    std::string where_asked_for(const LinearSolverParameters &linear)
    {
      return linear.method == "multigrid" ? "'Linear solver/Method' is multigrid" : "'Linear solver/Preconditioner' is multigrid";
    }

    /** Unknowns of a field on the coarsest level, not more than there will be; 0: not known. */
    double least_on_coarsest(const Parameters &parameters, bool may_be_stencil)
    {
      const MeshParameters &mesh   = parameters.mesh;
      const int             degree = static_cast<int>(parameters.discretization.degree), dimension = parameters.dimension;
      const unsigned int    n_levels = parameters.linear_solver.multigrid.n_levels;
      if (may_be_stencil) // of the nodes inside, halved as often as there are levels
        {
          double n = n_levels == 0 ? 0. : 1.;
          for (int d = 0; d < dimension && n_levels > 0; ++d)
            n *= std::floor((std::ldexp(mesh.cells[d], static_cast<int>(mesh.global_refinements)) - 1.) /
                            std::ldexp(1., static_cast<int>(n_levels) - 1));
          return n;
        }
      if (mesh.adaptive && n_levels > 0)
        return 0.;
      const int finer = n_levels == 0 ? 0 : static_cast<int>(mesh.global_refinements) + 1 - static_cast<int>(n_levels); // than the coarse mesh
      if (mesh.domain == "file")
        return 0.95 * parameters.n_nodes_of_file; // some may be in no cell
      if (mesh.domain != "hypercube" && mesh.domain != "box")
        return 0.75 * mesh.n_coarse_cells(dimension) * std::pow(std::ldexp(degree, finer), dimension); // an L-shape has three for four
      double n = 1.;
      for (int d = 0; d < dimension; ++d)
        n *= std::ldexp(mesh.cells[d] * degree, finer) + (mesh.is_periodic() && mesh.periodic[d] ? 0. : 1.);
      return n;
    }

    /** @throws Error where that is too much for the coarse solver, above all where the mesh has no coarser level. */
    void check_coarsest_level(const Parameters &parameters, bool may_be_stencil)
    {
      const MultigridParameters &multigrid = parameters.linear_solver.multigrid;
      const MultigridOptions    &options   = multigrid.options;
      const bool                 is_dense  = multigrid.coarse_solver == "dense";
      if (!is_dense && multigrid.coarse_solver != "direct")
        return;
      const int    most = is_dense ? options.max_dense : options.max_direct;
      const double n    = least_on_coarsest(parameters, may_be_stencil);
      if (!(n > most))
        return;
      throw Error(where_asked_for(parameters.linear_solver) + (parameters.linear_solver.automatic ? " (automatic)" : "") +
                  ", but the coarsest level of the mesh has " + format("%.0f", std::floor(n)) +
                  " unknowns or more, and 'Multigrid/Coarse solver' = " + multigrid.coarse_solver + " bears " + std::to_string(most) +
                  " ('Mesh/Global refinements' is " + std::to_string(parameters.mesh.global_refinements) +
                  (multigrid.n_levels > 0 ? ", 'Multigrid/Levels' " + std::to_string(multigrid.n_levels) : "") +
                  ")\n  expected: 'Linear solver/Preconditioner' = aggregation with cg or gmres, which makes its levels of the matrix; or a coarser "
                  "mesh with more refinements; or 'Multigrid/Coarse solver' = " +
                  (is_dense && n <= options.max_direct ? "direct or amg" : "amg"));
    }
  } // namespace

  void Parameters::check_levels_on(MPI_Comm comm) const
  {
    const unsigned int n_ranks = dealii::Utilities::MPI::n_mpi_processes(comm);
    if (!linear_solver.uses_multigrid() || !has_stored_levels(linear_solver, n_ranks))
      return;
    check_number_of_levels(*this,
                           mesh.global_refinements + 1,
                           n_ranks > 1 ? " of stored matrices, which " + std::to_string(n_ranks) + " ranks have with these settings"
                                       : " of stored matrices");
    check_coarsest_level(*this, false);
  }

  void Parameters::check_multigrid() const
  {
    if (!linear_solver.uses_multigrid())
      return;
    const std::string where = where_asked_for(linear_solver);
    if (const std::string missing = problem->what_is_missing(); !missing.empty())
      throw Error(where + ", but " + missing +
                  ", and its levels would be empty\n  expected: gmres with another preconditioner (ilu, amg), direct, or automatic");
    if (linear_solver.method == "multigrid" && problem->fields().size() > 1)
      throw Error(where + ", but the problem " + problem->name() + " has " + std::to_string(problem->fields().size()) +
                  " fields\n  expected: gmres with the preconditioner multigrid, which takes one field after the other");
    if (mesh.adaptive && mesh.is_periodic())
      throw Error(
        where + (linear_solver.automatic ? " (automatic)" : "") +
        " and 'Mesh/Adaptive' is true, and 'Mesh/Periodic' is given, for which there are no levels\n  expected: a globally refined mesh, or no "
        "periodic directions" +
        (linear_solver.automatic ? "" : ", or another preconditioner"));
    if (mesh.adaptive && problem->has_reaction())
      throw Error(where + " and 'Mesh/Adaptive' is true, but the problem " + problem->name() +
                  " is not linear\n  expected: a linear problem, a globally refined mesh, or another preconditioner");
    const MultigridOptions &options = linear_solver.multigrid.options;
    if (mesh.adaptive && (options.cycle != CycleType::v || options.full_start))
      throw Error("'Mesh/Adaptive' is true, but 'Multigrid/" +
                  (options.full_start ? std::string("Full multigrid start' is true") : "Cycle' is " + to_string(options.cycle)) +
                  "\n  expected: the V-cycle without full multigrid start, or a globally refined mesh");
    if (options.full_start && linear_solver.method != "multigrid")
      throw Error("'Multigrid/Full multigrid start' is true, but 'Linear solver/Method' is " + linear_solver.method +
                  "\n  expected: the method multigrid; a preconditioner begins from zero in each call");
    check_form_and_levels(*this);
    const MultigridParameters &multigrid = linear_solver.multigrid;
    check_coarsest_level(*this, multigrid.form != "stored" && !multigrid.options.sixteen_bits && why_no_stencil(*this).empty());
  }
} // namespace leopard
