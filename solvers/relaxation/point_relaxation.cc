// SPDX-License-Identifier: Apache-2.0
#include "point_relaxation.h"

#include "../base/errors.h"
#include "../block_async/block_async.h"
#include "../matrix/crs_matrix.h"

#include <algorithm>
#include <cmath>

namespace leopard
{
  namespace
  {
    std::string method_name(PointMethod method)
    {
      switch (method)
        {
          case PointMethod::jacobi:
            return "Jacobi";
          case PointMethod::gauss_seidel:
            return "Gauss-Seidel";
          case PointMethod::sor:
            return "SOR";
          case PointMethod::ssor:
            return "SSOR";
        }
      return "unknown";
    }

    class HostPointRelaxation : public Relaxation
    {
    public:
      HostPointRelaxation(const CrsMatrix &A_, const PointRelaxationOptions &options_)
        : A(A_)
        , options(options_)
        , diagonal_entry(A_.n_rows)
        , inverse_diagonal(A_.n_rows)
        , new_x(options_.method == PointMethod::jacobi ? A_.n_rows : 0)
      {
        A.validate();
        for (int i = 0; i < A.n_rows; ++i)
          for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
            if (A.columns[p] == i)
              diagonal_entry[i] = p;
        invert_diagonal();
      }

      std::string name() const override { return method_name(options.method); }
      int         n_rows() const override { return A.n_rows; }
      int         n_columns() const override { return A.n_columns; }
      MemorySpace memory_space() const override { return MemorySpace::host; }
      bool        is_fixed_linear_map() const override { return true; }

      void iterate(double *x, const double *b, int n_iterations) override
      {
        for (int n = 0; n < n_iterations; ++n)
          if (options.method == PointMethod::jacobi)
            {
              for (int i = 0; i < A.n_rows; ++i)
                new_x[i] = relaxed(i, x, b);
              std::copy(new_x.begin(), new_x.end(), x);
            }
          else
            {
              for (int i = 0; i < A.n_rows; ++i)
                x[i] = relaxed(i, x, b);
              if (options.method == PointMethod::ssor)
                for (int i = A.n_rows - 1; i >= 0; --i)
                  x[i] = relaxed(i, x, b);
            }
      }

      double residual_norm_squared(const double *x, const double *b) override
      {
        const double norm = residual_norm(A, x, b);
        return norm * norm;
      }

      double norm_squared(const double *b) override
      {
        double sum = 0.;
        for (int i = 0; i < A.n_rows; ++i)
          sum += b[i] * b[i];
        return sum;
      }

      void update_values(const double *values) override
      {
        std::copy_n(values, A.values.size(), A.values.begin());
        invert_diagonal();
      }

    private:
      double relaxed(int i, const double *x, const double *b) const
      {
        double r = b[i];
        for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
          r -= A.values[p] * x[A.columns[p]];
        return x[i] + options.omega * inverse_diagonal[i] * r;
      }

      void invert_diagonal()
      {
        for (int i = 0; i < A.n_rows; ++i)
          {
            const double d = A.values[diagonal_entry[i]];
            if (!(std::isfinite(d) && d != 0.))
              throw InvalidInput("the diagonal entry of row " + std::to_string(i) + " is " + std::to_string(d) +
                                 "\n  expected: a finite number that is not zero");
            inverse_diagonal[i] = 1. / d;
          }
      }

      CrsMatrix                    A;
      const PointRelaxationOptions options;
      std::vector<int>             diagonal_entry;
      std::vector<double>          inverse_diagonal;
      std::vector<double>          new_x; ///< Jacobi only
    };
  } // namespace

  void PointRelaxationOptions::validate() const
  {
    if (!(omega > 0. && omega < 2.))
      throw InvalidInput("omega is " + std::to_string(omega) + "\n  expected: a number between 0 and 2");
    if (method == PointMethod::gauss_seidel && omega != 1.)
      throw InvalidInput("omega is " + std::to_string(omega) + " for Gauss-Seidel\n  expected: 1, or the method SOR");
    if (backend == Backend::cuda && method != PointMethod::jacobi)
      throw InvalidInput(
        method_name(method) +
        " is sequential by nature and runs on the host\n  expected: the backend host, or Jacobi or block-asynchronous iteration on a GPU");
  }

  std::unique_ptr<Relaxation> make_point_relaxation(const CrsMatrix &A, const PointRelaxationOptions &options)
  {
    options.validate();
    if (options.backend != Backend::cuda)
      return std::make_unique<HostPointRelaxation>(A, options);
    BlockAsyncOptions jacobi;
    jacobi.backend          = Backend::cuda;
    jacobi.schedule         = Schedule::synchronous;
    jacobi.local_iterations = 1;
    jacobi.omega            = options.omega;
    return std::make_unique<BlockAsync>(A, jacobi);
  }
} // namespace leopard
