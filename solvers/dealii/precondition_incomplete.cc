// SPDX-License-Identifier: Apache-2.0
#include "precondition_incomplete.h"

#include "../base/errors.h"
#include "own_rows.h"
#include "thread_limit.h"

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
    PreconditionIncomplete made; // and taken if it could be made on all ranks
    together(A.get_mpi_communicator(), [&] { made.take(own_block(A, name), data); });
    factors   = made.factors;
    n_entries = made.n_entries;
  }

  void PreconditionIncomplete::take(const CrsMatrix<double> &A, AdditionalData data)
  {
    data.solves.block_async.n_threads = within_thread_limit(data.solves.block_async.n_threads);
    factors                           = make_incomplete_preconditioner<double>(A, data);
    n_entries                         = A.n_entries();
  }

  void PreconditionIncomplete::update_values(const dealii::SparseMatrix<double> &A)
  {
    take_values(crs_matrix(A, name));
  }

  void PreconditionIncomplete::update_values(const HostMatrix &A)
  {
    together(A.get_mpi_communicator(), [&] { take_values(own_block(A, name)); });
  }

  void PreconditionIncomplete::take_values(const CrsMatrix<double> &A)
  {
    if (factors == nullptr)
      throw InvalidInput(name + ": new values are given before initialize()\n  expected: initialize() first");
    if (A.n_rows != factors->n_rows() || A.n_entries() != n_entries)
      throw InvalidInput(name + ": new values are given in " + std::to_string(A.n_rows) + " rows with " + std::to_string(A.n_entries()) +
                         " entries\n  expected: " + std::to_string(factors->n_rows()) + " rows with " + std::to_string(n_entries) +
                         " entries, the pattern of initialize()");
    factors->update_values(A.values.data());
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
