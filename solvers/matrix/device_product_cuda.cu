// SPDX-License-Identifier: Apache-2.0
#include "../base/errors.h"
#include "../device/exclusive_scan.cuh"
#include "../device/grid_stride.cuh"
#include "../device/scratch.cuh"
#include "device_crs.h"

#include <cooperative_groups.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace leopard::device
{
  namespace
  {
    namespace cg = cooperative_groups;

    // A row of A B is made by a group of threads in a table of its columns, in shared memory. Rows are first counted
    // with small tables; those that are too long for them are counted again with larger ones, the last of which are in
    // global memory and large enough for any row. Then each row is filled with tables of the size that it was counted
    // with. The group takes the entries of A's row one after the other, and its threads the row of B that belongs to
    // it, whose columns are different ones: so terms are added in the order of A's row, whatever the threads do.

    constexpr int empty           = -1;
    constexpr int slots_per_block = 2048; ///< of tables in shared memory

    /** Columns beyond which a table is too full: the threads of a group may add one each before they notice. */
    __host__ __device__ constexpr int limit(int n_slots)
    {
      return n_slots / 4 * 3;
    }

    /** The slot of a column, which is new there or not. */
    __device__ int find_slot(int *keys, int n_slots, int column, bool &is_new)
    {
      int slot = static_cast<int>(static_cast<unsigned>(column) * 0x9e3779b1u & (n_slots - 1));
      for (;; slot = (slot + 1) & (n_slots - 1))
        {
          int found = keys[slot];
          if (found == empty)
            found = atomicCAS(keys + slot, empty, column);
          is_new = found == empty;
          if (is_new || found == column)
            return slot;
        }
    }

    /** Rows to work on: the numbers in a list, or all. */
    struct Rows
    {
      const int     *list; ///< null: all
      int            n;
      __device__ int operator[](long i) const { return list == nullptr ? static_cast<int>(i) : list[i]; }
    };

    /** The group of threads that makes a row. */
    template <int lanes>
    __device__ auto row_group()
    {
      if constexpr (lanes <= 32)
        return cg::tiled_partition<lanes>(cg::this_thread_block());
      else
        return cg::this_thread_block();
    }

    /** counts[row], or the row in the list of those that are too long, where *counts says limit + 1. */
    template <int lanes, typename Number>
    __device__ void
    count_row(int row, int *keys, int n_slots, int &n_keys, int *counts, CrsView<Number> A, CrsView<Number> B, int *longer, int *n_longer)
    {
      const auto group = row_group<lanes>();
      const int  lane = static_cast<int>(group.thread_rank()), most = limit(n_slots);
      for (int slot = lane; slot < n_slots; slot += lanes)
        keys[slot] = empty;
      if (lane == 0)
        n_keys = 0;
      group.sync();
      const auto is_full = [&] { return *const_cast<volatile int *>(&n_keys) > most; };
      const int  end     = A.row_offsets[row + 1];
      for (int p = A.row_offsets[row]; p < end && !is_full(); ++p)
        {
          const int j = A.columns[p], last = B.row_offsets[j + 1];
          for (int q = B.row_offsets[j] + lane; q < last && !is_full(); q += lanes)
            {
              bool is_new;
              find_slot(keys, n_slots, B.columns[q], is_new);
              if (is_new)
                atomicAdd(&n_keys, 1);
            }
        }
      group.sync();
      if (lane == 0)
        {
          if (n_keys > most)
            longer[atomicAdd(n_longer, 1)] = row;
          counts[row] = min(n_keys, most + 1);
        }
      group.sync();
    }

    template <int lanes, typename Number>
    __device__ void fill_row(int                    row,
                             int                   *keys,
                             int                   *used,
                             Number                *sums,
                             int                    n_slots,
                             int                   &n_used,
                             const CrsView<Number> &A,
                             const CrsView<Number> &B,
                             int                    to,
                             int                   *to_columns,
                             Number                *to_values)
    {
      const auto group = row_group<lanes>();
      const int  lane  = static_cast<int>(group.thread_rank());
      for (int slot = lane; slot < n_slots; slot += lanes)
        {
          keys[slot] = empty;
          sums[slot] = Number(0);
        }
      if (lane == 0)
        n_used = 0;
      group.sync();
      const int end = A.row_offsets[row + 1];
      for (int p = A.row_offsets[row]; p < end; ++p)
        {
          const int    j = A.columns[p], last = B.row_offsets[j + 1];
          const Number a = A.values[p];
          for (int q = B.row_offsets[j] + lane; q < last; q += lanes)
            {
              bool      is_new;
              const int slot = find_slot(keys, n_slots, B.columns[q], is_new);
              sums[slot] += a * B.values[q];
              if (is_new)
                used[atomicAdd(&n_used, 1)] = slot;
            }
          group.sync(); // the next row of B may have the same columns
        }
      for (int e = lane; e < n_used; e += lanes)
        {
          const int column = keys[used[e]];
          int       rank   = 0;
          for (int other = 0; other < n_used; ++other)
            rank += keys[used[other]] < column;
          to_columns[to + rank] = column;
          to_values[to + rank]  = sums[used[e]];
        }
      group.sync();
    }

    template <int lanes, int n_slots>
    struct Size
    {
      static constexpr int groups  = slots_per_block / n_slots;
      static constexpr int threads = groups * lanes;
    };

    template <int lanes, int n_slots, typename Number>
    __global__ void count_kernel(int *counts, CrsView<Number> A, CrsView<Number> B, Rows rows, int *longer, int *n_longer)
    {
      constexpr int  groups = Size<lanes, n_slots>::groups;
      __shared__ int keys[slots_per_block], n_keys[groups];
      const int      group = static_cast<int>(threadIdx.x) / lanes;
      for (long i = static_cast<long>(blockIdx.x) * groups + group; i < rows.n; i += static_cast<long>(gridDim.x) * groups)
        count_row<lanes>(rows[i], keys + group * n_slots, n_slots, n_keys[group], counts, A, B, longer, n_longer);
    }

    template <int lanes, int n_slots, typename Number>
    __global__ void fill_kernel(CrsView<Number> A, CrsView<Number> B, Rows rows, const int *offsets, int *columns, Number *values)
    {
      constexpr int     groups = Size<lanes, n_slots>::groups;
      __shared__ int    keys[slots_per_block], used[slots_per_block], n_used[groups];
      __shared__ Number sums[slots_per_block];
      const int         group = static_cast<int>(threadIdx.x) / lanes, first = group * n_slots;
      for (long i = static_cast<long>(blockIdx.x) * groups + group; i < rows.n; i += static_cast<long>(gridDim.x) * groups)
        {
          const int row = rows[i], to = offsets[row];
          if (offsets[row + 1] - to <= limit(n_slots)) // the others are for a larger table
            fill_row<lanes>(row, keys + first, used + first, sums + first, n_slots, n_used[group], A, B, to, columns, values);
        }
    }

    constexpr int block_lanes = 256; ///< a whole block for each of the longest rows

    template <typename Number>
    __global__ void
    count_long_kernel(int *counts, CrsView<Number> A, CrsView<Number> B, Rows rows, int *keys, int n_slots, int *longer, int *n_longer)
    {
      __shared__ int n_keys;
      for (int i = static_cast<int>(blockIdx.x); i < rows.n; i += static_cast<int>(gridDim.x))
        count_row<block_lanes>(rows[i], keys + static_cast<std::size_t>(blockIdx.x) * n_slots, n_slots, n_keys, counts, A, B, longer, n_longer);
    }

    template <typename Number>
    __global__ void fill_long_kernel(CrsView<Number> A,
                                     CrsView<Number> B,
                                     Rows            rows,
                                     const int      *offsets,
                                     int            *columns,
                                     Number         *values,
                                     int            *keys,
                                     int            *used,
                                     Number         *sums,
                                     int             n_slots)
    {
      __shared__ int    n_used;
      const std::size_t first = static_cast<std::size_t>(blockIdx.x) * n_slots;
      for (int i = static_cast<int>(blockIdx.x); i < rows.n; i += static_cast<int>(gridDim.x))
        fill_row<block_lanes>(rows[i], keys + first, used + first, sums + first, n_slots, n_used, A, B, offsets[rows[i]], columns, values);
    }

    __global__ void add_kernel(unsigned long long *sum, const int *counts, int n)
    {
      unsigned long long mine = 0;
      for (int i = first_index<int>(); i < n; i += stride<int>())
        mine += counts[i];
      if (mine > 0)
        atomicAdd(sum, mine);
    }

    /** The product, step by step. */
    template <typename Number>
    class Product
    {
    public:
      Product(const DeviceCrs<Number> &A, const DeviceCrs<Number> &B)
        : A_(A)
        , B_(B)
        , a(A.view())
        , b(B.view())
      {
      }

      DeviceCrs<Number> make()
      {
        DeviceCrs<Number> result   = {A_.n_rows, B_.n_columns, 0, std::make_shared<typename DeviceCrs<Number>::Arrays>()};
        result.arrays->row_offsets = Array<int>(static_cast<std::size_t>(A_.n_rows) + 1);
        offsets                    = result.arrays->row_offsets.data();
        LEOPARD_CHECK(cudaMemsetAsync(offsets, 0, (A_.n_rows + 1l) * sizeof(int), stream()));
        if (A_.n_entries == 0 || B_.n_entries == 0)
          return result;
        const bool is_short = B_.n_entries <= 6l * B_.n_rows; // rows of B, and so those of the product as a rule
        if (is_short)
          count<4, 32>();
        count<16, 128>();
        count<32, 512>();
        count<block_lanes, slots_per_block>();
        count_long();
        result.n_entries       = n_entries();
        result.arrays->columns = Array<int>(static_cast<std::size_t>(result.n_entries));
        result.arrays->values  = Array<Number>(static_cast<std::size_t>(result.n_entries));
        exclusive_scan(offsets, A_.n_rows + 1l);
        columns = result.arrays->columns.data();
        values  = result.arrays->values.data();
        if (is_short)
          fill<4, 32>();
        fill<16, 128>();
        fill<32, 512>();
        fill<block_lanes, slots_per_block>();
        fill_long();
        return result;
      }

    private:
      /** Of each size of tables that rows were counted with, which. */
      struct List
      {
        Rows                          rows;
        std::unique_ptr<Scratch<int>> memory;
      };

      /** The rows that the last count found too long. */
      void next_list(int n)
      {
        counted.push_back(std::move(counting));
        counting = {{longer == nullptr ? nullptr : longer->data(), n}, std::move(longer)};
      }

      /** @param launch(longer, n_longer) queues the count of the present list. */
      template <typename Launch>
      void count_list(const Launch &launch)
      {
        if (counting.rows.n > 0)
          {
            longer = std::make_unique<Scratch<int>>(counting.rows.n);
            const Scratch<int> n_longer(1);
            LEOPARD_CHECK(cudaMemsetAsync(n_longer.data(), 0, sizeof(int), stream()));
            launch(longer->data(), n_longer.data());
            LEOPARD_CHECK(cudaGetLastError());
            next_list(to_host(n_longer.data()));
          }
        else
          next_list(0);
      }

      template <int lanes, int n_slots>
      static int grid(int n_rows)
      {
        constexpr int groups = Size<lanes, n_slots>::groups;
        return std::min((n_rows + groups - 1) / groups, 1 << 20);
      }

      template <int lanes, int n_slots>
      void count()
      {
        count_list([&](int *too_long, int *n_too_long) {
          count_kernel<lanes, n_slots><<<grid<lanes, n_slots>(counting.rows.n), Size<lanes, n_slots>::threads, 0, stream()>>>(
            offsets, a, b, counting.rows, too_long, n_too_long);
        });
      }

      template <int lanes, int n_slots>
      void fill()
      {
        const Rows &rows = counted[filled++].rows;
        if (rows.n > 0)
          fill_kernel<lanes, n_slots>
            <<<grid<lanes, n_slots>(rows.n), Size<lanes, n_slots>::threads, 0, stream()>>>(a, b, rows, offsets, columns, values);
        LEOPARD_CHECK(cudaGetLastError());
      }

      /** A table for each block, in which all columns have room. */
      void count_long()
      {
        if (counting.rows.n == 0)
          return;
        for (n_slots = 2 * slots_per_block; limit(n_slots) < B_.n_columns && n_slots < 1 << 30;)
          n_slots *= 2;
        constexpr std::size_t memory = std::size_t(1) << 26; // slots of all tables, at most, but for one
        n_tables                     = static_cast<int>(std::clamp<std::size_t>(memory / n_slots, 1, counting.rows.n));
        n_tables                     = std::min(n_tables, 1024);
        const Scratch<int> keys(static_cast<std::size_t>(n_tables) * n_slots);
        count_list([&](int *too_long, int *n_too_long) {
          count_long_kernel<<<n_tables, block_lanes, 0, stream()>>>(offsets, a, b, counting.rows, keys.data(), n_slots, too_long, n_too_long);
        });
      }

      void fill_long()
      {
        if (n_tables == 0)
          return;
        const std::size_t     n = static_cast<std::size_t>(n_tables) * n_slots;
        const Scratch<int>    keys(n), used(n);
        const Scratch<Number> sums(n);
        fill_long_kernel<<<n_tables, block_lanes, 0, stream()>>>(
          a, b, counted[filled].rows, offsets, columns, values, keys.data(), used.data(), sums.data(), n_slots);
        LEOPARD_CHECK(cudaGetLastError());
      }

      int n_entries() const
      {
        const Scratch<unsigned long long> sum(1);
        LEOPARD_CHECK(cudaMemsetAsync(sum.data(), 0, sizeof(unsigned long long), stream()));
        add_kernel<<<std::min(blocks_for(A_.n_rows), 1024), threads, 0, stream()>>>(sum.data(), offsets, A_.n_rows);
        const unsigned long long found = to_host(sum.data());
        if (found > 2147483647ull)
          throw InvalidInput("the product of two sparse matrices has " + std::to_string(found) + " entries\n  expected: at most 2147483647");
        return static_cast<int>(found);
      }

      const DeviceCrs<Number>      &A_, &B_;
      const CrsView<Number>         a, b;
      int                          *offsets = nullptr, *columns = nullptr;
      Number                       *values   = nullptr;
      List                          counting = {{nullptr, A_.n_rows}, nullptr};
      std::vector<List>             counted;
      std::unique_ptr<Scratch<int>> longer;
      std::size_t                   filled  = 0;
      int                           n_slots = 0, n_tables = 0; ///< of the longest rows
    };
  } // namespace

  template <typename Number>
  DeviceCrs<Number> product(const DeviceCrs<Number> &A, const DeviceCrs<Number> &B)
  {
    if (A.n_columns > B.n_rows)
      throw InvalidInput("a product of matrices with " + std::to_string(A.n_columns) + " columns and " + std::to_string(B.n_rows) +
                         " rows\n  expected: at least as many rows");
    return Product<Number>(A, B).make();
  }

#define INSTANTIATE(Number) template DeviceCrs<Number> product(const DeviceCrs<Number> &A, const DeviceCrs<Number> &B);
  LEOPARD_FOR_EACH_NUMBER(INSTANTIATE)
#undef INSTANTIATE
} // namespace leopard::device
