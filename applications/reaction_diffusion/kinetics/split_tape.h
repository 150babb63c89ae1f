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

  /** Rates that come on top of a reaction of n species: of species c sum_k b_k(t) s_kc - decay_c d u_c. */
  struct FurtherRates
  {
    ExpressionTape      factors; ///< b_k, of the time, the one input; constants that are 1 cost nothing
    std::vector<double> decay;   ///< of each species; empty: none
  };

  /**
   * A reaction with such rates. @param tape its inputs are n species, the time and others; outputs f_c, then df_c/du_d
   * at n + c * n + d. @return with further inputs: s_kc, s_00, s_01, ..., then d if there is decay.
   */
  ExpressionTape with_rates(const ExpressionTape &tape, unsigned int n, const FurtherRates &rates);

  /** A tape in two: `given`, what depends on given inputs alone, and `rest`, which computes the outputs from it. */
  struct SplitTape
  {
    ExpressionTape given; ///< with the inputs of the whole tape; its outputs are further inputs of the rest
    ExpressionTape rest;  ///< with the inputs that are not given, then the outputs of `given`
  };

  /** @param is_given of each input of the tape: whether it is given. */
  SplitTape split(const ExpressionTape &tape, const std::vector<bool> &is_given);
} // namespace leopard::reaction_diffusion
