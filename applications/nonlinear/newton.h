// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <applications/base/value_errors.h>
#include <applications/linear_solvers/linear_solver.h>
#include <solvers/dealii/trilinos_matrix.h>

#include <vector>

namespace leopard
{
  class ImplicitSystem;

  /** Section "Newton" of the parameter file. */
  struct NewtonParameters
  {
    int         max_steps          = 20;
    double      relative_tolerance = 1e-8;  ///< of the residual norm against that of the first guess, dimensionless
    double      absolute_tolerance = 1e-12; ///< of the residual norm against that of load and history, dimensionless
    double      error_fraction     = 0.01;  ///< of the error that an error-controlled step may have, which the residual may be against the same
    std::string forcing            = "relative tolerance";
    int         linear_iterations  = 100;  ///< forcing "fixed iterations"
    double      linear_tolerance   = 1e-3; ///< forcing "relative tolerance"; first and largest one of Eisenstat-Walker
    bool        line_search        = true;

    void declare(dealii::ParameterHandler &prm);
    void read(dealii::ParameterHandler &prm, const LinearSolverParameters &linear);
  };

  struct NewtonStep
  {
    double residual          = 0.; ///< ||G||_2 after the step; entry 0 of a history: before the first step
    int    linear_iterations = 0;
    double linear_tolerance  = 0.; ///< what the linear solver was asked for; 0: a fixed number of iterations
    double damping           = 1.; ///< the line search's factor
    double seconds           = 0.;
    int    corrections       = 0; ///< of a refinement, whose inner iterations the linear ones are; 0: it is none
  };

  struct NewtonResult
  {
    bool                    converged         = false;
    int                     n_steps           = 0;
    int                     linear_iterations = 0; ///< of all steps
    int                     corrections       = 0; ///< of all steps, as NewtonStep's
    double                  residual          = 0.;
    bool                    missed            = false; ///< whether the last linear solve has missed its tolerance
    ValueComplaint          failure;                   ///< why it has not converged, for a message; without a text if it has
    bool                    not_finite = false;        ///< whether that is since numbers are not finite
    std::string             note;                      ///< what the log should say once, as LinearSolveResult's
    std::vector<NewtonStep> history;

    /** As before a solve; memory is kept. */
    void clear();
    /** The history as a table for the log. */
    std::string table() const;
  };

  /**
   * Newton's method for G(u) = 0 with an inexact linear solve J(u) du = G(u) a step and, if asked for, backtracking
   * until
   * ||G(u + l du)|| <= (1 - 1e-4 l) ||G(u)||. The forcing decides how exact: a fixed number of linear iterations (thesis, section
   * 4.14.1), a fixed relative tolerance, or Eisenstat and Walker 1996, choice 2: eta = 0.9 (||G_k|| / ||G_k-1||)^2.
   */
  class Newton
  {
  public:
    /**
     * Keeps references. Allocates all it needs but the linear solver, see linear_solver(). Collective. @param levels
     * for a multigrid linear solver.
     */
    Newton(const NewtonParameters       &parameters,
           const LinearSolverParameters &linear_parameters,
           ImplicitSystem               &system,
           unsigned int                  n_components,
           LevelSource                  *levels,
           MPI_Comm                      comm);

    /**
     * Solves from the given u. Where the first guess is far away, the residual falls by orders of magnitude on the way
     * to the solution: f(u) = -u^3 makes two thirds of u in a step. It has converged only if, besides, the last step
     * has brought the residual to a hundredth (G is almost linear there), or if the residual is below 1e-4 (or the
     * relative tolerance, if that is larger) of || load + history || or of || sum_j |J_ij| || max |u|. Returns
     * converged = false after max_steps, when the line search finds no decrease, or where the residual or the
     * derivatives of the reaction are not finite; whoever calls decides whether that is the end. A residual that may be
     * rounding alone, ImplicitSystem::rounding() of the first guess, will always do.
     * @param error_tolerance of a step whose error is controlled, relative: then a residual that is error_fraction of
     * it against load and history, and a hundredth of the first one, will do. 0: it is not.
     * @throws ConvergenceFailure if the linear solver diverges.
     */
    const NewtonResult &solve(HostVector &u, const HostVector *history, double error_tolerance = 0.);

    /**
     * Solves a system without implicit reaction, which is linear, to 'Linear solver/Relative tolerance' of ||load +
     * history||: one solve, and one more where the residual ||G(u)|| then is still larger. The solver is told of the
     * matrix only when it has changed. @throws ConvergenceFailure if it diverges or misses the tolerance, or if the
     * residual is not finite.
     */
    const NewtonResult &solve_linear(HostVector &u, const HostVector *history);

    /** Made when it is asked for first, by a solve at the latest: the fused time loop needs none. Collective. */
    LinearSolver &linear_solver();

    /**
     * Whether the linear solver is a relaxation, which large time steps may make diverge; then solves can be done by
     * gmres with the preconditioner async instead.
     */
    bool has_alternative() const { return linear_parameters.is_relaxation(); }
    /** Chooses for the solves to come. The alternative is made at the first use. Collective. */
    void use_alternative(bool use);
    /** Of the alternative, after use_alternative(true). */
    std::string alternative_description() const { return alternative->description(); }

    /**
     * "the residual is not finite: that of v at ...": ImplicitSystem::where_not_finite() with the places. Collective.
     * @param what r is.
     */
    ValueComplaint where_not_finite(const std::string &what, const HostVector &u, const HostVector &r);
    /** ImplicitSystem::complaint_of_reaction() with the place. Collective. */
    std::string complaint_of_reaction(const HostVector &u, double t, bool derivatives);

  private:
    LinearSolver &active(); ///< the one that is chosen
    LinearTarget  target_for(double residual, double previous_residual, double previous_tolerance) const;
    double        update_with_line_search(HostVector &u, const HostVector *history, double residual_norm, double &damping);
    /** Whether a residual that has reached its goal is that of a solution, see solve(). Collective; may linearize. */
    bool is_of_solution(const HostVector &u, double norm, double previous_norm, double scale);
    /** Of derivatives at the values of a step that are not finite, for a message. Collective. */
    ValueComplaint where_derivatives_fail(const HostVector &u, int n_steps);
    /** Coordinates of the own nodes; empty where they are not known. */
    const std::vector<double> &places_of_nodes() const;

    const NewtonParameters       &parameters;
    const LinearSolverParameters &linear_parameters;
    LinearSolverParameters        alternative_parameters;
    ImplicitSystem               &system;
    const unsigned int            n_components;
    LevelSource                  *levels;
    MPI_Comm                      comm;
    std::unique_ptr<LinearSolver> solver, alternative;
    bool                          uses_alternative = false;
    unsigned int                  known_version    = 0; ///< of the system's matrix, as solve_linear() has told the solver
    HostVector                    residual, update, trial;
    NewtonResult                  result;
  };
} // namespace leopard
