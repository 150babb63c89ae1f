// SPDX-License-Identifier: Apache-2.0
#include "../device/cuda_error.cuh"
#include "../device/device_array.h"
#include "device_matrix.h"

namespace leopard::device
{
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
      if (A.n_entries() == 0)
        return;
      LEOPARD_CHECK(cusparseCreate(&handle));
      LEOPARD_CHECK(cusparseSetStream(handle, cudaStreamPerThread));
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
      LEOPARD_CHECK(cusparseSpMV_preprocess(
        handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, matrix, x, &zero, y, CUDA_R_64F, CUSPARSE_SPMV_ALG_DEFAULT, buffer.data()));
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

  void DeviceMatrix::multiply(double *y, double alpha, const double *x, double beta) const
  {
    if (data->n_rows == 0 || (data->matrix == nullptr && beta == 1.))
      return;
    if (data->matrix == nullptr) // no entries
      {
        if (beta == 0.)
          set_zero(y, data->n_rows * sizeof(double));
        else
          axpy(y, beta - 1., y, data->n_rows);
        return;
      }
    LEOPARD_CHECK(cusparseDnVecSetValues(data->x, const_cast<double *>(x)));
    LEOPARD_CHECK(cusparseDnVecSetValues(data->y, y));
    LEOPARD_CHECK(cusparseSpMV(data->handle,
                               CUSPARSE_OPERATION_NON_TRANSPOSE,
                               &alpha,
                               data->matrix,
                               data->x,
                               &beta,
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

  struct DenseMatrix::Data
  {
    int            n;
    Array<double>  values;
    Array<char>    workspace; ///< cuBLAS' own is not to be allocated while a graph is recorded
    cublasHandle_t handle = nullptr;

    Data(const std::vector<double> &host, int n_)
      : n(n_)
      , values(host)
      , workspace(std::size_t(4) << 20)
    {
      LEOPARD_CHECK(cublasCreate(&handle));
      LEOPARD_CHECK(cublasSetStream(handle, cudaStreamPerThread));
      LEOPARD_CHECK(cublasSetWorkspace(handle, workspace.data(), workspace.size()));
    }
    Data(const Data &)            = delete;
    Data &operator=(const Data &) = delete;
    ~Data()
    {
      if (handle != nullptr)
        cublasDestroy(handle);
    }
  };

  DenseMatrix::DenseMatrix(const std::vector<double> &values, int n)
  {
    if (values.size() != static_cast<std::size_t>(n) * n)
      throw InvalidInput("a dense matrix of " + std::to_string(n) + " rows has " + std::to_string(values.size()) +
                         " values\n  expected: as many as rows times rows");
    data = std::make_unique<Data>(values, n);
  }

  DenseMatrix::~DenseMatrix() = default;

  void DenseMatrix::update_values(const std::vector<double> &values)
  {
    if (values.size() != data->values.size())
      throw InvalidInput("a dense matrix of " + std::to_string(data->n) + " rows gets " + std::to_string(values.size()) +
                         " new values\n  expected: as many as rows times rows");
    if (data->n > 0)
      copy_to_device(data->values.data(), values.data(), values.size() * sizeof(double));
  }

  void DenseMatrix::multiply(double *y, const double *x) const
  {
    const double one = 1., zero = 0.;
    if (data->n > 0) // cuBLAS stores column after column: our rows are its columns
      LEOPARD_CHECK(cublasDgemv(data->handle, CUBLAS_OP_T, data->n, data->n, &one, data->values.data(), data->n, x, 1, &zero, y, 1));
  }
} // namespace leopard::device
