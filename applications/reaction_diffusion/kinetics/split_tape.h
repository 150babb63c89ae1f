// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "expression_tape.h"

#include <vector>

namespace leopard::reaction_diffusion
{
  /**
   * All outputs of a tape times a factor. @param tape its inputs are n_variables variables and, or not, those of the
   * factor behind them. @param factor one output. @return with the variables and the factor's inputs.
   */
  ExpressionTape product(const ExpressionTape &factor, const ExpressionTape &tape, unsigned int n_variables);

  /**
   * 1 where a coefficient is finite and at least `least`, not a number elsewhere: a reaction times this fails where a
   * coefficient is none that it may be. @param coefficient one output. @return with its inputs.
   */
  ExpressionTape one_where_allowed(const ExpressionTape &coefficient, double least);

  /**
   * A reaction with rates on top of it, loads: of species c sum_k b_k(t) s_kc.
   * @param tape its inputs are n species, the time and others; outputs f_c, then df_c/du_d at n + c * n + d. @param
   * factors b_k, of the time of loads (NodeAtTime::load_time), the one input; constants that are 1 cost nothing.
   * @return with further inputs: s_kc, s_00, s_01, ..., then, if depends_on_input(factors), the time of loads.
   */
  ExpressionTape with_loads(const ExpressionTape &tape, unsigned int n, const ExpressionTape &factors);

  /** Whether some output is no constant. */
  bool depends_on_input(const ExpressionTape &tape);

  /** A tape in two: `given`, what depends on given inputs alone, and `rest`, which computes the outputs from it. */
  struct SplitTape
  {
    ExpressionTape given; ///< with the inputs of the whole tape; its outputs are further inputs of the rest
    ExpressionTape rest;  ///< with the inputs that are not given, then the outputs of `given`
  };

  /** @param is_given of each input of the tape: whether it is given. */
  SplitTape split(const ExpressionTape &tape, const std::vector<bool> &is_given);
} // namespace leopard::reaction_diffusion
