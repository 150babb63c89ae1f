// SPDX-License-Identifier: Apache-2.0
#include "coefficient.h"
#include "found_value.h"

#include <applications/base/log.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

namespace leopard
{
  bool names_place(const std::string &text, const Pictures *pictures)
  {
    return names_coordinate_or_time(text) || (pictures != nullptr && pictures->are_named_in(text));
  }

  std::vector<std::string> names_of_places(const Pictures *pictures)
  {
    std::vector<std::string> names = coordinates_and_time();
    if (pictures != nullptr)
      names.insert(names.end(), pictures->names().begin(), pictures->names().end());
    return names;
  }

  void evaluate_places(const dealii::Point<3> &x, double t, const Pictures *pictures, double *values)
  {
    std::copy_n(&x[0], 3, values);
    values[3] = t;
    if (pictures != nullptr)
      pictures->evaluate(x, values + 4);
  }

  double value_at(const reaction_diffusion::ExpressionTape &tape, const dealii::Point<3> &x, double t, const Pictures *pictures)
  {
    std::array<double, 16> few; // no memory is allocated unless there are many pictures
    std::vector<double>    many(tape.n_inputs > few.size() ? tape.n_inputs : 0);
    double *const          inputs = many.empty() ? few.data() : many.data();
    double                 result = 0.;
    evaluate_places(x, t, pictures, inputs);
    tape.evaluate(1, inputs, &result);
    return result;
  }

  Coefficient::Coefficient(const std::string                     &entry_,
                           const std::string                     &text_,
                           const Constants                       &constants,
                           const std::shared_ptr<const Pictures> &pictures_)
    : entry(entry_)
    , text(text_)
    , pictures(pictures_)
  {
    if (names_place(text, pictures.get()))
      tape = std::make_shared<const reaction_diffusion::ExpressionTape>(compile({entry, text}, names_of_places(pictures.get()), constants));
    else
      constant = value_of({entry, text}, constants);
  }

  double Coefficient::value(const dealii::Point<3> &x, double t) const
  {
    return is_number() ? constant : value_at(*tape, x, t, pictures.get());
  }

  void Coefficient::evaluate(unsigned int n_places, const Places &places, double *values) const
  {
    if (is_number())
      {
        std::fill_n(values, n_places, constant);
        return;
      }
    std::vector<double> inputs(tape->n_inputs * static_cast<std::size_t>(n_places));
    for (std::size_t i = 0; i < n_places; ++i)
      evaluate_places(point_of(places, i), places.time, pictures.get(), inputs.data() + i * tape->n_inputs);
    tape->evaluate(n_places, inputs.data(), values);
  }

  std::string Coefficient::complaint(unsigned int n_places, const Places &places, double least) const
  {
    std::vector<double> values(n_places);
    evaluate(n_places, places, values.data());
    for (std::size_t i = 0; i < n_places; ++i)
      if (!(values[i] >= least && std::isfinite(values[i])))
        return expression_of_entry(text, entry) + is_value(values[i]) + at_place(places, i) +
               expected_everywhere("a finite number" + (least > std::numeric_limits<double>::lowest() ? format(" >= %g", least) : ""));
    return "";
  }
} // namespace leopard
