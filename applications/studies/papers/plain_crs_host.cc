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
    class PlainCrsHost : public Relaxation<double>
    {
    public:
      PlainCrsHost(const CrsMatrix<double> &A_, int block_size, int local_iterations_, int n_threads)
        : A(A_)
        , local_iterations(local_iterations_)
        , blocks(contiguous_blocks(A_.n_rows, block_size))
        , scheduler(blocks.n_blocks(), A_.n_rows, n_threads)
        , scratch(scheduler.n_threads())
      {
        for (Scratch &s : scratch)
          {
            s.frozen.resize(blocks.largest());
            s.current.resize(blocks.largest());
            s.next.resize(blocks.largest());
          }
      }

      std::string name() const override { return "async-(" + std::to_string(local_iterations) + ") on plain CRS"; }
      std::string description() const override { return "plain CRS on " + std::to_string(scheduler.n_threads()) + " threads"; }
      int         n_rows() const override { return A.n_rows; }
      int         n_columns() const override { return A.n_rows; }
      MemorySpace memory_space() const override { return MemorySpace::host; }
      bool        is_fixed_linear_map() const override { return scheduler.n_threads() == 1; }

      void iterate(double *x, const double *b, int n_iterations) override
      {
        scheduler.run(n_iterations, [&](int block, int thread) { relax(block, x, b, scratch[thread]); });
      }

      double residual_norm_squared(const double *x, const double *b) override
      {
        const double norm = residual_norm(A, x, b);
        return norm * norm;
      }

      double norm_squared(const double *b) override { return std::inner_product(b, b + A.n_rows, b, 0.); }
      void   update_values(const double *values) override { std::copy_n(values, A.values.size(), A.values.begin()); }

    private:
      struct Scratch
      {
        std::vector<double> frozen, current, next;
      };

      void relax(int block, double *x, const double *b, Scratch &s)
      {
        const int begin = blocks.begin[block], end = blocks.end[block];
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

      CrsMatrix<double>    A;
      const int            local_iterations;
      const Blocks         blocks;
      HostScheduler        scheduler;
      std::vector<Scratch> scratch;
    };
  } // namespace

  std::unique_ptr<Relaxation<double>> make_plain_crs(const CrsMatrix<double> &A, int block_size, int local_iterations, Backend backend, int n_threads)
  {
    A.validate();
    if (local_iterations < 1 || A.n_columns != A.n_rows)
      throw InvalidInput("plain CRS: local_iterations is " + std::to_string(local_iterations) + ", the matrix " + std::to_string(A.n_rows) + " x " +
                         std::to_string(A.n_columns) + "\n  expected: a number >= 1 and a square matrix");
    if (backend == Backend::cuda)
      return make_plain_crs_cuda(A, block_size, local_iterations);
    return std::make_unique<PlainCrsHost>(A, block_size, local_iterations, n_threads);
  }
} // namespace leopard::studies
