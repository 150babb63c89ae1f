// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../device/device_vector.h"

#include <cstddef>
#include <string>
#include <utility>

namespace leopard
{
  /**
   * vmult() of a preconditioner that is made of a rank's own rows, in host memory or on the device: what
   * PreconditionIncomplete and PreconditionAggregation have in common.
   *
   * Vectors are dealii::Vector<double>, LinearAlgebra::distributed::Vector<double> or TrilinosWrappers::MPI::Vector in
   * host memory, or DeviceVector<double> with the backend cuda, where host vectors are copied there and back. Calls of
   * one object from several threads at once are not allowed.
   */
  class OwnRowsPreconditioner
  {
  public:
    virtual ~OwnRowsPreconditioner() = default;

    /** @throws InvalidInput before initialize() and for vectors of another length. */
    template <typename VectorType>
    void vmult(VectorType &dst, const VectorType &src) const
    {
      apply(dst.begin(), dst.locally_owned_size(), src.begin(), src.locally_owned_size());
    }
    /** Of a device backend only. */
    void vmult(DeviceVector<double> &dst, const DeviceVector<double> &src) const;

  protected:
    /** @param name_ begins messages. */
    explicit OwnRowsPreconditioner(std::string name_)
      : name(std::move(name_))
    {
    }

    virtual bool        is_initialized() const = 0;
    virtual std::size_t n_own_rows() const     = 0; ///< these three after initialize()
    virtual MemorySpace memory_space() const   = 0;
    /** x and b n_own_rows() values in memory_space(). */
    virtual void apply_there(double *x, const double *b) const = 0;

    const std::string name;

  private:
    void apply(double *x, std::size_t n_x, const double *b, std::size_t n_b) const;
    void require_length(std::size_t n_x, std::size_t n_b) const;

    mutable DeviceVector<double> device_x, device_b; ///< of host vectors
  };
} // namespace leopard
