// SPDX-License-Identifier: Apache-2.0
#include "../device/device.h"
#include "../device/partial_sums.cuh"
#include "block_async_engine.h"
#include "correction_kernel.cuh"
#include "host_packets.cuh"
#include "packet_values.cuh"

#include <algorithm>
#include <cstdint>

namespace leopard
{
  namespace
  {
    template <typename Number>
    using CorrectionFormat = PacketFormat<Number, std::uint16_t, Number>;

    /** Packets on the device, and where their values stand. */
    template <typename Number>
    class CorrectionPackets
    {
    public:
      CorrectionPackets(const BlockCrs<Number> &matrix, const std::vector<Number> &weights)
        : CorrectionPackets(HostPackets<Number>(matrix, weights), matrix.n_blocks())
      {
      }

      MatrixView<CorrectionFormat<Number>> view() const
      {
        return {packets.data(), extents.data(), n_blocks, outer_bytes, inner_bytes, {nullptr, nullptr}, nullptr, Number(0)};
      }

      /** New ones in their places, of which sources are the numbers, and new weights. */
      void put_values(const Number *values, std::size_t n_values, const std::vector<Number> &weights)
      {
        if (new_values.size() < n_values)
          new_values = device::Array<Number>(n_values);
        if (new_weights.size() < weights.size())
          new_weights = device::Array<Number>(weights.size());
        if (n_values > 0)
          device::copy_to_device(new_values.data(), values, n_values * sizeof(Number));
        if (!weights.empty())
          device::copy_to_device(new_weights.data(), weights.data(), weights.size() * sizeof(Number));
        put(packets, value_positions, value_sources.data(), new_values);
        put(packets, weight_positions, nullptr, new_weights);
      }

      std::size_t n_bytes() const { return packets.size(); }
      int         width() const { return inner_width; }

    private:
      CorrectionPackets(const HostPackets<Number> &p, int n_blocks_)
        : n_blocks(n_blocks_)
        , outer_bytes(p.outer_bytes)
        , inner_bytes(p.inner_bytes)
        , inner_width(p.inner_width)
        , packets(p.bytes)
        , extents(p.extents)
        , value_positions(p.value_positions)
        , weight_positions(p.weight_positions)
        , value_sources(p.value_sources)
      {
      }

      const int                   n_blocks, outer_bytes, inner_bytes, inner_width;
      device::Array<char>         packets;
      device::Array<BlockExtent>  extents;
      device::Array<unsigned int> value_positions, weight_positions;
      device::Array<int>          value_sources;
      device::Array<Number>       new_values, new_weights; ///< from the first put_values() on
    };

    template <typename Number, typename Low>
    class CudaCorrections : public BlockAsyncEngine<Number>
    {
    public:
      CudaCorrections(const CrsMatrix<Number> &A, const BlockAsyncOptions &options_)
        : options(options_)
        , n_entries(A.n_entries())
        , matrix(A, options_.blocks(A.n_rows))
        , low(matrix, options_.omega, options_.l1_weights)
        , high_packets(matrix, matrix.diagonal)
        , low_packets(low.matrix, low.weights)
        , weights(low.weights)
        , keeps(keeps_of_rows())
        , scale(low.scale)
        , local_iterations_per_block(options_.local_iterations_per_block)
        , old_x(options_.schedule == Schedule::synchronous ? A.n_columns : 0)
        , sums(std::max(1, matrix.n_blocks()))
      {
        if (matrix.n_blocks() > 0)
          choose_form();
      }

      MemorySpace memory_space() const override { return MemorySpace::device; }
      bool        is_fixed_linear_map() const override { return options.schedule == Schedule::synchronous || matrix.n_blocks() <= 1; }

      std::string description() const override
      {
        return std::to_string(matrix.n_blocks()) + " blocks of up to " + std::to_string(matrix.blocks.largest()) + " rows, " +
               (all_at_once ? "persistent" : "launch") + " form, values stored as " + (std::is_same_v<Number, double> ? "double" : "single") +
               (std::is_same_v<Number, Low> ? "" : ", of blocks in single too") + ", " +
               std::to_string((high_packets.n_bytes() + low_packets.n_bytes()) / 1000000) + " MB";
      }

      void restart() override {}

      /** Returns when the work is queued on the default stream. */
      void iterate(Number *x, const Number *b, int n_iterations) override
      {
        if (matrix.n_blocks() == 0 || n_iterations == 0)
          return;
        if (all_at_once)
          return launch({x, x, b, nullptr, n_iterations, options.local_iterations, options.correction_loops, per_block(), block_omega()});
        const bool synchronous = options.schedule == Schedule::synchronous;
        for (int n = 0; n < n_iterations; ++n)
          {
            if (synchronous)
              device::copy_on_device(old_x.data(), x, old_x.size() * sizeof(Number));
            launch(
              {x, synchronous ? old_x.data() : x, b, nullptr, 1, options.local_iterations, options.correction_loops, per_block(), block_omega()});
          }
      }

      double residual_norm_squared(const Number *x, const Number *b) override
      {
        if (matrix.n_blocks() == 0)
          return 0.;
        launch({const_cast<Number *>(x), x, b, sums.parts(), 1, 0, 0, nullptr, Number(1)});
        return sums.sum_of(matrix.n_blocks());
      }

      double norm_squared(const Number *b) override { return matrix.n_rows == 0 ? 0. : sums.norm_squared(b, matrix.n_rows); }

      void update_values(const Number *values) override
      {
        LowBlocks<Number, Low>::check(matrix, values);
        matrix.update_values(values);
        low.update(matrix, options.omega, options.l1_weights);
        high_packets.put_values(values, static_cast<std::size_t>(n_entries), matrix.diagonal);
        low_packets.put_values(low.matrix.inner.values.data(), low.matrix.inner.values.size(), low.weights);
        for (const auto &[to, from] : {std::pair(&weights, low.weights), std::pair(&keeps, keeps_of_rows())})
          if (!from.empty())
            device::copy_to_device(to->data(), from.data(), from.size() * sizeof(Low));
        if (!low.scale.empty())
          device::copy_to_device(scale.data(), low.scale.data(), low.scale.size() * sizeof(Number));
      }

      void set_omega(double omega) override { options.omega = omega; }

    private:
      using Kernel =
        void (*)(MatrixView<CorrectionFormat<Number>>, MatrixView<CorrectionFormat<Low>>, CorrectionRows<Number, Low>, CorrectionLaunch<Number>, int);

      Number     block_omega() const { return static_cast<Number>(options.block_omega); }
      const int *per_block() const { return local_iterations_per_block.data(); }

      /** 1 - omega a_ii / d_i; empty without l1 weights. */
      std::vector<Low> keeps_of_rows() const
      {
        std::vector<Low> result(options.l1_weights ? low.weights.size() : 0);
        for (std::size_t l = 0; l < result.size(); ++l)
          result[l] = Low(1) - low.weights[l] * low.matrix.diagonal[l];
        return result;
      }

      template <int width>
      static Kernel kernel_for()
      {
        return correct_kernel<CorrectionFormat<Number>, CorrectionFormat<Low>, width>;
      }

      void choose_form()
      {
        const int rows = matrix.blocks.largest(), width = low_packets.width();
        kernel    = rows > max_rows_in_registers || width > 16 ? kernel_for<0>()
                    : width > 8                                ? kernel_for<16>()
                    : width > 4                                ? kernel_for<8>()
                                                               : kernel_for<4>();
        n_threads = std::min(1024, std::max(32, (rows + 31) / 32 * 32));
        // an even number of rows, so that what comes behind them begins at a multiple of its size
        stride                 = (rows + 1) / 2 * 2;
        const auto a_row       = correction_numbers * sizeof(Number) + correction_lows * sizeof(Low);
        n_shared               = 33 * sizeof(double) + stride * a_row;
        const std::size_t room = device::allow_shared_memory(reinterpret_cast<const void *>(kernel));
        if (n_shared > room)
          throw InvalidInput("block-asynchronous refinement: a block of " + std::to_string(rows) + " rows needs " + std::to_string(n_shared) +
                             " bytes of shared memory, and a thread block of this GPU has " + std::to_string(room) +
                             "\n  expected: a block_size of at most " + std::to_string((room - 33 * sizeof(double)) / a_row / 2 * 2));
        cudaDeviceProp properties;
        int            device = 0, at_once = 0;
        LEOPARD_CHECK(cudaGetDevice(&device));
        LEOPARD_CHECK(cudaGetDeviceProperties(&properties, device));
        LEOPARD_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&at_once, kernel, n_threads, n_shared));
        const bool fits = matrix.n_blocks() <= at_once * properties.multiProcessorCount;
        // blocks whose rows are read anew in each sweep take very different times, and those that are done with all
        // their iterations early have worked with old values of the others (Chem97ZtZ: eight times the iterations)
        const bool automatic = rows <= max_rows_in_registers && width <= 16;
        all_at_once          = options.schedule == Schedule::chaotic && fits &&
                      (options.execution == Execution::persistent || (options.execution == Execution::automatic && automatic));
        if (options.execution == Execution::persistent && !all_at_once)
          throw InvalidInput("block-asynchronous refinement: execution is persistent, but " +
                             (fits ? std::string("the schedule is synchronous")
                                   : "the matrix has " + std::to_string(matrix.n_blocks()) + " blocks, and only " +
                                       std::to_string(at_once * properties.multiProcessorCount) + " such blocks are on this GPU at once") +
                             "\n  expected: execution automatic or launch");
      }

      void launch(const CorrectionLaunch<Number> &what) const
      {
        kernel<<<matrix.n_blocks(), n_threads, n_shared>>>(high_packets.view(),
                                                           low_packets.view(),
                                                           {weights.data(), keeps.data(), Low(1) - static_cast<Low>(options.omega), scale.data()},
                                                           what,
                                                           stride);
        LEOPARD_CHECK(cudaGetLastError());
      }

      BlockAsyncOptions         options;
      const int                 n_entries;
      BlockCrs<Number>          matrix; ///< for values that change
      LowBlocks<Number, Low>    low;    ///< likewise
      CorrectionPackets<Number> high_packets;
      CorrectionPackets<Low>    low_packets;
      device::Array<Low>        weights, keeps;
      device::Array<Number>     scale;
      device::Array<int>        local_iterations_per_block;
      device::Array<Number>     old_x; ///< synchronous schedule only
      device::PartialSums       sums;
      bool                      all_at_once = false; ///< all blocks are on the chip, and iterate in one launch
      Kernel                    kernel      = nullptr;
      int                       n_threads = 0, stride = 0;
      std::size_t               n_shared = 0;
    };
  } // namespace

  template <typename Number>
  std::unique_ptr<BlockAsyncEngine<Number>> make_cuda_correction_engine(const CrsMatrix<Number> &A, const BlockAsyncOptions &options)
  {
    if (options.corrections == Corrections::single_precision)
      return std::make_unique<CudaCorrections<Number, float>>(A, options);
    return std::make_unique<CudaCorrections<Number, Number>>(A, options);
  }

#define INSTANTIATE(Number) \
  template std::unique_ptr<BlockAsyncEngine<Number>> make_cuda_correction_engine(const CrsMatrix<Number> &A, const BlockAsyncOptions &options);
  LEOPARD_FOR_EACH_NUMBER(INSTANTIATE)
#undef INSTANTIATE
} // namespace leopard
