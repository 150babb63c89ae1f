// SPDX-License-Identifier: Apache-2.0
#include "../device/cuda_error.cuh"
#include "../device/device_array.h"
#include "../device/relaxed_atomics.cuh"
#include "factor_sweep_rule.h"

#include <utility>

namespace leopard
{
  namespace
  {
    struct ReadNewest
    {
      template <typename Number>
      __host__ __device__ Number operator()(const Number *value) const
      {
#ifdef __CUDA_ARCH__
        return load(value);
#else
        return *value;
#endif
      }
    };

    /** One sweep, a thread an entry. Where old and values are the same array, the race is the method. */
    template <typename Number>
    __global__ void sweep_kernel(SweepView view, const Number *A, const Number *old, Number *values)
    {
      if (const int p = blockIdx.x * blockDim.x + threadIdx.x; p < view.n_entries)
        store(values + p, swept_entry(view, p, A, old, ReadNewest()));
    }
  } // namespace

  template <typename Number>
  void sweep_on_cuda(const FactorPattern &pattern, const std::vector<Number> &A, std::vector<Number> &values, const FactorSweepOptions &options)
  {
    if (values.empty())
      return;
    const ColumnsOfPattern      by_column(pattern);
    const device::Array<int>    offsets(pattern.offsets), columns(pattern.columns), rows(by_column.rows), diagonal(pattern.diagonal);
    const device::Array<int>    column_offsets(by_column.offsets), column_rows(by_column.column_rows), column_entry(by_column.entry);
    const device::Array<Number> of_A(A);
    device::Array<Number>       current(values), other(options.synchronous ? values.size() : 0);
    const SweepView             view{offsets.data(),
                         columns.data(),
                         rows.data(),
                         diagonal.data(),
                         column_offsets.data(),
                         column_rows.data(),
                         column_entry.data(),
                         static_cast<int>(values.size()),
                         pattern.kind == FactorKind::ic};
    for (int sweep = 0; sweep < options.n_sweeps; ++sweep)
      {
        Number *to = options.synchronous ? other.data() : current.data();
        sweep_kernel<<<(view.n_entries - 1) / 256 + 1, 256>>>(view, of_A.data(), current.data(), to);
        LEOPARD_CHECK(cudaGetLastError());
        if (options.synchronous)
          std::swap(current, other);
      }
    device::copy_to_host(values.data(), current.data(), values.size() * sizeof(Number));
  }

#define INSTANTIATE(Number)    \
  template void sweep_on_cuda( \
    const FactorPattern &pattern, const std::vector<Number> &A, std::vector<Number> &values, const FactorSweepOptions &options);
  LEOPARD_FOR_EACH_NUMBER(INSTANTIATE)
#undef INSTANTIATE
} // namespace leopard
