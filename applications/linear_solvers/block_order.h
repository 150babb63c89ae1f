// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "linear_solver.h"
#include "tuning.h"

#include <solvers/matrix/blocks.h>

#include <optional>
#include <vector>

namespace leopard
{
  /**
   * The order of a rank's rows in which the blocks of a relaxation are contiguous. The matrix is put in order once; its
   * values later, and vectors where a solve begins and ends, follow. Without compact blocks rows stay as they are.
   */
  class BlockOrder
  {
  public:
    /**
     * Puts the rows and own columns of A in order. @param levels where the nodes are; null: blocks by METIS. @param
     * tunes whether the options are found by measuring with A, and not those of the parameters.
     */
    BlockOrder(const LinearSolverParameters &parameters, CrsMatrix<double> &A, const LevelSource *levels, bool tunes = false);

    /** Row i is row old_row()[i] of the program's; empty: the same. */
    const std::vector<int> &old_row() const { return partition.old_row; }

    /** The options of the relaxation with these blocks; omega, unless it is tau. */
    const BlockAsyncOptions &options() const { return block_async; }

    /** How they were found, if by measuring. */
    const std::optional<Tuning> &tuning() const { return tuned; }

    /** Values of the matrix in the order in which they were given at first, to those in this order. */
    void take_values(const double *values, CrsMatrix<double> &A) const;

    void take(const HostVector &v, double *in_order) const; ///< own entries, host memory
    void give(const double *in_order, HostVector &v) const; ///< the other way

  private:
    Partition             partition;
    std::vector<int>      entries; ///< of each entry in this order its number in the program's; empty: the same
    BlockAsyncOptions     block_async;
    std::optional<Tuning> tuned;
  };
} // namespace leopard
