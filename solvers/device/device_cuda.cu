// SPDX-License-Identifier: Apache-2.0
#include "cuda_error.cuh"
#include "device.h"
#include "device_array.h"

#include <dlfcn.h>

#include <algorithm>

namespace leopard::device
{
  namespace
  {
    constexpr int threads_per_block = 256;

    int blocks_for(int n)
    {
      return (n + threads_per_block - 1) / threads_per_block;
    }

    __global__ void gather_kernel(double *packed, const double *x, const int *indices, int n)
    {
      const int i = blockIdx.x * blockDim.x + threadIdx.x;
      if (i < n)
        packed[i] = x[indices[i]];
    }

    /** The driver's version as NVML tells it, without linking to NVML, which comes with the driver. */
    std::string driver_version()
    {
      void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW);
      if (library == nullptr)
        return "";
      using Init          = int (*)();
      using Version       = int (*)(char *, unsigned int);
      const auto init     = reinterpret_cast<Init>(dlsym(library, "nvmlInit_v2"));
      const auto version  = reinterpret_cast<Version>(dlsym(library, "nvmlSystemGetDriverVersion"));
      char       text[96] = "";
      if (init == nullptr || version == nullptr || init() != 0 || version(text, sizeof(text)) != 0)
        text[0] = '\0';
      dlclose(library);
      return text;
    }
  } // namespace

  bool built_with_cuda()
  {
    return true;
  }

  int n_devices()
  {
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess)
      {
        cudaGetLastError(); // no driver or no GPU is an answer here, not an error to keep
        return 0;
      }
    return count;
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

  void synchronize()
  {
    LEOPARD_CHECK(cudaDeviceSynchronize());
  }

  void *allocate(std::size_t n_bytes)
  {
    void             *pointer = nullptr;
    const cudaError_t code    = cudaMalloc(&pointer, n_bytes);
    if (code == cudaErrorMemoryAllocation)
      {
        cudaGetLastError();
        std::size_t free_memory = 0, total = 0;
        cudaMemGetInfo(&free_memory, &total);
        throw DeviceError("the GPU has no room for an array of " + std::to_string(n_bytes) + " bytes: " + std::to_string(free_memory) + " of " +
                          std::to_string(total) +
                          " bytes are free\n  expected: a smaller problem, a larger GPU, more ranks on more GPUs, or the backend host");
      }
    LEOPARD_CHECK(code);
    return pointer;
  }

  void release(void *pointer) noexcept
  {
    cudaFree(pointer);
  }

  void copy_to_device(void *destination, const void *host_source, std::size_t n_bytes)
  {
    LEOPARD_CHECK(cudaMemcpy(destination, host_source, n_bytes, cudaMemcpyHostToDevice));
  }

  void copy_to_host(void *host_destination, const void *source, std::size_t n_bytes)
  {
    LEOPARD_CHECK(cudaMemcpy(host_destination, source, n_bytes, cudaMemcpyDeviceToHost));
  }

  void copy_on_device(void *destination, const void *source, std::size_t n_bytes)
  {
    LEOPARD_CHECK(cudaMemcpyAsync(destination, source, n_bytes, cudaMemcpyDeviceToDevice));
  }

  void gather(double *packed, const double *x, const int *indices, int n)
  {
    if (n == 0)
      return;
    gather_kernel<<<blocks_for(n), threads_per_block>>>(packed, x, indices, n);
    LEOPARD_CHECK(cudaGetLastError());
  }

  struct DeviceMatrix::Data
  {
    int                  n_rows, n_columns;
    Array<int>           offsets, columns;
    Array<double>        values;
    cusparseHandle_t     handle = nullptr;
    cusparseSpMatDescr_t matrix = nullptr;
    cusparseDnVecDescr_t x = nullptr, y = nullptr;
    Array<char>          buffer;

    explicit Data(const CrsMatrix &A)
      : n_rows(A.n_rows)
      , n_columns(A.n_columns)
      , offsets(A.row_offsets)
      , columns(A.columns)
      , values(A.values)
    {
      LEOPARD_CHECK(cusparseCreate(&handle));
      if (n_rows == 0)
        return;
      LEOPARD_CHECK(cusparseCreateCsr(&matrix,
                                      n_rows,
                                      n_columns,
                                      A.n_entries(),
                                      offsets.data(),
                                      columns.data(),
                                      values.data(),
                                      CUSPARSE_INDEX_32I,
                                      CUSPARSE_INDEX_32I,
                                      CUSPARSE_INDEX_BASE_ZERO,
                                      CUDA_R_64F));
      // cuSPARSE wants vectors with the descriptor; the real ones come with each product
      const Array<double> some_x(n_columns), some_y(n_rows);
      LEOPARD_CHECK(cusparseCreateDnVec(&x, n_columns, some_x.data(), CUDA_R_64F));
      LEOPARD_CHECK(cusparseCreateDnVec(&y, n_rows, some_y.data(), CUDA_R_64F));
      const double one = 1., zero = 0.;
      std::size_t  n_bytes = 0;
      LEOPARD_CHECK(cusparseSpMV_bufferSize(
        handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, matrix, x, &zero, y, CUDA_R_64F, CUSPARSE_SPMV_ALG_DEFAULT, &n_bytes));
      buffer = Array<char>(n_bytes);
    }

    ~Data()
    {
      if (x != nullptr)
        cusparseDestroyDnVec(x);
      if (y != nullptr)
        cusparseDestroyDnVec(y);
      if (matrix != nullptr)
        cusparseDestroySpMat(matrix);
      if (handle != nullptr)
        cusparseDestroy(handle);
    }
  };

  DeviceMatrix::DeviceMatrix(const CrsMatrix &A)
    : data(std::make_unique<Data>(A))
  {
  }

  DeviceMatrix::~DeviceMatrix() = default;

  void DeviceMatrix::multiply(double *y, const double *x) const
  {
    if (data->n_rows == 0)
      return;
    const double one = 1., zero = 0.;
    LEOPARD_CHECK(cusparseDnVecSetValues(data->x, const_cast<double *>(x)));
    LEOPARD_CHECK(cusparseDnVecSetValues(data->y, y));
    LEOPARD_CHECK(cusparseSpMV(data->handle,
                               CUSPARSE_OPERATION_NON_TRANSPOSE,
                               &one,
                               data->matrix,
                               data->x,
                               &zero,
                               data->y,
                               CUDA_R_64F,
                               CUSPARSE_SPMV_ALG_DEFAULT,
                               data->buffer.data()));
  }

  void DeviceMatrix::update_values(const double *values)
  {
    if (data->values.size() > 0)
      copy_to_device(data->values.data(), values, data->values.size() * sizeof(double));
  }

  int DeviceMatrix::n_rows() const
  {
    return data->n_rows;
  }

  int DeviceMatrix::n_columns() const
  {
    return data->n_columns;
  }
} // namespace leopard::device
