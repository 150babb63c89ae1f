// SPDX-License-Identifier: Apache-2.0
#include "implementation.h"

#include <applications/run/log.h>
#include <solvers/base/errors.h>
#include <solvers/dealii/precondition_relaxation.h>

#include <deal.II/lac/precondition.h>
#include <deal.II/lac/solver_cg.h>
#include <deal.II/lac/solver_control.h>
#include <deal.II/lac/solver_gmres.h>
#include <deal.II/lac/trilinos_precondition.h>
#include <deal.II/lac/trilinos_solver.h>
#include <deal.II/lac/vector_memory.templates.h>

#include <cmath>
#include <limits>

namespace leopard
{
  using namespace dealii;

  namespace
  {
    /** Runs one of deal.II's Krylov solvers; the same code for host and device vectors. */
    template <typename Vector, typename Operator, typename Preconditioner>
    LinearSolveResult run_krylov(const LinearSolverParameters &parameters,
                                 const LinearTarget           &target,
                                 VectorMemory<Vector>         &memory,
                                 const Operator               &A,
                                 Vector                       &x,
                                 const Vector                 &b,
                                 const Preconditioner         &preconditioner,
                                 bool                          flexible)
    {
      // a Krylov method always tests; without a tolerance it does the iterations it was given
      const double      tolerance = std::max(target.relative_tolerance * b.l2_norm(), std::numeric_limits<double>::min());
      SolverControl     control(target.max_iterations, tolerance, false, false);
      LinearSolveResult result;
      try
        {
          if (parameters.method == "cg" && flexible)
            SolverFlexibleCG<Vector>(control, memory).solve(A, x, b, preconditioner);
          else if (parameters.method == "cg")
            SolverCG<Vector>(control, memory).solve(A, x, b, preconditioner);
          else if (flexible)
            SolverFGMRES<Vector>(control, memory, typename SolverFGMRES<Vector>::AdditionalData(parameters.restart)).solve(A, x, b, preconditioner);
          else
            SolverGMRES<Vector>(control, memory, typename SolverGMRES<Vector>::AdditionalData(parameters.restart + 2, true))
              .solve(A, x, b, preconditioner);
        }
      catch (const SolverControl::NoConvergence &)
        {
          result.converged = target.relative_tolerance == 0.;
        }
      result.n_iterations   = static_cast<int>(control.last_step());
      result.final_residual = control.last_value();
      return result;
    }

    [[noreturn]] void throw_breakdown(const LinearSolverParameters &parameters)
    {
      throw ConvergenceFailure("the linear solver " + parameters.method + " with the preconditioner " + parameters.preconditioner +
                               " broke down: its residual is not finite" +
                               (parameters.method == "cg"
                                  ? "\n  to try: gmres (cg needs a symmetric positive definite matrix); another preconditioner"
                                  : "\n  to try: another preconditioner; a smaller time step"));
    }

    std::string krylov_description(const LinearSolverParameters &parameters, const LocalRelaxation &local, bool flexible)
    {
      std::string text = (flexible ? "flexible " : "") + parameters.method;
      if (local.relaxation != nullptr && parameters.preconditioner == "async")
        return text + " with " + std::to_string(parameters.preconditioner_iterations) + " global iterations of " + local.relaxation->name() +
               ", blocks of " + std::to_string(parameters.block_async.block_size);
      return text + (parameters.preconditioner == "none" ? " without preconditioner" : " with preconditioner " + parameters.preconditioner);
    }

    class HostKrylovSolver : public LinearSolver::Implementation
    {
    public:
      HostKrylovSolver(const LinearSolverParameters &parameters_, const HostMatrix &A_, unsigned int n_components_, MPI_Comm comm)
        : parameters(parameters_)
        , A(A_)
        , n_components(n_components_)
      {
        if (parameters.preconditioner == "async")
          {
            local = std::make_unique<LocalRelaxation>(parameters, "async", A, comm);
            async = std::make_unique<PreconditionRelaxation>(*local->relaxation, parameters.preconditioner_iterations, local->exchange);
          }
        else
          update_values();
      }

      void update_values() override
      {
        if (local != nullptr)
          local->update_values();
        else if (parameters.preconditioner == "jacobi")
          jacobi.initialize(A);
        else if (parameters.preconditioner == "ssor")
          ssor.initialize(A, parameters.omega);
        else if (parameters.preconditioner == "amg")
          {
            TrilinosWrappers::PreconditionAMG::AdditionalData data;
            data.elliptic              = parameters.method == "cg";
            data.higher_order_elements = false;
            const auto own             = A.locally_owned_range_indices();
            data.constant_modes.assign(n_components, std::vector<bool>(own.n_elements(), false));
            for (types::global_dof_index i = 0; i < own.n_elements(); ++i)
              data.constant_modes[i % n_components][i] = true;
            amg.initialize(A, data);
          }
      }

      LinearSolveResult solve(HostVector &x, const HostVector &b, const LinearTarget &target) override
      {
        const auto run = [&](const auto &preconditioner, bool flexible) {
          return run_krylov(parameters, target, memory, A, x, b, preconditioner, flexible);
        };
        LinearSolveResult result;
        if (async != nullptr)
          result = run(*async, is_flexible());
        else if (parameters.preconditioner == "jacobi")
          result = run(jacobi, false);
        else if (parameters.preconditioner == "ssor")
          result = run(ssor, false);
        else if (parameters.preconditioner == "amg")
          result = run(amg, false);
        else
          result = run(PreconditionIdentity(), false);
        if (!std::isfinite(result.final_residual))
          throw_breakdown(parameters);
        return result;
      }

      bool is_flexible() const { return async != nullptr && !local->relaxation->is_fixed_linear_map(); }

      std::string description() const override
      {
        if (local != nullptr)
          return krylov_description(parameters, *local, is_flexible());
        return parameters.method +
               (parameters.preconditioner == "none" ? " without preconditioner" : " with preconditioner " + parameters.preconditioner);
      }

    private:
      const LinearSolverParameters           &parameters;
      const HostMatrix                       &A;
      const unsigned int                      n_components;
      GrowingVectorMemory<HostVector>         memory;
      TrilinosWrappers::PreconditionJacobi    jacobi;
      TrilinosWrappers::PreconditionSSOR      ssor;
      TrilinosWrappers::PreconditionAMG       amg;
      std::unique_ptr<LocalRelaxation>        local;
      std::unique_ptr<PreconditionRelaxation> async;
    };

    class DeviceKrylovSolver : public LinearSolver::Implementation
    {
    public:
      DeviceKrylovSolver(const LinearSolverParameters &parameters_, const HostMatrix &A, MPI_Comm comm)
        : parameters(parameters_)
        , local(parameters_, parameters_.preconditioner, A, comm)
        , matrix(local.local.matrix, local.exchange)
        , x_device(local.local.matrix.n_rows, &local.exchange)
        , b_device(local.local.matrix.n_rows, &local.exchange)
      {
        if (local.relaxation != nullptr)
          preconditioner = std::make_unique<PreconditionRelaxation>(
            *local.relaxation, parameters.preconditioner == "async" ? parameters.preconditioner_iterations : 1, local.exchange);
      }

      void update_values() override
      {
        local.update_values();
        matrix.update_values(local.local.matrix.values.data());
      }

      LinearSolveResult solve(HostVector &x, const HostVector &b, const LinearTarget &target) override
      {
        x_device.copy_from_host(x.begin());
        b_device.copy_from_host(b.begin());
        const LinearSolveResult result =
          preconditioner != nullptr
            ? run_krylov(parameters, target, memory, matrix, x_device, b_device, *preconditioner, !local.relaxation->is_fixed_linear_map())
            : run_krylov(parameters, target, memory, matrix, x_device, b_device, PreconditionIdentity(), false);
        if (!std::isfinite(result.final_residual))
          throw_breakdown(parameters);
        x_device.copy_to_host(x.begin());
        return result;
      }

      std::string description() const override
      {
        return krylov_description(parameters, local, local.relaxation != nullptr && !local.relaxation->is_fixed_linear_map());
      }

    private:
      const LinearSolverParameters             &parameters;
      LocalRelaxation                           local;
      DeviceOperator                            matrix;
      DeviceVector<double>                      x_device, b_device;
      GrowingVectorMemory<DeviceVector<double>> memory;
      std::unique_ptr<PreconditionRelaxation>   preconditioner;
    };

    class DirectSolver : public LinearSolver::Implementation
    {
    public:
      explicit DirectSolver(const HostMatrix &A_)
        : A(A_)
        , solver(control, TrilinosWrappers::SolverDirect::AdditionalData(false, "Amesos_Klu"))
      {
      }

      void update_values() override { factorized = false; }

      LinearSolveResult solve(HostVector &x, const HostVector &b, const LinearTarget & /*target*/) override
      {
        if (!factorized)
          solver.initialize(A);
        factorized = true;
        solver.solve(x, b);
        HostVector r(b);
        A.residual(r, x, b);
        LinearSolveResult result;
        result.n_iterations   = 1;
        result.final_residual = r.l2_norm();
        if (!std::isfinite(result.final_residual))
          throw ConvergenceFailure("the direct solver found a singular matrix\n  expected: a problem with a unique solution");
        return result;
      }

      std::string description() const override { return "sparse direct solver (Amesos KLU)"; }

    private:
      const HostMatrix              &A;
      SolverControl                  control;
      TrilinosWrappers::SolverDirect solver;
      bool                           factorized = false;
    };
  } // namespace

  std::unique_ptr<LinearSolver::Implementation>
  make_host_krylov_solver(const LinearSolverParameters &parameters, const HostMatrix &A, unsigned int n_components, MPI_Comm comm)
  {
    return std::make_unique<HostKrylovSolver>(parameters, A, n_components, comm);
  }

  std::unique_ptr<LinearSolver::Implementation>
  make_device_krylov_solver(const LinearSolverParameters &parameters, const HostMatrix &A, MPI_Comm comm)
  {
    return std::make_unique<DeviceKrylovSolver>(parameters, A, comm);
  }

  std::unique_ptr<LinearSolver::Implementation> make_direct_solver(const HostMatrix &A)
  {
    return std::make_unique<DirectSolver>(A);
  }
} // namespace leopard
