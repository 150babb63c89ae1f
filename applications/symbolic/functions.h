// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ginac/ginac.h>

namespace leopard::symbolic
{
  // Functions that GiNaC lacks, or has without a derivative everywhere. Truth is the number 1, and what is not 0 is
  // true. Of numbers they are numbers.

  /** |x| with the derivative sign(x), 0 at 0; that of GiNaC's own abs is 0/0 at 0. */
  GiNaC::ex absolute_value(const GiNaC::ex &x);
  GiNaC::ex less(const GiNaC::ex &a, const GiNaC::ex &b);
  GiNaC::ex less_equal(const GiNaC::ex &a, const GiNaC::ex &b);
  GiNaC::ex equal(const GiNaC::ex &a, const GiNaC::ex &b);
  GiNaC::ex minimum(const GiNaC::ex &a, const GiNaC::ex &b);
  GiNaC::ex maximum(const GiNaC::ex &a, const GiNaC::ex &b);
  /**
   * yes where the condition is true, no elsewhere; what is not chosen may be infinite. The derivative is that of the
   * chosen one.
   */
  GiNaC::ex choose(const GiNaC::ex &condition, const GiNaC::ex &yes, const GiNaC::ex &no);
} // namespace leopard::symbolic
