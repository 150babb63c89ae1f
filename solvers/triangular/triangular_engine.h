// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "triangular_solver.h"

namespace leopard
{
  /** What solves; functions mean what those of the same name in TriangularSolver mean. */
  template <typename Number>
  class TriangularEngine
  {
  public:
    virtual ~TriangularEngine()                             = default;
    virtual MemorySpace memory_space() const                = 0;
    virtual bool        is_fixed_linear_map() const         = 0;
    virtual std::string description() const                 = 0;
    virtual void        solve(Number *x, const Number *b)   = 0;
    virtual void        update_values(const Number *values) = 0;
  };

  /** cuSPARSE's solve. */
  template <typename Number>
  std::unique_ptr<TriangularEngine<Number>> make_cuda_triangular(const CrsMatrix<Number> &T, Triangle triangle);

  /** x_i = factors_i b_i; n values each, device memory; queued. */
  template <typename Number>
  void scale_on_cuda(Number *x, const Number *factors, const Number *b, int n);
} // namespace leopard
