// SPDX-License-Identifier: Apache-2.0
#include "../base/thread_pool.h"
#include "../matrix/block_crs.h"
#include "block_async_engine.h"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <thread>

namespace leopard
{
  namespace
  {
    // The race between blocks is the method; relaxed atomics make it well defined and cost what plain accesses cost.
    double load(const double &x)
    {
      return std::atomic_ref<double>(const_cast<double &>(x)).load(std::memory_order_relaxed);
    }

    void store(double &x, double value)
    {
      std::atomic_ref<double>(x).store(value, std::memory_order_relaxed);
    }

    /** Counts the global iterations of a chunk; a cache line of its own. */
    struct alignas(64) ChunkCounter
    {
      std::atomic<int> iterations_done{0};
    };

    struct Scratch
    {
      std::vector<double> frozen, current, next; ///< one block each
    };

    /**
     * Threads take chunks of consecutive blocks by an atomic ticket: ticket t stands for chunk t mod n_chunks in global iteration
     * t div n_chunks. A chunk's next iteration begins when its last one is done, so that no block is relaxed twice at once; apart
     * from that nobody waits, a slow thread delays its own chunk only, and no chunk falls behind by more than an iteration or two.
     */
    class HostEngine : public BlockAsync::Engine
    {
    public:
      HostEngine(const CrsMatrix &A, const BlockAsyncOptions &options_)
        : options(options_)
        , matrix(A, options_.block_size)
        , pool(threads_to_use(A.n_rows, options_))
        , n_chunks(std::max(1, std::min(matrix.n_blocks, pool.size() == 1 ? 1 : 16 * pool.size())))
        , counters(n_chunks)
        , partial_sums(n_chunks)
        , scratch(pool.size())
        , old_x(options_.schedule == Schedule::synchronous ? A.n_columns : 0)
      {
        for (Scratch &s : scratch)
          {
            s.frozen.resize(options.block_size);
            s.current.resize(options.block_size);
            s.next.resize(options.block_size);
          }
      }

      MemorySpace memory_space() const override { return MemorySpace::host; }
      bool        is_fixed_linear_map() const override { return options.schedule == Schedule::synchronous || pool.size() == 1; }

      void iterate(double *x, const double *b, int n_iterations) override
      {
        if (options.schedule == Schedule::synchronous)
          for (int n = 0; n < n_iterations; ++n)
            {
              std::copy_n(x, matrix.n_columns, old_x.begin());
              relax_all(x, old_x.data(), b, 1);
            }
        else
          relax_all(x, x, b, n_iterations);
      }

      double residual_norm_squared(const double *x, const double *b) override
      {
        return sum_over_rows([&](int i, int first) {
          double r = b[i] - matrix.diagonal[i] * x[i];
          for (int p = matrix.inner.offsets[i]; p < matrix.inner.offsets[i + 1]; ++p)
            r -= matrix.inner.values[p] * x[first + matrix.inner.columns[p]];
          for (int p = matrix.outer.offsets[i]; p < matrix.outer.offsets[i + 1]; ++p)
            r -= matrix.outer.values[p] * x[matrix.outer.columns[p]];
          return r * r;
        });
      }

      double norm_squared(const double *b) override
      {
        return sum_over_rows([&](int i, int /*first*/) { return b[i] * b[i]; });
      }

      void update_values(const double *values) override { matrix.update_values(values); }

    private:
      /** Waking a thread costs microseconds: it needs some thousand rows to be worth it. */
      static int threads_to_use(int n_rows, const BlockAsyncOptions &options)
      {
        const int wanted   = options.n_threads > 0 ? options.n_threads : std::max(1u, std::thread::hardware_concurrency());
        const int n_blocks = (n_rows + options.block_size - 1) / options.block_size;
        return std::max(1, std::min({wanted, n_blocks / 4, n_rows / 2000}));
      }

      int chunk_begin(int chunk) const { return static_cast<int>(static_cast<long>(matrix.n_blocks) * chunk / n_chunks); }

      void relax_all(double *x, const double *off_block, const double *b, int n_iterations)
      {
        for (ChunkCounter &counter : counters)
          counter.iterations_done.store(0, std::memory_order_relaxed);
        const long        n_tickets = static_cast<long>(n_iterations) * n_chunks;
        std::atomic<long> next_ticket{0};
        pool.run([&](int thread) {
          for (long ticket = next_ticket++; ticket < n_tickets; ticket = next_ticket++)
            {
              const int         chunk = static_cast<int>(ticket % n_chunks), iteration = static_cast<int>(ticket / n_chunks);
              std::atomic<int> &done = counters[chunk].iterations_done;
              while (done.load(std::memory_order_acquire) != iteration)
                std::this_thread::yield();
              for (int block = chunk_begin(chunk); block < chunk_begin(chunk + 1); ++block)
                relax_block(block, x, off_block, b, scratch[thread]);
              done.store(iteration + 1, std::memory_order_release);
            }
        });
      }

      void relax_block(int block, double *x, const double *off_block, const double *b, Scratch &s) const
      {
        const int     begin = matrix.block_begin(block), n = matrix.block_end(block) - begin;
        const double *own     = x + begin; // written by nobody else, read by others with load()
        const double *inverse = matrix.inverse_diagonal.data() + begin;
        const int    *outer   = matrix.outer.offsets.data() + begin;
        const double  omega = options.omega, keep = 1. - omega;

        for (int i = 0; i < n; ++i)
          {
            double sum = b[begin + i];
            for (int p = outer[i]; p < outer[i + 1]; ++p)
              sum -= matrix.outer.values[p] * load(off_block[matrix.outer.columns[p]]);
            s.frozen[i] = sum;
          }
        double *next = s.next.data();
        local_sweep(begin, n, own, s.frozen.data(), inverse, keep, omega, next);
        for (int k = 1; k < options.local_iterations; ++k)
          {
            std::swap(s.current, s.next);
            next = s.next.data();
            local_sweep(begin, n, s.current.data(), s.frozen.data(), inverse, keep, omega, next);
          }
        for (int i = 0; i < n; ++i)
          store(x[begin + i], next[i]);
      }

      /** One Jacobi sweep inside a block: next_i = keep y_i + omega / a_ii (frozen_i - sum of a_ij y_j, j != i). */
      void local_sweep(int begin, int n, const double *y, const double *frozen, const double *inverse, double keep, double omega, double *next) const
      {
        const int           *offsets = matrix.inner.offsets.data() + begin;
        const double        *values  = matrix.inner.values.data();
        const std::uint16_t *columns = matrix.inner.columns.data();
        for (int i = 0; i < n; ++i)
          {
            double sum = frozen[i];
            for (int p = offsets[i]; p < offsets[i + 1]; ++p)
              sum -= values[p] * y[columns[p]];
            next[i] = keep * y[i] + omega * inverse[i] * sum;
          }
      }

      /** Sums a function of the row in parallel and, within a number of threads, always in the same order. */
      template <typename Term>
      double sum_over_rows(const Term &term)
      {
        std::atomic<int> next_chunk{0};
        pool.run([&](int /*thread*/) {
          for (int chunk = next_chunk++; chunk < n_chunks; chunk = next_chunk++)
            {
              double sum = 0.;
              for (int block = chunk_begin(chunk); block < chunk_begin(chunk + 1); ++block)
                for (int i = matrix.block_begin(block); i < matrix.block_end(block); ++i)
                  sum += term(i, matrix.block_begin(block));
              partial_sums[chunk] = sum;
            }
        });
        return std::accumulate(partial_sums.begin(), partial_sums.end(), 0.);
      }

      const BlockAsyncOptions   options;
      BlockCrs                  matrix;
      ThreadPool                pool;
      const int                 n_chunks;
      std::vector<ChunkCounter> counters;
      std::vector<double>       partial_sums;
      std::vector<Scratch>      scratch; ///< one a thread
      std::vector<double>       old_x;   ///< synchronous schedule only
    };
  } // namespace

  std::unique_ptr<BlockAsync::Engine> make_host_engine(const CrsMatrix &A, const BlockAsyncOptions &options)
  {
    return std::make_unique<HostEngine>(A, options);
  }
} // namespace leopard
