// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../matrix/crs_matrix.h"

#include <cstddef>
#include <memory>
#include <string>

namespace leopard::device
{
  /** Whether this build can talk to a GPU at all. */
  bool built_with_cuda();

  /** Number of GPUs that answer; 0 without CUDA, without driver or without GPU. Never throws. */
  int n_devices();

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

  /** Makes a device current for this thread. @throws DeviceError saying how many there are, or "built without CUDA: ...". */
  void select(int device);

  /** Waits until the device has done all that was asked of it. @throws DeviceError for what went wrong there meanwhile. */
  void synchronize();

  /** Device arrays. @throws DeviceError, for allocate() with the bytes asked for and the bytes that are free. */
  void *allocate(std::size_t n_bytes);
  void  release(void *pointer) noexcept;
  void  copy_to_device(void *destination, const void *host_source, std::size_t n_bytes);
  void  copy_to_host(void *host_destination, const void *source, std::size_t n_bytes);
  void  copy_on_device(void *destination, const void *source, std::size_t n_bytes);
  /** packed[i] = x[indices[i]], all in device memory. For the exchange of ghost values. */
  void gather(double *packed, const double *x, const int *indices, int n);

  /** A CRS matrix on the device with y = A x by cuSPARSE. */
  class DeviceMatrix
  {
  public:
    explicit DeviceMatrix(const CrsMatrix &A);
    ~DeviceMatrix();
    void multiply(double *y, const double *x) const; ///< y: n_rows, x: n_columns values, device memory
    void update_values(const double *values);        ///< host memory, order of the CrsMatrix
    int  n_rows() const;
    int  n_columns() const;

  private:
    struct Data;
    std::unique_ptr<Data> data;
  };
} // namespace leopard::device
