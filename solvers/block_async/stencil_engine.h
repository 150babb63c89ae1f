// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../base/errors.h"
#include "../matrix/stencil.h"
#include "block_async_engine.h"

namespace leopard
{
  /**
   * What the engines of all backends have in common for operators that are not stored: nothing to change, nothing to
   * remember.
   */
  template <typename Number>
  class StencilEngine : public BlockAsyncEngine<Number>
  {
  public:
    void restart() override {}
    void update_values(const Number * /*values*/) override { refuse(); }
    void set_omega(double /*omega*/) override { refuse(); }

  private:
    [[noreturn]] static void refuse() { throw InvalidInput("a stencil has no stored values to change\n  expected: a new object for a new stencil"); }
  };

  template <typename Number>
  std::unique_ptr<BlockAsyncEngine<Number>> make_stencil_reference_engine(const Stencil<Number> &stencil, const BlockAsyncOptions &options);
  template <typename Number>
  std::unique_ptr<BlockAsyncEngine<Number>> make_stencil_host_engine(const Stencil<Number> &stencil, const BlockAsyncOptions &options);
  /** For grids of one line of nodes; make_stencil_cuda_engine() takes it for them. */
  template <typename Number>
  std::unique_ptr<BlockAsyncEngine<Number>> make_stencil_line_cuda_engine(const Stencil<Number> &stencil, const BlockAsyncOptions &options);
  template <typename Number>
  std::unique_ptr<BlockAsyncEngine<Number>> make_stencil_cuda_engine(const Stencil<Number> &stencil, const BlockAsyncOptions &options);
} // namespace leopard
