// SPDX-License-Identifier: Apache-2.0
#include "cg_coarse_solver.h"

#include "../base/errors.h"
#include "precondition_relaxation.h"

#include <deal.II/lac/precondition.h>
#include <deal.II/lac/solver_cg.h>
#include <deal.II/lac/solver_control.h>
#include <deal.II/lac/vector.h>
#include <deal.II/lac/vector_memory.templates.h>

#include <algorithm>

namespace leopard
{
  using namespace dealii;

  namespace
  {
    /** Runs CG; the same code for host and device vectors. */
    template <typename VectorType, typename Operator>
    void run(VectorMemory<VectorType> &memory, const Operator &A, VectorType &x, const VectorType &b, double tolerance)
    {
      x                    = 0.;
      const double  norm_b = b.l2_norm();
      const auto    limit  = 10 * static_cast<unsigned int>(std::min<std::size_t>(b.size(), 1000000)) + 1000;
      SolverControl control(limit, std::max(tolerance * norm_b, std::numeric_limits<double>::min()), false, false);
      if (norm_b == 0.)
        return;
      try
        {
          SolverCG<VectorType>(control, memory).solve(A, x, b, PreconditionIdentity());
        }
      catch (const SolverControl::NoConvergence &)
        {
          throw ConvergenceFailure("the coarse solver CG has not reached the tolerance " + std::to_string(tolerance) + " in " +
                                   std::to_string(control.last_step()) + " iterations: the residual went from " + std::to_string(norm_b) + " to " +
                                   std::to_string(control.last_value()) +
                                   "\n  expected: a symmetric positive definite coarse matrix; to try: another coarse solver, more levels");
        }
    }

    class HostCg : public CoarseSolver
    {
    public:
      HostCg(const CrsMatrix &A, double tolerance_)
        : matrix{A}
        , tolerance(tolerance_)
        , x_vector(A.n_rows)
        , b_vector(A.n_rows)
      {
      }

      std::string name() const override { return "CG"; }

      void solve(double *x, const double *b) override
      {
        std::copy_n(b, b_vector.size(), b_vector.begin());
        run(memory, matrix, x_vector, b_vector, tolerance);
        std::copy_n(x_vector.begin(), x_vector.size(), x);
      }

    private:
      struct Operator
      {
        CrsMatrix matrix;
        void      vmult(Vector<double> &y, const Vector<double> &x) const { multiply(matrix, x.begin(), y.begin()); }
      };

      const Operator                      matrix;
      const double                        tolerance;
      Vector<double>                      x_vector, b_vector;
      GrowingVectorMemory<Vector<double>> memory;
    };

    class DeviceCg : public CoarseSolver
    {
    public:
      DeviceCg(const CrsMatrix &A, double tolerance_)
        : matrix(A, one_rank)
        , tolerance(tolerance_)
        , x_vector(A.n_rows)
        , b_vector(A.n_rows)
      {
      }

      std::string name() const override { return "CG"; }

      void solve(double *x, const double *b) override
      {
        const std::size_t n_bytes = b_vector.size() * sizeof(double);
        device::copy_on_device(b_vector.data(), b, n_bytes);
        run(memory, matrix, x_vector, b_vector, tolerance);
        device::copy_on_device(x, x_vector.data(), n_bytes);
      }

    private:
      const Communication                       one_rank;
      const DeviceOperator                      matrix;
      const double                              tolerance;
      DeviceVector<double>                      x_vector, b_vector;
      GrowingVectorMemory<DeviceVector<double>> memory;
    };
  } // namespace

  std::unique_ptr<CoarseSolver> make_cg_coarse_solver(const CrsMatrix &A, Backend backend, double tolerance)
  {
    A.validate();
    if (A.n_columns != A.n_rows)
      throw InvalidInput("the coarse solver CG: a matrix of " + std::to_string(A.n_rows) + " x " + std::to_string(A.n_columns) +
                         "\n  expected: a square one, on one rank");
    if (!(tolerance > 0. && tolerance < 1.))
      throw InvalidInput("the coarse solver CG: the tolerance is " + std::to_string(tolerance) + "\n  expected: a number between 0 and 1");
    if (backend == Backend::cuda)
      return std::make_unique<DeviceCg>(A, tolerance);
    return std::make_unique<HostCg>(A, tolerance);
  }
} // namespace leopard
