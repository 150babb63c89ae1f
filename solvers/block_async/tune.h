// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "block_async.h"

#include <functional>

namespace leopard
{
  /** What tune() chooses. */
  struct TunedChoice
  {
    BlockShape        shape = BlockShape::contiguous; ///< not tiles
    BlockAsyncOptions options;                        ///< without block_offsets, which follow from the shape: see partition()
    double            seconds_a_digit = 0.;           ///< measured: time for a tenfold reduction of the residual

    /**
     * The permutation and the blocks for A, unless these are the caller's own (TuneRequest::partition); the method is
     * BlockAsync(permute(A, partition), options with its block_offsets).
     */
    Partition partition(const CrsMatrix<double> &A) const;
  };

  struct TuneRequest
  {
    Backend                                  backend   = Backend::host;
    double                                   seconds   = 5.; ///< wall time to spend, roughly
    int                                      n_threads = 0;
    std::function<void(const std::string &)> report    = {}; ///< receives a line for each thing tried
    Storage storage = Storage::automatic;                    ///< of all candidates; double_precision where the values of A are to change
    bool    weights = true; ///< whether omega and momentum are tried; otherwise 1 and 0, where later values of A may not bear others
    /**
     * Blocks of the caller's own, such as tiles of a mesh, of at most so many rows: then these are tried, and no
     * shapes.
     */
    std::function<Partition(int block_size)> partition = {};
  };

  /**
   * Chooses block shape and size, k, omega, momentum and the form of execution for a matrix, by short measured runs
   * from x = 0 with b = A 1 (where that is zero, of numbers that grow with the row): one option after the other, each
   * candidate timed until the residual has fallen by a factor or a share of the time is spent, best by time a digit.
   * The three best are measured again for longer; what then does not converge any more is replaced by the next. With
   * ill-conditioned matrices short runs see little of the smooth part of the error: give them time enough for a few
   * digits. Momentum is tried for symmetric positive definite matrices, and chosen only if it converges in the
   * synchronous schedule, in sequence and in a replay, too. Asynchronous runs vary, and so may the choice.
   * @throws InvalidInput, DeviceError, and ConvergenceFailure if nothing that was tried converges.
   */
  TunedChoice tune(const CrsMatrix<double> &A, const TuneRequest &request);

  /**
   * A JSON file with the choice and the matrix it was made for (rows, entries); written whole or not at all. @throws
   * Error.
   */
  void write_choice(const TunedChoice &choice, const CrsMatrix<double> &A, const std::string &path);

  /** @throws InvalidInput if the file is damaged or was made for a matrix of other size, naming what differs. */
  TunedChoice read_choice(const std::string &path, const CrsMatrix<double> &A);
} // namespace leopard
