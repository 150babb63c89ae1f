// SPDX-License-Identifier: Apache-2.0
#include "coarse_solvers.h"

#include "../base/errors.h"
#include "../base/thread_pool.h"
#include "../device/device.h"
#include "../matrix/device_matrix.h"

#include <Eigen/SparseLU>

#include <chrono>
#include <cmath>

namespace leopard
{
  namespace
  {
    using SparseMatrix = Eigen::SparseMatrix<double>;

    /**
     * Sparse factors, in host memory. Of a singular matrix one free unknown is set to zero, and means are taken out
     * before and after.
     */
    class Factors
    {
    public:
      Factors(const CrsMatrix<double> &A, bool singular)
        : n(A.n_rows)
      {
        if (singular)
          find_free_rows(A);
        SparseMatrix                        matrix(n, n);
        std::vector<Eigen::Triplet<double>> entries;
        entries.reserve(A.values.size());
        for (int i = 0; i < n; ++i)
          for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
            if (const int j = A.columns[p]; i == j || (i != pinned && j != pinned))
              entries.emplace_back(i, j, A.values[p]);
        matrix.setFromTriplets(entries.begin(), entries.end());
        lu.compute(matrix);
        if (lu.info() != Eigen::Success)
          throw InvalidInput("multigrid: the matrix of the coarsest level is singular: " + lu.lastErrorMessage() +
                             "\n  expected: a regular matrix, or one whose null space is the constants");
      }

      void solve(Eigen::Ref<Eigen::VectorXd> x, Eigen::VectorXd b) const
      {
        remove_mean(b);
        if (pinned >= 0)
          b[pinned] = 0.;
        x = lu.solve(b);
        remove_mean(x);
      }

    private:
      void find_free_rows(const CrsMatrix<double> &A)
      {
        free = Eigen::VectorXd::Zero(n);
        for (int i = 0; i < n; ++i)
          for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
            if (A.columns[p] != i && A.values[p] != 0.)
              free[i] = 1.;
        for (int i = 0; i < n && pinned < 0; ++i)
          if (free[i] > 0.)
            pinned = i;
      }

      void remove_mean(Eigen::Ref<Eigen::VectorXd> v) const
      {
        if (pinned >= 0)
          v -= free.dot(v) / free.sum() * free;
      }

      const int                     n;
      int                           pinned = -1;
      Eigen::VectorXd               free; ///< singular: one in the rows that count
      Eigen::SparseLU<SparseMatrix> lu;
    };

    double now()
    {
      return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
    }

    template <typename Number>
    class DirectSolver : public CoarseSolver<Number>
    {
    public:
      DirectSolver(const CrsMatrix<double> &A, bool singular, MemorySpace space_)
        : factors(std::make_unique<Factors>(A, singular))
        , space(space_)
        , host_b(A.n_rows)
        , host_x(A.n_rows)
        , solution(A.n_rows)
      {
      }

      std::string name() const override { return std::string("sparse direct (LU)") + (space == MemorySpace::device ? ", on the host" : ""); }

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

      void   update(const CrsMatrix<double> &A, bool singular) override { factors = std::make_unique<Factors>(A, singular); }
      double copy_seconds() const override { return seconds; }

    private:
      using Vector = Eigen::Matrix<Number, Eigen::Dynamic, 1>;

      void solve_on_host(Eigen::Ref<Vector> x, const Eigen::Ref<const Vector> &b)
      {
        factors->solve(solution, b.template cast<double>());
        x = solution.template cast<Number>();
      }

      std::unique_ptr<const Factors> factors;
      const MemorySpace              space;
      Vector                         host_b, host_x;
      Eigen::VectorXd                solution;
      double                         seconds = 0.;
    };

    /** A^-1 column by column from the sparse factors, stored row after row. */
    std::vector<double> inverse(const CrsMatrix<double> &A, bool singular, ThreadPool &pool)
    {
      const int           n = A.n_rows;
      const Factors       factors(A, singular);
      std::vector<double> result(static_cast<std::size_t>(n) * n);
      parallel_for(pool, n, 16, [&](long begin, long end) {
        Eigen::VectorXd column(n);
        for (long j = begin; j < end; ++j)
          {
            factors.solve(column, Eigen::VectorXd::Unit(n, j));
            for (int i = 0; i < n; ++i)
              result[static_cast<std::size_t>(i) * n + j] = column[i];
          }
      });
      return result;
    }

    template <typename Number>
    class HostDenseInverse : public CoarseSolver<Number>
    {
    public:
      HostDenseInverse(const CrsMatrix<double> &A, bool singular, int n_threads)
        : n(A.n_rows)
        , pool(shared_thread_pool(n_threads))
        , values(rounded_to<Number>(inverse(A, singular, *pool)))
      {
      }

      std::string name() const override { return "dense inverse"; }
      void        update(const CrsMatrix<double> &A, bool singular) override { values = rounded_to<Number>(inverse(A, singular, *pool)); }

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
      std::vector<Number>               values;
    };

    template <typename Number>
    class DeviceDenseInverse : public CoarseSolver<Number>
    {
    public:
      DeviceDenseInverse(const CrsMatrix<double> &A, bool singular, int n_threads)
        : pool(shared_thread_pool(n_threads))
        , matrix(rounded_to<Number>(inverse(A, singular, *pool)), A.n_rows)
      {
      }

      std::string name() const override { return "dense inverse"; }
      void        solve(Number *x, const Number *b) override { matrix.multiply(x, b); }
      void update(const CrsMatrix<double> &A, bool singular) override { matrix.update_values(rounded_to<Number>(inverse(A, singular, *pool))); }
      bool is_queued() const override { return true; }

    private:
      const std::shared_ptr<ThreadPool> pool;
      device::DenseMatrix<Number>       matrix;
    };

    void check_size(int n, int limit, const MultigridOptions &options)
    {
      if (n > limit)
        throw InvalidInput("multigrid: the coarsest level has " + std::to_string(n) +
                           " unknowns, too many for coarse_solver = " + options.coarse_solver + "\n  expected: at most " + std::to_string(limit) +
                           (options.coarse_solver == "dense" ? " (max_dense); more levels, a coarser mesh, coarse_solver = direct, or another one"
                                                             : " (max_direct); more levels, a coarser mesh, or an iterative coarse solver"));
    }
  } // namespace

  std::optional<std::vector<double>> constants_in_null_space(const CrsMatrix<double> &A, const RankSums &over_ranks)
  {
    std::vector<double> result(A.n_rows, 0.);
    double              n_free = 0., n_others = 0.;
    for (int i = 0; i < A.n_rows; ++i)
      {
        double sum = 0., absolute = 0., beside = 0.;
        for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
          {
            sum += A.values[p];
            absolute += std::abs(A.values[p]);
            if (A.columns[p] != i)
              beside += std::abs(A.values[p]);
          }
        const bool free = beside > 0. && std::abs(sum) <= 1e-12 * absolute;
        result[i]       = free ? 1. : 0.;
        n_free += free;
        n_others += !free && beside > 0.;
      }
    if (over_ranks.sum(n_others) > 0. || over_ranks.sum(n_free) == 0.)
      return std::nullopt;
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
        return std::make_unique<DirectSolver<Number>>(A, singular, on_device ? MemorySpace::device : MemorySpace::host);
      }
    check_size(A.n_rows, options.max_dense, options);
    if (on_device)
      return std::make_unique<DeviceDenseInverse<Number>>(A, singular, options.n_threads);
    return std::make_unique<HostDenseInverse<Number>>(A, singular, options.n_threads);
  }

#define INSTANTIATE(Number) \
  template std::unique_ptr<CoarseSolver<Number>> make_coarse_solver(const CrsMatrix<double> &A, bool singular, const MultigridOptions &options);
  LEOPARD_FOR_EACH_NUMBER(INSTANTIATE)
#undef INSTANTIATE
} // namespace leopard
