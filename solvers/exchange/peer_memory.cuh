// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../base/errors.h"
#include "../device/cuda_error.cuh"
#include "../device/device_array.h"
#include "all_gather.h"

#include <cuda/atomic>

#include <algorithm>
#include <string>
#include <vector>

namespace leopard::peer
{
  /**
   * Device memory of this rank into which kernels of other ranks of the host write, on other GPUs or on the same one
   * (CUDA inter-process memory handles, but between threads of one process; over NVLink where there is one).
   */
  class Memory
  {
  public:
    /** Of zeros. Not collective. @throws DeviceError. */
    Memory(std::size_t n_bytes, int rank, int n_ranks, const AllGather &all_gather);
    /** Collective, but on ranks on which something went wrong: nobody writes into a closed mailbox. */
    ~Memory();
    Memory(const Memory &)            = delete;
    Memory &operator=(const Memory &) = delete;

    /** Collective: opens the memory of these ranks. @return on all ranks alike why it cannot be; empty if it can. */
    std::string open(const std::vector<int> &ranks);

    /** Where the memory of a rank begins, this one's or one that is open; null: it is not. */
    char *of_rank(int r) const { return begin[r]; }

  private:
    void wait_for_all_ranks() const;

    const int           rank, n_ranks;
    const AllGather     all_gather;
    device::Array<char> own;
    std::vector<char *> begin;  ///< one a rank
    std::vector<void *> opened; ///< of ranks that are other processes: what is to be closed
  };

  /**
   * Lets kernels of the current device use memory of another one that this process has allocated there. @return an
   * error where the two have no path between them.
   */
  cudaError_t reach(int other);

  // What kernels do with it: they write values, then raise a flag; the other rank's kernel waits for the flag.

  using Number = unsigned long long; ///< of an exchange; flags only grow

  constexpr int    n_threads = 256, flag_stride = 16;          // flags stand 128 bytes apart
  constexpr Number longest_wait = 300ull * 1000 * 1000 * 1000; // ns
  constexpr Number patience     = 4000;                        // ns: what a value needs from one GPU to the next. Ranks that are at the same
                                                               // place would otherwise always just miss one another

  /**
   * A kernel's thread blocks are all on the chip at once, since they wait: as many as find room on this device, a part
   * of a GPU perhaps, and no more than travelling values keep busy. @param shared_bytes of a block. @throws DeviceError
   * if none finds room.
   */
  template <typename Kernel>
  int most_blocks(const Kernel &kernel, std::size_t shared_bytes = 0)
  {
    constexpr int enough = 96;
    int           device = 0, n_multiprocessors = 0, on_each = 0;
    LEOPARD_CHECK(cudaGetDevice(&device));
    LEOPARD_CHECK(cudaDeviceGetAttribute(&n_multiprocessors, cudaDevAttrMultiProcessorCount, device));
    LEOPARD_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&on_each, kernel, n_threads, shared_bytes));
    if (on_each * n_multiprocessors < 1)
      throw DeviceError("kernels that exchange values with other GPUs find no room on this one, with " + std::to_string(shared_bytes) +
                        " bytes of shared memory\n  expected: fewer ranks, or an exchange by MPI messages");
    return std::min(enough, on_each * n_multiprocessors);
  }

  /** For n values, see most_blocks(). */
  inline int blocks_for(long n, int most)
  {
    return static_cast<int>(std::clamp<long>((n + n_threads - 1) / n_threads, 1, most));
  }

  __device__ inline Number nanoseconds()
  {
    Number t;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(t));
    return t;
  }

  __device__ inline void raise(Number *flag, Number number)
  {
    cuda::atomic_ref<Number, cuda::thread_scope_system>(*flag).store(number, cuda::memory_order_release);
  }

  __device__ inline Number look(Number *flag)
  {
    return cuda::atomic_ref<Number, cuda::thread_scope_system>(*flag).load(cuda::memory_order_acquire);
  }

  __device__ inline void wait_for(Number *flag, Number number)
  {
    const Number start = nanoseconds();
    while (look(flag) < number)
      if (nanoseconds() - start > longest_wait)
        __trap();
  }

  /**
   * Counts the thread blocks that have come here. Called by all threads; true in the first thread of the last block.
   * What all blocks wrote before happens before what it does next: its raise(), or one system-wide fence before several
   * flags, releases their writes to other GPUs, too, and is the only one beyond this GPU: each costs a microsecond.
   */
  __device__ inline bool last_to_come(unsigned int *counter)
  {
    __syncthreads();
    if (threadIdx.x != 0)
      return false;
    return cuda::atomic_ref<unsigned int, cuda::thread_scope_device>(*counter).fetch_add(1, cuda::memory_order_acq_rel) == gridDim.x - 1;
  }

  /**
   * put(i, get(i)) for all i < n by all threads of the grid, with several values of a thread on their way at once.
   */
  template <typename Value, typename Get, typename Put>
  __device__ void move(int n, const Get &get, const Put &put)
  {
    constexpr int at_once = 4;
    const int     stride  = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += at_once * stride)
      {
        Value values[at_once];
#pragma unroll
        for (int e = 0; e < at_once; ++e)
          if (i + e * stride < n)
            values[e] = get(i + e * stride);
#pragma unroll
        for (int e = 0; e < at_once; ++e)
          if (i + e * stride < n)
            put(i + e * stride, values[e]);
      }
  }

  /** A value in memory that other GPUs write: plain loads could find old ones in a cache. */
  template <typename Value>
  __device__ inline Value load(Value *mail)
  {
    return cuda::atomic_ref<Value, cuda::thread_scope_system>(*mail).load(cuda::memory_order_relaxed);
  }

  template <typename Value>
  __device__ inline void store(Value *mail, Value value)
  {
    cuda::atomic_ref<Value, cuda::thread_scope_system>(*mail).store(value, cuda::memory_order_relaxed);
  }
} // namespace leopard::peer
