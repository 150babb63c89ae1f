// SPDX-License-Identifier: Apache-2.0
#include "functions.h"

#include <algorithm>
#include <cmath>

namespace leopard::symbolic
{
  using GiNaC::ex;
  using GiNaC::symbol;

  namespace
  {
    /** Whether e is a real number; gets it. */
    bool number(const ex &e, double &value)
    {
      const ex evaluated = e.evalf();
      if (!GiNaC::is_a<GiNaC::numeric>(evaluated) || !GiNaC::ex_to<GiNaC::numeric>(evaluated).is_real())
        return false;
      value = GiNaC::ex_to<GiNaC::numeric>(evaluated).to_double();
      return true;
    }

    bool numbers(const ex &a, const ex &b, double &x, double &y)
    {
      return number(a, x) && number(b, y);
    }

    // the names are what the translator reads; when(c, a) is a where c is true and 0 elsewhere, unless(c, a) the rest
    DECLARE_FUNCTION_2P(less_)
    DECLARE_FUNCTION_2P(less_equal_)
    DECLARE_FUNCTION_2P(equal_)
    DECLARE_FUNCTION_2P(when_)
    DECLARE_FUNCTION_2P(unless_)
    DECLARE_FUNCTION_2P(min_)
    DECLARE_FUNCTION_2P(max_)

    ex evaluate_less(const ex &a, const ex &b)
    {
      double x = 0., y = 0.;
      return numbers(a, b, x, y) ? ex(x < y ? 1 : 0) : less_(a, b).hold();
    }

    ex evaluate_less_equal(const ex &a, const ex &b)
    {
      double x = 0., y = 0.;
      return numbers(a, b, x, y) ? ex(x <= y ? 1 : 0) : less_equal_(a, b).hold();
    }

    ex evaluate_equal(const ex &a, const ex &b)
    {
      double x = 0., y = 0.;
      return numbers(a, b, x, y) ? ex(x == y ? 1 : 0) : equal_(a, b).hold();
    }

    ex zero(const ex & /*a*/, const ex & /*b*/, const symbol & /*s*/)
    {
      return 0;
    }

    ex evaluate_when(const ex &condition, const ex &a)
    {
      double value = 0.;
      if (number(condition, value))
        return value != 0. ? a : ex(0);
      return a.is_zero() ? ex(0) : when_(condition, a).hold();
    }

    ex evaluate_unless(const ex &condition, const ex &a)
    {
      double value = 0.;
      if (number(condition, value))
        return value == 0. ? a : ex(0);
      return a.is_zero() ? ex(0) : unless_(condition, a).hold();
    }

    ex differentiate_when(const ex &condition, const ex &a, const symbol &s)
    {
      return when_(condition, a.diff(s));
    }

    ex differentiate_unless(const ex &condition, const ex &a, const symbol &s)
    {
      return unless_(condition, a.diff(s));
    }

    ex evaluate_min(const ex &a, const ex &b)
    {
      double x = 0., y = 0.;
      return numbers(a, b, x, y) ? (x <= y ? a : b) : min_(a, b).hold();
    }

    ex evaluate_max(const ex &a, const ex &b)
    {
      double x = 0., y = 0.;
      return numbers(a, b, x, y) ? (x >= y ? a : b) : max_(a, b).hold();
    }

    ex differentiate_min(const ex &a, const ex &b, const symbol &s)
    {
      return choose(less_(b, a), b.diff(s), a.diff(s));
    }

    ex differentiate_max(const ex &a, const ex &b, const symbol &s)
    {
      return choose(less_(a, b), b.diff(s), a.diff(s));
    }

    REGISTER_FUNCTION(less_, eval_func(evaluate_less).expl_derivative_func(zero))
    REGISTER_FUNCTION(less_equal_, eval_func(evaluate_less_equal).expl_derivative_func(zero))
    REGISTER_FUNCTION(equal_, eval_func(evaluate_equal).expl_derivative_func(zero))
    REGISTER_FUNCTION(when_, eval_func(evaluate_when).expl_derivative_func(differentiate_when))
    REGISTER_FUNCTION(unless_, eval_func(evaluate_unless).expl_derivative_func(differentiate_unless))
    REGISTER_FUNCTION(min_, eval_func(evaluate_min).expl_derivative_func(differentiate_min))
    REGISTER_FUNCTION(max_, eval_func(evaluate_max).expl_derivative_func(differentiate_max))
  } // namespace

  ex absolute_value(const ex &x)
  {
    double value = 0.;
    return number(x, value) ? GiNaC::abs(x) : choose(less_(x, 0), -x, choose(equal_(x, 0), 0, x)); // the last one where x is no number, too
  }

  ex less(const ex &a, const ex &b)
  {
    return less_(a, b);
  }

  ex less_equal(const ex &a, const ex &b)
  {
    return less_equal_(a, b);
  }

  ex equal(const ex &a, const ex &b)
  {
    return equal_(a, b);
  }

  ex minimum(const ex &a, const ex &b)
  {
    return min_(a, b);
  }

  ex maximum(const ex &a, const ex &b)
  {
    return max_(a, b);
  }

  ex choose(const ex &condition, const ex &yes, const ex &no)
  {
    return when_(condition, yes) + unless_(condition, no);
  }
} // namespace leopard::symbolic
