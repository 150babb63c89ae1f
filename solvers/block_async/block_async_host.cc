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
        , matrix(A, options_.blocks(A.n_rows))
        , weights(make_weights(matrix, options_))
        , velocity(options_.momentum > 0. ? matrix.n_local_rows() : 0)
        , pool(threads_to_use(A.n_rows, matrix.n_blocks(), options_))
        , n_chunks(std::max(1, std::min(matrix.n_blocks(), pool.size() == 1 ? 1 : 16 * pool.size())))
        , counters(n_chunks)
        , partial_sums(n_chunks)
        , scratch(pool.size())
        , old_x(options_.schedule == Schedule::synchronous ? A.n_columns : 0)
      {
        for (Scratch &s : scratch)
          {
            s.frozen.resize(matrix.blocks.largest());
            s.current.resize(matrix.blocks.largest());
            s.next.resize(matrix.blocks.largest());
          }
      }

      MemorySpace memory_space() const override { return MemorySpace::host; }
      bool        is_fixed_linear_map() const override { return options.schedule == Schedule::synchronous || pool.size() == 1; }

      std::string description() const override
      {
        return std::to_string(matrix.n_blocks()) + " blocks of up to " + std::to_string(matrix.blocks.largest()) + " rows on " + std::to_string(pool.size()) +
               " threads, values stored as double";
      }

      void restart() override { std::fill(velocity.begin(), velocity.end(), 0.); }

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
        return sum_over_rows([&](int i, int l, int first) {
          double r = b[i] - matrix.diagonal[l] * x[i];
          for (int p = matrix.inner.offsets[l]; p < matrix.inner.offsets[l + 1]; ++p)
            r -= matrix.inner.values[p] * x[first + matrix.inner.columns[p]];
          for (int p = matrix.outer.offsets[l]; p < matrix.outer.offsets[l + 1]; ++p)
            r -= matrix.outer.values[p] * x[matrix.outer.columns[p]];
          return r * r;
        });
      }

      double norm_squared(const double *b) override
      {
        return sum_over_rows([&](int i, int /*l*/, int /*first*/) { return b[i] * b[i]; });
      }

      void update_values(const double *values) override
      {
        matrix.update_values(values);
        weights = make_weights(matrix, options);
      }

    private:
      /** Waking a thread costs microseconds: it needs some thousand rows to be worth it. */
      static int threads_to_use(int n_rows, int n_blocks, const BlockAsyncOptions &options)
      {
        const int wanted = options.n_threads > 0 ? options.n_threads : std::max(1u, std::thread::hardware_concurrency());
        return std::max(1, std::min({wanted, n_blocks / 4, n_rows / 2000}));
      }

      /** What a sweep multiplies the residual with, one a local row: omega / d_i. */
      static std::vector<double> make_weights(const BlockCrs &matrix, const BlockAsyncOptions &options)
      {
        std::vector<double> result = matrix.diagonal;
        if (options.l1_weights)
          {
            const std::vector<double> l1 = matrix.l1_weights();
            for (std::size_t l = 0; l < result.size(); ++l)
              result[l] += l1[l];
          }
        for (double &d : result)
          d = options.omega / d;
        return result;
      }

      int chunk_begin(int chunk) const { return static_cast<int>(static_cast<long>(matrix.n_blocks()) * chunk / n_chunks); }

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

      void relax_block(int block, double *x, const double *off_block, const double *b, Scratch &s)
      {
        const Blocks &blocks = matrix.blocks;
        const int     begin = blocks.begin[block], n = blocks.end[block] - begin, first = matrix.first_local[block];
        const int     k     = options.local_iterations_per_block.empty() ? options.local_iterations : options.local_iterations_per_block[block];
        const int    *outer = matrix.outer.offsets.data() + first;
        const int     owned_begin = blocks.owned_begin[block] - begin, owned_end = blocks.owned_begin[block + 1] - begin;

        for (int i = 0; i < n; ++i)
          {
            double sum = b[begin + i];
            for (int p = outer[i]; p < outer[i + 1]; ++p)
              sum -= matrix.outer.values[p] * load(off_block[matrix.outer.columns[p]]);
            s.frozen[i] = sum;
          }
        const double *own = x + begin; // written by nobody else, read by others with load()
        if (owned_end - owned_begin < n)
          {
            for (int i = 0; i < n; ++i)
              s.current[i] = i >= owned_begin && i < owned_end ? x[begin + i] : load(off_block[begin + i]);
            own = s.current.data();
          }
        local_sweep(first, n, own, s.frozen.data(), s.next.data());
        for (int sweep = 1; sweep < k; ++sweep)
          {
            std::swap(s.current, s.next);
            local_sweep(first, n, s.current.data(), s.frozen.data(), s.next.data());
          }
        for (int i = owned_begin; i < owned_end; ++i)
          store(x[begin + i], options.block_omega == 1. ? s.next[i] : x[begin + i] + options.block_omega * (s.next[i] - x[begin + i]));
      }

      /** One Jacobi sweep inside a block: next_i = y_i + omega / d_i (frozen_i - sum of a_ij y_j) + momentum v_i. */
      void local_sweep(int first, int n, const double *y, const double *frozen, double *next)
      {
        const int           *offsets  = matrix.inner.offsets.data() + first;
        const double        *values   = matrix.inner.values.data();
        const double        *diagonal = matrix.diagonal.data() + first, *weight = weights.data() + first;
        const std::uint16_t *columns  = matrix.inner.columns.data();
        for (int i = 0; i < n; ++i)
          {
            double sum = frozen[i] - diagonal[i] * y[i];
            for (int p = offsets[i]; p < offsets[i + 1]; ++p)
              sum -= values[p] * y[columns[p]];
            next[i] = y[i] + weight[i] * sum;
          }
        if (options.momentum > 0.)
          for (int i = 0; i < n; ++i)
            {
              double &v = velocity[first + i];
              next[i] += options.momentum * v;
              v = next[i] - y[i];
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
                for (int i = matrix.blocks.owned_begin[block]; i < matrix.blocks.owned_begin[block + 1]; ++i)
                  sum += term(i, matrix.first_local[block] + i - matrix.blocks.begin[block], matrix.blocks.begin[block]);
              partial_sums[chunk] = sum;
            }
        });
        return std::accumulate(partial_sums.begin(), partial_sums.end(), 0.);
      }

      const BlockAsyncOptions   options;
      BlockCrs                  matrix;
      std::vector<double>       weights, velocity; ///< one a local row; velocity with momentum only
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
