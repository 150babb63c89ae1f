// SPDX-License-Identifier: Apache-2.0
#include "../device/cuda_error.cuh"
#include "../device/device.h"
#include "block_async_engine.h"
#include "cuda_monitor.cuh"
#include "relax_kernels.cuh"

#include <cmath>

namespace leopard
{
  namespace
  {
    __global__ void pick_kernel(double *values, const int *source, const double *new_values, int n)
    {
      const int slot = blockIdx.x * blockDim.x + threadIdx.x;
      if (slot < n && source[slot] >= 0)
        values[slot] = new_values[source[slot]];
    }

    /** Values as they are stored: converted, or as numbers in the dictionary. */
    template <typename Value>
    std::vector<Value> encode(const std::vector<double> &values, const Dictionary &dictionary)
    {
      std::vector<Value> result(values.size());
      for (std::size_t i = 0; i < values.size(); ++i)
        if constexpr (std::is_same_v<Value, std::uint8_t>)
          result[i] = dictionary.index_of(values[i]);
        else
          result[i] = static_cast<Value>(values[i]);
      return result;
    }

    /** Columns as they are stored: indices into the block, or numbers in the table of distances. */
    template <typename Column>
    std::vector<Column> encode_columns(const SlicedBlockCrs &A)
    {
      if constexpr (std::is_same_v<Column, std::uint16_t>)
        return A.inner_columns;
      else
        {
          std::vector<Column> result(A.inner_columns.size()), number(2 * 65536 + 1);
          for (std::size_t d = 0; d < A.distances.size(); ++d)
            number[65536 + A.distances[d]] = static_cast<Column>(d);
          A.for_each_inner([&](std::size_t slot, int row) { result[slot] = number[65536 + A.inner_columns[slot] - row]; });
          return result;
        }
    }

    /** The inner entries in device memory. */
    template <typename Format>
    struct DeviceInner;

    template <typename Column, typename Value>
    struct DeviceInner<SeparateFormat<Column, Value>>
    {
      device::Array<int>    distances;
      device::Array<Column> columns;
      device::Array<Value>  values;

      DeviceInner(const SlicedBlockCrs &A, const Dictionary &dictionary, const JointDictionary & /*joint*/)
        : distances(A.distances)
        , columns(encode_columns<Column>(A))
        , values(encode<Value>(A.inner_values, dictionary))
      {
      }

      SeparateFormat<Column, Value> view(const double *table) const { return {columns.data(), distances.data(), values.data(), table}; }
      static std::size_t            bytes_needed(const SlicedBlockCrs &A) { return A.inner_columns.size() * (sizeof(Column) + sizeof(Value)); }
      static std::string            text() { return "columns of " + std::to_string(8 * sizeof(Column)) + " bits"; }
    };

    template <>
    struct DeviceInner<JointFormat>
    {
      device::Array<std::uint8_t> codes;
      device::Array<JointEntry>   table;

      DeviceInner(const SlicedBlockCrs & /*A*/, const Dictionary & /*dictionary*/, const JointDictionary &joint)
        : codes(joint.codes)
        , table(joint.entries)
      {
      }

      JointFormat        view(const double        */*table*/) const { return {codes.data(), table.data()}; }
      static std::size_t bytes_needed(const SlicedBlockCrs &A) { return A.inner_columns.size(); }
      static std::string text() { return "columns and values in 8 bits together"; }
    };

    /** The matrix in device memory. */
    template <typename Format>
    struct DeviceBlockCrs
    {
      using Value = typename Format::Value;
      DeviceInner<Format>          inner;
      device::Array<int>           headers, outer_columns;
      device::Array<Value>         outer_values;
      device::Array<double>        table;
      device::Array<std::uint16_t> boundary_rows;
      int                          header_stride, first_jag;

      DeviceBlockCrs(const SlicedBlockCrs &A, const Dictionary &dictionary, const JointDictionary &joint)
        : inner(A, dictionary, joint)
        , headers(A.headers)
        , outer_columns(A.outer_columns)
        , outer_values(encode<Value>(A.outer_values, dictionary))
        , table(dictionary.values())
        , boundary_rows(A.boundary_rows)
        , header_stride(A.header_stride)
        , first_jag(A.first_jag)
      {
      }

      static std::size_t bytes_needed(const SlicedBlockCrs &A)
      {
        return DeviceInner<Format>::bytes_needed(A) + (A.headers.size() + A.outer_columns.size()) * sizeof(int) +
               A.outer_values.size() * sizeof(Value) + A.boundary_rows.size() * 2;
      }

      MatrixView<Format> view(const WeightView &weights, const double *keeps, double keep, int blocks_at_once) const
      {
        return {headers.data(),
                header_stride,
                first_jag,
                blocks_at_once,
                inner.view(table.data()),
                {outer_values.data(), table.data()},
                outer_columns.data(),
                boundary_rows.data(),
                weights,
                keeps,
                keep};
      }
    };

    /** omega / d_i for each local row, with l1 weights and then 1 - omega a_ii / d_i too. On the device, in a dictionary if that is small enough. */
    struct DeviceWeights
    {
      device::Array<double>       values, table, keeps;
      device::Array<std::uint8_t> codes;
      std::vector<double>         host_values, host_keeps;

      DeviceWeights(const BlockCrs &matrix, const BlockAsyncOptions &options, bool may_be_coded)
      {
        compute(matrix, options);
        Dictionary dictionary;
        for (const double weight : host_values)
          if (!may_be_coded || !dictionary.add(weight))
            break;
        if (may_be_coded && dictionary.fits())
          {
            codes = device::Array<std::uint8_t>(encode<std::uint8_t>(host_values, dictionary));
            table = device::Array<double>(dictionary.values());
          }
        else
          values = device::Array<double>(host_values);
        keeps = device::Array<double>(host_keeps);
      }

      void compute(const BlockCrs &matrix, const BlockAsyncOptions &options)
      {
        host_values = matrix.diagonal;
        if (options.l1_weights)
          {
            const std::vector<double> l1 = matrix.l1_weights();
            host_keeps.resize(l1.size());
            for (std::size_t l = 0; l < l1.size(); ++l)
              {
                host_values[l] += l1[l];
                host_keeps[l] = 1. - options.omega * matrix.diagonal[l] / host_values[l];
              }
          }
        for (double &d : host_values)
          d = options.omega / d;
      }

      /** To where the doubles already are. */
      void upload() const
      {
        if (host_values.empty())
          return;
        device::copy_to_device(values.data(), host_values.data(), host_values.size() * sizeof(double));
        if (!host_keeps.empty())
          device::copy_to_device(keeps.data(), host_keeps.data(), host_keeps.size() * sizeof(double));
      }

      WeightView view() const { return {values.data(), codes.data(), table.data()}; }
    };

    /** Where the values of a matrix come from, for update_values(). */
    struct Sources
    {
      device::Array<int>    inner, outer;
      device::Array<double> new_values;
    };

    template <typename Format>
    class CudaEngine : public BlockAsync::Engine
    {
      using Value = typename Format::Value;

    public:
      CudaEngine(BlockCrs               &&matrix_,
                 const SlicedBlockCrs    &A,
                 const Dictionary        &dictionary_,
                 const JointDictionary   &joint,
                 Storage                  storage_,
                 int                      n_entries_,
                 const BlockAsyncOptions &options_)
        : options(options_)
        , storage(storage_)
        , n_rows(matrix_.n_rows)
        , n_blocks(matrix_.n_blocks())
        , n_entries(n_entries_)
        , largest_block(A.largest_block)
        , n_distinct(static_cast<int>(dictionary_.values().size()))
        , n_bytes(check_memory(A, matrix_))
        , matrix(A, dictionary_, joint)
        , weights(matrix_, options_, storage_ == Storage::dictionary)
        , inner_source(A.inner_source)
        , outer_source(A.outer_source)
        , diagonal_source(matrix_.diagonal_source)
        , local_iterations_per_block(options_.local_iterations_per_block)
        , velocity(options_.momentum > 0. ? matrix_.n_local_rows() : 0)
        , old_x(options_.schedule == Schedule::synchronous ? matrix_.n_columns : 0)
        , monitor(n_blocks)
        , host_matrix(options_.l1_weights && storage_ == Storage::double_precision ? std::make_unique<BlockCrs>(std::move(matrix_)) : nullptr)
      {
        choose_form(A);
        restart();
      }

      MemorySpace memory_space() const override { return MemorySpace::device; }
      bool        is_fixed_linear_map() const override { return options.schedule == Schedule::synchronous || n_blocks <= 1; }

      std::string description() const override
      {
        return std::to_string(n_blocks) + " blocks of up to " + std::to_string(largest_block) + " rows, " + to_string(execution) +
               " form, values stored as " + to_string(storage) + (storage == Storage::dictionary ? " of " + std::to_string(n_distinct) : "") + ", " +
               DeviceInner<Format>::text() + ", " + std::to_string(n_bytes / 1000000) + " MB";
      }

      void restart() override
      {
        if (velocity.size() > 0)
          LEOPARD_CHECK(cudaMemsetAsync(velocity.data(), 0, velocity.size() * sizeof(double)));
      }

      /** Returns when the work is queued on the default stream; whatever else that stream does comes after it. */
      void iterate(double *x, const double *b, int n_iterations) override
      {
        if (n_blocks == 0 || n_iterations == 0)
          return;
        if (execution == Execution::persistent)
          {
            persistent_kernel<<<n_blocks, n_threads>>>(view(), vectors(x, x, b), parameters(n_iterations), monitor.no_tests());
            LEOPARD_CHECK(cudaGetLastError());
            return;
          }
        const bool synchronous = options.schedule == Schedule::synchronous;
        for (int n = 0; n < n_iterations; ++n)
          {
            if (synchronous)
              device::copy_on_device(old_x.data(), x, old_x.size() * sizeof(double));
            launch(vectors(x, synchronous ? old_x.data() : x, b), parameters(1));
          }
      }

      bool tests_itself() const override { return execution == Execution::persistent; }

      IterationReport iterate_until(double *x, const double *b, int n_iterations, const ResidualTest &test) override
      {
        // now and then the host looks too: at the time, and at whether there is progress
        RelaxParameters    p     = parameters(static_cast<int>(std::min<long>(n_iterations, 100l * test.every)));
        RelaxVectors       v     = vectors(x, x, b);
        MatrixView<Format> A     = view();
        MonitorView        m     = monitor.view(test);
        p.test_every             = test.every;
        void *kernel_arguments[] = {&A, &v, &p, &m};
        LEOPARD_CHECK(
          cudaLaunchCooperativeKernel(reinterpret_cast<const void *>(persistent_kernel), n_blocks, n_threads, kernel_arguments, 0, nullptr));
        return monitor.report();
      }

      double residual_norm_squared(const double *x, const double *b) override
      {
        if (n_blocks == 0)
          return 0.;
        queue_residual(x, b);
        return monitor.sum_of_parts();
      }

      double norm_squared(const double *b) override { return n_rows == 0 ? 0. : monitor.norm_squared(b, n_rows); }

      void update_values(const double *values) override
      {
        if constexpr (!std::is_same_v<Value, double>)
          throw InvalidInput("the values of a matrix that is stored as " + to_string(storage) +
                             " on the GPU are to be changed\n  expected: storage double for a matrix whose values change");
        else
          replace_values(values);
      }

    private:
      std::size_t check_memory(const SlicedBlockCrs &A, const BlockCrs &host) const
      {
        const std::size_t vectors = (1 + options.l1_weights + (options.momentum > 0.)) * static_cast<std::size_t>(host.n_local_rows()) +
                                    (options.schedule == Schedule::synchronous ? host.n_columns : 0);
        const std::size_t needed      = DeviceBlockCrs<Format>::bytes_needed(A) + vectors * sizeof(double);
        std::size_t       free_memory = 0, total = 0;
        LEOPARD_CHECK(cudaMemGetInfo(&free_memory, &total));
        if (needed > free_memory)
          throw DeviceError("the matrix needs " + std::to_string(needed) + " bytes on the GPU, of whose " + std::to_string(total) + " bytes " +
                            std::to_string(free_memory) + " are free\n  expected: a smaller problem, a larger GPU, or the backend host");
        return needed;
      }

      using LaunchKernel                 = void (*)(MatrixView<Format>, RelaxVectors, RelaxParameters);
      using PersistentKernel             = void (*)(MatrixView<Format>, RelaxVectors, RelaxParameters, MonitorView);
      static constexpr int rows_a_thread = 2; ///< launch form

      template <bool plain>
      static LaunchKernel launch_kernel_for(int width)
      {
        return width <= 4    ? relax_rows_kernel<Format, 4, rows_a_thread, plain>
               : width <= 8  ? relax_rows_kernel<Format, 8, rows_a_thread, plain>
               : width <= 16 ? relax_rows_kernel<Format, 16, rows_a_thread, plain>
                             : nullptr;
      }

      template <int width>
      static PersistentKernel persistent_kernel_for(int outer_width, int threads)
      {
        return outer_width > 8 && threads <= 128 ? persistent_rows_kernel<Format, width, 24, 128> : persistent_rows_kernel<Format, width, 8, 512>;
      }

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

      /** Whether all blocks are on the chip at once, and which kernels with how many threads and how much shared memory. */
      void choose_form(const SlicedBlockCrs &A)
      {
        cudaDeviceProp properties;
        int            device = 0;
        LEOPARD_CHECK(cudaGetDevice(&device));
        LEOPARD_CHECK(cudaGetDeviceProperties(&properties, device));
        const auto threads_for = [](int rows) { return std::max(32, (rows + 31) / 32 * 32); };
        const auto at_once     = [&](const void *kernel, int threads, std::size_t shared) {
          int blocks = 0;
          LEOPARD_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, shared));
          return blocks * properties.multiProcessorCount;
        };

        if (options.schedule == Schedule::chaotic && options.execution != Execution::launch)
          {
            n_threads         = threads_for(largest_block);
            persistent_kernel = persistent_kernel_for(A.inner_width, A.outer_width, n_threads);
            const int room    = persistent_kernel != nullptr ? at_once(reinterpret_cast<const void *>(persistent_kernel), n_threads, 0) : 0;
            if (n_blocks <= room)
              execution = Execution::persistent;
            else if (options.execution == Execution::persistent)
              throw InvalidInput("block-asynchronous iteration: execution is persistent, but the matrix has " + std::to_string(n_blocks) +
                                 " blocks of " + std::to_string(largest_block) + " rows with up to " + std::to_string(A.inner_width) +
                                 " entries in the block, and only " + std::to_string(room) +
                                 " such blocks are on this GPU at once\n  expected: execution automatic or launch, or a smaller matrix");
          }

        if (largest_block <= max_rows_in_registers)
          {
            const bool plain = options.omega == 1. && options.block_omega == 1. && !options.l1_weights && options.momentum == 0. &&
                               options.local_iterations_per_block.empty();
            residual_kernel = launch_kernel_for<false>(A.inner_width);
            launch_kernel   = plain ? launch_kernel_for<true>(A.inner_width) : residual_kernel;
          }
        if (launch_kernel != nullptr)
          {
            n_launch_threads = threads_for((largest_block + rows_a_thread - 1) / rows_a_thread);
            blocks_at_once   = at_once(reinterpret_cast<const void *>(launch_kernel), n_launch_threads, 0);
            return;
          }
        const auto shared_for  = [&](long rows) { return sizeof(double) * (32 + 3 * rows); };
        n_launch_threads       = std::min(1024, threads_for(largest_block));
        n_shared               = shared_for(largest_block);
        const std::size_t room = properties.sharedMemPerBlockOptin;
        if (n_shared > room)
          throw InvalidInput("block-asynchronous iteration: a block of " + std::to_string(largest_block) + " rows needs " + std::to_string(n_shared) +
                             " bytes of shared memory, and a thread block of this GPU has " + std::to_string(room) +
                             "\n  expected: a block_size of at most " + std::to_string((room / sizeof(double) - 32) / 3));
        LEOPARD_CHECK(cudaFuncSetAttribute(
          reinterpret_cast<const void *>(relax_any_kernel<Format>), cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(n_shared)));
      }

      RelaxVectors vectors(double *x, const double *off_block, const double *b) const { return {x, off_block, b, velocity.data(), monitor.parts()}; }

      RelaxParameters parameters(int n_iterations) const
      {
        return {n_iterations, options.local_iterations, local_iterations_per_block.data(), options.block_omega, options.momentum, 0};
      }

      MatrixView<Format> view() const { return matrix.view(weights.view(), weights.keeps.data(), 1. - options.omega, blocks_at_once); }

      void launch(const RelaxVectors &v, const RelaxParameters &p) const
      {
        if (launch_kernel == nullptr)
          relax_any_kernel<Format><<<n_blocks, n_launch_threads, n_shared>>>(view(), v, p, largest_block);
        else
          (p.test_every > 0 ? residual_kernel : launch_kernel)<<<n_blocks, n_launch_threads>>>(view(), v, p);
        LEOPARD_CHECK(cudaGetLastError());
      }

      /** Queues the parts of ||b - A x||^2: no local iterations, so that x is only read. */
      void queue_residual(const double *x, const double *b) const
      {
        RelaxParameters p  = parameters(1);
        p.local_iterations = 0;
        p.test_every       = 1;
        p.momentum         = 0.;
        launch(vectors(const_cast<double *>(x), x, b), p);
      }

      void replace_values(const double *values)
      {
        if (n_rows == 0)
          return;
        for (std::size_t l = 0; l < diagonal_source.size(); ++l)
          if (const double d = values[diagonal_source[l]]; !(std::isfinite(d) && d != 0.))
            throw InvalidInput("a diagonal entry, number " + std::to_string(l) + " in the order of the blocks, is " + std::to_string(d) +
                               "\n  expected: a finite number that is not zero");
        if (sources == nullptr)
          sources = std::make_unique<Sources>(
            Sources{device::Array<int>(inner_source), device::Array<int>(outer_source), device::Array<double>(static_cast<std::size_t>(n_entries))});
        device::copy_to_device(sources->new_values.data(), values, sources->new_values.size() * sizeof(double));
        if constexpr (std::is_same_v<Value, double>)
          {
            pick(matrix.inner.values, sources->inner);
            pick(matrix.outer_values, sources->outer);
          }
        if (host_matrix != nullptr)
          {
            host_matrix->update_values(values);
            weights.compute(*host_matrix, options);
          }
        else
          for (std::size_t l = 0; l < diagonal_source.size(); ++l)
            weights.host_values[l] = options.omega / values[diagonal_source[l]];
        weights.upload();
      }

      void pick(const device::Array<double> &values, const device::Array<int> &source)
      {
        const int n = static_cast<int>(values.size());
        if (n > 0)
          pick_kernel<<<(n + 255) / 256, 256>>>(values.data(), source.data(), sources->new_values.data(), n);
        LEOPARD_CHECK(cudaGetLastError());
      }

      const BlockAsyncOptions   options;
      const Storage             storage;
      const int                 n_rows, n_blocks, n_entries, largest_block, n_distinct;
      const std::size_t         n_bytes;
      DeviceBlockCrs<Format>    matrix;
      DeviceWeights             weights;
      std::vector<int>          inner_source, outer_source, diagonal_source;
      device::Array<int>        local_iterations_per_block;
      device::Array<double>     velocity;
      device::Array<double>     old_x; ///< synchronous schedule only
      CudaMonitor               monitor;
      std::unique_ptr<BlockCrs> host_matrix; ///< for l1 weights of values that change
      std::unique_ptr<Sources>  sources;     ///< from the first update_values() on
      Execution                 execution         = Execution::launch;
      PersistentKernel          persistent_kernel = nullptr;
      LaunchKernel              launch_kernel = nullptr, residual_kernel = nullptr; ///< null: relax_any_kernel
      int                       n_threads = 0, n_launch_threads = 0, blocks_at_once = 0;
      std::size_t               n_shared = 0;
    };

    struct Prepared
    {
      BlockCrs        matrix;
      SlicedBlockCrs  sliced;
      Dictionary      dictionary;
      Storage         storage;
      JointDictionary joint;
      int             n_entries;
    };

    template <typename Format>
    std::unique_ptr<BlockAsync::Engine> make_engine(Prepared &p, const BlockAsyncOptions &options)
    {
      return std::make_unique<CudaEngine<Format>>(std::move(p.matrix), p.sliced, p.dictionary, p.joint, p.storage, p.n_entries, options);
    }

    template <typename Column>
    std::unique_ptr<BlockAsync::Engine> make_engine_for(Prepared &p, const BlockAsyncOptions &options)
    {
      return p.storage == Storage::dictionary         ? make_engine<SeparateFormat<Column, std::uint8_t>>(p, options)
             : p.storage == Storage::single_precision ? make_engine<SeparateFormat<Column, float>>(p, options)
                                                      : make_engine<SeparateFormat<Column, double>>(p, options);
    }
  } // namespace

  std::unique_ptr<BlockAsync::Engine> make_cuda_engine(const CrsMatrix &A, const BlockAsyncOptions &options)
  {
    BlockCrs                  matrix(A, options.blocks(A.n_rows));
    SlicedBlockCrs            sliced(matrix);
    Dictionary                dictionary;
    const std::vector<double> padding(1, 0.);
    const Storage             storage = choose_storage({&padding, &sliced.inner_values, &sliced.outer_values}, options.storage, dictionary);
    const JointDictionary     joint(sliced, storage == Storage::dictionary ? dictionary : Dictionary::overfull());
    Prepared                  prepared = {std::move(matrix), std::move(sliced), dictionary, storage, joint, A.n_entries()};
    return !joint.entries.empty()              ? make_engine<JointFormat>(prepared, options)
           : prepared.sliced.distances.empty() ? make_engine_for<std::uint16_t>(prepared, options)
                                               : make_engine_for<std::uint8_t>(prepared, options);
  }
} // namespace leopard
