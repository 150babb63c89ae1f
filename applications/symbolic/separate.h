// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tape_builder.h"

#include <map>
#include <optional>
#include <vector>

namespace leopard
{
  /**
   * Expressions in places and the time as sums of products, f(x,t) = sum_k b_k(t) f_k(x), with the same b_k for all of
   * them: what is linear in f, such as the integrals of a load, is computed once for each k.
   */
  class TimeSeparation
  {
  public:
    static constexpr unsigned int time       = 3;  ///< which input of the tapes it is
    static constexpr unsigned int most_terms = 16; ///< of an expression; with more it counts as one that is no such sum

    /**
     * The parts f_k of an expression: a tape with the same inputs that gives f_k where it is given k as the time, zero
     * where it has no such part. None if sums, products, quotients and choices do not make it such a sum:
     * sin(x - t). @param tape one output.
     */
    std::optional<ExpressionTape> parts(const ExpressionTape &tape);

    /** All b_k so far, of the time, their one input; those that are 1 are a constant. */
    ExpressionTape factors() const;

    unsigned int n_factors() const { return static_cast<unsigned int>(all_factors.size()); }

  private:
    using Register = TapeBuilder::Register;

    TapeBuilder           of_time{1};
    std::vector<Register> all_factors; ///< b_k
  };
} // namespace leopard
