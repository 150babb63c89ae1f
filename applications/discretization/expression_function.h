// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <applications/problems/expression.h>

#include <deal.II/base/function.h>

namespace leopard
{
  /** An expression at a time as a function that deal.II takes. Keeps a reference. */
  template <int spacedim>
  class ExpressionFunction : public dealii::Function<spacedim>
  {
  public:
    explicit ExpressionFunction(const Expression &expression_, double t_ = 0.)
      : expression(expression_)
      , t(t_)
    {
    }
    double value(const dealii::Point<spacedim> &p, const unsigned int /*component*/ = 0) const override { return expression.value(to_3d(p), t); }

  private:
    const Expression &expression;
    const double      t;
  };
} // namespace leopard
