// SPDX-License-Identifier: Apache-2.0
#include "../device/cuda_error.cuh"
#include "../device/device.h"
#include "block_async_engine.h"
#include "monitor_cuda.cuh"
#include "packet_values.cuh"
#include "persistent_kernel.cuh"

#include <cmath>
#include <cstdint>

namespace leopard
{
  namespace
  {
    /** omega / d_i for each local row, and with l1 weights also 1 - omega a_ii / d_i. */
    template <typename Number>
    struct Weights
    {
      std::vector<Number> values, keeps;

      Weights(const BlockCrs<Number> &matrix, const BlockAsyncOptions &options) { compute(matrix, options); }

      void compute(const BlockCrs<Number> &matrix, const BlockAsyncOptions &options)
      {
        matrix.compute_weights(options.omega, options.l1_weights, values);
        keeps.resize(options.l1_weights ? values.size() : 0);
        for (std::size_t l = 0; l < keeps.size(); ++l)
          keeps[l] = Number(1) - values[l] * matrix.diagonal[l];
      }
    };

    /** Whether the values of a matrix are stored as they are, so that others can be put in their places. */
    template <typename Number>
    bool is_as_given(Storage storage)
    {
      return storage == (std::is_same_v<Number, float> ? Storage::single_precision : Storage::double_precision);
    }

    /** A matrix and how it is to be stored. */
    template <typename Number>
    struct Prepared
    {
      BlockCrs<Number> matrix;
      Weights<Number>  weights;
      Dictionary       values, weight_table;
      bool             weights_in_table = false;
      Storage          storage;
      DistanceSlots    slots;
      int              n_entries;

      Prepared(const CrsMatrix<Number> &A, const BlockAsyncOptions &options)
        : matrix(A, options.blocks(A.n_rows), options.n_threads)
        , weights(matrix, options)
        , storage(choose(options.storage))
        , slots(matrix,
                storage == Storage::dictionary         ? 1
                : storage == Storage::single_precision ? 4
                                                       : sizeof(Number))
        , n_entries(A.n_entries())
      {
        weights_in_table = storage == Storage::dictionary;
        for (std::size_t l = 0; l < weights.values.size() && weights_in_table; ++l)
          weights_in_table = weight_table.add(weights.values[l]);
      }

    private:
      Storage choose(Storage wanted)
      {
        const std::vector<Number> padding(1, Number(0));
        return choose_storage<Number>({&padding, &matrix.inner.values, &matrix.outer.values}, wanted, values);
      }
    };

    /** Where values that change stand in the packets. */
    template <typename Number>
    struct Positions
    {
      device::Array<unsigned int> values, weights;
      device::Array<int>          sources;
      device::Array<Number>       new_values, new_weights;
    };

    template <typename Format>
    class CudaEngine : public BlockAsyncEngine<typename Format::Number>
    {
      using Number = typename Format::Number;
      using Value  = typename Format::Value;

    public:
      CudaEngine(Prepared<Number> &&prepared, const Packets<Format> &packets_, const BlockAsyncOptions &options_)
        : options(options_)
        , storage(prepared.storage)
        , n_rows(prepared.matrix.n_rows)
        , n_blocks(prepared.matrix.n_blocks())
        , n_entries(prepared.n_entries)
        , largest_block(prepared.matrix.blocks.largest())
        , outer_bytes(packets_.outer_bytes)
        , inner_bytes(packets_.inner_bytes)
        , largest_packet(outer_bytes + inner_bytes)
        , most_ghosts(packets_.most_ghosts)
        , n_distinct(static_cast<int>(prepared.values.values().size()))
        , n_bytes(check_memory(packets_, prepared.matrix))
        , packets(packets_.bytes)
        , extents(packets_.extents)
        , weight_table(rounded_to<Number>(prepared.weights_in_table ? prepared.weight_table.values() : std::vector<double>()))
        , value_table(rounded_to<Number>(prepared.values.values()))
        , keeps(prepared.weights.keeps)
        , value_positions(packets_.value_positions)
        , value_sources(packets_.value_sources)
        , weight_positions(packets_.weight_positions)
        , local_iterations_per_block(options_.local_iterations_per_block)
        , velocity(options_.momentum > 0. ? prepared.matrix.n_local_rows() : 0)
        , old_x(options_.schedule == Schedule::synchronous ? prepared.matrix.n_columns : 0)
        , monitor(n_blocks)
        , weights(std::move(prepared.weights))
        , host_matrix(is_as_given<Number>(storage) ? std::make_unique<BlockCrs<Number>>(std::move(prepared.matrix)) : nullptr)
      {
        choose_form(prepared.slots, packets_.inner_width, packets_.outer_width);
      }

      MemorySpace memory_space() const override { return MemorySpace::device; }
      bool        is_fixed_linear_map() const override { return options.schedule == Schedule::synchronous || n_blocks <= 1; }

      std::string description() const override
      {
        return std::to_string(n_blocks) + " blocks of up to " + std::to_string(largest_block) + " rows, " + to_string(execution) +
               " form, values stored as " + to_string(storage) + (storage == Storage::dictionary ? " of " + std::to_string(n_distinct) : "") + ", " +
               columns_text() + ", " + std::to_string(n_bytes / 1000000) + " MB";
      }

      void restart() override { velocity_is_zero = true; }

      /** Returns when the work is queued on the default stream; whatever else that stream does comes after it. */
      void iterate(Number *x, const Number *b, int n_iterations) override
      {
        if (n_blocks == 0 || n_iterations == 0)
          return;
        if (execution == Execution::persistent)
          {
            RelaxParameters<Number> p = parameters(n_iterations);
            RelaxVectors<Number>    v = vectors(x, x, b);
            MonitorView             m = monitor.no_tests();
            velocity_is_zero          = false;
            if (options.schedule == Schedule::synchronous)
              {
                monitor.reset();
                launch_cooperatively(v, p, m);
              }
            else
              persistent_kernel<<<n_blocks, n_threads, largest_packet>>>(view(), v, p, m);
            LEOPARD_CHECK(cudaGetLastError());
            return;
          }
        if (velocity_is_zero && velocity.size() > 0)
          LEOPARD_CHECK(cudaMemsetAsync(velocity.data(), 0, velocity.size() * sizeof(Number)));
        velocity_is_zero       = false;
        const bool synchronous = options.schedule == Schedule::synchronous;
        for (int n = 0; n < n_iterations; ++n)
          {
            if (synchronous)
              device::copy_on_device(old_x.data(), x, old_x.size() * sizeof(Number));
            launch(vectors(x, synchronous ? old_x.data() : x, b), parameters(1));
          }
      }

      bool tests_itself() const override { return execution == Execution::persistent; }

      IterationReport iterate_until(Number *x, const Number *b, int n_iterations, const ResidualTest &test) override
      {
        if (n_blocks == 0)
          return {};
        // now and then the host looks too: at the time, and at whether there is progress
        RelaxParameters<Number> p = parameters(static_cast<int>(std::min<long>(n_iterations, 100l * test.every)));
        RelaxVectors<Number>    v = vectors(x, x, b);
        MonitorView             m = monitor.view(test);
        p.test_every              = test.every;
        velocity_is_zero          = false;
        launch_cooperatively(v, p, m);
        return monitor.report();
      }

      double residual_norm_squared(const Number *x, const Number *b) override
      {
        if (n_blocks == 0)
          return 0.;
        queue_residual(x, b);
        return monitor.sum_of_parts();
      }

      bool residual(Number *r, const Number *x, const Number *b) override
      {
        if (n_blocks > 0)
          queue_residual(x, b, r);
        return true;
      }

      double norm_squared(const Number *b) override { return n_rows == 0 ? 0. : monitor.norm_squared(b, n_rows); }

      void update_values(const Number *values) override
      {
        if constexpr (!std::is_same_v<Value, Number>)
          throw InvalidInput("the values of a matrix that is stored as " + to_string(storage) +
                             " on the GPU are to be changed\n  expected: storage double for a matrix whose values change");
        else
          replace_values(values);
      }

      void set_omega(double omega) override { options.omega = omega; }

    private:
      /** A packet, and a number for each ghost of a block. */
      std::size_t launch_shared() const { return static_cast<std::size_t>(largest_packet) + sizeof(Number) * most_ghosts; }

      static std::string columns_text() { return Format::has_columns ? "columns of 16 bits" : "columns from distances common to a block"; }

      std::size_t check_memory(const Packets<Format> &p, const BlockCrs<Number> &host) const
      {
        const std::size_t vectors = (options.l1_weights + (options.momentum > 0.)) * static_cast<std::size_t>(host.n_local_rows()) +
                                    (options.schedule == Schedule::synchronous ? host.n_columns : 0);
        const std::size_t needed      = p.bytes.size() + n_blocks * 48l + vectors * sizeof(Number);
        std::size_t       free_memory = 0, total = 0;
        LEOPARD_CHECK(cudaMemGetInfo(&free_memory, &total));
        if (needed > free_memory)
          throw DeviceError("the matrix needs " + std::to_string(needed) + " bytes on the GPU, of whose " + std::to_string(total) + " bytes " +
                            std::to_string(free_memory) + " are free\n  expected: a smaller problem, a larger GPU, or the backend host");
        return needed;
      }

      using LaunchKernel     = void (*)(MatrixView<Format>, RelaxVectors<Number>, RelaxParameters<Number>);
      using PersistentKernel = void (*)(MatrixView<Format>, RelaxVectors<Number>, RelaxParameters<Number>, MonitorView);

      template <typename Rows>
      void use_rows(bool plain, int n_rows_with_padding)
      {
        launch_kernel    = plain ? relax_rows_kernel<Rows, Relaxing::plain> : relax_rows_kernel<Rows, Relaxing::general>;
        residual_kernel  = relax_rows_kernel<Rows, Relaxing::residual>;
        n_launch_threads = threads_for((n_rows_with_padding + Rows::n - 1) / Rows::n);
      }

      /** Rows as they are held in registers; none if they are too wide. */
      void choose_rows(const DistanceSlots &slots, int width, bool plain)
      {
        if constexpr (Format::has_columns)
          width <= 4    ? use_rows<GatheredRows<Format, 4>>(plain, largest_block)
          : width <= 6  ? use_rows<GatheredRows<Format, 6>>(plain, largest_block)
          : width <= 8  ? use_rows<GatheredRows<Format, 8>>(plain, largest_block)
          : width <= 16 ? use_rows<GatheredRows<Format, 16>>(plain, largest_block)
          : width <= 32 ? use_rows<GatheredRows<Format, 32, 1>>(plain, largest_block)
                        : void();
        else if (slots.is_lattice())
          slots.is_full()         ? use_rows<LatticeRows<Format, 2, true>>(plain, slots.largest_block())
          : slots.laterals() <= 2 ? use_rows<LatticeRows<Format, 2, false>>(plain, slots.largest_block())
                                  : use_rows<LatticeRows<Format, 4, false>>(plain, slots.largest_block());
        else if (width <= 16)
          use_rows<GatheredRows<Format, 16>>(plain, largest_block);
        else if (width <= 32) // biquadratic elements have 24 to 30, of tiles that are not quite rectangular
          use_rows<GatheredRows<Format, 32, 1>>(plain, largest_block);
      }

      template <int width>
      static PersistentKernel persistent_kernel_for(int outer_width, int threads)
      {
        return outer_width > 8 && threads <= 128 ? persistent_rows_kernel<Format, width, 24, 128> : persistent_rows_kernel<Format, width, 8, 512>;
      }

      static int threads_for(int rows) { return std::max(32, (rows + 31) / 32 * 32); }

      /** Null if the rows do not fit in registers. */
      static PersistentKernel persistent_kernel_for(int width, int outer_width, int threads)
      {
        return threads > 512   ? nullptr
               : width <= 4    ? persistent_kernel_for<4>(outer_width, threads)
               : width <= 8    ? persistent_kernel_for<8>(outer_width, threads)
               : width <= 16   ? persistent_kernel_for<16>(outer_width, threads)
               : threads > 128 ? nullptr
               : width <= 32   ? persistent_rows_kernel<Format, 32, 16, 128>
                               : nullptr;
      }

      /**
       * Whether all blocks are on the chip at once, and which kernels with how many threads and how much shared memory.
       */
      void choose_form(const DistanceSlots &slots, int inner_width, int outer_width)
      {
        cudaDeviceProp properties;
        int            device = 0;
        LEOPARD_CHECK(cudaGetDevice(&device));
        LEOPARD_CHECK(cudaGetDeviceProperties(&properties, device));
        const auto at_once = [&](const void *kernel, int threads, std::size_t shared) {
          int blocks = 0;
          LEOPARD_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, shared));
          return blocks * properties.multiProcessorCount;
        };

        if (options.schedule == Schedule::chaotic ? options.execution != Execution::launch : options.execution == Execution::persistent)
          {
            n_threads         = threads_for(largest_block);
            persistent_kernel = persistent_kernel_for(inner_width, outer_width, n_threads);
            const bool fits   = persistent_kernel != nullptr && static_cast<std::size_t>(largest_packet) <=
                                                                device::allow_shared_memory(reinterpret_cast<const void *>(persistent_kernel));
            const int room = fits ? at_once(reinterpret_cast<const void *>(persistent_kernel), n_threads, largest_packet) : 0;
            if (n_blocks <= room)
              execution = Execution::persistent;
            else if (options.execution == Execution::persistent)
              throw InvalidInput("block-asynchronous iteration: execution is persistent, but the matrix has " + std::to_string(n_blocks) +
                                 " blocks of " + std::to_string(largest_block) + " rows with up to " + std::to_string(inner_width) +
                                 " entries in the block, and only " + std::to_string(room) +
                                 " such blocks are on this GPU at once\n  expected: execution automatic or launch, or a smaller matrix");
          }

        const std::size_t room_for_packets = properties.sharedMemPerBlockOptin - 16 * 1024; // beside what the kernel has by itself
        if (largest_block <= max_rows_in_registers && launch_shared() <= room_for_packets)
          {
            const bool plain =
              options.block_omega == 1. && !options.l1_weights && options.momentum == 0. && options.local_iterations_per_block.empty();
            choose_rows(slots, inner_width, plain);
          }
        if (launch_kernel != nullptr)
          {
            n_shared = launch_shared();
            for (const LaunchKernel kernel : {launch_kernel, residual_kernel})
              device::allow_shared_memory(reinterpret_cast<const void *>(kernel));
            n_launched = std::min(n_blocks, at_once(reinterpret_cast<const void *>(launch_kernel), n_launch_threads, n_shared));
            n_residual = std::min(n_blocks, at_once(reinterpret_cast<const void *>(residual_kernel), n_launch_threads, n_shared));
            return;
          }
        const auto shared_for  = [&](long rows) { return sizeof(double) * 32 + sizeof(Number) * 3 * rows; };
        n_launch_threads       = std::min(1024, threads_for(largest_block));
        n_shared               = shared_for(largest_block);
        const std::size_t room = device::allow_shared_memory(reinterpret_cast<const void *>(relax_any_kernel<Format>));
        if (n_shared > room)
          throw InvalidInput("block-asynchronous iteration: a block of " + std::to_string(largest_block) + " rows needs " + std::to_string(n_shared) +
                             " bytes of shared memory, and a thread block of this GPU has " + std::to_string(room) +
                             "\n  expected: a block_size of at most " + std::to_string((room - sizeof(double) * 32) / sizeof(Number) / 3));
      }

      RelaxVectors<Number> vectors(Number *x, const Number *off_block, const Number *b) const
      {
        return {x, off_block, b, velocity.data(), monitor.parts(), nullptr, execution == Execution::persistent ? old_x.data() : nullptr};
      }

      RelaxParameters<Number> parameters(int n_iterations) const
      {
        return {n_iterations,
                options.local_iterations,
                local_iterations_per_block.data(),
                static_cast<Number>(options.block_omega),
                static_cast<Number>(options.momentum),
                velocity_is_zero,
                0};
      }

      MatrixView<Format> view() const
      {
        return {packets.data(),
                extents.data(),
                n_blocks,
                outer_bytes,
                inner_bytes,
                {weight_table.data(), value_table.data()},
                keeps.data(),
                Number(1) - static_cast<Number>(options.omega)};
      }

      void launch(const RelaxVectors<Number> &v, const RelaxParameters<Number> &p) const
      {
        if (launch_kernel == nullptr)
          relax_any_kernel<Format><<<n_blocks, n_launch_threads, n_shared>>>(view(), v, p, largest_block);
        else
          {
            const bool tests = p.test_every > 0;
            (tests ? residual_kernel : launch_kernel)<<<tests ? n_residual : n_launched, n_launch_threads, n_shared>>>(view(), v, p);
          }
        LEOPARD_CHECK(cudaGetLastError());
      }

      /** For blocks that wait for one another: all must be there. */
      void launch_cooperatively(RelaxVectors<Number> &v, RelaxParameters<Number> &p, MonitorView &m) const
      {
        if (v.other_x != nullptr && old_x.size() > static_cast<std::size_t>(n_rows)) // ghosts are read there too
          device::copy_on_device(old_x.data() + n_rows, v.x + n_rows, (old_x.size() - n_rows) * sizeof(Number));
        MatrixView<Format> A           = view();
        void              *arguments[] = {&A, &v, &p, &m};
        LEOPARD_CHECK(
          cudaLaunchCooperativeKernel(reinterpret_cast<const void *>(persistent_kernel), n_blocks, n_threads, arguments, largest_packet, nullptr));
      }

      /**
       * Queues the parts of ||b - A x||^2, and r = b - A x if that is not null: no local iterations, so that x is only
       * read.
       */
      void queue_residual(const Number *x, const Number *b, Number *r = nullptr) const
      {
        RelaxParameters<Number> p = parameters(1);
        RelaxVectors<Number>    v = vectors(const_cast<Number *>(x), x, b);
        p.local_iterations        = 0;
        p.test_every              = 1;
        p.momentum                = 0;
        v.residual                = r;
        launch(v, p);
      }

      void replace_values(const Number *values)
      {
        if (n_rows == 0)
          return;
        // both check all values; more than the diagonal is taken only where weights depend on it
        options.l1_weights ? host_matrix->update_values(values) : host_matrix->update_diagonal(values);
        weights.compute(*host_matrix, options);
        if (positions == nullptr)
          positions = std::make_unique<Positions<Number>>(Positions<Number>{device::Array<unsigned int>(value_positions),
                                                                            device::Array<unsigned int>(weight_positions),
                                                                            device::Array<int>(value_sources),
                                                                            device::Array<Number>(static_cast<std::size_t>(n_entries)),
                                                                            device::Array<Number>(weights.values.size())});
        device::copy_to_device(positions->new_values.data(), values, positions->new_values.size() * sizeof(Number));
        device::copy_to_device(positions->new_weights.data(), weights.values.data(), weights.values.size() * sizeof(Number));
        put(packets, positions->values, positions->sources.data(), positions->new_values);
        put(packets, positions->weights, nullptr, positions->new_weights);
        if (!weights.keeps.empty())
          device::copy_to_device(keeps.data(), weights.keeps.data(), weights.keeps.size() * sizeof(Number));
      }

      BlockAsyncOptions                 options;
      const Storage                     storage;
      const int                         n_rows, n_blocks, n_entries, largest_block, outer_bytes, inner_bytes, largest_packet, most_ghosts, n_distinct;
      const std::size_t                 n_bytes;
      device::Array<char>               packets;
      device::Array<BlockExtent>        extents;
      device::Array<Number>             weight_table, value_table;
      device::Array<Number>             keeps;
      std::vector<unsigned int>         value_positions, weight_positions;
      std::vector<int>                  value_sources;
      device::Array<int>                local_iterations_per_block;
      device::Array<Number>             velocity;
      bool                              velocity_is_zero = true; ///< though its memory may hold something else
      device::Array<Number>             old_x;                   ///< synchronous schedule only
      CudaMonitor                       monitor;
      Weights<Number>                   weights;     ///< on the host, for values that change
      std::unique_ptr<BlockCrs<Number>> host_matrix; ///< for values that change
      std::unique_ptr<Positions<Number>> positions;  ///< from the first update_values() on
      Execution                          execution         = Execution::launch;
      PersistentKernel                   persistent_kernel = nullptr;
      LaunchKernel                       launch_kernel = nullptr, residual_kernel = nullptr; ///< null: relax_any_kernel
      int         n_threads = 0, n_launch_threads = 0, n_launched = 0, n_residual = 0;       ///< thread blocks of the two launch kernels
      std::size_t n_shared = 0;
    };

    template <typename Format, typename Number = typename Format::Number>
    std::unique_ptr<BlockAsyncEngine<Number>> make_engine(Prepared<Number> &&p, const BlockAsyncOptions &options)
    {
      const Packets<Format> packets(p.matrix, p.weights.values, p.weights_in_table ? &p.weight_table : nullptr, p.values, p.slots, options.n_threads);
      return std::make_unique<CudaEngine<Format>>(std::move(p), packets, options);
    }

    template <typename Column, typename Number>
    std::unique_ptr<BlockAsyncEngine<Number>> make_engine_for(Prepared<Number> &&p, const BlockAsyncOptions &options)
    {
      return p.storage == Storage::dictionary ? make_engine<PacketFormat<Number, Column, std::uint8_t>>(std::move(p), options)
             : is_as_given<Number>(p.storage) ? make_engine<PacketFormat<Number, Column, Number>>(std::move(p), options)
                                              : make_engine<PacketFormat<Number, Column, float>>(std::move(p), options);
    }
  } // namespace

  template <typename Number>
  std::unique_ptr<BlockAsyncEngine<Number>> make_cuda_engine(const CrsMatrix<Number> &A, const BlockAsyncOptions &options)
  {
    Prepared<Number> prepared(A, options);
    return prepared.slots.is_used() ? make_engine_for<NoColumns>(std::move(prepared), options)
                                    : make_engine_for<std::uint16_t>(std::move(prepared), options);
  }

#define INSTANTIATE(Number) \
  template std::unique_ptr<BlockAsyncEngine<Number>> make_cuda_engine(const CrsMatrix<Number> &A, const BlockAsyncOptions &options);
  LEOPARD_FOR_EACH_NUMBER(INSTANTIATE)
#undef INSTANTIATE
} // namespace leopard
