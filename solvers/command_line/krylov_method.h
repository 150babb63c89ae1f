// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../krylov/krylov.h"
#include "precision.h"

#include <memory>
#include <string>
#include <vector>

namespace leopard::command_line
{
  /** A Krylov method in double precision. */
  class KrylovMethod : public Solver
  {
  public:
    /**
     * @param krylov_ that keeps its history. @param preconditioner its name; empty: none. @param null_space what is
     * taken out of solutions, see take_out(). KrylovLimits::early_iterations are for the first solve alone: those that
   * follow are for what it has left. @param start of the set-up, see now(). @param fixed whether results are
     * equal in all runs.
     */
    KrylovMethod(
      std::unique_ptr<KrylovSolver<double>> krylov_, const std::string &preconditioner, std::vector<double> null_space, double start, bool fixed);

    std::string name() const override { return title; }
    std::string description() const override { return about; }
    bool        is_fixed_linear_map() const override { return fixed; }
    std::string history_note() const override { return "by the method's own recurrence but for the first and the last"; }
    std::string unit() const override { return "iterations"; }
    bool        has_found_indefinite() const override { return is_indefinite; }
    bool        stands_still() const override { return is_standing; }

    SolveResult solve(const std::vector<double> &b, const StoppingCriteria &criteria, std::vector<double> &x, const Log &log) override;

  private:
    const std::unique_ptr<KrylovSolver<double>> krylov;
    const std::string                           title, about;
    const std::vector<double>                   null_space;
    const bool                                  fixed;
    bool                                        is_indefinite = false, is_standing = false, goes_on = false;
  };
} // namespace leopard::command_line
