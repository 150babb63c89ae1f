// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "arguments.h"
#include "precision.h"

#include <memory>
#include <optional>

namespace leopard
{
  template <typename Number>
  struct Stencil;
}

namespace leopard::command_line
{
  /**
   * The stencil that a matrix in the natural order of a whole grid is, x fastest, with zero boundary values; nothing
   * for others. Looks at each entry once.
   */
  std::optional<Stencil<double>> stencil_in_disguise(const CrsMatrix<double> &A);

  /**
   * CG or FGMRES with the preconditioner of the arguments, multigrid (of stencils where the matrix is one, else by
   * smoothed aggregation), or sparse factors.
   * @param arguments whose method is cg, gmres, multigrid or direct, and whose preconditioner is not automatic.
   * @throws InvalidInput, DeviceError.
   */
  std::unique_ptr<Solver> make_strong_method(const CrsMatrix<double> &A, const Arguments &arguments, Backend backend, const Log &log);
} // namespace leopard::command_line
