// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../base/errors.h"
#include "../matrix/device_crs.h"
#include "block_async.h"

namespace leopard
{
  /**
   * Own rows whose values also go elsewhere, and where to: ghosts in the memory of other GPUs that this one can write
   * to.
   */
  template <typename Number>
  struct Mirrors
  {
    std::vector<int>      rows;   ///< ascending
    std::vector<Number *> places; ///< one a row of the list
  };

  /** What a backend implements; functions mean what those of the same name in Relaxation mean. */
  template <typename Number>
  class BlockAsyncEngine
  {
  public:
    virtual ~BlockAsyncEngine()                                               = default;
    virtual MemorySpace memory_space() const                                  = 0;
    virtual bool        is_fixed_linear_map() const                           = 0;
    virtual void        iterate(Number *x, const Number *b, int n_iterations) = 0;
    /**
     * If it can do that better than with zeros written to x before: n >= 1 iterations from zero. @return whether it
     * has.
     */
    virtual bool iterate_from_zero(Number * /*x*/, const Number * /*b*/, int /*n_iterations*/) { return false; }
    virtual bool residual(Number * /*r*/, const Number * /*x*/, const Number * /*b*/) { return false; } ///< as in Relaxation
    virtual void restart() = 0;
    /** Number and size of blocks, form of execution, storage. */
    virtual std::string description() const                                     = 0;
    virtual double      residual_norm_squared(const Number *x, const Number *b) = 0;
    virtual double      norm_squared(const Number *b)                           = 0;
    virtual void        update_values(const Number *values)                     = 0;
    virtual void        update_stencil(const Stencil<Number> &stencil) { update_values(stencil.to_crs().values.data()); } ///< valid
    virtual void        set_omega(double omega) = 0;                                                                      ///< valid
    /** Valid, for stencils; none: omega. Counts from the next update_stencil() on. */
    virtual void set_sweep_weights(const std::vector<double> & /*weights*/) {}
    /** As in Relaxation; engines that test by themselves implement both. */
    virtual bool            tests_itself() const { return false; }
    virtual IterationReport iterate_until(Number * /*x*/, const Number * /*b*/, int /*n_iterations*/, const ResidualTest & /*test*/) { return {}; }
    /**
     * From now on iterate() writes these, too, with each global iteration, where it can: in the persistent form of
     * stored matrices on a GPU. @return whether it does; else whoever calls iterate() has to.
     */
    virtual bool mirror(const Mirrors<Number> & /*mirrors*/) { return false; }
    /**
     * From now on the first n ghosts stand before x[0] and the others right behind the own rows, as where x is a part
     * of a vector that has all rows in their order. Likewise; once, in the chaotic schedule.
     */
    virtual void place_ghosts_before(int /*n*/) { throw InvalidInput("ghosts are to stand before x\n  expected: the backend cuda"); }
  };

  /** @throws InvalidInput naming an option that is for stencils only. */
  void require_fit_for_matrix(const BlockAsyncOptions &options);

  template <typename Number>
  std::unique_ptr<BlockAsyncEngine<Number>> make_reference_engine(const CrsMatrix<Number> &A, const BlockAsyncOptions &options);
  template <typename Number>
  std::unique_ptr<BlockAsyncEngine<Number>> make_host_engine(const CrsMatrix<Number> &A, const BlockAsyncOptions &options);
  template <typename Number>
  std::unique_ptr<BlockAsyncEngine<Number>> make_cuda_engine(const CrsMatrix<Number> &A, const BlockAsyncOptions &options);

  template <typename Number>
  std::unique_ptr<BlockAsyncEngine<Number>> make_cuda_engine(const device::DeviceCrs<Number> &A, const BlockAsyncOptions &options);

  // for an asynchronous inner iteration (BlockAsyncOptions::two_stage)
  template <typename Number>
  std::unique_ptr<BlockAsyncEngine<Number>> make_reference_two_stage_engine(const CrsMatrix<Number> &A, const BlockAsyncOptions &options);
  template <typename Number>
  std::unique_ptr<BlockAsyncEngine<Number>> make_host_two_stage_engine(const CrsMatrix<Number> &A, const BlockAsyncOptions &options);

  // for BlockAsyncOptions::corrections
  template <typename Number>
  std::unique_ptr<BlockAsyncEngine<Number>> make_reference_correction_engine(const CrsMatrix<Number> &A, const BlockAsyncOptions &options);
  template <typename Number>
  std::unique_ptr<BlockAsyncEngine<Number>> make_host_correction_engine(const CrsMatrix<Number> &A, const BlockAsyncOptions &options);
  template <typename Number>
  std::unique_ptr<BlockAsyncEngine<Number>> make_cuda_correction_engine(const CrsMatrix<Number> &A, const BlockAsyncOptions &options);
} // namespace leopard
