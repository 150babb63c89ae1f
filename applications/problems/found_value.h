// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "places.h"

#include <deal.II/base/point.h>

#include <cstddef>
#include <string>
#include <vector>

namespace leopard
{
  // The words of all messages on a value that an entry must not have, so that they are the same everywhere:
  //
  //   the expression '1/x' of the entry 'Turing/gamma' is inf at (0, 0.5) and t = 0.1, where u = 1, v = 0
  //     expected: a finite number everywhere

  /** "(0, 0.5)" of the first `dimension` coordinates. */
  std::string place_text(const double *x, unsigned int dimension);

  /** "(0, 0.5)" of a point of deal.II. */
  template <int dim>
  std::string place_text(const dealii::Point<dim> &x)
  {
    return place_text(&x[0], dim);
  }

  /** " at (0, 0.5) and t = 0.1" of a node; without the place where none is known. */
  std::string at_place(const Places &places, std::size_t node);

  /** " at (0, 0.5) and t = 0.1". */
  template <int dim>
  std::string at_point(const dealii::Point<dim> &x, double t)
  {
    return at_place({&x[0], dim, t}, 0);
  }

  /** "the expression '1/x' of the entry 'Turing/gamma'"; a long expression is shortened. */
  std::string expression_of_entry(const std::string &expression, const std::string &entry);

  /** " is inf"; a NaN has no sign. */
  std::string is_value(double value);

  /** ", where u = 1, v = 0". */
  std::string where_fields_are(const std::vector<std::string> &fields, const double *u);

  /** "\n  expected: a finite number everywhere", or whatever it should be. */
  std::string expected_everywhere(const std::string &what = "a finite number");
} // namespace leopard
