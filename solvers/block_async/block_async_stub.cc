// SPDX-License-Identifier: Apache-2.0
#include "../device/no_cuda.h"
#include "stencil_engine.h"

namespace leopard
{
  template <typename Number>
  std::unique_ptr<BlockAsyncEngine<Number>> make_cuda_engine(const CrsMatrix<Number> & /*A*/, const BlockAsyncOptions & /*options*/)
  {
    no_cuda();
  }

  template <typename Number>
  std::unique_ptr<BlockAsyncEngine<Number>> make_cuda_engine(const device::DeviceCrs<Number> & /*A*/, const BlockAsyncOptions & /*options*/)
  {
    no_cuda();
  }

  template <typename Number>
  std::unique_ptr<BlockAsyncEngine<Number>> make_cuda_correction_engine(const CrsMatrix<Number> & /*A*/, const BlockAsyncOptions & /*options*/)
  {
    no_cuda();
  }

  template <typename Number>
  std::unique_ptr<BlockAsyncEngine<Number>>
  make_stencil_cuda_engine(const Stencil<Number> & /*stencil*/, const BlockAsyncOptions & /*options*/, TilePlaces /*places*/)
  {
    no_cuda();
  }

#define INSTANTIATE(Number)                                                                                                                     \
  template std::unique_ptr<BlockAsyncEngine<Number>> make_cuda_engine(const CrsMatrix<Number> &A, const BlockAsyncOptions &options);            \
  template std::unique_ptr<BlockAsyncEngine<Number>> make_cuda_engine(const device::DeviceCrs<Number> &A, const BlockAsyncOptions &options);    \
  template std::unique_ptr<BlockAsyncEngine<Number>> make_cuda_correction_engine(const CrsMatrix<Number> &A, const BlockAsyncOptions &options); \
  template std::unique_ptr<BlockAsyncEngine<Number>> make_stencil_cuda_engine(                                                                  \
    const Stencil<Number> &stencil, const BlockAsyncOptions &options, TilePlaces places);
  LEOPARD_FOR_EACH_NUMBER(INSTANTIATE)
#undef INSTANTIATE
} // namespace leopard
