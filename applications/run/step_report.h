// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace leopard
{
  struct RunContext;
  struct TimeLoopResult;

  /**
   * How many steps a time loop has done, how they were solved and which were rejected: a line of the log, and
   * "time_loop" in run.json. @param steps_in_all those of earlier starts included.
   */
  void report_steps(const RunContext &context, const TimeLoopResult &result, unsigned int steps_in_all);
} // namespace leopard
