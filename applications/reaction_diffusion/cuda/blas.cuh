// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <solvers/device/cuda_error.cuh>
#include <solvers/device/device_array.h>
#include <solvers/device/recording.cuh>

#include <cublas_v2.h>
#include <dlfcn.h>

#include <cstddef>
#include <map>
#include <string>

namespace leopard::reaction_diffusion
{
  /**
   * What the time loop calls of cuBLAS. It is loaded when it is first needed, as its 600 MB take 0.1 s, which a program
   * that is linked to it pays at each start, with or without a GPU.
   */
  class BlasLibrary
  {
  public:
    /** @throws DeviceError if it cannot be loaded. */
    static const BlasLibrary &get()
    {
      static const BlasLibrary library;
      return library;
    }

  private:
    void *const file;

    template <typename Function>
    Function *load(const char *name) const
    {
      void *const found = file == nullptr ? nullptr : dlsym(file, name);
      if (found == nullptr)
        throw DeviceError("cuBLAS cannot be loaded: " + std::string(dlerror()) +
                          "\n  expected: it where the CUDA libraries are\n  to do: LD_LIBRARY_PATH, or the backend host");
      return reinterpret_cast<Function *>(found);
    }

    BlasLibrary()
      : file(dlopen(("libcublas.so." + std::to_string(CUBLAS_VER_MAJOR)).c_str(), RTLD_NOW | RTLD_LOCAL))
      , create(load<decltype(cublasCreate_v2)>("cublasCreate_v2"))
      , destroy(load<decltype(cublasDestroy_v2)>("cublasDestroy_v2"))
      , set_stream(load<decltype(cublasSetStream_v2)>("cublasSetStream_v2"))
      , set_workspace(load<decltype(cublasSetWorkspace_v2)>("cublasSetWorkspace_v2"))
      , multiply(load<decltype(cublasDgemmStridedBatched_64)>("cublasDgemmStridedBatched_64"))
      , status_text(load<decltype(cublasGetStatusString)>("cublasGetStatusString"))
    {
    }

  public:
    decltype(cublasCreate_v2) *const              create;
    decltype(cublasDestroy_v2) *const             destroy;
    decltype(cublasSetStream_v2) *const           set_stream;
    decltype(cublasSetWorkspace_v2) *const        set_workspace;
    decltype(cublasDgemmStridedBatched_64) *const multiply; ///< C_p = alpha A_p B_p + beta C_p for each p of a batch
    decltype(cublasGetStatusString) *const        status_text;
  };

  /** @throws DeviceError unless the status says success. */
  inline void check_blas(cublasStatus_t status, const char *what)
  {
    if (status != CUBLAS_STATUS_SUCCESS)
      throw DeviceError(std::string("cuBLAS: ") + what + " failed: " + BlasLibrary::get().status_text(status));
  }

  /**
   * cuBLAS for a device and the calling thread's default stream. It has its memory to work in from the beginning, so
   * that what it does can be recorded (Graph).
   */
  class BlasHandle
  {
  public:
    /** One for each thread and device, as making one takes milliseconds; it lives until the thread ends. */
    static cublasHandle_t get()
    {
      int device = 0;
      LEOPARD_CHECK(cudaGetDevice(&device));
      thread_local std::map<int, BlasHandle> handles;
      return handles[device].handle;
    }

    BlasHandle()
      : workspace(std::size_t(32) << 20) // what cuBLAS asks for on Hopper
    {
      const device::RecordingLock lock(device::recording());
      const BlasLibrary          &blas = BlasLibrary::get();
      check_blas(blas.create(&handle), "making a handle");
      check_blas(blas.set_stream(handle, cudaStreamPerThread), "choosing a stream");
      check_blas(blas.set_workspace(handle, workspace.data(), workspace.size()), "giving it memory");
    }
    BlasHandle(const BlasHandle &)            = delete;
    BlasHandle &operator=(const BlasHandle &) = delete;
    ~BlasHandle()
    {
      const device::RecordingLock lock(device::recording());
      BlasLibrary::get().destroy(handle);
    }

  private:
    const device::Array<char> workspace;
    cublasHandle_t            handle = nullptr;
  };
} // namespace leopard::reaction_diffusion
