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
        update(A, singular);
      }

      /** Other values; where the pattern is the same, its analysis stays. */
      void update(const CrsMatrix<double> &A, bool singular)
      {
        if (matrix.cols() == 0 || n_entries != A.n_entries() || singular != (pinned >= 0))
          set_pattern(A, singular);
        for (std::size_t q = 0; q < source.size(); ++q)
          matrix.valuePtr()[q] = A.values[source[q]];
        lu.factorize(matrix);
        if (lu.info() != Eigen::Success)
          throw InvalidInput("multigrid: the matrix of the coarsest level is singular: " + lu.lastErrorMessage() +
                             "\n  expected: a regular matrix, or one whose null space is the constants");
      }

      /** x and b of any number of columns; b is not what it was afterwards. */
      template <typename X, typename B>
      void solve(Eigen::MatrixBase<X> &x, Eigen::MatrixBase<B> &b) const
      {
        remove_means(b);
        if (pinned >= 0)
          b.row(pinned).setZero();
        x.derived() = lu.solve(b.derived());
        remove_means(x);
      }

    private:
      /** A matrix whose values are the numbers of A's entries says where each of them goes. */
      void set_pattern(const CrsMatrix<double> &A, bool singular)
      {
        n_entries = A.n_entries();
        pinned    = -1;
        if (singular)
          find_free_rows(A);
        std::vector<Eigen::Triplet<double>> entries;
        entries.reserve(A.values.size());
        for (int i = 0; i < n; ++i)
          for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
            if (const int j = A.columns[p]; i == j || (i != pinned && j != pinned))
              entries.emplace_back(i, j, p);
        matrix.resize(n, n);
        matrix.setFromTriplets(entries.begin(), entries.end());
        source.assign(matrix.valuePtr(), matrix.valuePtr() + matrix.nonZeros());
        lu.analyzePattern(matrix);
      }

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

      template <typename V>
      void remove_means(Eigen::MatrixBase<V> &v) const
      {
        if (pinned >= 0)
          for (Eigen::Index j = 0; j < v.cols(); ++j)
            v.col(j) -= free.dot(v.col(j)) / free.sum() * free;
      }

      const int                     n;
      int                           n_entries = 0, pinned = -1;
      Eigen::VectorXd               free; ///< singular: one in the rows that count
      SparseMatrix                  matrix;
      std::vector<int>              source; ///< of each of its values the entry of A
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
        : factors(A, singular)
        , space(space_)
        , host_b(A.n_rows)
        , host_x(A.n_rows)
        , solution(A.n_rows)
        , right_hand_side(A.n_rows)
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

      Factors           factors;
      const MemorySpace space;
      Vector            host_b, host_x;
      Eigen::VectorXd   solution, right_hand_side;
      double            seconds = 0.;
    };

    /** A^-1, some columns at a time from the sparse factors, stored row after row. */
    template <typename Number>
    void invert(const Factors &factors, int n, std::vector<Number> &result, ThreadPool &pool)
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
        , factors(A, singular)
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
      Factors                           factors;
      std::vector<Number>               values; ///< of the inverse
    };

    template <typename Number>
    class DeviceDenseInverse : public CoarseSolver<Number>
    {
    public:
      DeviceDenseInverse(const CrsMatrix<double> &A, bool singular, int n_threads)
        : pool(shared_thread_pool(n_threads))
        , factors(A, singular)
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
      Factors                           factors;
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
    // 1: coupled, and the row sums to zero; 0: coupled, and it does not; -1: not coupled
    const auto kind_of_row = [&A](int i) {
      double sum = 0., absolute = 0., beside = 0.;
      for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
        {
          sum += A.values[p];
          absolute += std::abs(A.values[p]);
          if (A.columns[p] != i)
            beside += std::abs(A.values[p]);
        }
      return beside > 0. ? (std::abs(sum) <= 1e-12 * absolute ? 1 : 0) : -1;
    };
    double n_free = 0., n_others = 0.;
    for (int i = 0; i < A.n_rows && n_others == 0.; ++i)
      {
        const int kind = kind_of_row(i);
        n_free += kind == 1;
        n_others += kind == 0;
      }
    if (over_ranks.sum(n_others) > 0. || over_ranks.sum(n_free) == 0.)
      return std::nullopt;
    std::vector<double> result(A.n_rows);
    for (int i = 0; i < A.n_rows; ++i)
      result[i] = kind_of_row(i) == 1 ? 1. : 0.;
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
