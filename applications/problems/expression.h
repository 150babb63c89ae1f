// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "picture.h"

#include <applications/symbolic/differentiate.h>

#include <deal.II/base/function_parser.h>
#include <deal.II/base/point.h>

#include <functional>
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
     * @param constants that it may name, beside pi
     * @param pictures that it may name, too; such an expression is read as those of reactions are
     * @throws Error naming the entry and what muParser says.
     */
    Expression(const std::string                     &entry,
               const std::string                     &text,
               const Constants                       &constants = {},
               const std::shared_ptr<const Pictures> &pictures  = nullptr);

    /**
     * One that is not written but derived. @param description what from, in the place of its text. @param tape with the
     * inputs x, y, z, t and one output.
     */
    Expression(const std::string &entry, const std::string &description, const reaction_diffusion::ExpressionTape &tape);

    /**
     * The expression as a program with the inputs names_of_places(). @throws Error for what only muParser can read.
     */
    reaction_diffusion::ExpressionTape compiled() const;
    /** The same with another program of these inputs. */
    Expression with_program(const reaction_diffusion::ExpressionTape &program) const;

    /** Value at a point (z = 0 in two dimensions) and a time. */
    double value(const dealii::Point<3> &p, double t = 0.) const;

    /** Whether t stands in the expression. */
    bool depends_on_time() const;

    /** Whether the expression is the number zero, so that evaluating it can be spared. */
    bool is_zero() const { return text.empty() || text == "0"; }

    const std::string &entry_name() const { return entry; }
    const std::string &expression() const { return text; }
    /** The expression, "0" for an empty one. */
    std::string description() const { return text.empty() ? "0" : text; }

  private:
    std::string                                               entry, text;
    Constants                                                 constants;
    std::shared_ptr<dealii::FunctionParser<3>>                parser; ///< of what is written
    std::shared_ptr<const reaction_diffusion::ExpressionTape> tape;   ///< of what is derived, or names pictures
    std::shared_ptr<const Pictures>                           pictures;
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
    BoundaryExpressions(const std::string                     &entry,
                        const std::string                     &text,
                        const Constants                       &constants = {},
                        const std::shared_ptr<const Pictures> &pictures  = nullptr);
    /** The same for all ids. */
    explicit BoundaryExpressions(const Expression &expression);

    /** The expression for a boundary id, or nullptr. */
    const Expression *find(unsigned int boundary_id) const;

    /** The ids that the user named, without *. */
    std::vector<unsigned int> named_ids() const;
    bool                      names(unsigned int boundary_id) const { return expressions.count(boundary_id) == 1; }

    /** Whether t stands in one of the expressions. */
    bool depends_on_time() const;

    /** The same ids with other expressions. */
    BoundaryExpressions changed(const std::function<Expression(const Expression &)> &change) const;

    /** Whether there is one for every boundary id. */
    bool               for_all() const { return for_all_others != nullptr; }
    bool               empty() const { return expressions.empty() && !for_all_others; }
    const std::string &entry_name() const { return entry; }

  private:
    std::string                        entry;
    std::map<unsigned int, Expression> expressions;
    std::shared_ptr<Expression>        for_all_others;
  };

  /**
   * What is prescribed for one field on the boundary: values u = g, or fluxes a du/dn = q (outward normal), and zero
   * fluxes where neither is. An id that is named goes before a *, and a * of the fluxes before one of the values.
   */
  struct BoundaryConditions
  {
    BoundaryExpressions values, fluxes;

    /** g, or nullptr where no value is prescribed. */
    const Expression *value(unsigned int boundary_id) const
    {
      const bool has_flux = fluxes.names(boundary_id) || (fluxes.for_all() && !values.names(boundary_id));
      return has_flux ? nullptr : values.find(boundary_id);
    }
    /** q, or nullptr where it is zero or a value is prescribed. */
    const Expression *flux(unsigned int boundary_id) const { return value(boundary_id) != nullptr ? nullptr : fluxes.find(boundary_id); }

    bool empty() const { return values.empty() && fluxes.empty(); }
  };
} // namespace leopard
