// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../base/backend.h"

#include <memory>
#include <string>

namespace leopard
{
  template <typename Number>
  class Relaxation;

  /** Something like A^-1, for Krylov methods. Vectors have n_rows() values in memory_space(). */
  template <typename Number>
  class Preconditioner
  {
  public:
    virtual ~Preconditioner() = default;

    virtual std::string name() const         = 0;
    virtual int         n_rows() const       = 0;
    virtual MemorySpace memory_space() const = 0;
    /** Whether z is the same linear function of r in every call. */
    virtual bool is_fixed_linear_map() const = 0;
    /** Whether it is that, and symmetric if A is. */
    virtual bool is_symmetric_map() const = 0;
    /** Whether all that apply() does is queued on the device, so that a CUDA graph can hold it. */
    virtual bool is_queued() const = 0;
    /** z near A^-1 r, whatever is in z. */
    virtual void apply(Number *z, const Number *r) = 0;
  };

  /**
   * n iterations of a relaxation from z = 0. @throws InvalidInput for a relaxation with ghosts, or n_iterations < 1.
   */
  template <typename Number>
  std::shared_ptr<Preconditioner<Number>> make_preconditioner(std::shared_ptr<Relaxation<Number>> relaxation, int n_iterations = 1);

  /** z = r. */
  template <typename Number>
  std::shared_ptr<Preconditioner<Number>> make_identity_preconditioner(int n_rows, MemorySpace memory_space);
} // namespace leopard
