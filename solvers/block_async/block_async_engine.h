// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "block_async.h"

namespace leopard
{
  /** What a backend implements; functions mean what those of the same name in Relaxation mean. */
  class BlockAsync::Engine
  {
  public:
    virtual ~Engine()                                                         = default;
    virtual MemorySpace memory_space() const                                  = 0;
    virtual bool        is_fixed_linear_map() const                           = 0;
    virtual void        iterate(double *x, const double *b, int n_iterations) = 0;
    virtual void        restart()                                             = 0;
    /** Number and size of blocks, form of execution, storage. */
    virtual std::string description() const                                     = 0;
    virtual double      residual_norm_squared(const double *x, const double *b) = 0;
    virtual double      norm_squared(const double *b)                           = 0;
    virtual void        update_values(const double *values)                     = 0;
    /** As in Relaxation; engines that test by themselves implement both. */
    virtual bool            tests_itself() const { return false; }
    virtual IterationReport iterate_until(double * /*x*/, const double * /*b*/, int /*n_iterations*/, const ResidualTest & /*test*/) { return {}; }
  };

  std::unique_ptr<BlockAsync::Engine> make_reference_engine(const CrsMatrix &A, const BlockAsyncOptions &options);
  std::unique_ptr<BlockAsync::Engine> make_host_engine(const CrsMatrix &A, const BlockAsyncOptions &options);
  std::unique_ptr<BlockAsync::Engine> make_cuda_engine(const CrsMatrix &A, const BlockAsyncOptions &options);
} // namespace leopard
