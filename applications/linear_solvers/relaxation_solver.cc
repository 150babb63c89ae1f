// SPDX-License-Identifier: Apache-2.0
#include "implementation.h"

#include <applications/base/collective.h>
#include <applications/base/log.h>
#include <applications/base/stop_signal.h>
#include <solvers/base/errors.h>
#include <solvers/dealii/index_sets.h>
#include <solvers/device/device_vector.h>
#include <solvers/matrix/analysis.h>
#include <solvers/relaxation/with_ghosts.h>

#include <algorithm>
#include <cmath>
#include <memory>

namespace leopard
{
  using namespace dealii;

  ChosenOmega::ChosenOmega(const LinearSolverParameters &parameters_,
                           double                        number_,
                           const CrsMatrix<double>      &A_,
                           const Communication<double>  &communication_,
                           MPI_Comm                      comm_)
    : parameters(parameters_)
    , number(number_)
    , A(A_)
    , communication(communication_)
    , comm(comm_)
  {
    if (parameters.has_tau())
      estimate(TauEstimateOptions().max_products);
  }

  void ChosenOmega::update()
  {
    constexpr int some = 40; // find lambda_n, and a lambda_1 that is small against it hardly matters
    if (tau)
      estimate(some);
  }

  void ChosenOmega::estimate(int max_products)
  {
    TauEstimateOptions options;
    options.max_products = max_products;
    options.n_threads    = parameters.block_async.n_threads;
    options.rank         = Utilities::MPI::this_mpi_process(comm);
    try
      {
        tau = estimate_tau(A, communication, options);
      }
    catch (const InvalidInput &error)
      {
        throw Error("'Linear solver/Omega' is tau, which this matrix does not have: " + std::string(error.what()));
      }
  }

  nlohmann::json ChosenOmega::report() const
  {
    nlohmann::json result = nlohmann::json::object();
    if (tau)
      result["tau"] = {{"omega", tau->omega},
                       {"smallest_eigenvalue", tau->eigenvalues.smallest},
                       {"largest_eigenvalue", tau->eigenvalues.largest},
                       {"settled", tau->settled}};
    return result;
  }

  MethodOptions method_options(const LinearSolverParameters &parameters,
                               const ChosenOmega            &omega,
                               const BlockAsyncOptions      &blocks,
                               const CrsMatrix<double>      &A,
                               const Communication<double>  &communication)
  {
    MethodOptions options;
    options.backend              = parameters.block_async.backend;
    options.omega                = omega.value();
    options.block_async          = &blocks;
    options.chebyshev.lambda_min = parameters.lambda_min;
    options.chebyshev.lambda_max = parameters.lambda_max;
    options.chebyshev.n_threads  = parameters.block_async.n_threads;
    constexpr int n_steps        = 40; // of power iteration
    if (parameters.relaxation()->has_interval && parameters.lambda_max == 0. && communication.is_distributed())
      options.chebyshev.lambda_max = communication.max(estimate_lambda_max(A, n_steps, options.chebyshev.n_threads));
    return options;
  }

  namespace
  {
    /** Null if no relaxation solves or preconditions. */
    std::unique_ptr<Relaxation<double>> make_relaxation(const LinearSolverParameters &parameters,
                                                        const CrsMatrix<double>      &A,
                                                        const ChosenOmega            &omega,
                                                        const BlockAsyncOptions      &blocks,
                                                        const Communication<double>  &communication)
    {
      const Method *method = parameters.relaxation();
      if (method == nullptr)
        return nullptr;
      if (parameters.n_gpus > 1)
        {
          BlockAsyncOptions options = blocks;
          options.omega             = omega.value();
          return make_several_gpus(A, options, parameters.several_gpus());
        }
      return method->make(A, method_options(parameters, omega, blocks, A, communication));
    }
  } // namespace

  LocalRelaxation::LocalRelaxation(
    const LinearSolverParameters &parameters_, const HostMatrix &A_, const LevelSource *levels, MPI_Comm comm_, bool tunes)
    : parameters(parameters_)
    , A(A_)
    , local(local_matrix(A_))
    , order(parameters, local.matrix, levels, tunes)
    , exchange(own_range(local.owned, comm_), numbers_of(local.ghosts), comm_, order.old_row())
    , omega(parameters, order.options().omega, local.matrix, exchange, comm_)
    , relaxation(make_relaxation(parameters, local.matrix, omega, order.options(), exchange))
    , comm(comm_)
  {
    if (parameters.backend == "cuda")
      exchange.is_queued(MemorySpace::device); // made here, and not in the first solve
  }

  std::string ghosts_text(const Communication<double> &exchange, const LinearSolverParameters &parameters)
  {
    const std::string text = parameters.backend == "cuda" ? exchange.description(MemorySpace::device) : "";
    return text.empty() ? "" : "ghosts: " + text;
  }

  std::string with_line(const std::string &lines, const std::string &more)
  {
    return lines + (lines.empty() || more.empty() ? "" : "\n") + more;
  }

  void LocalRelaxation::update_values()
  {
    order.take_values(local_values(A), local.matrix);
    omega.update();
    std::string refusal; // of this rank's values
    try
      {
        if (omega.is_tau())
          relaxation->set_omega(omega.value());
        if (relaxation != nullptr)
          relaxation->update_values(local.matrix.values.data());
      }
    catch (const InvalidInput &error)
      {
        refusal = error.what();
      }
    throw_if_any_failed(refusal, comm);
  }

  nlohmann::json LocalRelaxation::report() const
  {
    nlohmann::json result = omega.report();
    if (order.tuning())
      result["tuned"] = order.tuning()->report();
    return result;
  }

  std::string why_it_diverges(const CrsMatrix<double> &A, MPI_Comm comm)
  {
    const double rho = Utilities::MPI::max(estimate_spectral_radius_abs(A), comm);
    return "estimate: rho(|I - D^-1 A|) = " + format("%.4f", rho) +
           (rho < 1. ? ", below 1, so that the relaxation should converge with omega = 1 and without momentum; asynchronous schedules converge for "
                       "'Linear solver/Omega' below 2 / (1 + rho) = " +
                         format("%.4f", largest_asynchronous_omega(rho))
                     : std::string("; below 1 every schedule converges, above it need not"));
  }

  std::string
  relaxation_description(const LinearSolverParameters &parameters, const ChosenOmega &omega, const BlockAsyncOptions &blocks, const std::string &name)
  {
    const Method &method = *parameters.relaxation();
    std::string   text   = name;
    if (method.has_blocks)
      text += ", " + parameters.blocks(blocks.block_size);
    if (omega.is_tau())
      text += ", omega = tau";
    else if (omega.value() != 1. && method.omega != OmegaRange::none)
      text += ", omega = " + format("%g", omega.value());
    return text;
  }

  namespace
  {
    /** Said before a relaxation diverges; empty if it need not. Collective. */
    std::string omega_warning(const LinearSolverParameters &parameters, double omega, const CrsMatrix<double> &A, MPI_Comm comm)
    {
      if (!(omega > 1.) || parameters.block_async.momentum != 0. || parameters.relaxation()->omega != OmegaRange::damping)
        return "";
      const double rho   = Utilities::MPI::max(estimate_spectral_radius_abs(A), comm);
      const double bound = largest_asynchronous_omega(rho);
      return omega < bound ? ""
                           : "warning: 'Linear solver/Omega' is " + format("%g", omega) + ", above " + format("%.4f", bound) +
                               " = 2 / (1 + rho(|I - D^-1 A|)), below which it converges for certain: it may diverge";
    }
  } // namespace

  std::string omega_details(const LinearSolverParameters &parameters, const ChosenOmega &omega, const CrsMatrix<double> &A, MPI_Comm comm)
  {
    const bool is_plain = !parameters.relaxation()->has_blocks || parameters.block_async.is_jacobi();
    if (omega.is_tau() && is_plain) // damped Jacobi, which converges with tau
      return omega.text();
    const std::string warning = omega_warning(parameters, omega.value(), A, comm);
    return omega.text() + (omega.is_tau() && !warning.empty() ? "\n" : "") + warning;
  }

  namespace
  {
    class RelaxationSolver : public LinearSolver::Implementation
    {
    public:
      RelaxationSolver(const LinearSolverParameters &parameters_, const HostMatrix &A, const LevelSource *levels_, MPI_Comm comm_)
        : parameters(parameters_)
        , comm(comm_)
        , levels(levels_)
        , is_to_be_tuned(parameters_.tunes() && parameters_.values_change)
        , local(std::make_unique<LocalRelaxation>(parameters_, A, levels_, comm_, parameters_.tunes() && !is_to_be_tuned))
        , on_device(local->relaxation->memory_space() == MemorySpace::device)
      {
        if (!parameters.wait_for_ghosts && parameters.can_go_without_waiting() && local->exchange.has_ghosts())
          free = local->exchange.free();
        if (on_device)
          {
            device_x.reinit(local->relaxation->n_columns());
            device_b.reinit(local->relaxation->n_rows());
          }
        host_x.resize(local->relaxation->n_columns(), 0.);
        host_b.resize(local->relaxation->n_rows());
      }

      void update_values() override
      {
        if (is_to_be_tuned) // with the first values that are solved with, before which A is that of diffusion alone
          local = std::make_unique<LocalRelaxation>(parameters, local->A, levels, comm, true);
        else
          local->update_values();
        is_to_be_tuned = false;
      }

      LinearSolveResult solve(HostVector &x, const HostVector &b, const LinearTarget &target) override
      {
        StoppingCriteria criteria;
        criteria.max_iterations     = target.max_iterations;
        criteria.relative_tolerance = target.relative_tolerance;
        criteria.test_every         = parameters.test_every;
        criteria.asked_to_stop      = [this] { return stop_requested(comm); };

        local->order.take(x, host_x.data());
        local->order.take(b, host_b.data());
        double       *x_data = host_x.data();
        const double *b_data = host_b.data();
        if (on_device)
          {
            device_x.copy_from_host(host_x.data());
            device_b.copy_from_host(host_b.data());
            x_data = device_x.data();
            b_data = device_b.data();
          }
        const SolveResult result = free != nullptr ? leopard::solve(*local->relaxation, x_data, b_data, criteria, local->exchange, *free)
                                                   : leopard::solve(*local->relaxation, x_data, b_data, criteria, local->exchange);
        if (result.status == SolveStatus::stopped)
          throw_if_stop_requested(comm);
        if (result.status == SolveStatus::diverged || !std::isfinite(result.final_residual))
          report_divergence(local->relaxation->name(), result, "iterations", why_it_diverges(local->local.matrix, comm), parameters, "");
        if (on_device)
          device_x.copy_to_host(host_x.data());
        local->order.give(host_x.data(), x);

        LinearSolveResult summary;
        summary.n_iterations   = result.n_iterations;
        summary.final_residual = result.final_residual;
        summary.converged      = target.relative_tolerance == 0. || result.status == SolveStatus::converged;
        summary.rate           = recent_rate(result.history_residuals, parameters.test_every);
        summary.stagnated      = result.status == SolveStatus::stagnated;
        return summary;
      }

      std::string description() const override
      {
        return relaxation_description(parameters, local->omega, local->order.options(), local->relaxation->name()) +
               (is_to_be_tuned ? ", until it is tuned" : "") + (free != nullptr ? ", ghosts not waited for" : "");
      }
      std::string details() const override
      {
        if (parameters.tunes())
          return local->order.tuning() ? local->order.tuning()->text() : "";
        return with_line(omega_details(parameters, local->omega, local->local.matrix, comm), local->ghosts());
      }
      nlohmann::json report() const override { return local->report(); }

    private:
      const LinearSolverParameters         &parameters;
      MPI_Comm                              comm;
      const LevelSource                    *levels;
      bool                                  is_to_be_tuned; ///< when the values of A come
      std::unique_ptr<LocalRelaxation>      local;
      std::unique_ptr<FreeExchange<double>> free; ///< null: ranks wait for one another's values
      const bool                            on_device;
      std::vector<double>                   host_x, host_b; ///< in the order of blocks; of x own entries and ghosts
      DeviceVector<double>                  device_x, device_b;
    };
  } // namespace

  std::unique_ptr<LinearSolver::Implementation>
  make_relaxation_solver(const LinearSolverParameters &parameters, const HostMatrix &A, const LevelSource *levels, MPI_Comm comm)
  {
    return std::make_unique<RelaxationSolver>(parameters, A, levels, comm);
  }
} // namespace leopard
