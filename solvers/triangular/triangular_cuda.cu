// SPDX-License-Identifier: Apache-2.0
#include "../device/cuda_error.cuh"
#include "../device/device_array.h"
#include "../matrix/block_crs.h"
#include "../relaxation/diagonal.h"
#include "triangular_engine.h"

#include <type_traits>
#include <utility>
#include <vector>

namespace leopard
{
  namespace
  {
    template <typename Number>
    __global__ void scale_kernel(Number *x, const Number *factors, const Number *b, int n)
    {
      if (const int i = blockIdx.x * blockDim.x + threadIdx.x; i < n)
        x[i] = factors[i] * b[i];
    }

    /** cuSPARSE's triangular solve, analyzed once a pattern. */
    template <typename Number>
    class CusparseSolve : public TriangularEngine<Number>
    {
    public:
      /** @param T rows sorted by column. @param entries_ which entry of the user's matrix each of T's is. */
      CusparseSolve(const CrsMatrix<Number> &T, Triangle triangle, std::vector<int> entries_)
        : n(T.n_rows)
        , entries(std::move(entries_))
        , row_offsets(T.row_offsets)
        , diagonal(diagonal_entries(T))
        , offsets(T.row_offsets)
        , columns(T.columns)
        , values(T.values)
        , some(n)
      {
        LEOPARD_CHECK(cusparseCreate(&handle));
        LEOPARD_CHECK(cusparseSetStream(handle, cudaStreamPerThread));
        LEOPARD_CHECK(cusparseSpSV_createDescr(&plan));
        LEOPARD_CHECK(cusparseCreateCsr(&matrix,
                                        n,
                                        n,
                                        T.n_entries(),
                                        offsets.data(),
                                        columns.data(),
                                        values.data(),
                                        CUSPARSE_INDEX_32I,
                                        CUSPARSE_INDEX_32I,
                                        CUSPARSE_INDEX_BASE_ZERO,
                                        type));
        const cusparseFillMode_t fill     = triangle == Triangle::lower ? CUSPARSE_FILL_MODE_LOWER : CUSPARSE_FILL_MODE_UPPER;
        const cusparseDiagType_t diagonal = CUSPARSE_DIAG_TYPE_NON_UNIT;
        LEOPARD_CHECK(cusparseSpMatSetAttribute(matrix, CUSPARSE_SPMAT_FILL_MODE, const_cast<cusparseFillMode_t *>(&fill), sizeof(fill)));
        LEOPARD_CHECK(cusparseSpMatSetAttribute(matrix, CUSPARSE_SPMAT_DIAG_TYPE, const_cast<cusparseDiagType_t *>(&diagonal), sizeof(diagonal)));
        LEOPARD_CHECK(cusparseCreateDnVec(&x, n, some.data(), type));
        LEOPARD_CHECK(cusparseCreateDnVec(&b, n, some.data(), type));
        std::size_t n_bytes = 0;
        LEOPARD_CHECK(cusparseSpSV_bufferSize(handle, operation, &one, matrix, b, x, type, CUSPARSE_SPSV_ALG_DEFAULT, plan, &n_bytes));
        buffer = device::Array<char>(n_bytes);
        LEOPARD_CHECK(cusparseSpSV_analysis(handle, operation, &one, matrix, b, x, type, CUSPARSE_SPSV_ALG_DEFAULT, plan, buffer.data()));
      }

      ~CusparseSolve() override
      {
        if (x != nullptr)
          cusparseDestroyDnVec(x);
        if (b != nullptr)
          cusparseDestroyDnVec(b);
        if (matrix != nullptr)
          cusparseDestroySpMat(matrix);
        if (plan != nullptr)
          cusparseSpSV_destroyDescr(plan);
        if (handle != nullptr)
          cusparseDestroy(handle);
      }

      MemorySpace memory_space() const override { return MemorySpace::device; }
      bool        is_fixed_linear_map() const override { return true; }
      std::string description() const override { return "exact, by cuSPARSE"; }

      void solve(Number *to, const Number *right) override
      {
        LEOPARD_CHECK(cusparseDnVecSetValues(x, to));
        LEOPARD_CHECK(cusparseDnVecSetValues(b, const_cast<Number *>(right)));
        LEOPARD_CHECK(cusparseSpSV_solve(handle, operation, &one, matrix, b, x, type, CUSPARSE_SPSV_ALG_DEFAULT, plan));
      }

      void update_values(const Number *new_values) override
      {
        sorted.resize(entries.size());
        for (int i = 0; i < n; ++i)
          for (int p = row_offsets[i]; p < row_offsets[i + 1]; ++p)
            {
              sorted[p] = new_values[entries[p]];
              check_new_value(i, static_cast<double>(sorted[p]), p == diagonal[i]);
            }
        device::copy_to_device(values.data(), sorted.data(), sorted.size() * sizeof(Number));
        LEOPARD_CHECK(cusparseSpSV_updateMatrix(handle, plan, values.data(), CUSPARSE_SPSV_UPDATE_GENERAL));
      }

    private:
      static constexpr cudaDataType        type      = std::is_same_v<Number, double> ? CUDA_R_64F : CUDA_R_32F;
      static constexpr cusparseOperation_t operation = CUSPARSE_OPERATION_NON_TRANSPOSE;

      const int              n;
      const std::vector<int> entries, row_offsets, diagonal; ///< host memory, for new values
      std::vector<Number>    sorted;
      const Number           one = 1;
      device::Array<int>     offsets, columns;
      device::Array<Number>  values, some; ///< some: cuSPARSE wants vectors with the descriptors; the real ones come with each solve
      device::Array<char>    buffer;
      cusparseHandle_t       handle = nullptr;
      cusparseSpSVDescr_t    plan   = nullptr;
      cusparseSpMatDescr_t   matrix = nullptr;
      cusparseDnVecDescr_t   x = nullptr, b = nullptr;
    };
  } // namespace

  template <typename Number>
  std::unique_ptr<TriangularEngine<Number>> make_cuda_triangular(const CrsMatrix<Number> &T, Triangle triangle)
  {
    const std::vector<int> as_it_is;
    return std::make_unique<CusparseSolve<Number>>(permute(T, as_it_is, as_it_is), triangle, permuted_entries(T, as_it_is, as_it_is));
  }

  template <typename Number>
  void scale_on_cuda(Number *x, const Number *factors, const Number *b, int n)
  {
    if (n > 0)
      scale_kernel<<<(n - 1) / 256 + 1, 256>>>(x, factors, b, n);
    LEOPARD_CHECK(cudaGetLastError());
  }

#define INSTANTIATE(Number)                                                                                               \
  template std::unique_ptr<TriangularEngine<Number>> make_cuda_triangular(const CrsMatrix<Number> &T, Triangle triangle); \
  template void                                      scale_on_cuda(Number *x, const Number *factors, const Number *b, int n);
  LEOPARD_FOR_EACH_NUMBER(INSTANTIATE)
#undef INSTANTIATE
} // namespace leopard
