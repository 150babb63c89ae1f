// SPDX-License-Identifier: Apache-2.0
#include "mixed_vectors.h"

#include "host_vectors.h"
#include "outer_engine.h"

namespace leopard
{
  template <typename Number>
  void apply_rounded(MixedVectors<Number>                                          &vectors,
                     double                                                        *x,
                     const double                                                  *b,
                     Number                                                        *low_x,
                     Number                                                        *low_b,
                     const std::function<void(Number *low_x, const Number *low_b)> &map)
  {
    const double unit   = to_about_one(vectors.largest(b));
    double       factor = unit;
    round_to_fit(vectors.round(low_b, b, unit, factor), unit, factor, [&](double f) { return vectors.round(low_b, b, unit, f); });
    map(low_x, low_b);
    vectors.set(x, low_x, factor);
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
