// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "entries.h"
#include "parameters.h"

#include <string>
#include <vector>

/**
 * What the rows of the table of entries, which stand in entries_of_problem.cc and entries_of_solution.cc, are made of.
 */
namespace leopard::entry_rows
{
  using Run = RunKind;

  struct Row
  {
    std::string path;               ///< "Section/Entry"; with * at the end for all that begin so and have no row of their own
    OnResume    in_time, in_cycles; ///< time-dependent runs; stationary ones, whose cycles stand in one table
    std::string (*why_not_used)(const Run &, const std::string &);
  };

  constexpr OnResume free = OnResume::free, further = OnResume::further, effect = OnResume::takes_effect, fixed = OnResume::fixed;

  /** What is solved and where: problem, mesh; the run and its outputs. */
  const std::vector<Row> &rows_of_problem();
  /** How it is solved: discretization, solvers, time stepping; comparisons. */
  const std::vector<Row> &rows_of_solution();

  inline std::string if_(bool unused, const std::string &why)
  {
    return unused ? why : "";
  }

  /** The first reason, if there is one. */
  template <typename... More>
  std::string first(const std::string &why, const More &...more)
  {
    if constexpr (sizeof...(more) == 0)
      return why;
    else
      return why.empty() ? first(more...) : why;
  }

  std::string is(const Run &r, const std::string &entry);
  bool        is_study(const Run &r);
  bool        studies_stencil(const Run &r);
  bool        in_time(const Run &r);
  /** Whether a step is one linear solve. */
  bool is_linear_in_time(const Run &r);
  bool has_newton(const Run &r);
  /**
   * Whether error-controlled steps beyond the asynchronous bound are solved by gmres with async instead of a
   * relaxation.
   */
  bool has_alternative(const Run &r);
  bool uses_block_async(const Run &r);
  bool preconditions_with(const Run &r, const std::string &name);

  // why an entry is not used; the rows combine these

  std::string used(const Run &, const std::string &);
  std::string of_mesh(const Run &r, const std::string &);
  std::string of_problem(const Run &r, const std::string &entry);
  std::string of_steps(const Run &r, const std::string &);
  /** What a time-dependent run leaves on its way. */
  std::string of_run_in_time(const Run &r, const std::string &entry);
} // namespace leopard::entry_rows
