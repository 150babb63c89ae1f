// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "smoother_row.h"

#include <applications/studies/papers/study_report.h>

namespace leopard
{
  /**
   * What section 4.11 of the thesis prints, beside what was measured: a table, and findings with verdicts.
   * @param published "Figure 4.27", "Figure 4.28", "Table 4.11" or "Figure 4.30"; @param rows of the case that repeats
   * it: gauss-seidel, async and (4.27) jacobi or damped-jacobi. A finding whose rows are missing is not decided.
   */
  void report_thesis_findings(const std::string &published, const std::vector<SmootherRow> &rows, studies::Report &report);
} // namespace leopard
