// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <vector>

namespace leopard
{
  /**
   * Which of the numbers 0 ... n_all() - 1, of unknowns or nodes, each rank owns: those that follow the ones of the
   * rank before.
   */
  struct OwnRange
  {
    std::vector<int> offsets = {0, 0}; ///< the first number of each rank, and n_all()
    int              rank    = 0;      ///< this one

    int              first() const { return offsets[rank]; }
    int              n() const { return offsets[rank + 1] - offsets[rank]; } ///< of this rank
    int              n_all() const { return offsets.back(); }
    int              n_ranks() const { return static_cast<int>(offsets.size()) - 1; }
    std::vector<int> counts() const; ///< of each rank
    bool             contains(int number) const { return number >= first() && number < offsets[rank + 1]; }
    /** @param number from 0 to n_all() - 1. */
    int owner_of(int number) const;
  };

  /** Of ranks that own n each. Collective. @throws InvalidInput, on all ranks, for more than 2^31 - 1 of all. */
  OwnRange own_range(int n, MPI_Comm comm);

  /** Adds numbers to a set. Both are sorted, with each number once. */
  void add_numbers(std::vector<int> &set, const std::vector<int> &numbers);
} // namespace leopard
