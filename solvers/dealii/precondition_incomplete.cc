// SPDX-License-Identifier: Apache-2.0
#include "precondition_incomplete.h"

#include "../base/errors.h"
#include "own_rows.h"

#include <deal.II/base/multithread_info.h>

namespace leopard
{
  PreconditionIncomplete::PreconditionIncomplete()
    : OwnRowsPreconditioner("PreconditionIncomplete")
  {
  }
  PreconditionIncomplete::~PreconditionIncomplete() = default;

  void PreconditionIncomplete::initialize(const dealii::SparseMatrix<double> &A, const AdditionalData &data)
  {
    take(crs_matrix(A, name), data);
  }

  void PreconditionIncomplete::initialize(const HostMatrix &A, const AdditionalData &data)
  {
    together(A.get_mpi_communicator(), [&] { take(own_block(A, name), data); });
  }

  void PreconditionIncomplete::take(const CrsMatrix<double> &A, AdditionalData data)
  {
    if (data.solves.block_async.n_threads == 0)
      data.solves.block_async.n_threads = static_cast<int>(dealii::MultithreadInfo::n_threads());
    factors = make_incomplete_preconditioner<double>(A, data);
  }

  bool PreconditionIncomplete::is_fixed_linear_map() const
  {
    return factors != nullptr && factors->is_fixed_linear_map();
  }

  bool PreconditionIncomplete::is_symmetric_map() const
  {
    return factors != nullptr && factors->is_symmetric_map();
  }

  std::string PreconditionIncomplete::description() const
  {
    return factors == nullptr ? "" : factors->description();
  }

  bool PreconditionIncomplete::is_initialized() const
  {
    return factors != nullptr;
  }

  std::size_t PreconditionIncomplete::n_own_rows() const
  {
    return static_cast<std::size_t>(factors->n_rows());
  }

  MemorySpace PreconditionIncomplete::memory_space() const
  {
    return factors->memory_space();
  }

  void PreconditionIncomplete::apply_there(double *x, const double *b) const
  {
    factors->apply(x, b);
  }
} // namespace leopard
