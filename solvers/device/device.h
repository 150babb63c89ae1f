// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../base/errors.h"
#include "../base/number_types.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

// What is asked of the device is queued on the calling thread's own stream (cudaStreamPerThread; CUDA sources are
// compiled with --default-stream per-thread, cuSPARSE is told) and done there in the order of asking, so
// that it can be recorded (Graph). Only functions that return a number, or copy between host and device, wait. An
// object and its arrays belong to the thread that uses them; another thread calls synchronize() first.
namespace leopard::device
{
  /** Whether this build can talk to a GPU at all. */
  bool built_with_cuda();

  /**
   * Number of GPUs that answer and that the kernels run on, those of compute capability 9.0 (Hopper) or newer, which
   * CUDA numbers first; 0 without CUDA, without driver or without such a GPU. Never throws.
   */
  int n_devices();
  /**
   * Why n_devices() is 0: "no GPU answers (built without CUDA)", "no GPU answers", or "the first GPU has not compute
   * capability 9.0: NVIDIA A100 has 8.0".
   */
  std::string why_no_devices();

  /**
   * @param who asks for a GPU: "--backend cuda". @param instead what else may be asked for: "the backend host".
   * @param why there is none, if not why_no_devices(). @throws DeviceError: who, why, and what is expected.
   */
  [[noreturn]] inline void throw_no_device(const std::string &who, const std::string &instead, const std::string &why = why_no_devices())
  {
    throw DeviceError(who + ": " + why + "\n  expected: " +
                      (built_with_cuda() ? "a GPU of compute capability 9.0 or newer and its driver" : "a build configured with -D LEOPARD_CUDA=ON") +
                      ", or " + instead);
  }

  struct DeviceInfo
  {
    std::string name;                  ///< "NVIDIA H200"
    std::string driver;                ///< version of the driver, "580.159.04", empty if NVML does not tell
    std::size_t total_memory      = 0; ///< bytes
    std::size_t free_memory       = 0; ///< bytes
    int         n_multiprocessors = 0;
  };

  /** @throws DeviceError. */
  DeviceInfo info(int device);

  /** Bytes that are free on the current device. @throws DeviceError. */
  std::size_t free_memory();

  /** Multiprocessors of the current device. @throws DeviceError. */
  int n_multiprocessors();

  /**
   * Makes a device current for this thread. @throws DeviceError saying how many there are, or "built without CUDA:
   * ...".
   */
  void select(int device);

  /**
   * Waits until the device has done all that was asked of it. @throws DeviceError for what went wrong there meanwhile.
   */
  void synchronize();
  /** The same for what the calling thread has asked for. */
  void wait();

  /** Device arrays. @throws DeviceError, for allocate() with the bytes asked for and the bytes that are free. */
  void *allocate(std::size_t n_bytes);
  /**
   * For a thread that does a work of its own beside others on the same device: its arrays come from what is kept for
   * scratch from now on. What else frees memory waits for the work of all threads.
   */
  void allocate_beside_others();
  void release_scratch(); ///< what set-up on the device has worked in (see scratch.cuh) goes back to the device
  void release(void *pointer) noexcept;
  void copy_to_device(void *destination, const void *host_source, std::size_t n_bytes);
  void copy_to_host(void *host_destination, const void *source, std::size_t n_bytes);
  void copy_on_device(void *destination, const void *source, std::size_t n_bytes);
  void set_zero(void *destination, std::size_t n_bytes);

  /**
   * to[to_indices[i]] = from[from_indices[i]], or += with add; no index twice in to_indices; null: i itself. All in
   * device memory.
   */
  template <typename Number>
  void copy_entries(Number *to, const int *to_indices, const Number *from, const int *from_indices, int n, bool add);

  template <typename Number>
  double dot(const Number *x, const Number *y, std::size_t n); ///< sum of x_i y_i; waits for it
  template <typename Number>
  void axpy(Number *y, Number a, const Number *x, std::size_t n); ///< y += a x

  /** packed[i] = x[indices[i]], all in device memory. For the exchange of ghost values. */
  template <typename Number>
  void gather(Number *packed, const Number *x, const int *indices, int n);

  /** Whether this thread is recording a graph: what is launched is not done now, and nothing can be waited for. */
  bool is_recording();

  /** A sequence of device work that is recorded once and then costs one launch (a CUDA graph). */
  class Graph
  {
  public:
    Graph();
    ~Graph();
    /**
     * Records what the function queues; nothing of it is done yet. The function must not wait, nor copy between host
     * and device, and whatever it uses must have been used once before (libraries load their kernels at the first use).
     * @throws DeviceError, and what the function throws.
     */
    void record(const std::function<void()> &function);
    bool is_recorded() const;
    /** Queues all that was recorded. */
    void launch() const;

  private:
    struct Data;
    std::unique_ptr<Data> data;
  };
} // namespace leopard::device
