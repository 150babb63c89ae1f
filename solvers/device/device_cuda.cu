// SPDX-License-Identifier: Apache-2.0
#include "../base/thread_pool.h"
#include "../base/usable_resources.h"
#include "cuda_error.cuh"
#include "device.h"
#include "grid_stride.cuh"
#include "library_handles.cuh"
#include "nvml.h"
#include "recording.cuh"
#include "scratch.cuh"
#include "sleep.cuh"

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <unordered_set>
#include <vector>

namespace leopard::device
{
  namespace
  {
    template <typename Number>
    __global__ void gather_kernel(Number *packed, const Number *x, const int *indices, int n)
    {
      for (auto i = first_index<int>(); i < n; i += stride<int>())
        packed[i] = x[indices[i]];
    }

    template <typename Number>
    __global__ void copy_entries_kernel(Number *to, const int *to_indices, const Number *from, const int *from_indices, int n, bool add)
    {
      for (auto i = first_index<int>(); i < n; i += stride<int>())
        {
          const Number value  = from[from_indices != nullptr ? from_indices[i] : i];
          Number      &target = to[to_indices != nullptr ? to_indices[i] : i];
          target              = add ? target + value : value;
        }
    }

    constexpr int least_capability = 9; ///< bulk copies, clusters and launches that overlap: Hopper

    /** All that answer. */
    int n_gpus()
    {
      int count = 0;
      if (cudaGetDeviceCount(&count) == cudaSuccess)
        return count;
      cudaGetLastError(); // no driver or no GPU is an answer here, not an error to keep
      return 0;
    }

    bool runs_kernels(int device)
    {
      int major = 0;
      return cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) == cudaSuccess && major >= least_capability;
    }
  } // namespace

  bool built_with_cuda()
  {
    return true;
  }

  int n_devices()
  {
    const int all = n_gpus();
    int       n   = 0;
    while (n < all && runs_kernels(n))
      ++n;
    return n;
  }

  std::string why_no_devices()
  {
    cudaDeviceProp properties;
    if (n_gpus() == 0 || cudaGetDeviceProperties(&properties, 0) != cudaSuccess)
      return "no GPU answers";
    std::string result = "the first GPU has not compute capability " + std::to_string(least_capability) + ".0: " + properties.name + " has " +
                         std::to_string(properties.major) + "." + std::to_string(properties.minor);
    for (int device = 1; device < n_gpus(); ++device)
      if (runs_kernels(device))
        return result + "; GPU " + std::to_string(device) + " has: CUDA_VISIBLE_DEVICES=" + std::to_string(device) + " makes it the first";
    return result;
  }

  DeviceInfo info(int device)
  {
    cudaDeviceProp properties;
    LEOPARD_CHECK(cudaGetDeviceProperties(&properties, device));
    int current = 0;
    LEOPARD_CHECK(cudaGetDevice(&current));
    DeviceInfo result;
    result.name              = properties.name;
    result.driver            = driver_version();
    result.n_multiprocessors = properties.multiProcessorCount;
    LEOPARD_CHECK(cudaSetDevice(device));
    LEOPARD_CHECK(cudaMemGetInfo(&result.free_memory, &result.total_memory));
    LEOPARD_CHECK(cudaSetDevice(current));
    return result;
  }

  std::size_t free_memory()
  {
    std::size_t result = 0, total = 0;
    LEOPARD_CHECK(cudaMemGetInfo(&result, &total));
    return result;
  }

  int n_multiprocessors()
  {
    int device = 0, count = 0;
    LEOPARD_CHECK(cudaGetDevice(&device));
    LEOPARD_CHECK(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device));
    return count;
  }

  void select(int device)
  {
    const int count = n_devices();
    if (device < 0 || device >= count)
      throw DeviceError("GPU " + std::to_string(device) + " was asked for, but this machine has " + std::to_string(count) +
                        " GPU(s), numbered from 0\n  expected: a number below that, or the backend host");
    LEOPARD_CHECK(cudaSetDevice(device));
  }

  std::recursive_mutex &recording()
  {
    static auto *const mutex = new std::recursive_mutex; // some arrays are released when the program ends
    return *mutex;
  }

  void synchronize()
  {
    LEOPARD_CHECK(cudaDeviceSynchronize());
  }

  void wait()
  {
    LEOPARD_CHECK(cudaStreamSynchronize(cudaStreamPerThread));
  }

  void refuse_memory(std::size_t n_bytes)
  {
    cudaGetLastError();
    std::size_t free_memory = 0, total = 0;
    cudaMemGetInfo(&free_memory, &total);
    throw DeviceError("the GPU has no room for an array of " + std::to_string(n_bytes) + " bytes: " + std::to_string(free_memory) + " of " +
                      std::to_string(total) +
                      " bytes are free\n  expected: a smaller problem, a larger GPU, more ranks on more GPUs, or the backend host");
  }

  namespace
  {
    thread_local bool beside_others = false;

    /** The arrays that are of scratch memory. */
    struct KeptArrays
    {
      std::mutex                 one_at_a_time;
      std::unordered_set<void *> pointers;
    };

    KeptArrays &kept_arrays()
    {
      static auto *const arrays = new KeptArrays; // some are released when the program ends
      return *arrays;
    }
  } // namespace

  void allocate_beside_others()
  {
    beside_others = true;
  }

  void *allocate(std::size_t n_bytes)
  {
    void             *pointer = nullptr;
    const cudaError_t code =
      beside_others ? cudaMallocFromPoolAsync(&pointer, n_bytes, scratch_pool(), cudaStreamPerThread) : cudaMalloc(&pointer, n_bytes);
    if (code == cudaErrorMemoryAllocation)
      refuse_memory(n_bytes);
    LEOPARD_CHECK(code);
    if (beside_others)
      {
        KeptArrays                       &kept = kept_arrays();
        const std::lock_guard<std::mutex> lock(kept.one_at_a_time);
        kept.pointers.insert(pointer);
      }
    return pointer;
  }

  cudaMemPool_t scratch_pool()
  {
    int device = 0;
    LEOPARD_CHECK(cudaGetDevice(&device));
    static std::mutex                   one_at_a_time;
    static std::map<int, cudaMemPool_t> pools;
    const std::lock_guard<std::mutex>   lock(one_at_a_time);
    cudaMemPool_t                      &pool = pools[device];
    if (pool == nullptr)
      {
        cudaMemPoolProps properties = {};
        properties.allocType        = cudaMemAllocationTypePinned;
        properties.location.type    = cudaMemLocationTypeDevice;
        properties.location.id      = device;
        LEOPARD_CHECK(cudaMemPoolCreate(&pool, &properties));
        unsigned long long keep = ~0ull;
        LEOPARD_CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
      }
    return pool;
  }

  void release_scratch()
  {
    LEOPARD_CHECK(cudaStreamSynchronize(cudaStreamPerThread));
    LEOPARD_CHECK(cudaMemPoolTrimTo(scratch_pool(), 0));
  }

  void release(void *pointer) noexcept
  {
    if (pointer == nullptr)
      return;
    bool is_kept = false;
    {
      KeptArrays                       &kept = kept_arrays();
      const std::lock_guard<std::mutex> lock(kept.one_at_a_time);
      is_kept = kept.pointers.erase(pointer) > 0;
    }
    if (is_kept)
      cudaFreeAsync(pointer, cudaStreamPerThread);
    else
      cudaFree(pointer);
  }

  namespace
  {
    /**
     * One of the threads that bring a large array to the device: CUDA's own copy of memory that is not page-locked is
     * bound by the one thread that it works with. Copies parts to its page-locked buffers, from where the device takes
     * them.
     */
    struct Carrier
    {
      static constexpr std::size_t part      = std::size_t(2) << 20; ///< bytes
      cudaStream_t                 stream    = nullptr;
      char                        *buffer[2] = {nullptr, nullptr};
      cudaEvent_t                  free[2]   = {nullptr, nullptr};

      Carrier()
      {
        LEOPARD_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
        for (int i = 0; i < 2; ++i)
          {
            LEOPARD_CHECK(cudaMallocHost(&buffer[i], part));
            LEOPARD_CHECK(cudaEventCreateWithFlags(&free[i], cudaEventDisableTiming));
          }
      }

      void carry(char *destination, const char *source, std::size_t n_bytes) const
      {
        for (std::size_t at = 0, i = 0; at < n_bytes; at += part, i = 1 - i)
          {
            const std::size_t n = std::min(part, n_bytes - at);
            LEOPARD_CHECK(cudaEventSynchronize(free[i]));
            std::memcpy(buffer[i], source + at, n);
            LEOPARD_CHECK(cudaMemcpyAsync(destination + at, buffer[i], n, cudaMemcpyHostToDevice, stream));
            LEOPARD_CHECK(cudaEventRecord(free[i], stream));
          }
        LEOPARD_CHECK(cudaStreamSynchronize(stream));
      }
    };

    constexpr std::size_t is_large = std::size_t(16) << 20; ///< bytes

    void carry_to_device(char *destination, const char *source, std::size_t n_bytes)
    {
      static std::mutex                                  one_at_a_time;
      static std::map<int, std::vector<const Carrier *>> carriers; // of each device; kept as long as the program runs
      const std::lock_guard<std::mutex>                  lock(one_at_a_time);
      const int                                          n_threads = std::min(usable_cores(), 8);
      int                                                device    = 0;
      LEOPARD_CHECK(cudaGetDevice(&device));
      auto &here = carriers[device];
      while (static_cast<int>(here.size()) < n_threads)
        here.push_back(new Carrier);
      LEOPARD_CHECK(cudaStreamSynchronize(cudaStreamPerThread)); // as cudaMemcpy() is ordered
      const std::size_t share = (n_bytes / n_threads / 4096 + 1) * 4096;
      shared_thread_pool(n_threads)->run([&](int t) {
        if (const std::size_t first = t * share; first < n_bytes)
          {
            LEOPARD_CHECK(cudaSetDevice(device));
            here[t]->carry(destination + first, source + first, std::min(share, n_bytes - first));
          }
      });
    }
  } // namespace

  void copy_to_device(void *destination, const void *host_source, std::size_t n_bytes)
  {
    if (n_bytes >= is_large)
      carry_to_device(static_cast<char *>(destination), static_cast<const char *>(host_source), n_bytes);
    else
      LEOPARD_CHECK(cudaMemcpy(destination, host_source, n_bytes, cudaMemcpyHostToDevice));
  }

  cusparseHandle_t sparse_handle()
  {
    int device = 0;
    LEOPARD_CHECK(cudaGetDevice(&device));
    thread_local std::map<int, cusparseHandle_t> handles;
    cusparseHandle_t                            &handle = handles[device];
    if (handle == nullptr)
      {
        const RecordingLock lock(recording());
        LEOPARD_CHECK(cusparseCreate(&handle));
        LEOPARD_CHECK(cusparseSetStream(handle, cudaStreamPerThread));
      }
    return handle;
  }

  void copy_to_host(void *host_destination, const void *source, std::size_t n_bytes)
  {
    if (beside_others) // a copy that waits in the device's queue of copies holds up those of all threads
      wait();
    sleep_until_done();
    LEOPARD_CHECK(cudaMemcpy(host_destination, source, n_bytes, cudaMemcpyDeviceToHost));
  }

  void copy_on_device(void *destination, const void *source, std::size_t n_bytes)
  {
    if (n_bytes > 0) // of a rank without entries, perhaps in a graph
      LEOPARD_CHECK(cudaMemcpyAsync(destination, source, n_bytes, cudaMemcpyDeviceToDevice));
  }

  void set_zero(void *destination, std::size_t n_bytes)
  {
    if (n_bytes > 0)
      LEOPARD_CHECK(cudaMemsetAsync(destination, 0, n_bytes));
  }

  template <typename Number>
  void copy_entries(Number *to, const int *to_indices, const Number *from, const int *from_indices, int n, bool add)
  {
    if (n == 0)
      return;
    copy_entries_kernel<<<blocks_for(n), threads>>>(to, to_indices, from, from_indices, n, add);
    LEOPARD_CHECK(cudaGetLastError());
  }

  template <typename Number>
  void gather(Number *packed, const Number *x, const int *indices, int n)
  {
    if (n == 0)
      return;
    gather_kernel<<<blocks_for(n), threads>>>(packed, x, indices, n);
    LEOPARD_CHECK(cudaGetLastError());
  }

#define INSTANTIATE(Number)                                                                                                    \
  template void copy_entries(Number *to, const int *to_indices, const Number *from, const int *from_indices, int n, bool add); \
  template void gather(Number *packed, const Number *x, const int *indices, int n);
  LEOPARD_FOR_EACH_NUMBER(INSTANTIATE)
#undef INSTANTIATE
} // namespace leopard::device
