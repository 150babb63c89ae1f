// SPDX-License-Identifier: Apache-2.0
#include "study_problem.h"

#include <applications/run/log.h>
#include <solvers/base/errors.h>
#include <solvers/dealii/cg_coarse_solver.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace leopard
{
  namespace
  {
    Stencil named_stencil(const std::string &name, int n, double epsilon)
    {
      if (name == "3-point")
        {
          Stencil stencil;
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
    problem.b = random_vector(problem.stencil->n_rows());
    return problem;
  }

  CrsMatrix StudyProblem::coarse_matrix() const
  {
    if (!stencil)
      return hierarchy.levels.at(0).matrix;
    StencilGrid grid{*stencil};
    for (int l = 1; l < n_levels; ++l)
      grid = coarsen(grid);
    return grid.stencil.to_crs();
  }

  Multigrid StudyProblem::make_multigrid(MultigridOptions options, const SmootherStudyParameters &study) const
  {
    std::unique_ptr<CoarseSolver> coarse;
    if (study.coarse_solver == "cg")
      coarse = make_cg_coarse_solver(coarse_matrix(), options.backend, study.coarse_tolerance);
    else
      options.coarse_solver = study.coarse_solver;
    return stencil ? Multigrid(*stencil, n_levels, options, std::move(coarse)) : Multigrid(hierarchy, options, std::move(coarse));
  }

  std::vector<ProblemMaker> study_problems(const Parameters &parameters, MPI_Comm comm, Log &log)
  {
    const SmootherStudyParameters &study = parameters.smoother_study;
    std::vector<ProblemMaker>      makers;
    if (study.uses_stencil())
      for (const double epsilon : study.epsilon)
        for (const int n : study.sizes)
          for (const int levels : study.levels)
            makers.push_back([&study, n, epsilon, levels] { return make_stencil_problem(study.stencil, n, epsilon, levels); });
    return makers;
  }
} // namespace leopard
