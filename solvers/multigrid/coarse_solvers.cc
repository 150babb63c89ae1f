// SPDX-License-Identifier: Apache-2.0
#include "coarse_solvers.h"

#include "../base/errors.h"
#include "../base/stopwatch.h"
#include "../base/thread_pool.h"
#include "../device/device.h"
#include "../matrix/device_matrix.h"
#include "../matrix/row_sums.h"
#include "sparse_factors.h"

#include <cmath>

namespace leopard
{
  namespace
  {
    template <typename Number>
    class DirectSolver : public CoarseSolver<Number>
    {
    public:
      DirectSolver(const CrsMatrix<double> &A, bool singular, bool may_be_cholesky, MemorySpace space_)
        : factors(A, singular, may_be_cholesky)
        , space(space_)
        , host_b(A.n_rows)
        , host_x(A.n_rows)
        , solution(A.n_rows)
        , right_hand_side(A.n_rows)
      {
      }

      std::string name() const override { return "sparse direct (" + factors.name() + ")" + (space == MemorySpace::device ? ", on the host" : ""); }

      void solve(Number *x, const Number *b) override
      {
        const std::size_t n_bytes = host_b.size() * sizeof(Number);
        if (space == MemorySpace::host)
          {
            solve_on_host(Eigen::Map<Vector>(x, host_b.size()), Eigen::Map<const Vector>(b, host_b.size()));
            return;
          }
        device::synchronize(); // so that the time taken below is that of the copy, without the kernels before it
        double start = now();
        device::copy_to_host(host_b.data(), b, n_bytes);
        seconds += now() - start;
        solve_on_host(host_x, host_b);
        start = now();
        device::copy_to_device(x, host_x.data(), n_bytes);
        seconds += now() - start;
      }

      void   update(const CrsMatrix<double> &A, bool singular) override { factors.update(A, singular); }
      double copy_seconds() const override { return seconds; }

    private:
      using Vector = Eigen::Matrix<Number, Eigen::Dynamic, 1>;

      void solve_on_host(Eigen::Ref<Vector> x, const Eigen::Ref<const Vector> &b)
      {
        right_hand_side = b.template cast<double>();
        factors.solve(solution, right_hand_side);
        x = solution.template cast<Number>();
      }

      SparseFactors     factors;
      const MemorySpace space;
      Vector            host_b, host_x;
      Eigen::VectorXd   solution, right_hand_side;
      double            seconds = 0.;
    };

    /** A^-1, some columns at a time from the sparse factors, stored row after row. */
    template <typename Number>
    void invert(const SparseFactors &factors, int n, std::vector<Number> &result, ThreadPool &pool)
    {
      constexpr int n_columns = 32;
      result.resize(static_cast<std::size_t>(n) * n);
      parallel_for(pool, n, n_columns, [&](long begin, long end) {
        Eigen::MatrixXd columns, units;
        for (long first = begin; first < end; first += n_columns)
          {
            const long width = std::min<long>(n_columns, end - first);
            columns.resize(n, width);
            units.setZero(n, width);
            for (long j = 0; j < width; ++j)
              units(first + j, j) = 1.;
            factors.solve(columns, units);
            for (int i = 0; i < n; ++i)
              for (long j = 0; j < width; ++j)
                result[static_cast<std::size_t>(i) * n + first + j] = static_cast<Number>(columns(i, j));
          }
      });
    }

    template <typename Number>
    class HostDenseInverse : public CoarseSolver<Number>
    {
    public:
      HostDenseInverse(const CrsMatrix<double> &A, bool singular, int n_threads)
        : n(A.n_rows)
        , pool(shared_thread_pool(n_threads))
        , factors(A, singular, false)
      {
        invert(factors, n, values, *pool);
      }

      std::string name() const override { return "dense inverse"; }

      void update(const CrsMatrix<double> &A, bool singular) override
      {
        factors.update(A, singular);
        invert(factors, n, values, *pool);
      }

      void solve(Number *x, const Number *b) override
      {
        using RowMajor = Eigen::Matrix<Number, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
        using Vector   = Eigen::Matrix<Number, Eigen::Dynamic, 1>;
        parallel_for(*pool, n, std::max(1, 65536 / std::max(n, 1)), [&](long begin, long end) {
          Eigen::Map<Vector>(x + begin, end - begin).noalias() =
            Eigen::Map<const RowMajor>(values.data() + begin * n, end - begin, n) * Eigen::Map<const Vector>(b, n);
        });
      }

    private:
      const int                         n;
      const std::shared_ptr<ThreadPool> pool;
      SparseFactors                     factors;
      std::vector<Number>               values; ///< of the inverse
    };

    template <typename Number>
    class DeviceDenseInverse : public CoarseSolver<Number>
    {
    public:
      DeviceDenseInverse(const CrsMatrix<double> &A, bool singular, int n_threads)
        : pool(shared_thread_pool(n_threads))
        , factors(A, singular, false)
        , matrix(inverse(A.n_rows), A.n_rows)
      {
      }

      std::string name() const override { return "dense inverse"; }
      void        solve(Number *x, const Number *b) override { matrix.multiply(x, b); }

      void update(const CrsMatrix<double> &A, bool singular) override
      {
        factors.update(A, singular);
        matrix.update_values(inverse(A.n_rows));
      }

      bool is_queued() const override { return true; }

    private:
      const std::vector<Number> &inverse(int n)
      {
        invert(factors, n, values, *pool);
        return values;
      }

      const std::shared_ptr<ThreadPool> pool;
      SparseFactors                     factors;
      std::vector<Number>               values; ///< of the inverse
      device::DenseMatrix<Number>       matrix;
    };

    void check_size(int n, int limit, const MultigridOptions &options)
    {
      if (n > limit)
        throw InvalidInput("multigrid: the coarsest level has " + std::to_string(n) +
                           " unknowns, too many for coarse_solver = " + options.coarse_solver + "\n  expected: at most " + std::to_string(limit) +
                           (options.coarse_solver == "dense"
                              ? " (max_dense); more levels (of an aggregation hierarchy: a smaller strength), coarse_solver = direct, or another one"
                              : " (max_direct); more levels, a coarser mesh, or an iterative coarse solver"));
    }
  } // namespace

  std::optional<std::vector<double>> constants_in_null_space(const CrsMatrix<double> &A, const RankSums &over_ranks)
  {
    double n_free = 0., n_others = 0.;
    for (int i = 0; i < A.n_rows && n_others == 0.; ++i)
      {
        const RowSum kind = kind_of_row_sum(A, i);
        n_free += kind == RowSum::zero;
        n_others += kind == RowSum::other;
      }
    if (over_ranks.sum(n_others) > 0. || over_ranks.sum(n_free) == 0.)
      return std::nullopt;
    std::vector<double> result(A.n_rows);
    for (int i = 0; i < A.n_rows; ++i)
      result[i] = kind_of_row_sum(A, i) == RowSum::zero ? 1. : 0.;
    return result;
  }

  template <typename Number>
  std::unique_ptr<CoarseSolver<Number>> make_coarse_solver(const CrsMatrix<double> &A, bool singular, const MultigridOptions &options)
  {
    if (A.n_columns > A.n_rows)
      throw InvalidInput(
        "multigrid: coarse_solver = " + options.coarse_solver +
        " is for one rank, and the coarsest level has ghosts\n  expected: a coarse solver that gathers the level, handed to Multigrid");
    const bool on_device = options.backend == Backend::cuda;
    if (options.coarse_solver == "direct")
      {
        check_size(A.n_rows, options.max_direct, options);
        return std::make_unique<DirectSolver<Number>>(A, singular, false, on_device ? MemorySpace::device : MemorySpace::host);
      }
    check_size(A.n_rows, options.max_dense, options);
    if (on_device)
      return std::make_unique<DeviceDenseInverse<Number>>(A, singular, options.n_threads);
    return std::make_unique<HostDenseInverse<Number>>(A, singular, options.n_threads);
  }

  std::unique_ptr<CoarseSolver<double>> make_sparse_factors(const CrsMatrix<double> &A)
  {
    return std::make_unique<DirectSolver<double>>(A, false, true, MemorySpace::host);
  }

#define INSTANTIATE(Number) \
  template std::unique_ptr<CoarseSolver<Number>> make_coarse_solver(const CrsMatrix<double> &A, bool singular, const MultigridOptions &options);
  LEOPARD_FOR_EACH_NUMBER(INSTANTIATE)
#undef INSTANTIATE
} // namespace leopard
