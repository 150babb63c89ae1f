// SPDX-License-Identifier: Apache-2.0
#include "found_value.h"

#include <applications/base/log.h>
#include <applications/symbolic/nesting.h>

#include <cmath>

namespace leopard
{
  std::string place_text(const double *x, unsigned int dimension)
  {
    std::string text;
    for (unsigned int d = 0; d < dimension; ++d)
      text += (d == 0 ? "(" : ", ") + format("%.6g", x[d] + 0.); // no -0
    return text + ")";
  }

  std::string at_place(const Places &places, std::size_t node)
  {
    const bool is_known = places.coordinates != nullptr && places.dimension > 0;
    return " at " + (is_known ? place_text(places.coordinates + node * places.dimension, places.dimension) + " and " : "") +
           format("t = %.6g", places.time);
  }

  std::string expression_of_entry(const std::string &expression, const std::string &entry)
  {
    return "the expression '" + shortened(expression) + "' of the entry '" + entry + "'";
  }

  std::string is_value(double value)
  {
    return std::isnan(value) ? " is nan" : format(" is %.6g", value);
  }

  std::string where_fields_are(const std::vector<std::string> &fields, const double *u)
  {
    std::string text;
    for (std::size_t c = 0; c < fields.size(); ++c)
      text += (c == 0 ? ", where " : ", ") + fields[c] + " = " + format("%.12g", u[c]); // what crosses a boundary is near it
    return text;
  }

  std::string expected_everywhere(const std::string &what)
  {
    return "\n  expected: " + what + " everywhere";
  }
} // namespace leopard
