// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "arguments.h"
#include "automatic.h"

#include <string>
#include <vector>

namespace leopard::command_line
{
  // --gpus: rows shared out to several GPUs of this process, for what has no levels and no sparse factors.

  /** Whether async iterates by itself, for which GPUs need not wait for one another. */
  bool is_async_alone(const Arguments &a);

  /** Takes --gpus, with the GPUs as backend. @throws UsageError for what does not go with it. */
  void take_gpus(Arguments &a);

  /** The Krylov method with a preconditioner that each GPU makes of its own rows. */
  Attempt with_own_rows(const std::string &method, const MatrixTraits &traits);

  /** What --method automatic tries there where async alone does not suit the matrix, in this order. */
  std::vector<Attempt> methods_on_gpus(const MatrixTraits &traits);

  /**
   * That one GPU should be faster than several, in a line, where --method automatic would take multigrid on it; else
   * empty. With 2000 x 2000 nodes multigrid solves in 0.05 s on one H200, CG with async takes 0.22 s on two with 1500 x
   * 1500 (benchmarks/results/2026-12-01_h200_start.md, 2026-11-29_h200_krylov_of_parts.md).
   */
  std::string why_one_gpu(const CrsMatrix<double> &A, const MatrixTraits &traits);
} // namespace leopard::command_line
