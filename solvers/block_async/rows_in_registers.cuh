// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "device_block_crs.cuh"
#include "monitor.cuh"

namespace leopard
{
  /** One launch's parameters; dimensionless. */
  template <typename Number>
  struct RelaxParameters
  {
    int        n_iterations;     ///< global iterations of this launch
    int        local_iterations; ///< 0: nothing is relaxed, only residuals are computed
    const int *local_iterations_per_block;
    Number     block_omega, momentum;
    bool       velocity_is_zero; ///< persistent form: whatever stands in memory
    int        test_every;       ///< 0: never; in the launch form anything else asks for the residual
  };

  /** Where values of a row are written beside x: see BlockAsyncEngine::mirror(). Device memory; null: nowhere. */
  template <typename Number>
  struct MirrorView
  {
    const int     *offsets = nullptr; ///< of each row
    Number *const *places  = nullptr;
  };

  /** The vectors of one launch. Device memory. */
  template <typename Number>
  struct RelaxVectors
  {
    Number            *x;
    const Number      *off_block; ///< where off-block values are read: x, or a copy in the synchronous schedule; null (stencils): all of x is zero
    const Number      *b;
    Number            *velocity; ///< one a local row; with momentum only
    double            *parts;    ///< launch form: one a block, its part of ||r||^2 if that is asked for
    Number            *residual; ///< launch form: r itself, if that is asked for; or null
    Number            *other_x;  ///< persistent form, synchronous schedule: the second of two vectors that are read and written in turn, else null
    MirrorView<Number> mirrors = {}; ///< persistent form
  };

  constexpr int max_rows_in_registers = 512; ///< of a block whose rows are held in registers

  /** At most `width` inner entries of a row in registers. */
  template <typename Format, int width>
  struct RowInRegisters
  {
    using Number = typename Format::Number;

    static constexpr bool packs = width > 16; ///< two columns, of 16 bits, a register

    unsigned int columns[packs ? width / 2 : width];
    Number       values[width];

    /** A row that does not exist has no entries. */
    template <typename Tables>
    __device__ void take(const BlockView<Format> &block, int i, bool exists, const Tables &tables)
    {
      const int n_pairs = exists ? block.n_pairs(i) : 0;
#pragma unroll
      for (int e = 0; e < width / 2; ++e)
        {
          int column[2] = {i, i};
          values[2 * e] = values[2 * e + 1] = 0;
          if (e < n_pairs)
            {
              block.inner_columns(i, e, column);
              block.inner_values(block.pair(i, e), tables, values + 2 * e);
            }
          if constexpr (packs)
            columns[e] = static_cast<unsigned int>(column[0]) | static_cast<unsigned int>(column[1]) << 16;
          else
            {
              columns[2 * e]     = column[0];
              columns[2 * e + 1] = column[1];
            }
        }
    }

    /** start - sum of the entries times y. */
    __device__ Number subtract_from(Number start, const Number *y) const
    {
      Number sums[2] = {start, 0};
#pragma unroll
      for (int e = 0; e < width; ++e)
        sums[e % 2] -= values[e] * y[packs ? columns[e / (packs ? 2 : 1)] >> 16 * (e % 2) & 0xffffu : columns[e / (packs ? 2 : 1)]];
      return sums[0] + sums[1];
    }
  };

  /** The rows t, t + blockDim.x, ... of a block in registers, their columns among them. @tparam n_ rows a thread. */
  template <typename Format_, int width, int n_ = 2>
  struct GatheredRows
  {
    using Format                     = Format_;
    using Number                     = typename Format::Number;
    static constexpr int n           = n_;
    static constexpr int max_threads = max_rows_in_registers / n;
    /** Thread blocks a multiprocessor that registers are left for, those of floats more. */
    static constexpr int at_once(bool plain)
    {
      if (n == 1)
        return 1; // of up to 512 threads, which leaves each 128 registers
      return (width <= 4 ? (plain ? 4 : 3) : width <= 8 ? (plain ? 3 : 2) : 1) + (std::is_same_v<Number, float> ? 1 : 0);
    }

    RowInRegisters<Format, width> row[n];

    static __device__ int stride(const BlockExtent &) { return blockDim.x; }
    static __device__ int first(int /*stride*/) { return threadIdx.x; }

    template <typename Tables>
    __device__ void take(const BlockView<Format> &block, int first, int stride, int n_rows, const Tables &tables)
    {
#pragma unroll
      for (int r = 0; r < n; ++r)
        row[r].take(block, first + r * stride, first + r * stride < n_rows, tables);
    }

    /** result = s - sum of the entries times y; y begins with the block's first row. */
    __device__ void subtract(const Number *y, int /*first*/, int /*stride*/, const Number (&)[n], const Number (&s)[n], Number (&result)[n]) const
    {
#pragma unroll
      for (int r = 0; r < n; ++r)
        result[r] = row[r].subtract_from(s[r], y);
    }
  };

  /**
   * The rows i, i + S, i + 2 S, i + 3 S of a lattice in registers (DistanceSlots): what they multiply is among these
   * rows, or beside them in memory one after the other, so that four rows of five (nine) points take 10 (14) numbers
   * from shared memory instead of 16 (32).
   */
  template <typename Format_, int n_laterals, bool full>
  struct LatticeRows
  {
    using Format                     = Format_;
    using Number                     = typename Format::Number;
    static constexpr int n           = DistanceSlots::rows_a_thread;
    static constexpr int max_threads = max_rows_in_registers / n;
    static_assert(DistanceSlots::max_rows == max_rows_in_registers);
    static constexpr int lines = full ? 3 : 1, n_slots = 2 + lines * n_laterals;
    static constexpr int at_once(bool plain)
    {
      return std::is_same_v<Number, float> ? (n_slots <= 4 ? (plain ? 8 : 6) : plain ? 6 : 4) : n_slots <= 4 ? (plain ? 5 : 4) : plain ? 4 : 3;
    }

    Number values[n][n_slots];
    int    laterals[n_laterals];

    static __device__ int stride(const BlockExtent &e) { return e.stride; }
    /** t / S S n + t % S for the thread t. */
    static __device__ int first(int stride)
    {
      const int t = threadIdx.x, line = static_cast<int>(__fdividef(t + 0.5f, stride)); // t / S, in fewer instructions
      return t + line * stride * (n - 1);
    }

    template <typename Tables>
    __device__ void take(const BlockView<Format> &block, int first, int stride, int n_rows, const Tables &tables)
    {
#pragma unroll
      for (int l = 0; l < n_laterals; ++l)
        laterals[l] = block.distance(2 + l * lines + lines / 2);
#pragma unroll
      for (int r = 0; r < n; ++r)
        {
          const unsigned int i = first + r * stride, pair = i / 32 * (16 * n_slots) + i % 32; // all slices are as long
#pragma unroll
          for (int e = 0; e < n_slots / 2; ++e)
            {
              values[r][2 * e] = values[r][2 * e + 1] = 0;
              if (i < static_cast<unsigned int>(n_rows))
                block.inner_values(pair + 32 * e, tables, values[r] + 2 * e);
            }
        }
    }

    /**
     * result = s - sum of the entries times y, of which `value` are this thread's. Reads beyond the block's rows, times
     * zero.
     */
    __device__ void subtract(const Number *y, int first, int stride, const Number (&value)[n], const Number (&s)[n], Number (&result)[n]) const
    {
      y += first;
      const Number below = y[-stride], above = y[n * stride];
#pragma unroll
      for (int r = 0; r < n; ++r)
        {
          result[r] = s[r] - values[r][0] * (r > 0 ? value[r > 0 ? r - 1 : 0] : below);
          result[r] -= values[r][1] * (r + 1 < n ? value[r + 1 < n ? r + 1 : 0] : above);
        }
#pragma unroll
      for (int l = 0; l < n_laterals; ++l)
        {
          Number beside[n + lines - 1]; // of a star from this thread's first line to its last, else from the line before to the line behind
#pragma unroll
          for (int q = 0; q < n + lines - 1; ++q)
            beside[q] = y[laterals[l] + (q - lines / 2) * stride];
#pragma unroll
          for (int r = 0; r < n; ++r)
#pragma unroll
            for (int line = 0; line < lines; ++line)
              result[r] -= values[r][2 + l * lines + line] * beside[r + line];
        }
    }
  };

  /** sum of a_ij x_j over the off-block entries of the r-th row that has any, from its entry e on; four at a time. */
  template <typename Format, typename Number = typename Format::Number>
  __device__ Number off_block_sum(const BlockView<Format> &block, const TableView<Number> &tables, const Number *x, int r, int e)
  {
    Number sum = 0;
    for (; block.has_outer(r, e); e += 4)
      {
        Number x_j[4];
#pragma unroll
        for (int q = 0; q < 4; ++q)
          x_j[q] = block.has_outer(r, e + q) ? load(x + block.outer_column(block.jag(e + q) + r)) : Number(0);
#pragma unroll
        for (int q = 0; q < 4; ++q)
          if (block.has_outer(r, e + q))
            sum += block.outer_value(block.jag(e + q) + r, tables) * x_j[q];
      }
    return sum;
  }

  /**
   * start - sum of a_ij y_j over the inner entries of row i, which are read from memory. @param y shared memory, the
   * block's first row first; a pointer, perhaps to volatile.
   */
  template <typename Format, typename Values, typename Number = typename Format::Number>
  __device__ Number subtract_inner_entries(const BlockView<Format> &block, const TableView<Number> &tables, Number start, int i, Values y)
  {
    const int n_pairs = block.n_pairs(i);
#pragma unroll 4
    for (int e = 0; e < n_pairs; ++e)
      {
        int    column[2];
        Number value[2];
        block.inner_columns(i, e, column);
        block.inner_values(block.pair(i, e), tables, value);
        start -= value[0] * y[column[0]] + value[1] * y[column[1]];
      }
    return start;
  }
} // namespace leopard
