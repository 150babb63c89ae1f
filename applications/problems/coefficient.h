// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "picture.h"
#include "places.h"

#include <applications/symbolic/differentiate.h>

#include <deal.II/base/point.h>

#include <memory>
#include <string>
#include <vector>

namespace leopard
{
  /** Whether an expression names x, y, z, t or a picture. */
  bool names_place(const std::string &text, const Pictures *pictures);

  /** The place of a node, zero in the coordinates that it lacks; the origin where there are none. */
  inline dealii::Point<3> point_of(const Places &places, std::size_t node)
  {
    dealii::Point<3> x;
    for (unsigned int d = 0; d < (places.coordinates != nullptr ? places.dimension : 0); ++d)
      x[d] = places.coordinates[node * places.dimension + d];
    return x;
  }

  /** "x", "y", "z", "t" and the names of pictures: what an expression may name. */
  std::vector<std::string> names_of_places(const Pictures *pictures);

  /** Their values at a place, an array of names_of_places(). */
  void evaluate_places(const dealii::Point<3> &x, double t, const Pictures *pictures, double *values);

  /** The value of an expression with one output whose inputs are names_of_places(). */
  double value_at(const reaction_diffusion::ExpressionTape &tape, const dealii::Point<3> &x, double t, const Pictures *pictures);

  /**
   * A coefficient of an equation: a number, or an expression in x, y, z, t and the names of pictures that is written as
   * reactions are, see differentiate(). Dimensionless.
   */
  class Coefficient
  {
  public:
    explicit Coefficient(double number = 0.)
      : constant(number)
      , text(to_expression(number))
    {
    }

    /**
     * @param entry "Turing/gamma", for messages; @param text arithmetic with the constants, or an expression. @throws
     * Error naming entry and position.
     */
    Coefficient(const std::string                     &entry,
                const std::string                     &text,
                const Constants                       &constants,
                const std::shared_ptr<const Pictures> &pictures = nullptr);

    bool is_number() const { return !tape; }
    /** Of one that is_number(). */
    double number() const { return constant; }
    bool   depends_on_time() const { return !is_number() && is_named("t", text); }

    double value(const dealii::Point<3> &x, double t = 0.) const;
    /** At many places. @param values host, n_places numbers. */
    void evaluate(unsigned int n_places, const Places &places, double *values) const;

    /** Entry and value of the first place where it is not finite or less than `least`, as a message; empty: of none. */
    std::string complaint(unsigned int n_places, const Places &places, double least) const;

    /** Of one that is no number: its inputs are names_of_places(). */
    const std::shared_ptr<const reaction_diffusion::ExpressionTape> &compiled() const { return tape; }

    const std::string &entry_name() const { return entry; }
    /** As it is written; a number with all its digits. */
    const std::string &expression() const { return text; }

  private:
    double                                                    constant = 0.;
    std::string                                               entry, text;
    std::shared_ptr<const reaction_diffusion::ExpressionTape> tape; ///< with the inputs x, y, z, t, and the values of pictures
    std::shared_ptr<const Pictures>                           pictures;
  };
} // namespace leopard
