// SPDX-License-Identifier: Apache-2.0
#include "coefficient.h"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <vector>

namespace leopard
{
  bool names_place(const std::string &text)
  {
    return is_named("x", text) || is_named("y", text) || is_named("z", text) || is_named("t", text);
  }

  Coefficient::Coefficient(const std::string &entry_, const std::string &text_, const Constants &constants)
    : entry(entry_)
    , text(text_)
  {
    if (names_place(text))
      tape = std::make_shared<const reaction_diffusion::ExpressionTape>(compile({entry, text}, {"x", "y", "z", "t"}, constants));
    else
      constant = value_of({entry, text}, constants);
  }

  double Coefficient::value(const dealii::Point<3> &x, double t) const
  {
    if (is_number())
      return constant;
    const double inputs[] = {x[0], x[1], x[2], t};
    double       result   = 0.;
    tape->evaluate(1, inputs, &result);
    return result;
  }

  void Coefficient::evaluate(unsigned int n_places, const Places &places, double *values) const
  {
    if (is_number())
      {
        std::fill_n(values, n_places, constant);
        return;
      }
    std::vector<double> inputs(4 * static_cast<std::size_t>(n_places), 0.);
    for (std::size_t i = 0; i < n_places; ++i)
      {
        if (places.coordinates != nullptr)
          std::copy_n(places.coordinates + i * places.dimension, places.dimension, inputs.data() + 4 * i);
        inputs[4 * i + 3] = places.time;
      }
    tape->evaluate(n_places, inputs.data(), values);
  }

  std::string Coefficient::complaint(unsigned int n_places, const Places &places, double least) const
  {
    std::vector<double> values(n_places);
    evaluate(n_places, places, values.data());
    for (std::size_t i = 0; i < n_places; ++i)
      if (!(values[i] >= least && std::isfinite(values[i])))
        {
          std::ostringstream message;
          message << "the expression '" << text << "' of the entry '" << entry << "' is " << values[i] << " at the node (";
          for (unsigned int d = 0; d < places.dimension; ++d)
            message << (d > 0 ? ", " : "") << places.coordinates[i * places.dimension + d];
          message << ") and t = " << places.time << "\n  expected: a finite number";
          if (least > std::numeric_limits<double>::lowest())
            message << " >= " << least;
          message << " everywhere";
          return message.str();
        }
    return "";
  }
} // namespace leopard
