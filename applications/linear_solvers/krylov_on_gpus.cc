// SPDX-License-Identifier: Apache-2.0
#include "implementation.h"

#include <applications/base/stop_signal.h>
#include <solvers/base/errors.h>
#include <solvers/distributed/gpus/krylov_of_parts.h>
#include <solvers/triangular/incomplete_preconditioner.h>

#include <algorithm>
#include <cmath>

namespace leopard
{
  using namespace dealii;

  namespace
  {
    /**
     * cg or gmres of one rank whose rows several GPUs share out, a thread each; on the host backends, for tests,
     * threads with a part of the rows each. Each part has a preconditioner of its own rows.
     */
    class KrylovOnGpus : public LinearSolver::Implementation
    {
    public:
      KrylovOnGpus(const LinearSolverParameters &parameters_, const HostMatrix &A_, const LevelSource *levels, MPI_Comm comm_)
        : parameters(parameters_)
        , A(A_)
        , comm(comm_)
        , matrix(local_matrix(A_).matrix)
        , order(parameters_, matrix, levels)
        , omega(parameters_, order.options().omega, matrix, alone, comm_)
        , host_x(matrix.n_rows)
        , host_b(matrix.n_rows)
      {
        if (!parameters.shares_out_rows())
          throw Error("'Linear solver/GPUs' is " + std::to_string(parameters.n_gpus) + ", and the linear solver is " + parameters.name() +
                      "\n  expected: a preconditioner that each GPU can make of its own rows");
        for_these_values([this] { krylov = make_method(); });
      }

      void update_values() override
      {
        order.take_values(local_values(A), matrix);
        omega.update();
        for_these_values([this] { krylov->update_values(matrix.values.data()); });
      }

      LinearSolveResult solve(HostVector &x, const HostVector &b, const LinearTarget &target) override
      {
        if (b.l2_norm() == 0.) // nothing that a residual could be small against
          {
            x = 0.;
            return LinearSolveResult();
          }
        KrylovLimits limits;
        limits.tolerance      = std::min(target.relative_tolerance, std::nextafter(1., 0.));
        limits.max_iterations = target.max_iterations;
        order.take(x, host_x.data());
        order.take(b, host_b.data());
        const KrylovResult found = krylov->solve(host_x.data(), host_b.data(), limits);
        throw_if_stop_requested(comm);
        if (found.reason == KrylovReason::not_finite || !std::isfinite(found.residual))
          throw_breakdown(parameters);
        order.give(host_x.data(), x);
        return summary(found, target);
      }

      std::string description() const override
      {
        std::string text = (is_flexible ? "flexible " : "") + krylov->name();
        if (parameters.preconditioner == "none")
          return text + " without preconditioner";
        if (!parameters.has_factors() && parameters.has_iterated_preconditioner())
          text += " with " + std::to_string(parameters.preconditioner_iterations) + " iterations of " +
                  relaxation_description(parameters, omega, order.options(), of_first);
        else
          text += " with preconditioner " + of_first;
        return text + " (each of its own rows)";
      }
      std::string    details() const override { return omega.text(); }
      nlohmann::json report() const override { return omega.report(); }

    private:
      /** f(), whose complaints about the matrix name the entries that ask for it. @throws Error. */
      template <typename Function>
      void for_these_values(const Function &f) const
      {
        try
          {
            f();
          }
        catch (const InvalidInput &error)
          {
            throw Error("'Linear solver/GPUs' is " + std::to_string(parameters.n_gpus) + ", and the linear solver is " + parameters.name() + ": " +
                        error.what());
          }
      }

      std::unique_ptr<KrylovSolver<double>> make_method()
      {
        PartsOptions parts;
        parts.n_parts       = parameters.n_gpus;
        parts.devices       = parameters.several_gpus().devices;
        parts.block_offsets = order.options().block_offsets;
        KrylovOptions options;
        options.backend        = parameters.block_async.backend;
        options.n_threads      = parameters.block_async.n_threads;
        options.max_iterations = parameters.max_iterations;
        options.keep_history   = true; // from which recent_rate() is found
        const auto make        = [this](const CrsMatrix<double> &own, const RowPart &part, int rank) {
          PartPreconditioner<double> result = parameters.has_factors() ? make_factors(own) : make_relaxation(own, part);
          if (rank == 0 && result.preconditioner != nullptr)
            {
              const auto *factors = dynamic_cast<const IncompletePreconditioner<double> *>(result.preconditioner.get());
              of_first            = factors != nullptr ? factors->description() : result.preconditioner->name();
              is_flexible         = parameters.method == "cg" && !result.preconditioner->is_symmetric_map();
            }
          return result;
        };
        return parameters.method == "cg" ? make_cg<double>(matrix, CgOptions{options}, parts, make)
                                         : make_fgmres<double>(matrix, FgmresOptions{options, parameters.restart}, parts, make);
      }

      int n_threads_of_part() const { return std::max(1, parameters.block_async.n_threads / parameters.n_gpus); }

      PartPreconditioner<double> make_factors(const CrsMatrix<double> &own) const
      {
        IncompleteOptions options            = parameters.incomplete_options();
        options.solves.block_async.n_threads = n_threads_of_part();
        const auto factors                   = make_incomplete_preconditioner<double>(own, options);
        return {factors, [factors](const double *values) { factors->update_values(values); }};
      }

      PartPreconditioner<double> make_relaxation(const CrsMatrix<double> &own, const RowPart &part) const
      {
        const Method *method = parameters.relaxation();
        if (method == nullptr)
          return {};
        BlockAsyncOptions blocks = order.options();
        blocks.n_threads         = n_threads_of_part();
        if (!blocks.block_offsets.empty())
          blocks.block_offsets = block_offsets_of(part, order.options().block_offsets);
        MethodOptions options                                  = method_options(parameters, omega, blocks, own, alone);
        options.chebyshev.n_threads                            = blocks.n_threads;
        const std::shared_ptr<Relaxation<double>> relaxation   = method->make(own, options);
        const int                                 n_iterations = parameters.has_iterated_preconditioner() ? parameters.preconditioner_iterations : 1;
        return {make_preconditioner<double>(relaxation, n_iterations), [this, relaxation](const double *values) {
                  if (omega.is_tau())
                    relaxation->set_omega(omega.value());
                  relaxation->update_values(values);
                }};
      }

      static LinearSolveResult summary(const KrylovResult &found, const LinearTarget &target)
      {
        LinearSolveResult result;
        result.n_iterations       = found.n_iterations;
        result.final_residual     = found.residual;
        result.converged          = found.converged || target.relative_tolerance == 0.; // then it does what it was given
        result.rate               = recent_rate(found.history);
        result.negative_curvature = found.reason == KrylovReason::indefinite || found.reason == KrylovReason::indefinite_preconditioner;
        result.stagnated          = found.reason == KrylovReason::stagnated || found.reason == KrylovReason::breakdown;
        return result;
      }

      const LinearSolverParameters         &parameters;
      const HostMatrix                     &A;
      const MPI_Comm                        comm;
      Communication<double>                 alone; ///< there is one rank
      CrsMatrix<double>                     matrix;
      const BlockOrder                      order;
      ChosenOmega                           omega;
      std::vector<double>                   host_x, host_b;      ///< in the order of blocks
      std::string                           of_first;            ///< what is said of the first part's preconditioner
      bool                                  is_flexible = false; ///< the method has to bear a preconditioner that is not symmetric
      std::unique_ptr<KrylovSolver<double>> krylov;
    };
  } // namespace

  std::unique_ptr<LinearSolver::Implementation>
  make_krylov_on_gpus(const LinearSolverParameters &parameters, const HostMatrix &A, const LevelSource *levels, MPI_Comm comm)
  {
    return std::make_unique<KrylovOnGpus>(parameters, A, levels, comm);
  }
} // namespace leopard
