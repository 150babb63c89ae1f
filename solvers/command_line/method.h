// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "arguments.h"
#include "precision.h"

#include <memory>
#include <optional>
#include <string>

namespace leopard::command_line
{
  /** Who computes, and why. */
  struct ChosenBackend
  {
    Backend     backend = Backend::host;
    std::string text; ///< "host: no GPU answers: host threads"
  };

  /**
   * @throws DeviceError if a GPU is asked for and does not answer, UsageError if an option is given that this backend
   * does not know.
   */
  ChosenBackend choose_backend(const Arguments &arguments);

  /** Whether choose_backend() asks which GPUs there are, and takes one if there is. */
  bool may_take_gpu(const Arguments &arguments);

  /** Whether choose_backend() refuses no option, whatever it chooses: it asks for GPUs, which takes 0.1 s. */
  bool suits_all_backends(const Arguments &arguments);

  /**
   * What the blocks are for: the numbering in which they are contiguous, none if that is the one of A. @throws
   * InvalidInput.
   */
  std::optional<Partition> choose_partition(const CrsMatrix<double> &A, BlockShape shape, int block_size);

  /** The iteration, for the matrix in another numbering if partition says so. */
  struct Iteration
  {
    std::optional<Partition> partition;
    std::unique_ptr<Solver>  solver;
    bool                     is_replay = false; ///< of a seed, equal in all runs
  };

  /** Makes the iteration that the arguments ask for, or tunes one, or reads the choice. @throws UsageError, Error. */
  Iteration make_iteration(const CrsMatrix<double> &A, const Arguments &arguments, const ChosenBackend &backend, const Log &log);
} // namespace leopard::command_line
