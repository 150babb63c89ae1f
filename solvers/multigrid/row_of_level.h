// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../base/errors.h"

#include <string>

namespace leopard
{
  /** Whose rows a message counts. */
  struct RowsOfLevel
  {
    int  n_rows      = 0;
    bool is_coarse   = false; ///< not the finest, whose rows are those of the matrix
    bool is_permuted = false; ///< in another order than the matrix
  };

  /**
   * What a message says of "row 3 ... (the first row is 0)", said of a level: "multigrid, coarse level of 961 rows: ...
   * row 3 ... (the first row of this level is 0)". Without that a reader takes it for a row of the matrix.
   */
  inline std::string with_row_of_level(const std::string &message, const RowsOfLevel &level)
  {
    const std::string of_matrix = " (the first row is 0)";
    const auto        begin     = message.find(of_matrix);
    if (begin == std::string::npos || !(level.is_coarse || level.is_permuted))
      return message;
    std::string result = message;
    result.replace(
      begin, of_matrix.size(), level.is_coarse ? " (the first row of this level is 0)" : " (the first row is 0, in the order of the blocks)");
    return level.is_coarse ? "multigrid, coarse level of " + std::to_string(level.n_rows) + " rows: " + result : result;
  }

  /** f() for a level. @throws InvalidInput with_row_of_level() where f() does. */
  template <typename F>
  auto on_level(const RowsOfLevel &level, const F &f)
  {
    try
      {
        return f();
      }
    catch (const InvalidInput &problem)
      {
        throw InvalidInput(with_row_of_level(problem.what(), level));
      }
  }
} // namespace leopard
