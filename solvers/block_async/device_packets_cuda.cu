// SPDX-License-Identifier: Apache-2.0
#include "../device/cuda_error.cuh"
#include "../device/exclusive_scan.cuh"
#include "../device/grid_stride.cuh"
#include "../device/scratch.cuh"
#include "device_packets.cuh"
#include "packet_kernels.cuh"

#include <cub/device/device_radix_sort.cuh>

#include <algorithm>
#include <climits>
#include <cstdint>
#include <cstring>

namespace leopard
{
  namespace
  {
    using device::Scratch;

    using device::blocks_for;
    using device::exclusive_scan;
    using device::stream;
    using device::threads;
    using device::to_host;

    [[noreturn]] void refuse_size()
    {
      throw InvalidInput("the matrix needs more than 32 GiB on the GPU, or a block of it more than 2 GiB\n  expected: a smaller matrix, smaller "
                         "blocks, or more ranks");
    }

    template <typename Number>
    int bytes_of_value(Storage storage)
    {
      return storage == Storage::dictionary         ? 1
             : storage == Storage::bfloat16         ? 2
             : storage == Storage::single_precision ? 4
                                                    : static_cast<int>(sizeof(Number));
    }

    std::vector<int> first_local_rows(const Blocks &blocks)
    {
      std::vector<int> result = {0};
      for (int block = 0; block < blocks.n_blocks(); ++block)
        result.push_back(checked_count(static_cast<double>(result.back()) + blocks.end[block] - blocks.begin[block], "rows of blocks"));
      return result;
    }
  } // namespace

  /** Blocks and rows on the device, while packets are made or get new values. */
  template <typename Number>
  struct DevicePackets<Number>::Maker
  {
    Maker(DevicePackets &packets_, const device::CrsView<Number> &A)
      : packets(packets_)
      , blocks(packets.blocks)
      , inner_length(packets.n_local_rows)
      , outer_length(packets.n_local_rows)
      , weights(packets.n_local_rows)
      , keeps(packets.keeps.size())
      , facts(1)
      , split{A,
              packets.n_blocks,
              packets.begin.data(),
              packets.end.data(),
              packets.owned_begin.data(),
              packets.owned_end.data(),
              packets.first_local.data(),
              inner_length.data(),
              outer_length.data(),
              weights.data(),
              keeps.data()}
      , n_thread_blocks(std::min(packets.n_blocks, 8 * device::n_multiprocessors()))
    {
    }

    /** Facts, lengths and weights. @throws InvalidInput for values that cannot be relaxed with. */
    ValueFacts classify(double omega, bool with_sets)
    {
      LEOPARD_CHECK(cudaMemsetAsync(facts.data(), 0, sizeof(ValueFacts), stream())); // what lies between its members comes to the host as well
      clear_facts_kernel<<<1, threads, 0, stream()>>>(facts.data());
      classify_kernel<<<n_thread_blocks, threads, 0, stream()>>>(split, static_cast<Number>(omega), packets.l1_weights, with_sets, facts.data());
      LEOPARD_CHECK(cudaGetLastError());
      const ValueFacts result = to_host(facts.data());
      if (result.bad_row != INT_MAX)
        refuse(result.bad_row);
      return result;
    }

    [[noreturn]] void refuse(int row) const
    {
      const int           first = to_host(split.A.row_offsets + row), n = to_host(split.A.row_offsets + row + 1) - first;
      std::vector<int>    columns(n);
      std::vector<Number> values(n);
      if (n > 0)
        {
          device::copy_to_host(columns.data(), split.A.columns + first, n * sizeof(int));
          device::copy_to_host(values.data(), split.A.values + first, n * sizeof(Number));
        }
      for (int p = 0; p < n; ++p)
        check_new_value(row, static_cast<double>(values[p]), columns[p] == row);
      refuse_new_value(row, 0., true); // it is not stored
    }

    DistanceSlots find_slots(int value_bytes) const
    {
      constexpr int                     most = BlockDistances::max_distances;
      const Scratch<int>                n_found(packets.n_blocks), found(static_cast<std::size_t>(packets.n_blocks) * most);
      const Scratch<unsigned long long> padded(1);
      LEOPARD_CHECK(cudaMemsetAsync(padded.data(), 0, sizeof(unsigned long long), stream()));
      LEOPARD_CHECK(cudaMemsetAsync(found.data(), 0, found.size() * sizeof(int), stream())); // the widest block says how many are copied
      distances_kernel<<<n_thread_blocks, threads, 0, stream()>>>(split, n_found.data(), found.data(), padded.data());
      LEOPARD_CHECK(cudaGetLastError());
      std::vector<int> n(packets.n_blocks);
      device::copy_to_host(n.data(), n_found.data(), n.size() * sizeof(int));
      const int widest = *std::max_element(n.begin(), n.end());
      if (widest > most)
        return {};
      std::vector<int> all(static_cast<std::size_t>(packets.n_blocks) * widest);
      if (widest > 0)
        LEOPARD_CHECK(cudaMemcpy2D(
          all.data(), widest * sizeof(int), found.data(), most * sizeof(int), widest * sizeof(int), packets.n_blocks, cudaMemcpyDeviceToHost));
      BlockDistances result;
      result.padded = to_host(padded.data());
      for (int block = 0; block < packets.n_blocks; ++block)
        {
          const auto from = all.begin() + static_cast<std::ptrdiff_t>(block) * widest;
          result.rows.push_back(blocks.end[block] - blocks.begin[block]);
          result.distances.insert(result.distances.end(), from, from + n[block]);
          result.offsets.push_back(static_cast<int>(result.distances.size()));
        }
      return DistanceSlots(result, value_bytes);
    }

    /** Everything but values. */
    void make_structure(const ValueFacts &known, bool weights_in_table, int value_bytes)
    {
      if (known.n_outer > INT_MAX)
        refuse_size();
      const std::size_t  n_local = packets.n_local_rows, n_outer = known.n_outer;
      const Scratch<int> outer_offsets(n_local + 1), boundary_offsets(n_local + 1);
      LEOPARD_CHECK(cudaMemsetAsync(outer_offsets.data() + n_local, 0, sizeof(int), stream()));
      LEOPARD_CHECK(cudaMemsetAsync(boundary_offsets.data() + n_local, 0, sizeof(int), stream()));
      LEOPARD_CHECK(cudaMemcpyAsync(outer_offsets.data(), outer_length.data(), n_local * sizeof(int), cudaMemcpyDeviceToDevice, stream()));
      flag_kernel<<<blocks_for(n_local), threads, 0, stream()>>>(boundary_offsets.data(), outer_length.data(), static_cast<int>(n_local));
      exclusive_scan(outer_offsets.data(), n_local + 1);
      exclusive_scan(boundary_offsets.data(), n_local + 1);
      const int n_boundary = to_host(boundary_offsets.data() + n_local);

      const Scratch<std::uint64_t> columns(n_outer), other_columns(n_outer), boundary(n_boundary), other_boundary(n_boundary);
      const Scratch<int>           rows(n_boundary), other_rows(n_boundary), ranks(n_outer + 1);
      const int                    length_bits = device::bits_for(known.longest_outer), block_bits = device::bits_for(packets.n_blocks);
      gather_outer_kernel<<<n_thread_blocks, threads, 0, stream()>>>(
        split, outer_offsets.data(), columns.data(), boundary_offsets.data(), boundary.data(), rows.data(), known.longest_outer, length_bits);
      LEOPARD_CHECK(cudaGetLastError());
      cub::DoubleBuffer<std::uint64_t> column_buffer(columns.data(), other_columns.data()), boundary_buffer(boundary.data(), other_boundary.data());
      cub::DoubleBuffer<int>           row_buffer(rows.data(), other_rows.data());
      LEOPARD_CHECK(cudaMemsetAsync(ranks.data(), 0, (n_outer + 1) * sizeof(int), stream()));
      if (n_outer > 0)
        {
          device::with_scratch([&](void *memory, std::size_t &n_bytes) {
            return cub::DeviceRadixSort::SortKeys(memory, n_bytes, column_buffer, static_cast<int>(n_outer), 0, 32 + block_bits, stream());
          });
          device::with_scratch([&](void *memory, std::size_t &n_bytes) {
            return cub::DeviceRadixSort::SortPairs(memory, n_bytes, boundary_buffer, row_buffer, n_boundary, 0, length_bits + block_bits, stream());
          });
          first_of_equals_kernel<<<blocks_for(n_outer), threads, 0, stream()>>>(ranks.data(), column_buffer.Current(), static_cast<int>(n_outer));
          exclusive_scan(ranks.data(), n_outer + 1);
        }
      const Scratch<int> distinct(to_host(ranks.data() + n_outer));
      if (n_outer > 0)
        distinct_kernel<<<blocks_for(n_outer), threads, 0, stream()>>>(
          distinct.data(), ranks.data(), column_buffer.Current(), static_cast<int>(n_outer));
      LEOPARD_CHECK(cudaGetLastError());

      const bool       has_columns  = packets.has_columns;
      std::vector<int> slot_offsets = {0}, slot_distances, strides;
      for (int block = 0; block < packets.n_blocks && !has_columns; ++block)
        {
          const std::vector<int> &slots = packets.slots.distances(block);
          slot_distances.insert(slot_distances.end(), slots.begin(), slots.end());
          slot_offsets.push_back(static_cast<int>(slot_distances.size()));
          strides.push_back(packets.slots.stride(block));
        }
      const device::Array<int>          device_offsets(slot_offsets), device_distances(slot_distances), device_strides(strides);
      const Scratch<PacketHeader>       headers(packets.n_blocks);
      const Scratch<unsigned long long> sizes(packets.n_blocks + 1l);
      const Scratch<PacketMaxima>       maxima(1);
      packets.extents       = device::Array<BlockExtent>(static_cast<std::size_t>(packets.n_blocks));
      const PacketPlan plan = {has_columns,
                               weights_in_table,
                               value_bytes,
                               sizeof(Number),
                               device_offsets.data(),
                               device_distances.data(),
                               device_strides.data(),
                               outer_offsets.data(),
                               boundary_offsets.data(),
                               row_buffer.Current(),
                               ranks.data(),
                               distinct.data(),
                               headers.data(),
                               sizes.data(),
                               packets.extents.data()};
      LEOPARD_CHECK(cudaMemsetAsync(maxima.data(), 0, sizeof(PacketMaxima), stream()));
      LEOPARD_CHECK(cudaMemsetAsync(sizes.data() + packets.n_blocks, 0, sizeof(unsigned long long), stream()));
      layout_kernel<<<n_thread_blocks, threads, 0, stream()>>>(split, plan, maxima.data());
      LEOPARD_CHECK(cudaGetLastError());
      exclusive_scan(sizes.data(), packets.n_blocks + 1l);
      extents_kernel<<<blocks_for(packets.n_blocks), threads, 0, stream()>>>(packets.extents.data(), sizes.data(), packets.n_blocks);
      const auto        found = to_host(maxima.data());
      const std::size_t size  = to_host(sizes.data() + packets.n_blocks) * 16;
      if (found.too_large != 0 || size / 16 > INT_MAX)
        refuse_size();
      packets.inner_width = found.inner_width;
      packets.outer_width = found.outer_width;
      packets.outer_bytes = found.outer_bytes;
      packets.inner_bytes = found.inner_bytes;
      packets.most_ghosts = found.most_ghosts;
      if (const std::size_t free = device::free_memory(); size > free)
        throw DeviceError("the matrix needs " + std::to_string(size) + " bytes on the GPU, of which " + std::to_string(free) +
                          " are free\n  expected: a smaller problem, a larger GPU, or the backend host");
      packets.bytes = device::Array<char>(size);
      LEOPARD_CHECK(cudaMemsetAsync(packets.bytes.data(), 0, size, stream()));
      structure_kernel<<<n_thread_blocks, threads, 0, stream()>>>(split, plan, packets.bytes.data());
      LEOPARD_CHECK(cudaGetLastError());
    }

    void put_values(bool weights_in_table, const std::vector<unsigned long long> &value_bits, const std::vector<unsigned long long> &weight_bits)
    {
      const device::Array<unsigned long long> values(value_bits), weight_table(weight_bits);
      const auto                              put = [&](auto kernel) {
        kernel<<<n_thread_blocks, threads, 0, stream()>>>(split,
                                                          packets.has_columns,
                                                          weights_in_table,
                                                          {values.data(), static_cast<int>(value_bits.size())},
                                                          {weight_table.data(), static_cast<int>(weight_bits.size())},
                                                          packets.extents.data(),
                                                          packets.bytes.data());
      };
      if (packets.storage == Storage::dictionary)
        put(values_kernel<Number, std::uint8_t>);
      else if (packets.storage == Storage::single_precision)
        put(values_kernel<Number, float>);
      else if (packets.storage == Storage::bfloat16)
        put(values_kernel<Number, std::uint16_t>);
      else
        put(values_kernel<Number, Number>);
      LEOPARD_CHECK(cudaGetLastError());
      if (keeps.size() > 0)
        device::copy_on_device(packets.keeps.data(), keeps.data(), keeps.size() * sizeof(Number));
    }

    DevicePackets            &packets;
    const Blocks             &blocks;
    const Scratch<int>        inner_length, outer_length;
    const Scratch<Number>     weights, keeps;
    const Scratch<ValueFacts> facts;
    const BlockSplit<Number>  split;
    const int                 n_thread_blocks;
  };

  template <typename Number>
  DevicePackets<Number>::DevicePackets(const device::DeviceCrs<Number> &A, const BlockAsyncOptions &options)
    : n_rows(A.n_rows)
    , n_columns(A.n_columns)
    , blocks(options.blocks(A.n_rows))
    , begin(blocks.begin)
    , end(blocks.end)
    , owned_begin(blocks.owned_begin)
    , owned_end(blocks.owned_end)
    , l1_weights(options.l1_weights)
  {
    const std::vector<int> first = first_local_rows(blocks);
    n_blocks                     = blocks.n_blocks();
    largest_block                = blocks.largest();
    n_local_rows                 = first.back();
    first_local                  = device::Array<int>(first);
    if (largest_block > 65536)
      throw InvalidInput("a block has " + std::to_string(largest_block) + " rows\n  expected: at most 65536");
    storage = choose_storage<Number>(options.storage, true, true, true, 0.); // if there is nothing to store
    if (n_blocks == 0)
      return;
    if (l1_weights)
      keeps = device::Array<Number>(static_cast<std::size_t>(n_local_rows));
    Maker            maker(*this, A.view());
    const ValueFacts facts      = maker.classify(options.omega, options.storage != Storage::double_precision);
    const bool       fits       = facts.values.count <= most_distinct_values;
    storage                     = choose_storage<Number>(options.storage, fits, facts.not_single == 0, facts.not_bfloat == 0, facts.lost);
    const bool in_dictionary    = storage == Storage::dictionary;
    const bool weights_in_table = in_dictionary && facts.weights.count <= most_distinct_values;
    const int  value_bytes      = bytes_of_value<Number>(storage);
    slots                       = maker.find_slots(value_bytes);
    has_columns                 = !slots.is_used();
    const std::vector<unsigned long long> value_bits  = in_dictionary ? sorted_bits(facts.values) : std::vector<unsigned long long>();
    const std::vector<unsigned long long> weight_bits = weights_in_table ? sorted_bits(facts.weights) : std::vector<unsigned long long>();
    n_values                                          = static_cast<int>(value_bits.size());
    const auto table                                  = [](const std::vector<unsigned long long> &bits) {
      std::vector<Number> result = numbers<Number>(bits);
      result.resize(bits.empty() ? 0 : most_distinct_values, Number(0));
      return device::Array<Number>(result);
    };
    value_table  = table(value_bits);
    weight_table = table(weight_bits);
    maker.make_structure(facts, weights_in_table, value_bytes);
    maker.put_values(weights_in_table, value_bits, weight_bits);
    n_bytes = bytes.size() + extents.size() * sizeof(BlockExtent) + keeps.size() * sizeof(Number);
    if (value_bytes == sizeof(Number))
      {
        matrix = A;
        n_bytes += A.memory();
      }
  }

  template <typename Number>
  void DevicePackets<Number>::update_values(const Number *values, double omega)
  {
    if (n_blocks == 0)
      return;
    const std::size_t     size = matrix.n_entries * sizeof(Number);
    const Scratch<Number> given(matrix.n_entries);
    LEOPARD_CHECK(cudaMemcpyAsync(given.data(), values, size, cudaMemcpyDefault, stream()));
    device::CrsView<Number> with_new_values = matrix.view();
    with_new_values.values                  = given.data();
    Maker maker(*this, with_new_values);
    maker.classify(omega, false);
    maker.put_values(false, {}, {});
    device::copy_on_device(matrix.arrays->values.data(), given.data(), size);
  }

  template <typename Number>
  void DevicePackets<Number>::place_ghosts_before(int n)
  {
    if (n_blocks == 0 || n == 0)
      return;
    place_ghosts_kernel<<<std::min(n_blocks, 8 * device::n_multiprocessors()), threads, 0, stream()>>>(
      extents.data(), bytes.data(), n_blocks, n_rows, n);
    LEOPARD_CHECK(cudaGetLastError());
  }

#define INSTANTIATE(Number) template class DevicePackets<Number>;
  LEOPARD_FOR_EACH_NUMBER(INSTANTIATE)
#undef INSTANTIATE
} // namespace leopard
