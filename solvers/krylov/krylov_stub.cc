// SPDX-License-Identifier: Apache-2.0
#include "../device/no_cuda.h"
#include "krylov_engine.h"

namespace leopard
{
  template <typename Number>
  std::unique_ptr<KrylovSolver<Number>> make_cuda_krylov(const CrsMatrix<Number> & /*A*/,
                                                         const CgOptions & /*options*/,
                                                         const PreconditionerPointer<Number> & /*preconditioner*/,
                                                         const RanksOnDevice<Number> & /*ranks*/)
  {
    no_cuda();
  }

  template <typename Number>
  std::unique_ptr<KrylovSolver<Number>> make_cuda_krylov(const CrsMatrix<Number> & /*A*/,
                                                         const FgmresOptions & /*options*/,
                                                         const PreconditionerPointer<Number> & /*preconditioner*/,
                                                         const RanksOnDevice<Number> & /*ranks*/)
  {
    no_cuda();
  }

  template <typename Number>
  std::unique_ptr<KrylovSolver<Number>>
  make_cuda_krylov(const CrsMatrix<Number> & /*A*/, const GcrOptions & /*options*/, const PreconditionerPointer<Number> & /*preconditioner*/)
  {
    no_cuda();
  }

  template <typename Number>
  std::unique_ptr<KrylovSolver<Number>>
  make_cuda_krylov(const device::DeviceCrs<Number> & /*A*/, const CgOptions & /*options*/, const PreconditionerPointer<Number> & /*preconditioner*/)
  {
    no_cuda();
  }

  template <typename Number>
  std::unique_ptr<KrylovSolver<Number>> make_cuda_krylov(const device::DeviceCrs<Number> & /*A*/,
                                                         const FgmresOptions & /*options*/,
                                                         const PreconditionerPointer<Number> & /*preconditioner*/)
  {
    no_cuda();
  }

#define INSTANTIATE(Number)                                                                                                                         \
  template std::unique_ptr<KrylovSolver<Number>> make_cuda_krylov(                                                                                  \
    const device::DeviceCrs<Number> &A, const FgmresOptions &options, const PreconditionerPointer<Number> &preconditioner);                         \
  template std::unique_ptr<KrylovSolver<Number>> make_cuda_krylov(                                                                                  \
    const device::DeviceCrs<Number> &A, const CgOptions &options, const PreconditionerPointer<Number> &preconditioner);                             \
  template std::unique_ptr<KrylovSolver<Number>> make_cuda_krylov(                                                                                  \
    const CrsMatrix<Number> &A, const CgOptions &options, const PreconditionerPointer<Number> &preconditioner, const RanksOnDevice<Number> &ranks); \
  template std::unique_ptr<KrylovSolver<Number>> make_cuda_krylov(const CrsMatrix<Number>             &A,                                           \
                                                                  const FgmresOptions                 &options,                                     \
                                                                  const PreconditionerPointer<Number> &preconditioner,                              \
                                                                  const RanksOnDevice<Number>         &ranks);                                              \
  template std::unique_ptr<KrylovSolver<Number>> make_cuda_krylov(                                                                                  \
    const CrsMatrix<Number> &A, const GcrOptions &options, const PreconditionerPointer<Number> &preconditioner);
  LEOPARD_FOR_EACH_NUMBER(INSTANTIATE)
#undef INSTANTIATE
} // namespace leopard
