// SPDX-License-Identifier: Apache-2.0
#include "../device/cuda_error.cuh"
#include "../device/device.h"
#include "../device/launch.cuh"
#include "block_async_engine.h"
#include "device_packets.cuh"
#include "monitor_cuda.cuh"
#include "persistent_kernel.cuh"
#include "two_stage_kernel.cuh"

#include <cmath>
#include <cstdint>
#include <numeric>

namespace leopard
{
  namespace
  {
    template <typename Format>
    class CudaEngine : public BlockAsyncEngine<typename Format::Number>
    {
      using Number = typename Format::Number;
      using Value  = typename Format::Value;

    public:
      CudaEngine(DevicePackets<Number> &&packets_, const BlockAsyncOptions &options_)
        : options(options_)
        , packets(std::move(packets_))
        , n_blocks(packets.n_blocks)
        , largest_packet(packets.outer_bytes + packets.inner_bytes)
        , local_iterations_per_block(options_.local_iterations_per_block)
        , velocity(options_.momentum > 0. ? packets.n_local_rows : 0)
        , old_x(options_.schedule == Schedule::synchronous ? packets.n_columns : 0)
        , monitor(n_blocks)
      {
        choose_form();
        device::synchronize(); // kernels that are launched early read packets before they wait for others
      }

      MemorySpace memory_space() const override { return MemorySpace::device; }
      bool        is_fixed_linear_map() const override
      {
        return !options.has_asynchronous_inner_iteration() && (options.schedule == Schedule::synchronous || n_blocks <= 1);
      }

      std::string description() const override
      {
        return std::to_string(n_blocks) + " blocks of up to " + std::to_string(packets.largest_block) + " rows, " + to_string(execution) +
               " form, values stored as " + to_string(packets.storage) +
               (packets.storage == Storage::dictionary ? " of " + std::to_string(packets.n_values) : "") + ", " + columns_text() + ", " +
               std::to_string(n_bytes() / 1000000) + " MB";
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
              device::launch_early(persistent_kernel, n_blocks, n_threads, largest_packet, view(), v, p, m);
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

      double norm_squared(const Number *b) override { return packets.n_rows == 0 ? 0. : monitor.norm_squared(b, packets.n_rows); }

      void update_values(const Number *values) override
      {
        if constexpr (!std::is_same_v<Value, Number>)
          throw InvalidInput("the values of a matrix that is stored as " + to_string(packets.storage) +
                             " on the GPU are to be changed\n  expected: storage double for a matrix whose values change");
        else
          packets.update_values(values, options.omega); // ends with a copy, past which no kernel is launched early
      }

      void set_omega(double omega) override { options.omega = omega; }

      bool mirror(const Mirrors<Number> &mirrors) override
      {
        if (execution != Execution::persistent)
          return false;
        std::vector<int> offsets(packets.n_rows + 1l, 0);
        for (const int row : mirrors.rows)
          ++offsets[row + 1];
        std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
        mirror_offsets = device::Array<int>(offsets);
        mirror_places  = device::Array<Number *>(mirrors.places);
        return true;
      }

      void place_ghosts_before(int n) override
      {
        if (options.schedule == Schedule::synchronous)
          throw InvalidInput("ghosts are to stand before x in the synchronous schedule\n  expected: the chaotic one");
        packets.place_ghosts_before(n);
        device::synchronize(); // as in the constructor
      }

    private:
      /** A packet, and a number for each ghost of a block. */
      std::size_t launch_shared() const { return static_cast<std::size_t>(largest_packet) + sizeof(Number) * packets.most_ghosts; }

      static std::string columns_text() { return Format::has_columns ? "columns of 16 bits" : "columns from distances common to a block"; }

      std::size_t n_bytes() const { return packets.n_bytes + (velocity.size() + old_x.size()) * sizeof(Number); }

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
      void choose_rows(bool plain)
      {
        const DistanceSlots &slots = packets.slots;
        const int            width = packets.inner_width, largest_block = packets.largest_block;
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
      void choose_form()
      {
        const int      inner_width = packets.inner_width, outer_width = packets.outer_width, largest_block = packets.largest_block;
        cudaDeviceProp properties;
        int            device = 0;
        LEOPARD_CHECK(cudaGetDevice(&device));
        LEOPARD_CHECK(cudaGetDeviceProperties(&properties, device));
        const auto at_once = [&](const void *kernel, int threads, std::size_t shared) {
          int blocks = 0;
          LEOPARD_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, shared));
          return blocks * properties.multiProcessorCount;
        };

        if (options.has_asynchronous_inner_iteration())
          {
            two_stage = options.two_stage == TwoStage::total ? two_stage_kernel<Format, true> : two_stage_kernel<Format, false>;
            n_threads = std::min(1024, threads_for(largest_block));
            // 512 rows fit everywhere; for more relax_any_kernel finds the residual, needs more, and says where that is
            // not there
            device::allow_shared_memory(reinterpret_cast<const void *>(two_stage));
          }
        else if (options.schedule == Schedule::chaotic ? options.execution != Execution::launch : options.execution == Execution::persistent)
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
            choose_rows(plain);
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
        return {x,
                off_block,
                b,
                velocity.data(),
                monitor.parts(),
                nullptr,
                execution == Execution::persistent ? old_x.data() : nullptr,
                {mirror_offsets.data(), mirror_places.data()}};
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
        return {packets.bytes.data(),
                packets.extents.data(),
                n_blocks,
                packets.outer_bytes,
                packets.inner_bytes,
                {packets.weight_table.data(), packets.value_table.data()},
                packets.keeps.data(),
                Number(1) - static_cast<Number>(options.omega)};
      }

      void launch(const RelaxVectors<Number> &v, const RelaxParameters<Number> &p) const
      {
        const bool tests = p.test_every > 0;
        if (two_stage != nullptr && !tests)
          device::launch_early(two_stage, n_blocks, n_threads, two_stage_bytes_a_row<Number> * packets.largest_block, view(), v, p);
        else if (launch_kernel == nullptr)
          device::launch_early(relax_any_kernel<Format>, n_blocks, n_launch_threads, n_shared, view(), v, p, packets.largest_block);
        else
          device::launch_early(tests ? residual_kernel : launch_kernel, tests ? n_residual : n_launched, n_launch_threads, n_shared, view(), v, p);
      }

      /** For blocks that wait for one another: all must be there. */
      void launch_cooperatively(RelaxVectors<Number> &v, RelaxParameters<Number> &p, MonitorView &m) const
      {
        if (v.other_x != nullptr && old_x.size() > static_cast<std::size_t>(packets.n_rows)) // ghosts are read there too
          device::copy_on_device(old_x.data() + packets.n_rows, v.x + packets.n_rows, (old_x.size() - packets.n_rows) * sizeof(Number));
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

      BlockAsyncOptions       options;
      DevicePackets<Number>   packets;
      const int               n_blocks, largest_packet;
      device::Array<int>      local_iterations_per_block;
      device::Array<Number>   velocity;
      bool                    velocity_is_zero = true; ///< though its memory may hold something else
      device::Array<Number>   old_x;                   ///< synchronous schedule only
      device::Array<int>      mirror_offsets;          ///< of each row
      device::Array<Number *> mirror_places;
      CudaMonitor             monitor;
      Execution               execution         = Execution::launch;
      PersistentKernel        persistent_kernel = nullptr;
      LaunchKernel            two_stage         = nullptr;                        ///< of an asynchronous inner iteration, else null
      LaunchKernel            launch_kernel = nullptr, residual_kernel = nullptr; ///< null: relax_any_kernel
      int                     n_threads = 0, n_launch_threads = 0;                ///< n_threads: of persistent_kernel or two_stage
      int                     n_launched = 0, n_residual = 0;                     ///< thread blocks of the two launch kernels
      std::size_t             n_shared = 0;
    };

    template <typename Column, typename Number>
    std::unique_ptr<BlockAsyncEngine<Number>> make_engine(DevicePackets<Number> &&packets, const BlockAsyncOptions &options)
    {
      const bool as_given = packets.storage == (std::is_same_v<Number, float> ? Storage::single_precision : Storage::double_precision);
      if (packets.storage == Storage::dictionary)
        return std::make_unique<CudaEngine<PacketFormat<Number, Column, std::uint8_t>>>(std::move(packets), options);
      if constexpr (std::is_same_v<Number, float>)
        if (packets.storage == Storage::bfloat16)
          return std::make_unique<CudaEngine<PacketFormat<Number, Column, std::uint16_t>>>(std::move(packets), options);
      if (as_given)
        return std::make_unique<CudaEngine<PacketFormat<Number, Column, Number>>>(std::move(packets), options);
      return std::make_unique<CudaEngine<PacketFormat<Number, Column, float>>>(std::move(packets), options);
    }
  } // namespace

  template <typename Number>
  std::unique_ptr<BlockAsyncEngine<Number>> make_cuda_engine(const device::DeviceCrs<Number> &A, const BlockAsyncOptions &options)
  {
    DevicePackets<Number> packets(A, options);
    return packets.has_columns ? make_engine<std::uint16_t>(std::move(packets), options) : make_engine<NoColumns>(std::move(packets), options);
  }

  template <typename Number>
  std::unique_ptr<BlockAsyncEngine<Number>> make_cuda_engine(const CrsMatrix<Number> &A, const BlockAsyncOptions &options)
  {
    auto engine = make_cuda_engine(device::to_device(A), options);
    device::release_scratch();
    return engine;
  }

#define INSTANTIATE(Number)                                                                                                                  \
  template std::unique_ptr<BlockAsyncEngine<Number>> make_cuda_engine(const device::DeviceCrs<Number> &A, const BlockAsyncOptions &options); \
  template std::unique_ptr<BlockAsyncEngine<Number>> make_cuda_engine(const CrsMatrix<Number> &A, const BlockAsyncOptions &options);
  LEOPARD_FOR_EACH_NUMBER(INSTANTIATE)
#undef INSTANTIATE
} // namespace leopard
