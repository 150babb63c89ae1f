// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "linear_solver.h"

#include <nlohmann/json_fwd.hpp>

#include <functional>
#include <string>

namespace leopard
{
  /** What 'Linear solver/Tuning time' has found for a matrix. */
  struct Tuning
  {
    BlockAsyncOptions options;              ///< block size, local iterations, omega, momentum and form of execution are chosen
    double            seconds_a_digit = 0.; ///< for a tenfold reduction of the residual, as measured
    double            seconds         = 0.; ///< that the search took

    /** "tuned in 5 s: blocks of 512, 3 local iterations, omega = 1, momentum = 0.4: 0.012 s a digit". */
    std::string text() const;
    /** The same for run.json. */
    nlohmann::json report() const;
  };

  /**
   * Chooses by measuring (tune()), for as long as the parameters say. Momentum, and an omega other than 1, where the
   * values of A stay. @param A of one rank. @param partition the blocks of a size. @throws Error, ConvergenceFailure
   * where nothing converges.
   */
  Tuning tune_async(const LinearSolverParameters &parameters, const CrsMatrix<double> &A, const std::function<Partition(int block_size)> &partition);
} // namespace leopard
