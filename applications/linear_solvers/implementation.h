// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "block_order.h"

#include <solvers/base/errors.h>
#include <solvers/distributed/mpi/ghost_exchange.h>
#include <solvers/relaxation/tau_scaling.h>

#include <nlohmann/json.hpp>

#include <optional>
#include <string>

namespace leopard
{
  class LinearSolver::Implementation
  {
  public:
    virtual ~Implementation()                                                                       = default;
    virtual void              update_values()                                                       = 0;
    virtual LinearSolveResult solve(HostVector &x, const HostVector &b, const LinearTarget &target) = 0;
    virtual std::string       description() const                                                   = 0;
    virtual std::string       details() const { return ""; }
    virtual nlohmann::json    report() const { return nlohmann::json::object(); }
  };

  /** A refinement has given up, after so many inner iterations: a solve in double has those that are left. */
  class FailureInSingle : public ConvergenceFailure
  {
  public:
    FailureInSingle(int n_iterations_, const std::string &what)
      : ConvergenceFailure(what)
      , n_iterations(n_iterations_)
    {
    }

    const int n_iterations;
  };

  /** The relaxation factor: a number, of the parameter file or found with the blocks, or tau of the matrix. */
  class ChosenOmega
  {
  public:
    /**
     * Keeps references. Collective. @param number what it is where it is not tau. @throws Error where tau is asked for
     * and A has none.
     */
    ChosenOmega(
      const LinearSolverParameters &parameters, double number, const CrsMatrix<double> &A, const Communication<double> &communication, MPI_Comm comm);

    /**
     * After A's values have changed, of which tau is estimated with fewer products. Collective. @throws Error likewise.
     */
    void update();

    double value() const { return tau ? tau->omega : number; }
    bool   is_tau() const { return tau.has_value(); }
    /** Of tau, what it was found from; empty otherwise. */
    std::string text() const { return tau ? tau->text() : ""; }
    /** The same for run.json. */
    nlohmann::json report() const;

  private:
    void estimate(int max_products);

    const LinearSolverParameters &parameters;
    const double                  number;
    const CrsMatrix<double>      &A;
    const Communication<double>  &communication;
    const MPI_Comm                comm;
    std::optional<TauEstimate>    tau;
  };

  /** How the ghosts of an exchange that is_queued() was asked of travel between GPUs, see LocalRelaxation::ghosts(). */
  std::string ghosts_text(const Communication<double> &exchange, const LinearSolverParameters &parameters);
  /** `lines`, and `more` as a further line; either may be empty. */
  std::string with_line(const std::string &lines, const std::string &more);

  /** The rank's rows, in the order of compact blocks, the exchange of their ghosts, and a relaxation for them. */
  struct LocalRelaxation
  {
    /** @param tunes whether the options of async are found by measuring with A. Collective. */
    LocalRelaxation(const LinearSolverParameters &parameters, const HostMatrix &A, const LevelSource *levels, MPI_Comm comm, bool tunes = false);

    /**
     * Hands A's values of now to the relaxation and to local.matrix. Collective. @throws Error on all ranks if one
     * cannot work with its values.
     */
    void update_values();

    /** How ghosts travel between GPUs, in a line for a log; empty on the host and on one rank. */
    std::string ghosts() const { return ghosts_text(exchange, parameters); }

    /** What was found from A, for run.json: "tau", "tuned". */
    nlohmann::json report() const;

    const LinearSolverParameters       &parameters;
    const HostMatrix                   &A;
    LocalMatrix                         local;
    const BlockOrder                    order;
    GhostExchange<double>               exchange;
    ChosenOmega                         omega;
    std::unique_ptr<Relaxation<double>> relaxation; ///< null: none solves or preconditions
    const MPI_Comm                      comm;
  };

  /**
   * "diverges" and what to take instead. @param diagnosis lines that say why; may be empty. @throws ConvergenceFailure,
   * always.
   */
  [[noreturn]] void report_divergence(const std::string            &method,
                                      const SolveResult            &result,
                                      const std::string            &unit,
                                      const std::string            &diagnosis,
                                      const LinearSolverParameters &parameters,
                                      const std::string            &more);

  /** The residual of a Krylov method is not finite. @throws ConvergenceFailure, always. */
  [[noreturn]] void throw_breakdown(const LinearSolverParameters &parameters);

  /** What a relaxation of A that solves or preconditions is made with. @param blocks referred to. Collective. */
  MethodOptions method_options(const LinearSolverParameters &parameters,
                               const ChosenOmega            &omega,
                               const BlockAsyncOptions      &blocks,
                               const CrsMatrix<double>      &A,
                               const Communication<double>  &communication);
  /** The name with blocks and omega. @param blocks of async. */
  std::string relaxation_description(const LinearSolverParameters &parameters,
                                     const ChosenOmega            &omega,
                                     const BlockAsyncOptions      &blocks,
                                     const std::string            &name);
  /** Of tau what it was found from; a warning before a relaxation diverges; mostly empty. Collective. */
  std::string omega_details(const LinearSolverParameters &parameters, const ChosenOmega &omega, const CrsMatrix<double> &A, MPI_Comm comm);
  /** An estimate of rho(|B|) in words. Collective. */
  std::string why_it_diverges(const CrsMatrix<double> &A, MPI_Comm comm);

  std::unique_ptr<LinearSolver::Implementation>
  make_relaxation_solver(const LinearSolverParameters &parameters, const HostMatrix &A, const LevelSource *levels, MPI_Comm comm);
  std::unique_ptr<LinearSolver::Implementation> make_host_krylov_solver(
    const LinearSolverParameters &parameters, const HostMatrix &A, unsigned int n_components, LevelSource *levels, MPI_Comm comm);
  std::unique_ptr<LinearSolver::Implementation> make_device_krylov_solver(
    const LinearSolverParameters &parameters, const HostMatrix &A, unsigned int n_components, LevelSource *levels, MPI_Comm comm);
  /** With parameters.n_gpus parts of one rank's rows. @throws Error. */
  std::unique_ptr<LinearSolver::Implementation>
  make_krylov_on_gpus(const LinearSolverParameters &parameters, const HostMatrix &A, const LevelSource *levels, MPI_Comm comm);
  std::unique_ptr<LinearSolver::Implementation>
  make_multigrid_solver(const LinearSolverParameters &parameters, const HostMatrix &A, LevelSource &levels, MPI_Comm comm);
  /** A relaxation, a Krylov method or multigrid as the inner solver of an iterative refinement. */
  std::unique_ptr<LinearSolver::Implementation> make_refinement_solver(
    const LinearSolverParameters &parameters, const HostMatrix &A, unsigned int n_components, LevelSource *levels, MPI_Comm comm);
  std::unique_ptr<LinearSolver::Implementation> make_direct_solver(const HostMatrix &A);
} // namespace leopard
