// SPDX-License-Identifier: Apache-2.0
#include "field_multigrid.h"
#include "implementation.h"

#include <applications/base/log.h>
#include <applications/base/stop_signal.h>
#include <solvers/base/errors.h>
#include <solvers/base/norms.h>
#include <solvers/device/device_vector.h>

#include <cmath>

namespace leopard
{
  using namespace dealii;

  namespace
  {
    class MultigridSolver : public LinearSolver::Implementation
    {
    public:
      MultigridSolver(const LinearSolverParameters &parameters_, const HostMatrix &A_, LevelSource &levels, MPI_Comm comm_)
        : parameters(parameters_)
        , A(A_)
        , comm(comm_)
        , multigrid(parameters_, A_, Field(), levels, comm_)
        , residual(A.locally_owned_range_indices(), comm_)
        , correction(residual)
        , on_device(parameters_.multigrid.options.backend == Backend::cuda)
      {
        if (on_device)
          {
            device_x.reinit(residual.locally_owned_size());
            device_b.reinit(residual.locally_owned_size());
          }
      }

      void update_values() override { multigrid.update_values(); }

      /**
       * The residual that counts is that of A: a stencil may differ from it by rounding, and then it takes a second
       * solve.
       */
      LinearSolveResult solve(HostVector &x, const HostVector &b, const LinearTarget &target) override
      {
        constexpr int     most_solves = 4;
        const double      goal        = target.relative_tolerance * b.l2_norm();
        LinearSolveResult result;
        A.residual(residual, x, b);
        result.final_residual = residual.l2_norm();
        for (int n = 0; n < most_solves && result.n_iterations < target.max_iterations && (goal == 0. || !reached(result.final_residual, goal)); ++n)
          {
            const SolveResult cycles = solve_correction(goal, target.max_iterations - result.n_iterations);
            x.add(1., correction);
            A.residual(residual, x, b);
            result.final_residual = residual.l2_norm();
            result.n_iterations += cycles.n_iterations;
            if (n == 0)
              result.convergence_factor = cycles.convergence_factor();
            result.rate      = recent_rate(cycles.history_residuals);
            result.stagnated = cycles.status == SolveStatus::stagnated;
            if (cycles.status == SolveStatus::stagnated && !reached(result.final_residual, goal))
              break;
          }
        result.converged = goal == 0. ? std::isfinite(result.final_residual) : reached(result.final_residual, goal);
        return result;
      }

      std::string description() const override { return multigrid.description(); }
      std::string details() const override { return multigrid.details(); }

    private:
      /** correction <- about A^-1 residual. */
      SolveResult solve_correction(double goal, int max_iterations)
      {
        StoppingCriteria criteria;
        criteria.max_iterations     = max_iterations;
        criteria.absolute_tolerance = goal;
        criteria.asked_to_stop      = [this] { return stop_requested(comm); };
        correction                  = 0.;
        SolveResult result;
        if (on_device)
          {
            device_x.copy_from_host(correction.begin());
            device_b.copy_from_host(residual.begin());
            result = multigrid.preconditioner().solve(device_x.data(), device_b.data(), criteria);
            device_x.copy_to_host(correction.begin());
          }
        else
          result = multigrid.preconditioner().solve(correction.begin(), residual.begin(), criteria);
        if (result.status == SolveStatus::stopped)
          throw_if_stop_requested(comm);
        if (result.status == SolveStatus::diverged || !std::isfinite(result.final_residual))
          report_divergence(multigrid.description(),
                            result,
                            "cycles",
                            multigrid.preconditioner().diagnosis(),
                            parameters,
                            "a smaller 'Multigrid/Smoother omega', another smoother, more smoothing steps");
        return result;
      }

      const LinearSolverParameters &parameters;
      const HostMatrix             &A;
      MPI_Comm                      comm;
      FieldMultigrid                multigrid;
      HostVector                    residual, correction;
      const bool                    on_device;
      DeviceVector<double>          device_x, device_b;
    };
  } // namespace

  std::unique_ptr<LinearSolver::Implementation>
  make_multigrid_solver(const LinearSolverParameters &parameters, const HostMatrix &A, LevelSource &levels, MPI_Comm comm)
  {
    return std::make_unique<MultigridSolver>(parameters, A, levels, comm);
  }
} // namespace leopard
