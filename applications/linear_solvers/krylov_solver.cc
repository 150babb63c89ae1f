// SPDX-License-Identifier: Apache-2.0
#include "algebraic_preconditioner.h"
#include "field_multigrid.h"
#include "fields_amg.h"
#include "implementation.h"

#include <applications/base/log.h>
#include <applications/base/stop_signal.h>
#include <solvers/base/errors.h>
#include <solvers/base/norms.h>
#include <solvers/base/words.h>
#include <solvers/dealii/precondition_relaxation.h>

#include <deal.II/base/config.h>
#include <deal.II/lac/precondition.h>
#include <deal.II/lac/solver_cg.h>
#include <deal.II/lac/solver_control.h>
#include <deal.II/lac/solver_gmres.h>
#include <deal.II/lac/trilinos_precondition.h>
#include <deal.II/lac/trilinos_solver.h>
#include <deal.II/lac/vector_memory.templates.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace leopard
{
  using namespace dealii;

  void throw_breakdown(const LinearSolverParameters &parameters)
  {
    Progress progress;
    progress.last = std::numeric_limits<double>::quiet_NaN();
    throw ConvergenceFailure(
      "the linear solver " + parameters.method + " with the preconditioner " + parameters.preconditioner +
      " broke down: its residual is not finite\n  to try: " +
      advice(progress, parameters, parameters.method == "cg" ? "gmres, as cg needs a symmetric positive definite matrix" : "a smaller time step"));
  }

  namespace
  {
    /**
     * What SolverGMRES::AdditionalData counts first: all temporary vectors, or since deal.II 9.6 those of the basis
     * alone.
     */
    constexpr unsigned int gmres_vectors_beside_basis = DEAL_II_VERSION_GTE(9, 6, 0) ? 0 : 2;

    /** Looks in each iteration whether the run is asked to stop, and keeps the residuals. */
    class StoppableControl : public SolverControl
    {
    public:
      StoppableControl(MPI_Comm comm_, unsigned int max_iterations, double tolerance)
        : SolverControl(max_iterations, tolerance, false, false)
        , comm(comm_)
      {
      }

      /** @throws Stopped. */
      State check(const unsigned int step, const double value) override
      {
        throw_if_stop_requested(comm);
        residuals.push_back(value);
        return SolverControl::check(step, value);
      }

      std::vector<double> residuals;
      bool                negative_curvature = false; ///< of cg

    private:
      MPI_Comm comm;
    };

    /**
     * Runs one of deal.II's Krylov solvers from x; the same code for host and device vectors. @return whether it says
     * that it has come to the goal.
     */
    template <typename Vector, typename Operator, typename Preconditioner>
    bool run_krylov_once(const LinearSolverParameters &parameters,
                         StoppableControl             &control,
                         VectorMemory<Vector>         &memory,
                         const Operator               &A,
                         Vector                       &x,
                         const Vector                 &b,
                         const Preconditioner         &preconditioner,
                         bool                          flexible)
    {
      try
        {
          // alpha = r^T C r / p^T A p is negative where A, or the preconditioner C, is not positive definite
          const auto run_cg = [&](auto &&cg) {
            cg.connect_coefficients_slot(
              [&](double alpha, double /*beta*/) { control.negative_curvature = control.negative_curvature || alpha < 0.; });
            cg.solve(A, x, b, preconditioner);
          };
          if (parameters.method == "cg" && flexible)
            run_cg(SolverFlexibleCG<Vector>(control, memory));
          else if (parameters.method == "cg")
            run_cg(SolverCG<Vector>(control, memory));
          else if (flexible)
            SolverFGMRES<Vector>(control, memory, typename SolverFGMRES<Vector>::AdditionalData(parameters.restart)).solve(A, x, b, preconditioner);
          else
            SolverGMRES<Vector>(control, memory, typename SolverGMRES<Vector>::AdditionalData(parameters.restart + gmres_vectors_beside_basis, true))
              .solve(A, x, b, preconditioner);
        }
      catch (const SolverControl::NoConvergence &)
        {
          return false;
        }
      return true;
    }

    /**
     * The same until ||b - A x||, computed anew, has come to the goal: the methods know it by recursion, from which
     * rounding errors part it. So they are begun anew from x, once, for at most as many iterations again.
     */
    template <typename Vector, typename Operator, typename Preconditioner>
    LinearSolveResult run_krylov(const LinearSolverParameters &parameters,
                                 const LinearTarget           &target,
                                 MPI_Comm                      comm,
                                 VectorMemory<Vector>         &memory,
                                 const Operator               &A,
                                 Vector                       &x,
                                 const Vector                 &b,
                                 const Preconditioner         &preconditioner,
                                 bool                          flexible)
    {
      // a Krylov method always tests; without a tolerance it does the iterations it was given
      const double                           goal = std::max(target.relative_tolerance * b.l2_norm(), std::numeric_limits<double>::min());
      typename VectorMemory<Vector>::Pointer residual(memory);
      residual->reinit(b, true);
      LinearSolveResult result;
      int               most = target.max_iterations;
      for (bool again = true, first = true; again; first = false)
        {
          StoppableControl control(comm, most, goal);
          const bool       done = run_krylov_once(parameters, control, memory, A, x, b, preconditioner, flexible);
          result.n_iterations += static_cast<int>(control.last_step());
          A.vmult(*residual, x);
          residual->sadd(-1., 1., b);
          result.final_residual     = residual->l2_norm();
          result.converged          = target.relative_tolerance == 0. ? std::isfinite(result.final_residual) : reached(result.final_residual, goal);
          result.rate               = recent_rate(control.residuals);
          result.negative_curvature = result.negative_curvature || control.negative_curvature;
          result.stagnated          = done && !result.converged; // rounding errors part its residual from the true one
          most                      = std::min(result.n_iterations, target.max_iterations - result.n_iterations);
          again                     = first && done && !result.converged && std::isfinite(result.final_residual) && most > 0;
        }
      return result;
    }

    std::string krylov_description(const LinearSolverParameters  &parameters,
                                   const LocalRelaxation         *local,
                                   const FieldsMultigrid         *multigrid,
                                   const AlgebraicPreconditioner *algebraic,
                                   bool                           flexible)
    {
      const Relaxation<double> *relaxation = local != nullptr ? local->relaxation.get() : nullptr;
      const std::string         omega      = local != nullptr && local->omega.is_tau() ? ", omega = tau" : "";

      std::string text = (flexible ? "flexible " : "") + parameters.method;
      if (algebraic != nullptr)
        return text + " with preconditioner " + parameters.preconditioner + ": " + algebraic->description();
      if (multigrid != nullptr)
        return text + " with " + multigrid->description();
      if (relaxation != nullptr && parameters.has_iterated_preconditioner())
        text += " with " + std::to_string(parameters.preconditioner_iterations) + " iterations of " + relaxation->name();
      if (relaxation != nullptr && parameters.relaxation()->has_blocks)
        return text + ", " + parameters.blocks(parameters.block_async.block_size) + omega;
      if (relaxation != nullptr && parameters.has_iterated_preconditioner())
        return text + omega;
      return text + (parameters.preconditioner == "none" ? " without preconditioner" : " with preconditioner " + parameters.preconditioner);
    }

    /**
     * Whether the Krylov method has to bear a preconditioner that it is not made for. @param relaxation, @param
     * multigrid at most one of them.
     */
    bool needs_flexible(const LinearSolverParameters  &parameters,
                        const Relaxation<double>      *relaxation,
                        const FieldsMultigrid         *multigrid,
                        const AlgebraicPreconditioner *algebraic)
    {
      const auto is_other = [&](const auto &preconditioner) {
        return parameters.method == "cg" ? !preconditioner.is_symmetric_map() : !preconditioner.is_fixed_linear_map();
      };
      return algebraic != nullptr    ? is_other(*algebraic)
             : relaxation != nullptr ? is_other(*relaxation)
                                     : multigrid != nullptr && is_other(*multigrid);
    }

    /** A relaxation as a preconditioner, with the iterations that the parameters ask for. */
    std::unique_ptr<PreconditionRelaxation> as_preconditioner_of(const LinearSolverParameters &parameters, LocalRelaxation &local)
    {
      return std::make_unique<PreconditionRelaxation>(*local.relaxation,
                                                      parameters.has_iterated_preconditioner() ? parameters.preconditioner_iterations : 1,
                                                      local.exchange,
                                                      local.order.old_row());
    }

    std::string krylov_details(const LocalRelaxation *local, const FieldsMultigrid *multigrid, const AlgebraicPreconditioner *algebraic)
    {
      return local != nullptr && local->omega.is_tau() ? local->omega.text()
             : multigrid != nullptr                    ? multigrid->details()
             : algebraic != nullptr                    ? algebraic->details()
                                                       : "";
    }

    class HostKrylovSolver : public LinearSolver::Implementation
    {
    public:
      HostKrylovSolver(
        const LinearSolverParameters &parameters_, const HostMatrix &A_, unsigned int n_components, LevelSource *levels, MPI_Comm comm_)
        : parameters(parameters_)
        , comm(comm_)
        , A(A_)
      {
        if (parameters.relaxation() != nullptr && !is_of_trilinos())
          {
            local      = std::make_unique<LocalRelaxation>(parameters, A, levels, comm);
            relaxation = as_preconditioner_of(parameters, *local);
          }
        else if (parameters.preconditioner == "multigrid")
          multigrid = std::make_unique<FieldsMultigrid>(parameters, A, n_components, *levels, comm);
        else if (parameters.is_algebraic())
          {
            algebraic = std::make_unique<AlgebraicPreconditioner>(parameters, A, n_components, comm);
            algebraic->update_values();
          }
        else
          {
            if (!is_of_trilinos() && parameters.preconditioner != "amg" && parameters.preconditioner != "none")
              throw Error("'Linear solver/Preconditioner' is " + parameters.preconditioner + ", which " + parameters.method +
                          " on the host knows nothing of\n  expected: none, " + joined(method_names(as_preconditioner)) +
                          ", ilu, ic, aggregation, amg or multigrid");
            if (parameters.preconditioner == "amg" && n_components > 1)
              fields_amg = std::make_unique<FieldsAmg>(A, n_components);
            update_values();
          }
      }

      void update_values() override
      {
        if (local != nullptr)
          local->update_values();
        else if (multigrid != nullptr)
          multigrid->update_values();
        else if (algebraic != nullptr)
          algebraic->update_values();
        else if (parameters.preconditioner == "jacobi")
          jacobi.initialize(A);
        else if (parameters.preconditioner == "ssor")
          ssor.initialize(A, parameters.omega);
        else if (fields_amg != nullptr)
          fields_amg->update_values();
        else if (parameters.preconditioner == "amg")
          {
            TrilinosWrappers::PreconditionAMG::AdditionalData data;
            data.elliptic              = true; // what ML has for other matrices needs a hundred times the iterations for the mass with a reaction
            data.higher_order_elements = false;
            amg.initialize(A, data);
          }
      }

      LinearSolveResult solve(HostVector &x, const HostVector &b, const LinearTarget &target) override
      {
        const auto run = [&](const auto &preconditioner) {
          return run_krylov(parameters, target, comm, memory, A, x, b, preconditioner, is_flexible());
        };
        LinearSolveResult result;
        if (relaxation != nullptr)
          result = run(*relaxation);
        else if (multigrid != nullptr)
          result = run(*multigrid);
        else if (algebraic != nullptr)
          result = run(*algebraic);
        else if (parameters.preconditioner == "jacobi")
          result = run(jacobi);
        else if (parameters.preconditioner == "ssor")
          result = run(ssor);
        else if (fields_amg != nullptr)
          result = run(*fields_amg);
        else if (parameters.preconditioner == "amg")
          result = run(amg);
        else
          result = run(PreconditionIdentity());
        if (!std::isfinite(result.final_residual))
          throw_breakdown(parameters);
        return result;
      }

      std::string description() const override
      {
        return krylov_description(parameters, local.get(), multigrid.get(), algebraic.get(), is_flexible());
      }
      std::string    details() const override { return krylov_details(local.get(), multigrid.get(), algebraic.get()); }
      nlohmann::json report() const override { return local != nullptr ? local->report() : nlohmann::json::object(); }

    private:
      /** Methods of the library that are taken from Trilinos here. */
      bool is_of_trilinos() const { return parameters.preconditioner == "jacobi" || parameters.preconditioner == "ssor"; }
      bool is_flexible() const
      {
        return needs_flexible(parameters, local != nullptr ? local->relaxation.get() : nullptr, multigrid.get(), algebraic.get());
      }

      const LinearSolverParameters            &parameters;
      MPI_Comm                                 comm;
      const HostMatrix                        &A;
      GrowingVectorMemory<HostVector>          memory;
      TrilinosWrappers::PreconditionJacobi     jacobi;
      TrilinosWrappers::PreconditionSSOR       ssor;
      TrilinosWrappers::PreconditionAMG        amg;
      std::unique_ptr<FieldsAmg>               fields_amg; ///< instead of amg, for several fields
      std::unique_ptr<LocalRelaxation>         local;
      std::unique_ptr<PreconditionRelaxation>  relaxation; ///< of local
      std::unique_ptr<FieldsMultigrid>         multigrid;
      std::unique_ptr<AlgebraicPreconditioner> algebraic;
    };

    class DeviceKrylovSolver : public LinearSolver::Implementation
    {
    public:
      DeviceKrylovSolver(
        const LinearSolverParameters &parameters_, const HostMatrix &A, unsigned int n_components, LevelSource *levels, MPI_Comm comm_)
        : parameters(parameters_)
        , comm(comm_)
        , local(parameters_, A, levels, comm)
        , matrix(local.local.matrix, local.exchange)
        , x_device(local.local.matrix.n_rows, &local.exchange)
        , b_device(local.local.matrix.n_rows, &local.exchange)
        , in_order(local.local.matrix.n_rows)
      {
        if (parameters.is_algebraic())
          {
            algebraic = std::make_unique<AlgebraicPreconditioner>(parameters, A, n_components, comm);
            algebraic->update_values();
          }
        if (local.relaxation != nullptr)
          relaxation = as_preconditioner_of(parameters, local);
        if (parameters.preconditioner == "multigrid")
          multigrid = std::make_unique<FieldsMultigrid>(parameters, A, n_components, *levels, comm);
      }

      void update_values() override
      {
        local.update_values();
        matrix.update_values(local.local.matrix.values.data());
        if (multigrid != nullptr)
          multigrid->update_values();
        if (algebraic != nullptr)
          algebraic->update_values();
      }

      LinearSolveResult solve(HostVector &x, const HostVector &b, const LinearTarget &target) override
      {
        for (const auto &[there, here] : {std::pair(&x_device, &std::as_const(x)), std::pair(&b_device, &b)})
          {
            local.order.take(*here, in_order.data());
            there->copy_from_host(in_order.data());
          }
        const auto run = [&](const auto &preconditioner) {
          return run_krylov(parameters, target, comm, memory, matrix, x_device, b_device, preconditioner, is_flexible());
        };
        const LinearSolveResult result = relaxation != nullptr  ? run(*relaxation)
                                         : multigrid != nullptr ? run(*multigrid)
                                         : algebraic != nullptr ? run(*algebraic)
                                                                : run(PreconditionIdentity());
        if (!std::isfinite(result.final_residual))
          throw_breakdown(parameters);
        x_device.copy_to_host(in_order.data());
        local.order.give(in_order.data(), x);
        return result;
      }

      std::string    description() const override { return krylov_description(parameters, &local, multigrid.get(), algebraic.get(), is_flexible()); }
      std::string    details() const override { return with_line(krylov_details(&local, multigrid.get(), algebraic.get()), local.ghosts()); }
      nlohmann::json report() const override { return local.report(); }

    private:
      bool is_flexible() const { return needs_flexible(parameters, local.relaxation.get(), multigrid.get(), algebraic.get()); }

      const LinearSolverParameters             &parameters;
      MPI_Comm                                  comm;
      LocalRelaxation                           local;
      DeviceOperator                            matrix;
      DeviceVector<double>                      x_device, b_device;
      std::vector<double>                       in_order; ///< host memory, on the way there and back
      GrowingVectorMemory<DeviceVector<double>> memory;
      std::unique_ptr<PreconditionRelaxation>   relaxation;
      std::unique_ptr<FieldsMultigrid>          multigrid;
      std::unique_ptr<AlgebraicPreconditioner>  algebraic;
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

      /** Where rounding has left more than the target allows, the residual is solved for as well. */
      LinearSolveResult solve(HostVector &x, const HostVector &b, const LinearTarget &target) override
      {
        const double      goal = target.relative_tolerance * b.l2_norm();
        HostVector        r(b), correction(b);
        LinearSolveResult result;
        x = 0.;
        for (result.converged = false; result.n_iterations < 2 && !result.converged; ++result.n_iterations)
          {
            apply_factors(correction, r);
            x.add(1., correction);
            A.residual(r, x, b);
            result.final_residual = r.l2_norm();
            if (!std::isfinite(result.final_residual))
              throw_singular();
            result.converged = target.relative_tolerance == 0. || reached(result.final_residual, goal);
          }
        return result;
      }

      std::string description() const override { return "sparse direct solver (Amesos KLU)"; }

    private:
      [[noreturn]] static void throw_singular()
      {
        throw ConvergenceFailure("the direct solver found a singular matrix\n  expected: a problem with a unique solution");
      }

      void apply_factors(HostVector &x, const HostVector &b)
      {
        try
          {
            if (!factorized)
              solver.initialize(A);
            factorized = true;
            solver.solve(x, b);
          }
        catch (const TrilinosWrappers::SolverDirect::ExcTrilinosError &)
          {
            throw_singular();
          }
      }

      const HostMatrix              &A;
      SolverControl                  control;
      TrilinosWrappers::SolverDirect solver;
      bool                           factorized = false;
    };
  } // namespace

  std::unique_ptr<LinearSolver::Implementation> make_host_krylov_solver(
    const LinearSolverParameters &parameters, const HostMatrix &A, unsigned int n_components, LevelSource *levels, MPI_Comm comm)
  {
    return std::make_unique<HostKrylovSolver>(parameters, A, n_components, levels, comm);
  }

  std::unique_ptr<LinearSolver::Implementation> make_device_krylov_solver(
    const LinearSolverParameters &parameters, const HostMatrix &A, unsigned int n_components, LevelSource *levels, MPI_Comm comm)
  {
    return std::make_unique<DeviceKrylovSolver>(parameters, A, n_components, levels, comm);
  }

  std::unique_ptr<LinearSolver::Implementation> make_direct_solver(const HostMatrix &A)
  {
    return std::make_unique<DirectSolver>(A);
  }
} // namespace leopard
