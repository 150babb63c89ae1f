// SPDX-License-Identifier: Apache-2.0
#include "study_problem.h"

#include <applications/base/log.h>
#include <applications/discretization/discretization.h>
#include <applications/linear_solvers/linear_solver.h>
#include <solvers/base/errors.h>
#include <solvers/base/usable_resources.h>
#include <solvers/dealii/krylov_coarse_solver.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <random>

namespace leopard
{
  namespace
  {
    Stencil<double> named_stencil(const std::string &name, int n, double epsilon)
    {
      if (name == "3-point")
        {
          Stencil<double> stencil;
          stencil.n_x                   = n;
          stencil.coefficient(0, 0, 0)  = 2. + epsilon;
          stencil.coefficient(-1, 0, 0) = stencil.coefficient(1, 0, 0) = -1.;
          return stencil;
        }
      if (name == "5-point")
        return five_point_stencil(n, n, epsilon);
      if (name == "9-point")
        return nine_point_stencil(n, n, epsilon);
      if (name == "7-point")
        return seven_point_stencil(n, n, n, epsilon);
      if (name == "27-point")
        return twenty_seven_point_stencil(n, n, n, epsilon);
      throw InvalidInput("the stencil '" + name + "' is not known\n  expected: 3-point, 5-point, 9-point, 7-point or 27-point");
    }

    /** All frequencies, the same on every machine. */
    std::vector<double> random_vector(std::size_t n)
    {
      std::mt19937        generator(1);
      std::vector<double> values(n);
      for (double &value : values)
        value = 2. * (generator() / 4294967296.) - 1.;
      return values;
    }
  } // namespace

  double available_memory()
  {
    const double  usable = usable_memory(), most = usable > 0. ? usable : std::numeric_limits<double>::infinity();
    std::ifstream stream("/proc/meminfo");
    for (std::string line; std::getline(stream, line);)
      if (line.rfind("MemAvailable:", 0) == 0)
        return std::min(most, 1024. * std::strtod(line.c_str() + 13, nullptr));
    return most;
  }

  void check_memory(double n_bytes)
  {
    if (const double available = available_memory(); n_bytes > available)
      throw NotEnoughMemory(format("about %.3g GB of memory are needed, and %.3g GB are free", n_bytes * 1e-9, available * 1e-9));
  }

  double StudyProblem::memory(bool stored) const
  {
    if (!stencil)
      return 0.;
    int n_entries = 0; // of a row
    for (const double c : stencil->coefficients)
      n_entries += c != 0.;
    const int    dim        = (stencil->n_x > 1) + (stencil->n_y > 1) + (stencil->n_z > 1);
    const double n          = static_cast<double>(b.size());
    const double all_levels = 1. / (1. - std::pow(0.5, std::max(dim, 1))), matrix_row = 12. * n_entries + 4.;
    const double vectors = 24. + 16. * all_levels, smoother = stored ? 2. * matrix_row * all_levels : 0.;
    const double coarse = 5. * matrix_row + 80.; // a row of the coarsest level, with its solver
    return n * (vectors + smoother + coarse * std::pow(0.5, dim * (n_levels - 1)));
  }

  StudyProblem make_stencil_problem(const std::string &name, int n, double epsilon, int n_levels)
  {
    StudyProblem problem;
    problem.description = name + ", eps = " + format("%g", epsilon);
    problem.epsilon     = epsilon;
    problem.stencil     = named_stencil(name, n, epsilon);
    problem.n_levels    = n_levels;
    if (n_levels == 0)
      {
        const int        dim          = name == "3-point" ? 1 : name == "5-point" || name == "9-point" ? 2 : 3;
        constexpr double small_enough = 1000.; // unknowns for any coarse solver
        problem.n_levels              = 1;
        for (int nodes = n; nodes > 1 && std::pow(nodes, dim) > small_enough; nodes /= 2)
          ++problem.n_levels;
      }
    check_memory(8. * problem.stencil->n_rows());
    problem.b = random_vector(problem.stencil->n_rows());
    return problem;
  }

  CrsMatrix<double> StudyProblem::coarse_matrix() const
  {
    if (!stencil)
      return hierarchy.levels.at(0).matrix;
    StencilGrid grid{*stencil};
    for (int l = 1; l < n_levels; ++l)
      grid = coarsen(grid);
    return grid.stencil.to_crs();
  }

  Multigrid<double> StudyProblem::make_multigrid(MultigridOptions options, const SmootherStudyParameters &study) const
  {
    std::unique_ptr<CoarseSolver<double>> coarse;
    if (study.coarse_solver == "cg" || study.coarse_solver == "amg")
      {
        KrylovCoarseOptions krylov;
        krylov.relative_tolerance = study.coarse_tolerance;
        krylov.max_iterations     = 1000000; // two levels of an ill-conditioned problem
        MultigridLevel level;
        level.matrix = coarse_matrix();
        coarse       = make_krylov_coarse_solver(study.coarse_solver, level, options.backend, MPI_COMM_SELF, krylov);
      }
    else
      options.coarse_solver = study.coarse_solver;
    return stencil ? Multigrid<double>(*stencil, n_levels, options, std::move(coarse)) : Multigrid<double>(hierarchy, options, std::move(coarse));
  }

  namespace
  {
    /** Refines where the estimator of the solutions on the meshes before is large, and solves on each of them. */
    template <int dim>
    void refine_adaptively(const Parameters &parameters, Discretization<dim> &discretization, SemiDiscreteSystem &system)
    {
      HostVector u;
      discretization.interpolate_initial_values(u);
      discretization.zero_constrained(u);
      for (unsigned int cycle = 1; cycle < parameters.mesh.adaptive_cycles; ++cycle)
        {
          discretization.assemble(system, 0.);
          LinearSolver solver(parameters.linear_solver, system.stiffness, 1, &discretization, discretization.comm);
          LinearTarget target;
          target.relative_tolerance = parameters.linear_solver.relative_tolerance;
          target.max_iterations     = parameters.linear_solver.max_iterations;
          if (!solver.solve(u, system.load, target).converged)
            throw ConvergenceFailure("the linear solver " + solver.description() + " has not converged on the way to the adaptive mesh" +
                                     "\n  to try: 'Linear solver/Method' = cg with the preconditioner multigrid or amg");
          discretization.distribute_constraints(u);
          discretization.refine_adaptively(u);
        }
    }

    template <int dim>
    StudyProblem make_mesh_problem(const Parameters &parameters, unsigned int refinements, int n_levels, MPI_Comm comm)
    {
      Discretization<dim> discretization(parameters.mesh, parameters.discretization, *parameters.problem, comm);
      discretization.refine_coarse_mesh(refinements);
      SemiDiscreteSystem system;
      if (parameters.mesh.adaptive)
        refine_adaptively(parameters, discretization, system);
      discretization.assemble(system, 0.);

      const double start = MPI_Wtime();
      StudyProblem problem;
      problem.hierarchy = discretization.hierarchy(0, local_matrix(system.stiffness), n_levels);
      problem.seconds   = MPI_Wtime() - start;
      problem.n_levels  = static_cast<int>(problem.hierarchy.levels.size());
      problem.description =
        parameters.problem->name() + ", " +
        (parameters.discretization.finite_differences ? "finite differences" : "Q" + std::to_string(parameters.discretization.degree)) +
        (parameters.mesh.adaptive ? ", adaptive" : "");
      problem.b.assign(system.load.begin(), system.load.end());
      if (std::all_of(problem.b.begin(), problem.b.end(), [](double value) { return value == 0.; }))
        throw Error("the right-hand side of the problem " + parameters.problem->name() +
                    " is zero, and so is its solution\n  expected: a source, or " + "boundary values that are not zero");
      return problem;
    }
  } // namespace

  std::vector<ProblemMaker> study_problems(const Parameters &parameters, MPI_Comm comm)
  {
    const SmootherStudyParameters &study = parameters.smoother_study;
    std::vector<ProblemMaker>      makers;
    if (study.uses_stencil())
      {
        for (const double epsilon : study.epsilon)
          for (const int n : study.sizes)
            for (const int levels : study.levels)
              makers.push_back([&study, n, epsilon, levels] { return make_stencil_problem(study.stencil, n, epsilon, levels); });
        return makers;
      }
    for (const int r : study.mesh_refinements(parameters.mesh))
      for (const int levels : study.levels)
        makers.push_back([&parameters, r, levels, comm] {
          return parameters.dimension == 2 ? make_mesh_problem<2>(parameters, r, levels, comm) : make_mesh_problem<3>(parameters, r, levels, comm);
        });
    return makers;
  }
} // namespace leopard
