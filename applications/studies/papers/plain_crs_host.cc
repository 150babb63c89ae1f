// SPDX-License-Identifier: Apache-2.0
#include "plain_crs.h"

#include <solvers/base/errors.h>
#include <solvers/block_async/host_scheduler.h>
#include <solvers/matrix/blocks.h>
#include <solvers/matrix/crs_matrix.h>

namespace leopard::studies
{
  namespace
  {
    /** Plain CRS on host threads, but for what a block does. */
    class CrsOnHost : public Relaxation<double>
    {
    public:
      CrsOnHost(const CrsMatrix<double> &A_, int block_size, int n_threads, const std::string &name)
        : A(A_)
        , blocks(contiguous_blocks(A_.n_rows, block_size))
        , scheduler(blocks.n_blocks(), A_.n_rows, n_threads)
        , own_name(name)
      {
      }

      std::string name() const override { return own_name; }
      std::string description() const override { return "plain CRS on " + std::to_string(scheduler.n_threads()) + " threads"; }
      int         n_rows() const override { return A.n_rows; }
      int         n_columns() const override { return A.n_rows; }
      MemorySpace memory_space() const override { return MemorySpace::host; }
      bool        is_fixed_linear_map() const override { return scheduler.n_threads() == 1; }

      void iterate(double *x, const double *b, int n_iterations) override
      {
        scheduler.run(n_iterations, [&](int block, int thread) { relax(blocks.begin[block], blocks.end[block], x, b, thread); });
      }

      double residual_norm_squared(const double *x, const double *b) override
      {
        const double norm = residual_norm(A, x, b);
        return norm * norm;
      }

      double norm_squared(const double *b) override { return std::inner_product(b, b + A.n_rows, b, 0.); }
      void   update_values(const double *values) override { std::copy_n(values, A.values.size(), A.values.begin()); }

    protected:
      virtual void relax(int begin, int end, double *x, const double *b, int thread) = 0;

      CrsMatrix<double> A;
      const Blocks      blocks;
      HostScheduler     scheduler;

    private:
      const std::string own_name;
    };

    class FrozenCrs : public CrsOnHost
    {
    public:
      FrozenCrs(const CrsMatrix<double> &A_, int block_size, int local_iterations_, int n_threads)
        : CrsOnHost(A_, block_size, n_threads, "async-(" + std::to_string(local_iterations_) + ") on plain CRS")
        , local_iterations(local_iterations_)
        , scratch(scheduler.n_threads())
      {
        for (Scratch &s : scratch)
          {
            s.frozen.resize(blocks.largest());
            s.current.resize(blocks.largest());
            s.next.resize(blocks.largest());
          }
      }

    private:
      struct Scratch
      {
        std::vector<double> frozen, current, next;
      };

      void relax(int begin, int end, double *x, const double *b, int thread) override
      {
        Scratch &s = scratch[thread];
        std::copy(x + begin, x + end, s.current.begin());
        for (int sweep = 0; sweep < local_iterations; ++sweep)
          {
            for (int i = begin; i < end; ++i)
              {
                double off_block = 0., inner = 0., diagonal = 1.;
                for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
                  if (const int j = A.columns[p]; j == i)
                    diagonal = A.values[p];
                  else if (j >= begin && j < end)
                    inner += A.values[p] * s.current[j - begin];
                  else if (sweep == 0)
                    off_block += A.values[p] * load(x[j]);
                if (sweep == 0)
                  s.frozen[i - begin] = b[i] - off_block;
                s.next[i - begin] = (s.frozen[i - begin] - inner) / diagonal;
              }
            std::swap(s.current, s.next);
          }
        for (int i = begin; i < end; ++i)
          store(x[i], s.current[i - begin]);
      }

      const int            local_iterations;
      std::vector<Scratch> scratch;
    };

    template <FindsDiagonal finds_diagonal>
    class PrintedCrs : public CrsOnHost
    {
    public:
      PrintedCrs(const CrsMatrix<double> &A_, int block_size, int local_iterations, int n_threads)
        : CrsOnHost(A_, block_size, n_threads, name_of_printed(finds_diagonal))
        , n_sweeps(1 + local_iterations)
      {
      }

    private:
      void relax(int begin, int end, double *x, const double *b, int /*thread*/) override
      {
        for (int sweep = 0; sweep < n_sweeps; ++sweep)
          for (int i = begin; i < end; ++i)
            {
              double sum = 0., diagonal = 0.;
              for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
                {
                  if constexpr (finds_diagonal == FindsDiagonal::by_branch)
                    {
                      if (A.columns[p] == i)
                        diagonal = A.values[p];
                    }
                  else
                    diagonal += static_cast<int>(A.columns[p] == i) * A.values[p];
                  sum += A.values[p] * load(x[A.columns[p]]);
                }
              store(x[i], x[i] + (b[i] - sum) / diagonal); // rows of this block are written by nobody else
            }
      }

      const int n_sweeps;
    };

    void require_square(const CrsMatrix<double> &A, int local_iterations, int least)
    {
      A.validate();
      if (local_iterations < least || A.n_columns != A.n_rows)
        throw InvalidInput("plain CRS: local_iterations is " + std::to_string(local_iterations) + ", the matrix " + std::to_string(A.n_rows) + " x " +
                           std::to_string(A.n_columns) + "\n  expected: a number >= " + std::to_string(least) + " and a square matrix");
    }
  } // namespace

  std::unique_ptr<Relaxation<double>> make_plain_crs(const CrsMatrix<double> &A, int block_size, int local_iterations, Backend backend, int n_threads)
  {
    require_square(A, local_iterations, 1);
    if (backend == Backend::cuda)
      return make_plain_crs_cuda(A, block_size, local_iterations);
    return std::make_unique<FrozenCrs>(A, block_size, local_iterations, n_threads);
  }

  std::string name_of_printed(FindsDiagonal finds_diagonal)
  {
    return finds_diagonal == FindsDiagonal::by_branch ? "Algorithm 16" : "Algorithm 17";
  }

  std::unique_ptr<Relaxation<double>>
  make_printed_crs(const CrsMatrix<double> &A, int block_size, int local_iterations, FindsDiagonal finds_diagonal, Backend backend, int n_threads)
  {
    require_square(A, local_iterations, 0);
    if (backend == Backend::cuda)
      return make_printed_crs_cuda(A, block_size, local_iterations, finds_diagonal);
    if (finds_diagonal == FindsDiagonal::by_branch)
      return std::make_unique<PrintedCrs<FindsDiagonal::by_branch>>(A, block_size, local_iterations, n_threads);
    return std::make_unique<PrintedCrs<FindsDiagonal::by_product>>(A, block_size, local_iterations, n_threads);
  }

  void iterate_algorithm_18(const CrsMatrix<double> &A, int block_size, int local_iterations, std::vector<double> &x, const std::vector<double> &b)
  {
    require_square(A, local_iterations, 0);
    const Blocks blocks = contiguous_blocks(A.n_rows, block_size);
    for (int block = 0; block < blocks.n_blocks(); ++block)
      {
        const int                 begin = blocks.begin[block], n = blocks.end[block] - begin;
        const std::vector<double> old(x.begin() + begin, x.begin() + begin + n);
        std::vector<double>       v(n), diagonal(n), local_x = old;
        /** Lines 14 to 16 and 22 to 24, with the diagonal block's part of each row. */
        const auto update = [&](const std::vector<double> &from) {
          for (int i = 0; i < n; ++i)
            {
              double tmp = 0.;
              for (int p = A.row_offsets[begin + i]; p < A.row_offsets[begin + i + 1]; ++p)
                if (const int j = A.columns[p] - begin; j >= 0 && j < n)
                  tmp += A.values[p] * from[j];
              local_x[i] = from[i] + (v[i] - tmp) / diagonal[i]; // lines 19 and 25
            }
        };
        for (int i = 0; i < n; ++i)
          {
            v[i] = b[begin + i]; // lines 9 to 11 and 17
            for (int p = A.row_offsets[begin + i]; p < A.row_offsets[begin + i + 1]; ++p)
              if (const int j = A.columns[p] - begin; j < 0 || j >= n)
                v[i] -= A.values[p] * x[A.columns[p]];
              else if (j == i)
                diagonal[i] = A.values[p];
          }
        update(old); // line 19
        for (int j = 0; j < local_iterations; ++j)
          update(std::vector<double>(local_x)); // lines 20 to 26
        std::copy(local_x.begin(), local_x.end(), x.begin() + begin);
      }
  }
} // namespace leopard::studies
