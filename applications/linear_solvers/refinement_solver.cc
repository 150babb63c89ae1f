// SPDX-License-Identifier: Apache-2.0
#include "field_multigrid.h"
#include "implementation.h"

#include <applications/base/collective.h>
#include <applications/base/log.h>
#include <applications/base/stop_signal.h>
#include <solvers/base/errors.h>
#include <solvers/dealii/index_sets.h>
#include <solvers/device/device_vector.h>
#include <solvers/krylov/krylov_over_ranks.h>
#include <solvers/matrix/own_columns.h>
#include <solvers/refinement/mixed_multigrid.h>
#include <solvers/refinement/over_ranks.h>
#include <solvers/refinement/refinement.h>
#include <solvers/triangular/incomplete_preconditioner.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace leopard
{
  namespace
  {
    /**
     * f(), whose complaints about a matrix in single precision name the entry that asks for it, on all ranks. What f()
     * does together with other ranks it does before anything can fail on this one alone.
     */
    template <typename Function>
    void in_single_precision(MPI_Comm comm, const Function &f)
    {
      std::string refusal;
      try
        {
          f();
        }
      catch (const InvalidInput &error)
        {
          refusal = std::string(error.what()) + "\n  'Linear solver/Precision' is mixed; double may do";
        }
      throw_if_any_failed(refusal, comm);
    }

    /** A cycle for each field. */
    class CyclesInSingle : public Preconditioner<float>
    {
    public:
      CyclesInSingle(const FieldsMultigrid &cycles_, int n_rows_, MemorySpace space_)
        : cycles(cycles_)
        , rows(n_rows_)
        , space(space_)
      {
      }

      std::string name() const override { return "multigrid"; }
      int         n_rows() const override { return rows; }
      MemorySpace memory_space() const override { return space; }
      bool        is_fixed_linear_map() const override { return cycles.is_fixed_linear_map(); }
      bool        is_symmetric_map() const override { return cycles.is_symmetric_map(); }
      bool        is_queued() const override { return false; }
      void        apply(float *z, const float *r) override { cycles.vmult(z, r); }

    private:
      const FieldsMultigrid &cycles;
      const int              rows;
      const MemorySpace      space;
    };

    /** A Krylov method in single precision with its preconditioner. */
    class KrylovInSingle
    {
    public:
      /**
       * @param A with ghosts on several ranks. @param of_relaxation for one that preconditions. @param cycles for
       * multigrid, which must outlive this; else null. @throws InvalidInput.
       */
      KrylovInSingle(const LinearSolverParameters               &parameters,
                     const CrsMatrix<float>                     &A,
                     const MethodOptions                        &of_relaxation,
                     const FieldsMultigrid                      *cycles,
                     std::shared_ptr<const Communication<float>> ghosts)
      {
        const BlockAsyncOptions               &async = parameters.block_async;
        std::shared_ptr<Preconditioner<float>> preconditioner;
        if (cycles != nullptr)
          preconditioner =
            std::make_shared<CyclesInSingle>(*cycles, A.n_rows, async.backend == Backend::cuda ? MemorySpace::device : MemorySpace::host);
        else if (parameters.has_factors())
          preconditioner = factors = make_incomplete_preconditioner<float>(own_columns(A, &own_entries), parameters.incomplete_options());
        else if (parameters.relaxation() != nullptr)
          {
            relaxation = parameters.relaxation()->make(A, of_relaxation);
            preconditioner =
              make_preconditioner<float>(relaxation, parameters.has_iterated_preconditioner() ? parameters.preconditioner_iterations : 1, ghosts);
          }
        KrylovOptions options;
        options.backend        = async.backend;
        options.n_threads      = async.n_threads;
        options.max_iterations = parameters.max_iterations;
        options.tolerance = tolerance_of_corrections(parameters.values_change ? usual_forcing : std::max(smallest, parameters.relative_tolerance));
        const CgOptions     cg{options};
        const FgmresOptions fgmres{options, parameters.restart};
        if (ghosts->is_distributed())
          krylov = parameters.method == "cg" ? make_cg<float>(A, cg, preconditioner, ghosts) : make_fgmres<float>(A, fgmres, preconditioner, ghosts);
        else
          krylov = parameters.method == "cg" ? make_cg<float>(A, cg, preconditioner) : make_fgmres<float>(A, fgmres, preconditioner);
        text = krylov->name() + " in single precision" +
               (cycles != nullptr           ? " with " + cycles->description()
                : factors != nullptr        ? " with preconditioner " + parameters.preconditioner + ": " + factors->description()
                : preconditioner != nullptr ? " with " + preconditioner->name()
                                            : " without preconditioner");
      }

      void update_values(const float *values)
      {
        if (factors != nullptr)
          {
            std::vector<float> own;
            for (const int entry : own_entries)
              own.push_back(values[entry]);
            factors->update_values(own.data());
          }
        if (relaxation != nullptr)
          relaxation->update_values(values);
        krylov->update_values(values);
      }

      std::unique_ptr<InnerSolver<float>> inner_solver() const { return make_inner_solver(krylov); }
      Relaxation<float>                  *preconditioning() const { return relaxation.get(); }
      std::string                         description() const { return text; }

    private:
      static constexpr double usual_forcing = 1e-3;  ///< what Newton's method and time steps ask for, about
      static constexpr double smallest      = 1e-15; ///< tolerance of double precision

      std::shared_ptr<IncompletePreconditioner<float>> factors;
      std::vector<int>                                 own_entries; ///< of A, those that factors have
      std::shared_ptr<Relaxation<float>>               relaxation;
      std::shared_ptr<KrylovSolver<float>>             krylov;
      std::string                                      text;
    };

    /** Residual and solution in double, a relaxation, a Krylov method or multigrid cycles in single precision. */
    class RefinementSolver : public LinearSolver::Implementation
    {
    public:
      RefinementSolver(
        const LinearSolverParameters &parameters_, const HostMatrix &A_, unsigned int n_components, LevelSource *levels, MPI_Comm comm_)
        : parameters(parameters_)
        , A(A_)
        , comm(comm_)
        , local(local_matrix(A_))
        , matrix(local.matrix)
        , order(parameters_, matrix, levels)
        , exchange(std::make_shared<GhostExchange<double>>(own_range(local.owned, comm_), numbers_of(local.ghosts), comm_, order.old_row()))
        , omega(parameters_, order.options().omega, matrix, *exchange, comm_)
        , host_x(matrix.n_rows)
        , host_b(matrix.n_rows)
      {
        in_single_precision(comm, [&] {
          if (parameters.method == "multigrid")
            {
              multigrid = std::make_unique<FieldMultigrid>(parameters, A, Field(), *levels, comm);
              set_multigrid();
              return;
            }
          if (parameters.is_krylov() && parameters.uses_multigrid())
            cycles = std::make_unique<FieldsMultigrid>(parameters, A, n_components, *levels, comm, Arithmetic::single_precision);
          const std::vector<double>                         scale  = scale_of_matrix();
          const std::shared_ptr<const Communication<float>> ghosts = exchange->in_single();
          const MethodOptions                               options =
            parameters.relaxation() == nullptr ? MethodOptions() : method_options(parameters, omega, order.options(), matrix, *exchange);
          const ScaledMatrix<float> low = scaled_to<float>(matrix, scale);
          if (parameters.is_krylov())
            {
              krylov = std::make_unique<KrylovInSingle>(parameters, low.matrix, options, cycles.get(), ghosts);
              set_refinement(low.scale, krylov->inner_solver());
              return;
            }
          relaxation = parameters.relaxation()->make(low.matrix, options);
          set_refinement(low.scale, make_inner_solver(relaxation, ghosts));
        });
        if (refinement->memory_space() == MemorySpace::device)
          {
            exchange->is_queued(MemorySpace::device); // made here, and not in the first solve
            device_x.reinit(matrix.n_rows);
            device_b.reinit(matrix.n_rows);
          }
      }

      void update_values() override
      {
        order.take_values(local_values(A), matrix);
        omega.update();
        in_single_precision(comm, [&] {
          if (multigrid != nullptr)
            {
              if (multigrid->update_values())
                refinement->outer_system().update_values(matrix, scale_of_cycles());
              else
                set_multigrid();
              return;
            }
          if (cycles != nullptr)
            cycles->update_values();
          const ScaledMatrix<float> low = scaled_to<float>(matrix, scale_of_matrix());
          if (Relaxation<float> *const one = krylov != nullptr ? krylov->preconditioning() : relaxation.get(); omega.is_tau() && one != nullptr)
            one->set_omega(omega.value());
          if (krylov != nullptr)
            krylov->update_values(low.matrix.values.data());
          else
            relaxation->update_values(low.matrix.values.data());
          refinement->outer_system().update_values(matrix, low.scale);
        });
      }

      LinearSolveResult solve(HostVector &x, const HostVector &b, const LinearTarget &target) override
      {
        RefinementOptions options;
        options.tolerance        = std::min(target.relative_tolerance, std::nextafter(1., 0.));
        options.inner_iterations = multigrid == nullptr ? 0 : cycles_a_correction(refinement->memory_space());
        options.max_iterations = options.max_corrections = target.max_iterations;
        options.goes_on_if_slow                          = !parameters.goes_on_in_double(); // which is faster then
        options.asked_to_stop                            = [this] { return stop_requested(comm); };
        refinement->set_options(options);

        order.take(x, host_x.data());
        order.take(b, host_b.data());
        RefinementResult found;
        if (refinement->memory_space() == MemorySpace::device)
          {
            device_x.copy_from_host(host_x.data());
            device_b.copy_from_host(host_b.data());
            found = refinement->solve(device_x.data(), device_b.data());
            device_x.copy_to_host(host_x.data());
          }
        else
          found = refinement->solve(host_x.data(), host_b.data());
        order.give(host_x.data(), x);
        if (found.reason == RefinementReason::stopped)
          throw_if_stop_requested(comm);
        if (found.reason == RefinementReason::no_progress || found.reason == RefinementReason::not_finite || !std::isfinite(found.residual))
          report_failure(found);
        return summary(found, target);
      }

      std::string description() const override
      {
        return "refinement with " + (multigrid != nullptr ? multigrid->description()
                                     : krylov != nullptr
                                       ? krylov->description()
                                       : relaxation_description(parameters, omega, order.options(), relaxation->name() + " in single precision"));
      }

      std::string details() const override
      {
        const std::string text = multigrid != nullptr ? multigrid->details()
                                 : cycles != nullptr  ? cycles->details()
                                 : krylov != nullptr  ? omega.text()
                                                      : omega_details(parameters, omega, matrix, comm);
        return with_line(text, ghosts_text(*exchange, parameters));
      }
      nlohmann::json report() const override { return omega.report(); }

    private:
      void set_refinement(const std::vector<double> &scale, std::unique_ptr<InnerSolver<float>> inner)
      {
        auto system = make_outer_system<float>(matrix, scale, parameters.block_async.backend, parameters.block_async.n_threads);
        refinement =
          std::make_unique<Refinement<float>>(over_ranks(std::move(system), matrix.n_columns, exchange), std::move(inner), RefinementOptions());
      }

      /** Of all rows and ghosts, empty for ones; cycles that precondition have it. Collective. */
      std::vector<double> scale_of_matrix() const
      {
        if (cycles == nullptr)
          return scale_over_ranks(matrix, *exchange);
        const std::vector<double> weights = cycles->weights(); // of the fields, whose unknowns are interleaved
        std::vector<double>       scale;
        for (int i = 0; i < matrix.n_columns && weights != std::vector<double>(weights.size(), 1.); ++i)
          scale.push_back(std::sqrt(weights[static_cast<std::size_t>(i) % weights.size()]));
        return scale;
      }

      /** One number for all rows and ghosts; empty for 1. */
      std::vector<double> scale_of_cycles() const { return scale_of_weight(multigrid->preconditioner().weight(), matrix.n_columns); }

      /** New values may have made another multigrid. */
      void set_multigrid() { set_refinement(scale_of_cycles(), multigrid->preconditioner().inner_solver()); }

      LinearSolveResult summary(const RefinementResult &found, const LinearTarget &target) const
      {
        LinearSolveResult result;
        result.n_iterations    = found.n_iterations;
        result.n_corrections   = found.n_corrections;
        result.has_momentum    = found.has_momentum;
        result.final_residual  = found.residual;
        result.converged       = found.converged() || target.relative_tolerance == 0.;
        result.at_rounding     = found.reason == RefinementReason::rounding;
        result.ill_conditioned = found.reason == RefinementReason::ill_conditioned;
        result.stagnated       = result.at_rounding || result.ill_conditioned;
        if (found.n_iterations > 0 && found.history.front() > 0.)
          result.rate = std::pow(found.residual / found.history.front(), 1. / found.n_iterations);
        const std::size_t last = found.history.size() - 1, half = last / 2;
        if (multigrid != nullptr && last > half && found.history[half] > 0.)
          {
            const double cycles       = std::accumulate(found.inner_iterations.begin() + static_cast<std::ptrdiff_t>(half),
                                                  found.inner_iterations.begin() + static_cast<std::ptrdiff_t>(last),
                                                  0.);
            result.convergence_factor = std::pow(found.history[last] / found.history[half], 1. / cycles);
          }
        return result;
      }

      [[noreturn]] void report_failure(const RefinementResult &found)
      {
        if (found.reason == RefinementReason::not_finite)
          throw FailureInSingle(found.n_iterations,
                                "the linear solver " + description() +
                                  " broke down: its residual is not finite\n  to try: 'Linear solver/Precision' = double, a smaller time step");
        const std::string diagnosis = multigrid != nullptr ? multigrid->preconditioner().diagnosis()
                                      : krylov != nullptr  ? "the method does not solve the equations of a correction, in single precision"
                                                           : why_it_diverges(matrix, comm);
        Progress          progress{found.n_iterations, found.history.front(), found.residual};
        progress.rate = std::numeric_limits<double>::infinity();
        throw FailureInSingle(found.n_iterations,
                              "the linear solver " + description() + (krylov != nullptr ? " does not get on" : " diverges") + ": after " +
                                std::to_string(found.n_corrections) + " corrections, " + std::to_string(found.n_iterations) +
                                (multigrid != nullptr ? " cycles" : " iterations") + ", the residual went from " +
                                format("%.3e", found.history.front()) + " to " + format("%.3e", found.residual) +
                                ", and another correction makes it larger" + (diagnosis.empty() ? "" : "\n  " + diagnosis) +
                                "\n  to try: " + advice(progress, parameters, "'Linear solver/Precision' = double"));
      }

      const LinearSolverParameters                      &parameters;
      const HostMatrix                                  &A;
      MPI_Comm                                           comm;
      LocalMatrix                                        local;
      CrsMatrix<double>                                 &matrix; ///< the rank's rows of A, with the values of now, in this order
      const BlockOrder                                   order;
      const std::shared_ptr<const GhostExchange<double>> exchange;
      ChosenOmega                                        omega;
      std::vector<double>                                host_x, host_b; ///< likewise
      std::shared_ptr<Relaxation<float>>                 relaxation;     ///< or
      std::unique_ptr<FieldsMultigrid>                   cycles;         ///< of krylov, if they precondition
      std::unique_ptr<KrylovInSingle>                    krylov;         ///< or
      std::unique_ptr<FieldMultigrid>                    multigrid;
      std::unique_ptr<Refinement<float>>                 refinement;
      DeviceVector<double>                               device_x, device_b;
    };
  } // namespace

  std::unique_ptr<LinearSolver::Implementation>
  make_refinement_solver(const LinearSolverParameters &parameters, const HostMatrix &A, unsigned int n_components, LevelSource *levels, MPI_Comm comm)
  {
    return std::make_unique<RefinementSolver>(parameters, A, n_components, levels, comm);
  }
} // namespace leopard
