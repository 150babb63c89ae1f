// SPDX-License-Identifier: Apache-2.0
#include "../device/no_cuda.h"
#include "device_crs.h"

namespace leopard::device
{
  template <typename Number>
  DeviceCrs<Number> to_device(const CrsMatrix<Number> & /*A*/)
  {
    no_cuda();
  }
  template <typename Number>
  CrsMatrix<Number> to_host(const DeviceCrs<Number> & /*A*/)
  {
    no_cuda();
  }
  template <typename To, typename From>
  DeviceCrs<To> rounded_to(const DeviceCrs<From> & /*A*/)
  {
    no_cuda();
  }
  void round_to_bfloat16(DeviceCrs<float> & /*A*/)
  {
    no_cuda();
  }
  template <typename Number>
  bool has_valid_values(const DeviceCrs<Number> & /*A*/)
  {
    no_cuda();
  }
  template <typename Number>
  DeviceCrs<Number> product(const DeviceCrs<Number> & /*A*/, const DeviceCrs<Number> & /*B*/)
  {
    no_cuda();
  }
  template <typename Number>
  DeviceCrs<Number>
  permuted(const CrsMatrix<double> & /*A*/, const Array<int> & /*old_row*/, const Array<int> & /*old_column*/, bool /*with_diagonal*/)
  {
    no_cuda();
  }
  template <typename To, typename From>
  DeviceCrs<To> permuted(const DeviceCrs<From> & /*A*/, const Array<int> & /*old_row*/, const Array<int> & /*old_column*/)
  {
    no_cuda();
  }
  template <typename Number>
  DeviceCrs<Number> transposed(const DeviceCrs<Number> & /*A*/)
  {
    no_cuda();
  }
  Array<int> permuted_entries(const CrsMatrix<double> & /*A*/, const Array<int> & /*old_row*/, const Array<int> & /*old_column*/)
  {
    no_cuda();
  }
  template <typename Number>
  Array<int> permuted_entries(const DeviceCrs<Number> & /*A*/, const Array<int> & /*old_row*/)
  {
    no_cuda();
  }
  template <typename Number>
  void permuted_values(Number * /*result*/, const std::vector<double> & /*values*/, const Array<int> & /*entries*/)
  {
    no_cuda();
  }
  template <typename Number>
  double power_iteration(const DeviceCrs<Number> & /*A*/, int /*n_steps*/, const double * /*diagonal*/)
  {
    no_cuda();
  }
  template <typename Number>
  double row_sum_bound(const DeviceCrs<Number> & /*A*/)
  {
    no_cuda();
  }
  Array<int> coordinate_order(
    const std::vector<double> & /*coordinates*/, int /*dim*/, int /*block_size*/, std::vector<int> & /*block_offsets*/, bool /*shifted*/)
  {
    no_cuda();
  }
  Array<int> places_in(const Array<int> & /*base*/, const Array<int> & /*order*/)
  {
    no_cuda();
  }

#define INSTANTIATE(Number)                                                                                                                     \
  template DeviceCrs<Number> to_device(const CrsMatrix<Number> &A);                                                                             \
  template DeviceCrs<Number> permuted(const CrsMatrix<double> &A, const Array<int> &old_row, const Array<int> &old_column, bool with_diagonal); \
  template CrsMatrix<Number> to_host(const DeviceCrs<Number> &A);                                                                               \
  template DeviceCrs<Number> rounded_to(const DeviceCrs<double> &A);                                                                            \
  template bool              has_valid_values(const DeviceCrs<Number> &A);                                                                      \
  template DeviceCrs<Number> permuted(const DeviceCrs<double> &A, const Array<int> &old_row, const Array<int> &old_column);                     \
  template Array<int>        permuted_entries(const DeviceCrs<Number> &A, const Array<int> &old_row);                                           \
  template DeviceCrs<Number> product(const DeviceCrs<Number> &A, const DeviceCrs<Number> &B);                                                   \
  template DeviceCrs<Number> transposed(const DeviceCrs<Number> &A);                                                                            \
  template void              permuted_values(Number *result, const std::vector<double> &values, const Array<int> &entries);                     \
  template double            power_iteration(const DeviceCrs<Number> &A, int n_steps, const double *diagonal);                                  \
  template double            row_sum_bound(const DeviceCrs<Number> &A);
  LEOPARD_FOR_EACH_NUMBER(INSTANTIATE)
#undef INSTANTIATE
  template DeviceCrs<float> permuted(const DeviceCrs<float> &A, const Array<int> &old_row, const Array<int> &old_column);
} // namespace leopard::device
