// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../matrix/crs_matrix.h"

#include <string>
#include <vector>

namespace leopard::command_line
{
  struct ReadMatrix
  {
    CrsMatrix<double> A;
    bool              is_symmetric = false;
  };

  /** @throws InvalidInput where a diagonal entry is missing or zero, with its row as in the file. */
  void check_diagonal(const CrsMatrix<double> &A, const std::string &path);

  /**
   * The matrix of a file, and a line of the log about it. @param divides_by_diagonal whether the method does.
   * @throws InvalidInput naming what cannot be solved with.
   */
  ReadMatrix read_matrix(const std::string &path, bool divides_by_diagonal);

  /**
   * That of the file, or A 1 without one, and a line of the log. @throws InvalidInput, also where residuals could not
   * be related to it.
   */
  std::vector<double> right_hand_side(const CrsMatrix<double> &A, const std::string &path);

  /** @throws InvalidInput where a row shows that x has entries which double cannot hold. */
  void check_size_of_solution(const CrsMatrix<double> &A, const std::vector<double> &b);
} // namespace leopard::command_line
