// SPDX-License-Identifier: Apache-2.0
#include "krylov_coarse_solver.h"

#include "../base/errors.h"
#include "../base/words.h"
#include "../distributed/mpi/global_numbers.h"
#include "precondition_relaxation.h"
#include "trilinos_matrix.h"

#include <deal.II/lac/dynamic_sparsity_pattern.h>
#include <deal.II/lac/precondition.h>
#include <deal.II/lac/solver_cg.h>
#include <deal.II/lac/solver_control.h>
#include <deal.II/lac/trilinos_precondition.h>
#include <deal.II/lac/vector_memory.templates.h>

#include <algorithm>
#include <limits>

namespace leopard
{
  using namespace dealii;

  namespace
  {
    /** Solves from x = 0. */
    template <typename Vector, typename Operator, typename Preconditioner>
    void run_cg(const KrylovCoarseOptions &options,
                VectorMemory<Vector>      &memory,
                const Operator            &A,
                Vector                    &x,
                const Vector              &b,
                const Preconditioner      &preconditioner)
    {
      const double norm = b.l2_norm();
      x                 = 0.;
      if (norm == 0.)
        return;
      SolverControl control(options.max_iterations, std::max(options.relative_tolerance * norm, std::numeric_limits<double>::min()), false, false);
      try
        {
          SolverCG<Vector>(control, memory).solve(A, x, b, preconditioner);
        }
      catch (const SolverControl::NoConvergence &)
        {
          throw ConvergenceFailure("multigrid: the coarse solver CG has reduced the residual of the coarsest level by the factor " +
                                   short_text(control.last_value() / norm) + " in " + std::to_string(control.last_step()) +
                                   " iterations, and not by " + short_text(options.relative_tolerance) +
                                   "\n  to try: the coarse solver dense, direct or amg, or more levels");
        }
    }

    /** Puts the values of A, whose pattern the matrix has, into it. */
    void set_values(HostMatrix &matrix, const CrsMatrix<double> &A, const GlobalNumbers &numbers)
    {
      for (int i = 0; i < A.n_rows; ++i)
        for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
          matrix.set(numbers.own.first() + i, numbers.of_column[A.columns[p]], A.values[p]);
      matrix.compress(VectorOperation::insert);
    }

    /** A level's matrix as Trilinos wants it. */
    HostMatrix trilinos_matrix(const CrsMatrix<double> &A, const GlobalNumbers &numbers, MPI_Comm comm)
    {
      IndexSet owned(numbers.n());
      owned.add_range(numbers.own.first(), numbers.own.first() + A.n_rows);
      DynamicSparsityPattern pattern(numbers.n(), numbers.n(), owned);
      for (int i = 0; i < A.n_rows; ++i)
        for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
          pattern.add(numbers.own.first() + i, numbers.of_column[A.columns[p]]);
      HostMatrix matrix;
      matrix.reinit(owned, owned, pattern, comm, false);
      set_values(matrix, A, numbers);
      return matrix;
    }

    class HostCoarseSolver : public CoarseSolver<double>
    {
    public:
      HostCoarseSolver(bool use_amg, const MultigridLevel &level, MemorySpace space_, MPI_Comm comm, const KrylovCoarseOptions &options_)
        : options(options_)
        , space(space_)
        , communication(level.communication)
        , numbers(level.matrix, communication.get(), comm)
        , A(trilinos_matrix(level.matrix, numbers, comm))
        , b_vector(A.locally_owned_range_indices(), comm)
        , x_vector(b_vector)
        , host_x(level.matrix.n_columns)
      {
        if (use_amg)
          set_up_amg();
      }

      std::string name() const override
      {
        return std::string(amg == nullptr ? "CG" : "CG with AMG (Trilinos ML)") + (space == MemorySpace::device ? ", on the host" : "");
      }

      bool is_fixed_linear_map() const override { return false; }

      void update(const CrsMatrix<double> &values, bool /*singular*/) override
      {
        set_values(A, values, numbers);
        if (amg != nullptr)
          set_up_amg();
      }

      void solve(double *x, const double *b) override
      {
        const std::size_t n = b_vector.locally_owned_size();
        if (space == MemorySpace::device)
          device::copy_to_host(b_vector.begin(), b, n * sizeof(double));
        else
          std::copy_n(b, n, b_vector.begin());
        if (amg != nullptr)
          run_cg(options, memory, A, x_vector, b_vector, *amg);
        else
          run_cg(options, memory, A, x_vector, b_vector, PreconditionIdentity());
        double *own = space == MemorySpace::device ? host_x.data() : x;
        std::copy_n(x_vector.begin(), n, own);
        if (communication != nullptr)
          communication->update_ghosts(own, MemorySpace::host);
        if (space == MemorySpace::device)
          device::copy_to_device(x, host_x.data(), host_x.size() * sizeof(double));
      }

    private:
      /** Anew for other values, too: ML's way of keeping the aggregates has led to cycles that did not contract. */
      void set_up_amg()
      {
        amg = std::make_unique<TrilinosWrappers::PreconditionAMG>();
        TrilinosWrappers::PreconditionAMG::AdditionalData data;
        data.elliptic    = true;
        data.coarse_type = "symmetric Gauss-Seidel"; // bears semidefinite problems
        amg->initialize(A, data);
      }

      const KrylovCoarseOptions                          options;
      const MemorySpace                                  space;
      const std::shared_ptr<const Communication<double>> communication;
      const GlobalNumbers                                numbers;
      HostMatrix                                         A;
      HostVector                                         b_vector, x_vector;
      std::vector<double>                                host_x; ///< with ghosts
      GrowingVectorMemory<HostVector>                    memory;
      std::unique_ptr<TrilinosWrappers::PreconditionAMG> amg;
    };

    class DeviceCoarseSolver : public CoarseSolver<double>
    {
    public:
      DeviceCoarseSolver(const MultigridLevel &level, const KrylovCoarseOptions &options_)
        : options(options_)
        , communication(level.communication != nullptr ? level.communication : std::make_shared<const Communication<double>>())
        , A(level.matrix, *communication)
        , x_vector(level.matrix.n_rows, communication.get())
        , b_vector(level.matrix.n_rows, communication.get())
      {
      }

      std::string name() const override { return "CG"; }
      bool        is_fixed_linear_map() const override { return false; }
      void        update(const CrsMatrix<double> &values, bool /*singular*/) override { A.update_values(values.values.data()); }

      void solve(double *x, const double *b) override
      {
        const std::size_t n_bytes = b_vector.size() * sizeof(double);
        device::copy_on_device(b_vector.data(), b, n_bytes);
        run_cg(options, memory, A, x_vector, b_vector, PreconditionIdentity());
        device::copy_on_device(x, x_vector.data(), n_bytes);
        communication->update_ghosts(x, MemorySpace::device);
      }

    private:
      const KrylovCoarseOptions                          options;
      const std::shared_ptr<const Communication<double>> communication;
      DeviceOperator                                     A;
      DeviceVector<double>                               x_vector, b_vector;
      GrowingVectorMemory<DeviceVector<double>>          memory;
    };
  } // namespace

  std::unique_ptr<CoarseSolver<double>>
  make_krylov_coarse_solver(const std::string &name, const MultigridLevel &level, Backend backend, MPI_Comm comm, const KrylovCoarseOptions &options)
  {
    if (name != "cg" && name != "amg")
      throw InvalidInput("multigrid: there is no Krylov coarse solver '" + name + "'\n  expected: cg or amg");
    if (name == "cg" && backend == Backend::cuda)
      return std::make_unique<DeviceCoarseSolver>(level, options);
    return std::make_unique<HostCoarseSolver>(
      name == "amg", level, backend == Backend::cuda ? MemorySpace::device : MemorySpace::host, comm, options);
  }
} // namespace leopard
