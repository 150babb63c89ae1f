// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../../krylov/cg.h"
#include "../../krylov/fgmres.h"
#include "row_parts.h"

#include <functional>
#include <memory>
#include <vector>

namespace leopard
{
  /** How a matrix is shared out to threads of this process. */
  struct PartsOptions
  {
    int                 n_parts       = 1;  ///< of consecutive rows, a thread each
    std::vector<int>    devices       = {}; ///< backend cuda: the GPU of each part, numbered from 0, another one each. Empty: 0, 1, ...
    std::vector<double> shares        = {}; ///< part of the matrix's entries of each, dimensionless; empty: equal ones
    std::vector<int>    block_offsets = {}; ///< where parts may begin, such as blocks do, and the number of rows; empty: at any row

    /**
     * On GPUs kernels of a part wait for those of others, and where two parts had one GPU they could wait for what
     * cannot begin: such a list is refused. @throws InvalidInput naming the option, what was found and what is
     * expected.
     */
    void validate(Backend backend) const;
  };

  /** What preconditions a part. */
  template <typename Number>
  struct PartPreconditioner
  {
    std::shared_ptr<Preconditioner<Number>> preconditioner; ///< in the memory of the backend; null: none
    /** Hands it new values, one an entry of the part's own rows and columns, host memory; empty: it stays as it is. */
    std::function<void(const Number *values)> update_values;
  };

  /**
   * Makes the preconditioner of a part, in the thread of the part (with the backend cuda its GPU is current), several
   * at the same time; there it is updated, too. @param own the part's rows without the columns of others. @param rank
   * of the part.
   */
  template <typename Number>
  using MakePartPreconditioner = std::function<PartPreconditioner<Number>(const CrsMatrix<Number> &own, const RowPart &part, int rank)>;

  /**
   * As make_cg() in cg.h on several GPUs of this process, a thread each, or with the host backends on as many threads
   * with a part of the matrix each (KrylovOptions::n_threads are those of all parts). Each part has its rows, and of
   * the values of others what its rows need; before a product these are written into the memory of the GPUs that need
   * them, and sums are those of all parts, in the same order on each, so that all do the same iterations. On GPUs a
   * solve is one CUDA graph each, whose kernels wait for one another. The preconditioner is block Jacobi over the
   * parts: of each part's own rows, so that iterations grow with their number (by few for Jacobi, by none without).
   *
   * Vectors of KrylovSolver::solve() are in host memory, of all rows. KrylovSolver::update_values() hands
   * preconditioners their values; on GPUs graphs are recorded anew. Where it throws, nothing can be solved until new
   * values are taken. A limit of seconds is over for all where it is by the clock of one. An error in one thread, of
   * its GPU, say, ends all of them, and is thrown once; only where it comes while kernels of GPUs wait for one another
   * these wait for some minutes. After one of solve() on GPUs nothing can be solved any more.
   * @param A square, host memory; copied. @throws InvalidInput, for what is wrong with a part naming its rows;
   * DeviceError, also where GPUs cannot reach one another's memory.
   */
  template <typename Number>
  std::unique_ptr<KrylovSolver<Number>>
  make_cg(const CrsMatrix<Number> &A, const CgOptions &options, const PartsOptions &parts, const MakePartPreconditioner<Number> &make_preconditioner);

  /** The same of make_fgmres() in fgmres.h. */
  template <typename Number>
  std::unique_ptr<KrylovSolver<Number>> make_fgmres(const CrsMatrix<Number>              &A,
                                                    const FgmresOptions                  &options,
                                                    const PartsOptions                   &parts,
                                                    const MakePartPreconditioner<Number> &make_preconditioner);
} // namespace leopard
