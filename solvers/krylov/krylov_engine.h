// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../exchange/communication.h"
#include "../exchange/ranks.h"
#include "cg.h"
#include "fgmres.h"
#include "gcr.h"

#include <memory>

namespace leopard
{
  struct KrylovState;

  /** What is reported of a state at the end of a solve. */
  KrylovResult result_of(const KrylovState &state);

  /** @throws InvalidInput for a limit of seconds, which GCR does not know. */
  void refuse_clock(const KrylovLimits &limits);

  template <typename Number>
  using PreconditionerPointer = std::shared_ptr<Preconditioner<Number>>;

  /** What puts ghosts and numbers of all ranks together on the device; empty: there is one rank. */
  template <typename Number>
  struct RanksOnDevice
  {
    std::shared_ptr<const Communication<Number>> communication;
    std::shared_ptr<const Ranks>                 ranks;

    bool are_several() const { return ranks != nullptr; }
  };

  // What the backends implement. A, options and preconditioner have been checked; there is a preconditioner.

  template <typename Number>
  std::unique_ptr<KrylovSolver<Number>>
  make_host_krylov(const CrsMatrix<Number> &A, const CgOptions &options, const PreconditionerPointer<Number> &preconditioner);
  template <typename Number>
  std::unique_ptr<KrylovSolver<Number>>
  make_host_krylov(const CrsMatrix<Number> &A, const FgmresOptions &options, const PreconditionerPointer<Number> &preconditioner);
  template <typename Number>
  std::unique_ptr<KrylovSolver<Number>>
  make_host_krylov(const CrsMatrix<Number> &A, const GcrOptions &options, const PreconditionerPointer<Number> &preconditioner);

  template <typename Number>
  std::unique_ptr<KrylovSolver<Number>> make_cuda_krylov(const CrsMatrix<Number>             &A,
                                                         const CgOptions                     &options,
                                                         const PreconditionerPointer<Number> &preconditioner,
                                                         const RanksOnDevice<Number>         &ranks = {});
  template <typename Number>
  std::unique_ptr<KrylovSolver<Number>> make_cuda_krylov(const CrsMatrix<Number>             &A,
                                                         const FgmresOptions                 &options,
                                                         const PreconditionerPointer<Number> &preconditioner,
                                                         const RanksOnDevice<Number>         &ranks = {});
  template <typename Number>
  std::unique_ptr<KrylovSolver<Number>>
  make_cuda_krylov(const CrsMatrix<Number> &A, const GcrOptions &options, const PreconditionerPointer<Number> &preconditioner);
  template <typename Number>
  std::unique_ptr<KrylovSolver<Number>>
  make_cuda_krylov(const device::DeviceCrs<Number> &A, const CgOptions &options, const PreconditionerPointer<Number> &preconditioner);
  template <typename Number>
  std::unique_ptr<KrylovSolver<Number>>
  make_cuda_krylov(const device::DeviceCrs<Number> &A, const FgmresOptions &options, const PreconditionerPointer<Number> &preconditioner);
} // namespace leopard
