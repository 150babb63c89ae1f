// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "storage.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

namespace leopard
{
  /** Distinct values, by their bits as doubles. */
  struct ValueSet
  {
    static constexpr int                n_slots = 1024;
    static constexpr unsigned long long none    = ~0ull; ///< bits of no number
    unsigned long long                  slots[n_slots];
    int                                 count;

    __device__ void clear()
    {
      for (int i = threadIdx.x; i < n_slots; i += blockDim.x)
        slots[i] = none;
      if (threadIdx.x == 0)
        count = 0;
    }
    /** May give up where there are more than a dictionary holds: count says so. */
    __device__ void add(unsigned long long bits)
    {
      int slot = static_cast<int>((bits * 0x9e3779b97f4a7c15ull) >> 54);
      for (int step = 0; step < n_slots && *static_cast<volatile int *>(&count) <= most_distinct_values; ++step, slot = (slot + 1) % n_slots)
        {
          unsigned long long here = *static_cast<volatile unsigned long long *>(slots + slot);
          if (here == none)
            {
              here = atomicCAS(slots + slot, none, bits);
              if (here == none)
                {
                  atomicAdd(&count, 1);
                  return;
                }
            }
          if (here == bits)
            return;
        }
      atomicMax(&count, most_distinct_values + 1);
    }
    /** By all threads of a block. */
    __device__ void add_all(const ValueSet &other)
    {
      if (other.count > most_distinct_values)
        atomicMax(&count, other.count);
      else
        for (int i = threadIdx.x; i < n_slots; i += blockDim.x)
          if (other.slots[i] != none)
            add(other.slots[i]);
    }
  };

  /** Distinct values in the order of their bits. */
  struct TableOfBits
  {
    const unsigned long long *bits;
    int                       n;

    __device__ std::uint8_t index_of(double value) const
    {
      const auto wanted = static_cast<unsigned long long>(__double_as_longlong(value));
      int        low = 0, high = n - 1;
      while (low < high)
        {
          const int middle = (low + high) / 2;
          if (__ldg(bits + middle) < wanted)
            low = middle + 1;
          else
            high = middle;
        }
      return static_cast<std::uint8_t>(low);
    }
  };

  /** The bits of a set in ascending order: a table for TableOfBits. */
  inline std::vector<unsigned long long> sorted_bits(const ValueSet &set)
  {
    std::vector<unsigned long long> result;
    for (const unsigned long long bits : set.slots)
      if (bits != ValueSet::none)
        result.push_back(bits);
    std::sort(result.begin(), result.end());
    return result;
  }

  /** The values of such bits. */
  template <typename Number>
  std::vector<Number> numbers(const std::vector<unsigned long long> &bits)
  {
    std::vector<Number> result;
    for (const unsigned long long b : bits)
      {
        double value;
        std::memcpy(&value, &b, sizeof(value));
        result.push_back(static_cast<Number>(value));
      }
    return result;
  }
} // namespace leopard
