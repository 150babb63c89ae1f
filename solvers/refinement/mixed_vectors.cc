// SPDX-License-Identifier: Apache-2.0
#include "mixed_vectors.h"

#include "host_vectors.h"
#include "outer_engine.h"

namespace leopard
{
  template <typename Number>
  void MixedVectors<Number>::to_low(Number *low, const double *v)
  {
    const double unit = to_about_one(largest(v));
    last_factor       = unit;
    round_to_fit(round(low, v, unit, last_factor), unit, last_factor, [&](double f) { return round(low, v, unit, f); });
  }

  template <typename Number>
  void MixedVectors<Number>::from_low(double *x, const Number *c)
  {
    set(x, c, last_factor);
  }

  template <typename Number>
  void apply_rounded(MixedVectors<Number>                                          &vectors,
                     double                                                        *x,
                     const double                                                  *b,
                     Number                                                        *low_x,
                     Number                                                        *low_b,
                     const std::function<void(Number *low_x, const Number *low_b)> &map)
  {
    vectors.to_low(low_b, b);
    map(low_x, low_b);
    vectors.from_low(x, low_x);
  }

  template <typename Number>
  std::unique_ptr<MixedVectors<Number>> make_mixed_vectors(int n, double weight, Backend backend, int n_threads)
  {
    if (backend == Backend::cuda)
      return make_cuda_vectors<Number>(n, weight);
    return std::make_unique<HostVectors<Number, MixedVectors<Number>>>(
      n, std::vector<double>(), weight, backend == Backend::reference ? 1 : n_threads);
  }

#define INSTANTIATE(Number)                                                                                                             \
  template class MixedVectors<Number>;                                                                                                  \
  template std::unique_ptr<MixedVectors<Number>> make_mixed_vectors(int n, double weight, Backend backend, int n_threads);              \
  template void                                  apply_rounded(MixedVectors<Number>                                           &vectors, \
                                                               double                                                         *x,       \
                                                               const double                                                   *b,       \
                                                               Number                                                         *low_x,   \
                                                               Number                                                         *low_b,   \
                                                               const std::function<void(Number * low_x, const Number *low_b)> &map);
  LEOPARD_FOR_EACH_NUMBER(INSTANTIATE)
#undef INSTANTIATE
} // namespace leopard
