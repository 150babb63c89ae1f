// SPDX-License-Identifier: Apache-2.0
#include "../../device/no_cuda.h"
#include "several_gpus.h"

namespace leopard
{
  template <typename Number>
  std::unique_ptr<Relaxation<Number>>
  make_several_gpus(const CrsMatrix<Number> & /*A*/, const BlockAsyncOptions &options, const SeveralGpusOptions &gpus)
  {
    gpus.validate(options);
    no_cuda();
  }

  template <typename Number>
  std::unique_ptr<Relaxation<Number>>
  make_several_gpus(const Stencil<Number> & /*stencil*/, const BlockAsyncOptions &options, const SeveralGpusOptions &gpus)
  {
    gpus.validate(options);
    no_cuda();
  }

#define INSTANTIATE(Number)                                                                        \
  template std::unique_ptr<Relaxation<Number>> make_several_gpus(                                  \
    const CrsMatrix<Number> &A, const BlockAsyncOptions &options, const SeveralGpusOptions &gpus); \
  template std::unique_ptr<Relaxation<Number>> make_several_gpus(                                  \
    const Stencil<Number> &stencil, const BlockAsyncOptions &options, const SeveralGpusOptions &gpus);
  LEOPARD_FOR_EACH_NUMBER(INSTANTIATE)
#undef INSTANTIATE
} // namespace leopard
