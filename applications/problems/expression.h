// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deal.II/base/function_parser.h>
#include <deal.II/base/point.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace leopard
{
  /**
   * A muParser expression that a user has written in a parameter file. It is evaluated once when it is made, so that a
   * mistake in it is found and named when the file is read and not in the middle of a run.
   */
  class Expression
  {
  public:
    /** The constant zero. */
    Expression() = default;

    /**
     * @param entry name of the entry in the parameter file, for messages
     * @param text the expression; empty stands for 0
     * @param variables at most three names besides t, the first three being x, y and z of value()
     * @throws Error naming the entry and what muParser says.
     */
    Expression(const std::string &entry, const std::string &text, const std::string &variables = "x,y,z");

    /** Value at a point (z = 0 in two dimensions) and a time. */
    double value(const dealii::Point<3> &p, double t = 0.) const;

    /** Value of an expression in one variable. */
    double value(double u) const { return value(dealii::Point<3>(u, 0., 0.)); }

    /** Whether t stands in the expression. */
    bool depends_on_time() const;

    /** Whether the expression is the number zero, so that evaluating it can be spared. */
    bool is_zero() const { return text.empty() || text == "0"; }

    const std::string &entry_name() const { return entry; }
    const std::string &expression() const { return text; }

  private:
    std::string                                entry, text;
    std::shared_ptr<dealii::FunctionParser<3>> parser;
  };

  /** p with zeros for the coordinates that dim lacks. */
  template <int dim>
  dealii::Point<3> to_3d(const dealii::Point<dim> &p)
  {
    dealii::Point<3> q;
    for (int d = 0; d < dim; ++d)
      q[d] = p[d];
    return q;
  }

  /**
   * Expressions for boundary ids, written "0: x*y; 1: 0; *: 1", where * stands for all ids not named.
   * @throws Error naming the entry if the form is another.
   */
  class BoundaryExpressions
  {
  public:
    BoundaryExpressions() = default;
    BoundaryExpressions(const std::string &entry, const std::string &text);

    /** The expression for a boundary id, or nullptr. */
    const Expression *find(unsigned int boundary_id) const;

    /** The ids that the user named, without *. */
    std::vector<unsigned int> named_ids() const;

    bool               empty() const { return expressions.empty() && !for_all_others; }
    const std::string &entry_name() const { return entry; }

  private:
    std::string                        entry;
    std::map<unsigned int, Expression> expressions;
    std::shared_ptr<Expression>        for_all_others;
  };
} // namespace leopard
