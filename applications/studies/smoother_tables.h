// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "smoother_row.h"

#include <applications/studies/papers/study_report.h>

namespace leopard
{
  /**
   * Rows that compete, for a reader: cycles, factor, time with spread, split of the time of a cycle in milliseconds;
   * and a line with the winner.
   */
  std::string competition_text(const std::vector<SmootherRow> &rows, const Winner &winner);

  /**
   * All columns of all rows in their units, for programs: a line with the names, a line a row; missing numbers are
   * empty.
   */
  studies::Table study_table(const std::vector<SmootherRow> &rows);

  /** A line a cycle of each repetition of each row: what the row is, repetition, cycle, seconds, relative residual. */
  studies::Table history_table(const std::vector<SmootherRow> &rows);

  /** The winners, a line a competition. */
  studies::Table winner_table(const std::vector<SmootherRow> &rows);
} // namespace leopard
