// SPDX-License-Identifier: Apache-2.0
#include "../../base/norms.h"
#include "../../base/stopwatch.h"
#include "../../block_async/stencil_engine.h"
#include "../../device/cuda_error.cuh"
#include "../../device/device_array.h"
#include "../../device/grid_stride.cuh"
#include "../../device/host_array.h"
#include "../../device/relaxed_atomics.cuh"
#include "../../exchange/peer_exchange.h"
#include "../../exchange/peer_memory.cuh"
#include "../../relaxation/diagonal.h"
#include "device_team.h"
#include "event.cuh"
#include "row_parts.h"
#include "several_gpus.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

namespace leopard
{
  namespace
  {
    using device::stream;

    /** Stores values where other GPUs have their copies of them. */
    template <typename Number>
    __global__ void push_kernel(const Number *x, const int *rows, Number *const *places, int n)
    {
      for (int e = device::first_index<int>(); e < n; e += device::stride<int>())
        peer::store(places[e], load(x + rows[e]));
    }

    /** What a thread has on its GPU. */
    template <typename Number>
    struct Part
    {
      int                                       device = 0;
      std::unique_ptr<BlockAsyncEngine<Number>> engine;
      device::Array<Number>                     memory, b;       ///< of x with ghosts; and the right-hand side of the own rows
      Number                                   *begin = nullptr; ///< of x with ghosts; dk: the master's
      Number                                   *x     = nullptr; ///< the own rows
      std::unique_ptr<Exchange>                 exchange;        ///< for GPUs that wait
      device::Array<int>                        pushed;          ///< own rows that push_kernel() sends after each iteration
      device::Array<Number *>                   places;          ///< and where to
      std::vector<Event>                        events;          ///< of two batches of iterations
    };

    /** Iterations that a GPU has done since all began together; a cache line of its own. */
    struct alignas(64) Counter
    {
      std::atomic<long> done{0};
    };

    /** What ranks tell one another with a test; sums and decisions are the same on all. */
    struct Told
    {
      double seconds;
      long   done;
    };

    template <typename Number>
    class SeveralGpus : public Relaxation<Number>
    {
    public:
      SeveralGpus(const CrsMatrix<Number> &A, const BlockAsyncOptions &options_, const SeveralGpusOptions &gpus_)
        : SeveralGpus((A.validate(), A.n_rows), options_, gpus_)
      {
        if (A.n_columns != A.n_rows)
          throw InvalidInput("several GPUs: the matrix has " + std::to_string(A.n_rows) + " rows and " + std::to_string(A.n_columns) +
                             " columns\n  expected: as many");
        require_fit_for_matrix(options);
        row_offsets         = A.row_offsets;
        diagonal            = diagonal_entries(A);
        const Blocks blocks = options.blocks(A.n_rows);
        rows                = row_parts(A, part_offsets(A, blocks, shares()), is_whole() ? OtherRows::all : OtherRows::needed);
        make_parts([&](const RowPart &own) { return make_cuda_engine(rows_of(A, own), options_of(own, blocks)); });
      }

      SeveralGpus(const Stencil<Number> &stencil, const BlockAsyncOptions &options_, const SeveralGpusOptions &gpus_)
        : SeveralGpus((stencil.validate(), stencil.n_rows()), options_, gpus_)
      {
        if (is_whole())
          throw InvalidInput("several GPUs: the exchange is " + to_string(gpus.exchange) + " for a stencil\n  expected: halo");
        require_fit_for_stencil(options);
        BlockAsyncOptions own_options = options;
        if (gpus.waits)
          own_options.execution = Execution::launch;
        rows = slab_parts(stencil, shares(), tile_planes(stencil.n_z == 1, !stencil.is_star()));
        make_parts([&](const RowPart &own) { return make_stencil_cuda_engine(slab_of(stencil, own), own_options); });
      }

      ~SeveralGpus() override { release(); }

      std::string name() const override
      {
        return "async-(" + std::to_string(options.local_iterations) + ")" + (options.momentum > 0. ? " with momentum" : "") +
               (options.schedule == Schedule::synchronous ? " synchronous" : "") + " on " + std::to_string(parts.size()) +
               (parts.size() == 1 ? " GPU" : " GPUs");
      }

      std::string description() const override
      {
        std::string text = "exchange " + to_string(gpus.exchange) + (gpus.waits ? ", waited for" : ", not waited for");
        for (std::size_t rank = 0; rank < parts.size(); ++rank)
          text += "; GPU " + std::to_string(parts[rank].device) + ": " + std::to_string(rows[rank].n_rows()) + " rows" +
                  (is_whole() ? "" : ", " + std::to_string(rows[rank].ghosts.size()) + " values of others") + ", " +
                  parts[rank].engine->description();
        return text;
      }

      int         n_rows() const override { return n; }
      int         n_columns() const override { return n; }
      MemorySpace memory_space() const override { return MemorySpace::host; }
      bool        is_fixed_linear_map() const override { return options.schedule == Schedule::synchronous; }
      bool        tests_itself() const override { return true; }

      void restart() override
      {
        team.run([&](int rank) { parts[rank].engine->restart(); });
      }

      void iterate(Number *x, const Number *b, int n_iterations) override
      {
        team.run([&](int rank) {
          put(rank, x, b);
          relax(rank, n_iterations);
          get(rank, x);
        });
      }

      IterationReport iterate_until(Number *x, const Number *b, int n_iterations, const ResidualTest &test) override
      {
        IterationReport report;
        team.run([&](int rank) {
          IterationReport own = iterate_until(rank, x, b, n_iterations, test);
          if (rank == 0)
            report = std::move(own);
        });
        return report;
      }

      double residual_norm_squared(const Number *x, const Number *b) override
      {
        double result = 0.;
        team.run([&](int rank) {
          put(rank, x, b);
          const double sum = sum_over_parts(rank, parts[rank].engine->residual_norm_squared(parts[rank].x, parts[rank].b.data()));
          if (rank == 0)
            result = sum;
        });
        return result;
      }

      double norm_squared(const Number *b) override
      {
        double result = 0.;
        team.run([&](int rank) {
          put_right_hand_side(rank, b);
          const double sum = sum_over_parts(rank, parts[rank].engine->norm_squared(parts[rank].b.data()));
          if (rank == 0)
            result = sum;
        });
        return result;
      }

      void update_values(const Number *values) override
      {
        if (row_offsets.empty())
          throw InvalidInput("several GPUs: a stencil has no stored values to change\n  expected: a stencil with other coefficients");
        // what could fail on one GPU is found before any has taken its part
        if (options.storage != (std::is_same_v<Number, float> ? Storage::single_precision : Storage::double_precision))
          throw InvalidInput("several GPUs: the values of a matrix that is stored as " + to_string(options.storage) +
                             " are to be changed\n  expected: storage double, or of single precision single, for a matrix whose values change");
        check_new_values(row_offsets, diagonal, values);
        team.run([&](int rank) { parts[rank].engine->update_values(values + row_offsets[rows[rank].begin]); });
      }

      void update_stencil(const Stencil<Number> &stencil) override
      {
        stencil.validate();
        if (!row_offsets.empty())
          return update_values(stencil.to_crs().values.data());
        team.run([&](int rank) { parts[rank].engine->update_stencil(slab_of(stencil, rows[rank])); });
      }

      void set_omega(double omega) override
      {
        if (omega == options.omega)
          return;
        BlockAsyncOptions changed = options;
        changed.omega             = omega;
        changed.validate();
        options = changed;
        team.run([&](int rank) { parts[rank].engine->set_omega(omega); });
      }

    private:
      static constexpr int master = 0;

      SeveralGpus(int n_rows, const BlockAsyncOptions &options_, const SeveralGpusOptions &gpus_)
        : options(options_)
        , gpus((gpus_.validate(options_), gpus_))
        , n(n_rows)
        , pinned(gpus.exchange == GpuExchange::amc ? n_rows : 0)
        , parts(gpus.devices.size())
        , counters(gpus.devices.size())
        , team(static_cast<int>(gpus.devices.size()), [this](int rank) { device::select(gpus.devices[rank]); })
      {
      }

      bool                is_whole() const { return gpus.exchange != GpuExchange::halo; }
      std::vector<double> shares() const { return gpus.shares.empty() ? std::vector<double>(parts.size(), 1.) : gpus.shares; }

      /** Whose memory a rank uses. */
      std::vector<int> reached_by(int rank) const
      {
        return gpus.exchange == GpuExchange::halo  ? rows[rank].pattern.neighbours()
               : gpus.exchange == GpuExchange::amc ? std::vector<int>()
                                                   : std::vector<int>{master};
      }

      /** The blocks of a part, and what goes with them. */
      BlockAsyncOptions options_of(const RowPart &own, const Blocks &blocks) const
      {
        BlockAsyncOptions result = options;
        result.block_offsets     = block_offsets_of(own, blocks.begin);
        result.local_iterations_per_block.clear();
        for (int block = 0; block < blocks.n_blocks() && !options.local_iterations_per_block.empty(); ++block)
          if (blocks.begin[block] >= own.begin && blocks.begin[block] < own.end)
            result.local_iterations_per_block.push_back(options.local_iterations_per_block[block]);
        if (gpus.waits)
          result.execution = Execution::launch;
        return result;
      }

      /** Whatever it throws: the private constructor has ended, so that the destructor is called, and release(). */
      template <typename MakeEngine>
      void make_parts(const MakeEngine &make_engine)
      {
        team.run([&](int rank) { make_part(rank, make_engine); });
        if (!is_whole())
          team.run([&](int rank) { connect(rank); });
      }

      template <typename MakeEngine>
      void make_part(int rank, const MakeEngine &make_engine)
      {
        Part<Number>  &part = parts[rank];
        const RowPart &own  = rows[rank];
        part.device         = gpus.devices[rank];
        part.events         = std::vector<Event>(2);
        for (const int other : reached_by(rank))
          if (const cudaError_t code = peer::reach(gpus.devices[other]); code != cudaSuccess)
            throw DeviceError("several GPUs: GPU " + std::to_string(part.device) + " cannot reach the memory of GPU " +
                              std::to_string(gpus.devices[other]) + ": " + cudaGetErrorString(code) +
                              "\n  expected: a path between them (nvidia-smi topo -p2p r), or the exchange amc, by way of host memory");
        part.engine = make_engine(own);
        part.b      = device::Array<Number>(static_cast<std::size_t>(own.n_rows()));
        if (gpus.exchange != GpuExchange::dk || rank == master)
          {
            // relaxations read one plane beside a slab
            part.memory = device::Array<Number>(is_whole() ? n : own.n_rows() + own.ghosts.size());
            LEOPARD_CHECK(cudaMemsetAsync(part.memory.data(), 0, part.memory.size() * sizeof(Number), stream()));
            part.begin = part.memory.data();
          }
        LEOPARD_CHECK(cudaStreamSynchronize(stream()));
        team.wait();
        if (part.begin == nullptr)
          part.begin = parts[master].begin;
        part.x = part.begin + (is_whole() ? own.begin : own.n_before);
        if (is_whole())
          part.engine->place_ghosts_before(own.begin);
      }

      void connect(int rank)
      {
        Part<Number>          &part    = parts[rank];
        const ExchangePattern &pattern = rows[rank].pattern;
        if (gpus.waits)
          {
            part.exchange = make_peer_exchange(pattern, 1, rank, team.size(), team.all_gather(rank), std::make_shared<Traffic>());
            return;
          }
        std::vector<std::pair<int, Number *>> mirrored;
        for (const auto &to : pattern.to)
          {
            const ExchangePattern &there = rows[to.rank].pattern;
            const auto             from  = std::find_if(there.from.begin(), there.from.end(), [&](const auto &other) { return other.rank == rank; });
            for (int k = 0; k < to.count; ++k)
              mirrored.emplace_back(pattern.sent[to.offset + k] - rows[rank].n_before, parts[to.rank].begin + there.received[from->offset + k]);
          }
        std::sort(mirrored.begin(), mirrored.end());
        Mirrors<Number> mirrors;
        for (const auto &[row, place] : mirrored)
          {
            mirrors.rows.push_back(row);
            mirrors.places.push_back(place);
          }
        if (!part.engine->mirror(mirrors))
          {
            part.pushed = device::Array<int>(mirrors.rows);
            part.places = device::Array<Number *>(mirrors.places);
          }
      }

      void put_right_hand_side(int rank, const Number *b)
      {
        device::copy_to_device(parts[rank].b.data(), b + rows[rank].begin, rows[rank].n_rows() * sizeof(Number));
      }

      /** x and b to the GPU; afterwards all have theirs. */
      void put(int rank, const Number *x, const Number *b)
      {
        Part<Number>  &part = parts[rank];
        const RowPart &own  = rows[rank];
        put_right_hand_side(rank, b);
        if (gpus.exchange == GpuExchange::amc && rank == master)
          std::copy_n(x, n, pinned.data());
        if (!is_whole())
          {
            std::vector<Number> ghosts(own.ghosts.size());
            std::transform(own.ghosts.begin(), own.ghosts.end(), ghosts.begin(), [x](int row) { return x[row]; });
            device::copy_to_device(part.begin, ghosts.data(), own.n_before * sizeof(Number));
            device::copy_to_device(part.x, x + own.begin, own.n_rows() * sizeof(Number));
            device::copy_to_device(part.x + own.n_rows(), ghosts.data() + own.n_before, (ghosts.size() - own.n_before) * sizeof(Number));
          }
        else if (gpus.exchange != GpuExchange::dk || rank == master)
          device::copy_to_device(part.begin, x, n * sizeof(Number));
        LEOPARD_CHECK(cudaStreamSynchronize(stream()));
        team.wait();
      }

      void get(int rank, Number *x)
      {
        device::copy_to_host(x + rows[rank].begin, parts[rank].x, rows[rank].n_rows() * sizeof(Number));
        team.wait(); // who reads another one's memory has read it
      }

      /** amc, dc: the newest values of all. Queued. */
      void copy_in(int rank)
      {
        Part<Number> &part = parts[rank];
        if (gpus.exchange == GpuExchange::amc)
          LEOPARD_CHECK(cudaMemcpyAsync(part.begin, pinned.data(), n * sizeof(Number), cudaMemcpyHostToDevice, stream()));
        if (gpus.exchange == GpuExchange::dc && rank != master)
          LEOPARD_CHECK(cudaMemcpyPeerAsync(part.begin, part.device, parts[master].begin, parts[master].device, n * sizeof(Number), stream()));
      }

      /** amc, dc: the own values for all. Queued. */
      void copy_out(int rank)
      {
        Part<Number>     &part  = parts[rank];
        const RowPart    &own   = rows[rank];
        const std::size_t bytes = own.n_rows() * sizeof(Number);
        if (gpus.exchange == GpuExchange::amc)
          LEOPARD_CHECK(cudaMemcpyAsync(pinned.data() + own.begin, part.x, bytes, cudaMemcpyDeviceToHost, stream()));
        if (gpus.exchange == GpuExchange::dc && rank != master)
          LEOPARD_CHECK(cudaMemcpyPeerAsync(parts[master].begin + own.begin, parts[master].device, part.x, part.device, bytes, stream()));
      }

      /**
       * Of dk, kernels load and store the master's memory as if it were their own: it is cached where it is, and a load
       * of device scope looks there.
       */
      void queue(int rank, int n_iterations)
      {
        Part<Number> &part   = parts[rank];
        const bool    copies = gpus.exchange == GpuExchange::amc || (gpus.exchange == GpuExchange::dc && rank != master);
        if (!copies && part.pushed.size() == 0)
          return part.engine->iterate(part.x, part.b.data(), n_iterations);
        const int n_pushed = static_cast<int>(part.pushed.size());
        for (int i = 0; i < n_iterations; ++i)
          {
            copy_in(rank);
            part.engine->iterate(part.x, part.b.data(), 1);
            copy_out(rank);
            if (n_pushed > 0)
              push_kernel<<<device::blocks_for(n_pushed), device::threads, 0, stream()>>>(part.x, part.pushed.data(), part.places.data(), n_pushed);
          }
        LEOPARD_CHECK(cudaGetLastError());
      }

      long slowest() const
      {
        long result = std::numeric_limits<long>::max();
        for (const Counter &counter : counters)
          result = std::min(result, counter.done.load(std::memory_order_relaxed));
        return result;
      }

      /**
       * Global iterations until each GPU has done n, which is when the slowest one has. When it returns, all GPUs have
       * the newest values of all. Two batches of iterations are under way, long enough for the host to keep up with.
       */
      void relax(int rank, int n_iterations)
      {
        Part<Number>      &part = parts[rank];
        std::atomic<long> &done = counters[rank].done;
        done                    = 0;
        team.wait();
        if (gpus.waits)
          {
            for (int i = 0; i < n_iterations; ++i)
              {
                team.look_at_others();
                part.engine->iterate(part.x, part.b.data(), 1);
                part.exchange->update(part.begin);
              }
            done = n_iterations;
          }
        else
          {
            constexpr double enough = 2e-4; // seconds
            int              batch = 1, under_way = 0, turn = 0;
            long             queued = 0;
            double           last   = now();
            while (true)
              {
                team.look_at_others();
                if (queued >= n_iterations)
                  { // more only while another GPU is not as far
                    LEOPARD_CHECK(cudaStreamSynchronize(stream()));
                    done      = queued;
                    under_way = 0;
                    if (slowest() >= n_iterations)
                      break;
                  }
                const int now_queued = queued < n_iterations ? std::min(batch, n_iterations - static_cast<int>(queued)) : std::max(1, batch / 8);
                queue(rank, now_queued);
                queued += now_queued;
                part.events[turn].record();
                turn = 1 - turn;
                if (under_way > 0)
                  {
                    part.events[turn].wait();
                    done += under_way;
                    const double time = now();
                    if (time - last < enough && batch < n_iterations / 4)
                      batch *= 2;
                    last = time;
                  }
                under_way = now_queued;
              }
          }
        LEOPARD_CHECK(cudaStreamSynchronize(stream()));
        team.wait();
        copy_in(rank);
      }

      double sum_over_parts(int rank, double value)
      {
        std::vector<double> all(team.size());
        team.all_gather(rank)(&value, sizeof(double), all.data());
        double sum = 0.;
        for (const double one : all)
          sum += one;
        return sum;
      }

      IterationReport iterate_until(int rank, Number *x, const Number *b, int n_iterations, ResidualTest test)
      {
        constexpr double between_tests = 4e-4; // seconds; a test takes a tenth of a millisecond
        constexpr int    most_tests    = 100;  // then the host looks at the time, and whether it is asked to stop
        Part<Number>    &part          = parts[rank];
        const auto       residual      = [&] { return std::sqrt(sum_over_parts(rank, part.engine->residual_norm_squared(part.x, part.b.data()))); };
        IterationReport  report;
        put(rank, x, b);
        report.initial_residual = report.final_residual = residual();
        report.norm_b                                   = std::sqrt(sum_over_parts(rank, part.engine->norm_squared(part.b.data())));
        if (test.norm_b < 0.)
          test.norm_b = report.norm_b;
        if (test.initial_residual < 0.)
          test.initial_residual = report.initial_residual;
        long fastest_sum = 0, all_sum = 0;
        int  chunk = test.every;
        for (int tests = 0; tests < most_tests && report.minimum < n_iterations; ++tests)
          {
            if (reached(report.final_residual, test.goal()) || !(report.final_residual <= test.limit()))
              break;
            const int    now_many = std::min(chunk, n_iterations - report.minimum);
            const double start    = now();
            relax(rank, now_many);
            report.final_residual  = residual();
            Told              mine = {now() - start, counters[rank].done};
            std::vector<Told> told(team.size());
            team.all_gather(rank)(&mine, sizeof(Told), told.data());
            long fastest = 0, slow = told[master].done;
            for (const Told &other : told)
              {
                fastest = std::max(fastest, other.done);
                slow    = std::min(slow, other.done);
                all_sum += other.done;
              }
            fastest_sum += fastest;
            report.minimum += static_cast<int>(slow);
            report.estimate_iterations.push_back(static_cast<int>(fastest_sum));
            report.estimates.push_back(report.final_residual);
            if (told[master].seconds < between_tests && chunk < n_iterations)
              chunk *= 2;
          }
        report.maximum = static_cast<int>(fastest_sum);
        report.mean    = static_cast<double>(all_sum) / team.size();
        if (!report.estimates.empty()) // the last is the final one
          {
            report.estimates.pop_back();
            report.estimate_iterations.pop_back();
          }
        get(rank, x);
        return report;
      }

      /** Each thread gives back what is its own; patterns and memory of several ranks go together. */
      void release() noexcept
      {
        try
          {
            team.run([&](int rank) {
              cudaDeviceSynchronize();
              team.wait(); // nobody writes to what goes
              parts[rank].exchange.reset();
              parts[rank] = Part<Number>();
            });
          }
        catch (...)
          { // an error that is not the caller's any more
          }
      }

      BlockAsyncOptions               options;
      const SeveralGpusOptions        gpus;
      const int                       n;
      std::vector<int>                row_offsets, diagonal; ///< of a matrix: for new values; the latter one entry a row
      std::vector<RowPart>            rows;
      const device::HostArray<Number> pinned; ///< amc: x
      std::vector<Part<Number>>       parts;
      std::vector<Counter>            counters;
      DeviceTeam                      team;
    };
  } // namespace

  template <typename Number>
  std::unique_ptr<Relaxation<Number>> make_several_gpus(const CrsMatrix<Number> &A, const BlockAsyncOptions &options, const SeveralGpusOptions &gpus)
  {
    return std::make_unique<SeveralGpus<Number>>(A, options, gpus);
  }

  template <typename Number>
  std::unique_ptr<Relaxation<Number>>
  make_several_gpus(const Stencil<Number> &stencil, const BlockAsyncOptions &options, const SeveralGpusOptions &gpus)
  {
    return std::make_unique<SeveralGpus<Number>>(stencil, options, gpus);
  }

#define INSTANTIATE(Number)                                                                        \
  template std::unique_ptr<Relaxation<Number>> make_several_gpus(                                  \
    const CrsMatrix<Number> &A, const BlockAsyncOptions &options, const SeveralGpusOptions &gpus); \
  template std::unique_ptr<Relaxation<Number>> make_several_gpus(                                  \
    const Stencil<Number> &stencil, const BlockAsyncOptions &options, const SeveralGpusOptions &gpus);
  LEOPARD_FOR_EACH_NUMBER(INSTANTIATE)
#undef INSTANTIATE
} // namespace leopard
