// SPDX-License-Identifier: Apache-2.0
#include "field_transport.h"
#include "found_value.h"

#include <applications/symbolic/nesting.h>
#include <solvers/base/errors.h>
#include <solvers/base/words.h>

#include <deal.II/base/utilities.h>

#include <algorithm>
#include <cmath>

namespace leopard
{
  bool FieldTransport::Texts::empty() const
  {
    const auto is_empty = [](const std::string &text) { return text.empty(); };
    return std::all_of(cross_diffusion.begin(), cross_diffusion.end(), is_empty) && std::all_of(advection.begin(), advection.end(), is_empty);
  }

  FieldTransport::FieldTransport(const std::string                     &section,
                                 const std::vector<std::string>        &fields_,
                                 const Texts                           &given,
                                 unsigned int                           dim,
                                 const Constants                       &constants,
                                 MPI_Comm                               comm,
                                 const std::shared_ptr<const Pictures> &pictures)
    : fields(fields_)
    , compiled(fields_, read(section, given, dim), constants, comm, pictures)
  {
  }

  std::vector<NamedExpression> FieldTransport::read(const std::string &section, const Texts &given, unsigned int dim)
  {
    for (unsigned int c = 0; c < fields.size(); ++c)
      if (!given.cross_diffusion[c].empty())
        read_cross_diffusion(section + "/Cross-diffusion " + fields[c], given.cross_diffusion[c], c);
    for (unsigned int c = 0; c < fields.size(); ++c)
      if (!given.advection[c].empty())
        read_advection(section + "/Advection " + fields[c], given.advection[c], c, dim);
    return texts;
  }

  void FieldTransport::read_cross_diffusion(const std::string &entry, const std::string &text, unsigned int c)
  {
    const auto fail = [&](const std::string &item, const std::string &reason) {
      throw Error("the entry '" + entry + "' has the item '" + item + "': " + reason + "\n  expected: FIELD: EXPRESSION, FIELD: EXPRESSION, ..., " +
                  "where FIELD is one of " + joined(fields) + ", for example '" + fields.back() + ": -0.5*" + fields[c] + "'");
    };
    for (const std::string &item : split_outside_parentheses(text, ','))
      {
        const auto        colon   = item.find(':');
        const std::string partner = dealii::Utilities::trim(item.substr(0, colon)),
                          value   = colon == std::string::npos ? "" : dealii::Utilities::trim(item.substr(colon + 1));
        const auto found          = std::find(fields.begin(), fields.end(), partner);
        if (colon == std::string::npos)
          fail(item, "the field is missing whose gradient it belongs to");
        if (found == fields.end())
          fail(item, "'" + partner + "' is no field of the problem");
        if (value.empty())
          fail(item, "an expression is missing");
        const auto d = static_cast<unsigned int>(found - fields.begin());
        if (std::any_of(cross.begin(), cross.end(), [&](const CrossTerm &term) { return term.field == c && term.partner == d; }))
          fail(item, "'" + partner + "' stands there twice");
        cross.push_back({c, d, static_cast<unsigned int>(texts.size())});
        texts.push_back({entry + ", " + partner, value});
      }
  }

  void FieldTransport::read_advection(const std::string &entry, const std::string &text, unsigned int c, unsigned int dim)
  {
    const std::vector<std::string> components = split_outside_parentheses(text, ',');
    const unsigned int             n          = components.size();
    if ((n != 2 && n != 3) || n < dim)
      throw Error("'" + entry + "' is '" + text + "', which has " + std::to_string(n) + (n == 1 ? " component" : " components") +
                  "\n  expected: the components v_x, v_y of a velocity, in space v_x, v_y, v_z, each a number or an expression");
    advection.push_back({c, n, static_cast<unsigned int>(texts.size())});
    for (unsigned int d = 0; d < n; ++d)
      texts.push_back({entry + ", v_" + "xyz"[d], components[d]});
  }

  bool FieldTransport::couples(unsigned int c, unsigned int d) const
  {
    const auto depends = [&](const NamedExpression &coefficient) { return is_named(fields[d], coefficient.text); };
    if (c == d)
      return true;
    for (const CrossTerm &term : cross)
      if (term.field == c && (term.partner == d || depends(texts[term.expression])))
        return true;
    for (const AdvectionTerm &term : advection)
      for (unsigned int e = 0; e < term.dimension; ++e)
        if (term.field == c && depends(texts[term.expression + e]))
          return true;
    return false;
  }

  std::string FieldTransport::description(unsigned int c) const
  {
    std::string result;
    for (const CrossTerm &term : cross)
      if (term.field == c)
        result += " + div((" + shortened(texts[term.expression].text) + ") grad " + fields[term.partner] + ")";
    for (const AdvectionTerm &term : advection)
      if (term.field == c)
        {
          result += " - div((";
          for (unsigned int d = 0; d < term.dimension; ++d)
            result += (d > 0 ? ", " : "") + shortened(texts[term.expression + d].text);
          result += ") " + fields[c] + ")";
        }
    return result;
  }

  FieldTransport::Linearized FieldTransport::linearize(const std::vector<double> &u, const Places &place) const
  {
    const std::size_t   n = fields.size();
    std::vector<double> values(texts.size()), derivatives(texts.size() * n);
    compiled.evaluate(1, u.data(), values.data(), derivatives.data(), place);
    Linearized result;
    result.diffusion.assign(n * n, 0.);
    for (const CrossTerm &term : cross)
      result.diffusion[term.field * n + term.partner] = values[term.expression];
    if (!advection.empty())
      result.drift.resize(n * n);
    for (const AdvectionTerm &term : advection)
      for (unsigned int d = 0; d < term.dimension; ++d)
        for (std::size_t e = 0; e < n; ++e)
          result.drift[term.field * n + e][d] =
            derivatives[(term.expression + d) * n + e] * u[term.field] + (e == term.field ? values[term.expression + d] : 0.);
    return result;
  }

  std::string FieldTransport::complaint(unsigned int n_places, const double *u, const Places &places) const
  {
    const std::size_t   m = texts.size(), n = fields.size();
    std::vector<double> values(n_places * m);
    compiled.evaluate(n_places, u, values.data(), nullptr, places);
    for (std::size_t i = 0; i < n_places; ++i)
      for (std::size_t k = 0; k < m; ++k)
        if (!std::isfinite(values[i * m + k]))
          return expression_of_entry(texts[k].text, texts[k].entry) + is_value(values[i * m + k]) + at_place(places, i) +
                 where_fields_are(fields, u + i * n) + expected_everywhere();
    return "";
  }
} // namespace leopard
