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

    /** The matrix in device memory. */
    template <typename Column, typename Value>
    struct DeviceBlockCrs
    {
      device::Array<int>           headers, distances, outer_columns;
      device::Array<Column>        inner_columns;
      device::Array<Value>         inner_values, outer_values, diagonal;
      device::Array<double>        table;
      device::Array<std::uint16_t> boundary_rows;
      int                          header_stride, first_jag;

      DeviceBlockCrs(const SlicedBlockCrs &A, const BlockCrs &matrix, const Dictionary &dictionary)
        : headers(A.headers)
        , distances(A.distances)
        , outer_columns(A.outer_columns)
        , inner_columns(encode_columns<Column>(A))
        , inner_values(encode<Value>(A.inner_values, dictionary))
        , outer_values(encode<Value>(A.outer_values, dictionary))
        , diagonal(encode<Value>(matrix.diagonal, dictionary))
        , table(dictionary.values())
        , boundary_rows(A.boundary_rows)
        , header_stride(A.header_stride)
        , first_jag(A.first_jag)
      {
      }

      static std::size_t bytes_needed(const SlicedBlockCrs &A, const BlockCrs &matrix)
      {
        return (A.headers.size() + A.outer_columns.size()) * sizeof(int) + A.inner_columns.size() * sizeof(Column) +
               (A.inner_values.size() + A.outer_values.size() + matrix.diagonal.size()) * sizeof(Value) + A.boundary_rows.size() * 2;
      }

      MatrixView<Column, Value> view() const
      {
        const auto values = [&](const device::Array<Value> &array) { return ValueView<Value>{array.data(), table.data()}; };
        return {headers.data(),
                header_stride,
                first_jag,
                {inner_columns.data(), distances.data()},
                values(inner_values),
                values(outer_values),
                values(diagonal),
                outer_columns.data(),
                boundary_rows.data()};
      }
    };

    /** Where the values of a matrix come from, for update_values(). */
    struct Sources
    {
      device::Array<int>    inner, outer, diagonal;
      device::Array<double> new_values;
    };

    template <typename Column, typename Value>
    class CudaEngine : public BlockAsync::Engine
    {
    public:
      CudaEngine(BlockCrs               &&matrix_,
                 const SlicedBlockCrs    &A,
                 const Dictionary        &dictionary_,
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
        , matrix(A, matrix_, dictionary_)
        , inner_source(A.inner_source)
        , outer_source(A.outer_source)
        , diagonal_source(matrix_.diagonal_source)
        , l1(options_.l1_weights ? matrix_.l1_weights() : std::vector<double>())
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
               " form, values stored as " + to_string(storage) + (storage == Storage::dictionary ? " of " + std::to_string(n_distinct) : "") +
               ", columns of " + std::to_string(8 * sizeof(Column)) + " bits, " + std::to_string(n_bytes / 1000000) + " MB";
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
            launch(vectors(x, x, b), parameters(n_iterations));
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
        if (test.initial_residual < 0.)
          {
            queue_residual(x, b);
            monitor.queue_squares(b, n_rows);
          }
        // now and then the host looks too: at the time, and at whether there is progress
        RelaxParameters p = parameters(static_cast<int>(std::min<long>(n_iterations, 100l * test.every)));
        RelaxVectors    v = vectors(x, x, b);
        p.test_every      = test.every;
        v.monitor         = monitor.data();
        v.iterations_done = monitor.iterations_done();
        monitor.begin(test);
        launch(v, p);
        queue_residual(x, b);
        return monitor.end();
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
        const std::size_t vectors = (options.l1_weights + (options.momentum > 0.)) * static_cast<std::size_t>(host.n_local_rows()) +
                                    (options.schedule == Schedule::synchronous ? host.n_columns : 0);
        const std::size_t needed      = DeviceBlockCrs<Column, Value>::bytes_needed(A, host) + vectors * sizeof(double);
        std::size_t       free_memory = 0, total = 0;
        LEOPARD_CHECK(cudaMemGetInfo(&free_memory, &total));
        if (needed > free_memory)
          throw DeviceError("the matrix needs " + std::to_string(needed) + " bytes on the GPU, of whose " + std::to_string(total) + " bytes " +
                            std::to_string(free_memory) + " are free\n  expected: a smaller problem, a larger GPU, or the backend host");
        return needed;
      }

      using Kernel = void (*)(MatrixView<Column, Value>, RelaxVectors, RelaxParameters);

      template <bool persistent>
      static Kernel kernel_for(int width)
      {
        return width <= 4    ? relax_rows_kernel<Column, Value, 4, persistent>
               : width <= 8  ? relax_rows_kernel<Column, Value, 8, persistent>
               : width <= 16 ? relax_rows_kernel<Column, Value, 16, persistent>
                             : nullptr;
      }

      /** Which kernel, how many threads, how much shared memory, and whether all blocks are on the chip at once. */
      void choose_form(const SlicedBlockCrs &A)
      {
        cudaDeviceProp properties;
        int            device = 0;
        LEOPARD_CHECK(cudaGetDevice(&device));
        LEOPARD_CHECK(cudaGetDeviceProperties(&properties, device));
        const bool a_thread_a_row = largest_block <= 512;
        const bool may_persist    = options.schedule == Schedule::chaotic && options.execution != Execution::launch;
        execution                 = Execution::launch;
        for (const bool persistent : {true, false})
          {
            if (persistent && !may_persist)
              continue;
            launch_kernel = a_thread_a_row ? kernel_for<false>(A.inner_width) : nullptr;
            rows_kernel   = a_thread_a_row && persistent ? kernel_for<true>(A.inner_width) : launch_kernel;
            n_threads     = std::min(1024, std::max(32, (largest_block + 31) / 32 * 32));
            stride        = rows_kernel != nullptr ? n_threads : largest_block;
            n_shared      = sizeof(double) * (32 + static_cast<std::size_t>(stride) * (rows_kernel == nullptr && options.momentum > 0. ? 4 : 3));
            if (n_shared > properties.sharedMemPerBlockOptin - 64)
              throw InvalidInput("block-asynchronous iteration: a block of " + std::to_string(largest_block) + " rows needs " +
                                 std::to_string(n_shared) + " bytes of shared memory, and a thread block of this GPU has " +
                                 std::to_string(properties.sharedMemPerBlockOptin - 64) + "\n  expected: a block_size of at most " +
                                 std::to_string((properties.sharedMemPerBlockOptin - 64 - 256) / (n_shared / largest_block + 1)));
            const void *kernel =
              rows_kernel != nullptr ? reinterpret_cast<const void *>(rows_kernel) : reinterpret_cast<const void *>(relax_any_kernel<Column, Value>);
            LEOPARD_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(n_shared)));
            if (!persistent)
              break;
            int blocks_a_multiprocessor = 0;
            LEOPARD_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks_a_multiprocessor, kernel, n_threads, n_shared));
            const int at_once = blocks_a_multiprocessor * properties.multiProcessorCount;
            if (n_blocks <= at_once)
              {
                execution = Execution::persistent;
                break;
              }
            if (options.execution == Execution::persistent)
              throw InvalidInput("block-asynchronous iteration: execution is persistent, but the matrix has " + std::to_string(n_blocks) +
                                 " blocks of " + std::to_string(largest_block) + " rows and only " + std::to_string(at_once) +
                                 " are on this GPU at once\n  expected: execution automatic or launch, or a smaller matrix");
          }
      }

      RelaxVectors vectors(double *x, const double *off_block, const double *b) const
      {
        return {x, off_block, b, velocity.data(), l1.data(), monitor.parts(), nullptr, nullptr};
      }

      RelaxParameters parameters(int n_iterations) const
      {
        return {n_iterations, options.local_iterations, local_iterations_per_block.data(), options.omega, options.block_omega, options.momentum, 0};
      }

      void launch(const RelaxVectors &v, const RelaxParameters &p) const
      {
        const Kernel kernel = p.local_iterations > 0 ? rows_kernel : launch_kernel;
        if (kernel != nullptr)
          kernel<<<n_blocks, n_threads, n_shared>>>(matrix.view(), v, p);
        else
          relax_any_kernel<Column, Value><<<n_blocks, n_threads, n_shared>>>(matrix.view(), v, p, stride);
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
          sources = std::make_unique<Sources>(Sources{device::Array<int>(inner_source),
                                                      device::Array<int>(outer_source),
                                                      device::Array<int>(diagonal_source),
                                                      device::Array<double>(static_cast<std::size_t>(n_entries))});
        device::copy_to_device(sources->new_values.data(), values, sources->new_values.size() * sizeof(double));
        if constexpr (std::is_same_v<Value, double>)
          {
            pick(matrix.inner_values, sources->inner);
            pick(matrix.outer_values, sources->outer);
            pick(matrix.diagonal, sources->diagonal);
          }
        if (host_matrix != nullptr)
          {
            host_matrix->update_values(values);
            const std::vector<double> weights = host_matrix->l1_weights();
            device::copy_to_device(l1.data(), weights.data(), weights.size() * sizeof(double));
          }
      }

      void pick(const device::Array<double> &values, const device::Array<int> &source)
      {
        const int n = static_cast<int>(values.size());
        if (n > 0)
          pick_kernel<<<(n + 255) / 256, 256>>>(values.data(), source.data(), sources->new_values.data(), n);
        LEOPARD_CHECK(cudaGetLastError());
      }

      const BlockAsyncOptions       options;
      const Storage                 storage;
      const int                     n_rows, n_blocks, n_entries, largest_block, n_distinct;
      const std::size_t             n_bytes;
      DeviceBlockCrs<Column, Value> matrix;
      std::vector<int>              inner_source, outer_source, diagonal_source;
      device::Array<double>         l1;
      device::Array<int>            local_iterations_per_block;
      device::Array<double>         velocity;
      device::Array<double>         old_x; ///< synchronous schedule only
      CudaMonitor                   monitor;
      std::unique_ptr<BlockCrs>     host_matrix; ///< for l1 weights of values that change
      std::unique_ptr<Sources>      sources;     ///< from the first update_values() on
      Execution                     execution   = Execution::launch;
      Kernel                        rows_kernel = nullptr, launch_kernel = nullptr; ///< null: relax_any_kernel
      int                           n_threads = 0, stride = 0;
      std::size_t                   n_shared = 0;
    };

    template <typename Column>
    std::unique_ptr<BlockAsync::Engine> make_engine(
      BlockCrs &&matrix, const SlicedBlockCrs &A, const Dictionary &dictionary, Storage storage, int n_entries, const BlockAsyncOptions &options)
    {
      if (storage == Storage::dictionary)
        return std::make_unique<CudaEngine<Column, std::uint8_t>>(std::move(matrix), A, dictionary, storage, n_entries, options);
      if (storage == Storage::single_precision)
        return std::make_unique<CudaEngine<Column, float>>(std::move(matrix), A, dictionary, storage, n_entries, options);
      return std::make_unique<CudaEngine<Column, double>>(std::move(matrix), A, dictionary, storage, n_entries, options);
    }
  } // namespace

  std::unique_ptr<BlockAsync::Engine> make_cuda_engine(const CrsMatrix &A, const BlockAsyncOptions &options)
  {
    BlockCrs                  matrix(A, options.blocks(A.n_rows));
    const SlicedBlockCrs      sliced(matrix);
    Dictionary                dictionary;
    const std::vector<double> padding(1, 0.);
    const Storage storage = choose_storage({&padding, &sliced.inner_values, &sliced.outer_values, &matrix.diagonal}, options.storage, dictionary);
    return sliced.distances.empty() ? make_engine<std::uint16_t>(std::move(matrix), sliced, dictionary, storage, A.n_entries(), options)
                                    : make_engine<std::uint8_t>(std::move(matrix), sliced, dictionary, storage, A.n_entries(), options);
  }
} // namespace leopard
