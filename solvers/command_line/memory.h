// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../base/backend.h"
#include "../matrix/crs_matrix.h"
#include "precision.h"

#include <string>

namespace leopard::command_line
{
  /**
   * Says what is taken of memory, before it is: a line "memory". @param bytes about. @param backend whose memory: that
   * of the GPU, or of this process (usable_memory(), which ulimit -v and control groups limit). @param to_do what takes
   * less, for the message. @throws InvalidInput where there is not as much.
   */
  void say_memory(const std::string &of_what, double bytes, Backend backend, const std::string &to_do, const Log &log);

  /** Of block-asynchronous iteration with A: the matrix split into blocks, with what finds its values, and vectors. */
  double bytes_of_blocks(const CrsMatrix<double> &A, Backend backend);

  /** Of levels of a stencil, which have no matrix: their vectors, in the precision of the cycles and around them. */
  double bytes_of_stencil_levels(double n_rows);
} // namespace leopard::command_line
