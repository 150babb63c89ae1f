// SPDX-License-Identifier: Apache-2.0
#include "diffusion.h"

#include <applications/symbolic/nesting.h>
#include <solvers/base/errors.h>

#include <deal.II/base/patterns.h>

#include <algorithm>
#include <cmath>
#include <sstream>

namespace leopard
{
  using dealii::Patterns::Tools::to_string;

  namespace
  {
    /** Also of what is not finite, which to_string() does not take. */
    std::string number_text(double value)
    {
      std::ostringstream text;
      text << value;
      return text.str();
    }

    /** A coefficient that does not name t; `expected` is what a message asks for. @throws Error. */
    Coefficient coefficient_in_space(const std::string                     &entry,
                                     const std::string                     &text,
                                     const Constants                       &constants,
                                     const std::shared_ptr<const Pictures> &pictures,
                                     const std::string                     &expected)
    {
      const std::string is = "'" + entry + "' is '" + text + "'", hint = "\n  expected: " + expected;
      if (is_named("t", text))
        throw Error(is + ", which names the time t" + hint);
      if (names_place(text, pictures.get()))
        return Coefficient(entry, text, constants, pictures);
      try
        {
          return Coefficient(entry, text, constants);
        }
      catch (const Error &error)
        {
          const std::string reason = error.what();
          throw Error(is + hint + "\n  reason: " + reason.substr(0, reason.find('\n')));
        }
    }
  } // namespace

  Diffusion::Diffusion(
    const std::string &entry_, const std::string &text, const Constants &constants, const std::shared_ptr<const Pictures> &pictures, bool may_be_zero)
    : entry(entry_)
  {
    const std::string expected = std::string(may_be_zero ? "zero, " : "") + "a positive number, or an expression in x, y, z";
    entries                    = {coefficient_in_space(entry, text, constants, pictures, expected)};
    if (is_zero() && may_be_zero)
      return;
    if (entries[0].is_number() && !(entries[0].number() > 0. && std::isfinite(entries[0].number())))
      throw Error("'" + entry + "' is '" + text + "'\n  expected: " + expected);
  }

  Diffusion Diffusion::tensor(
    const std::string &entry, const std::string &text, const Constants &constants, unsigned int dim, const std::shared_ptr<const Pictures> &pictures)
  {
    const std::string expected = "the entries D_xx, D_xy, D_yy of a symmetric positive definite matrix, in space D_xx, D_xy, D_xz, D_yy, D_yz, "
                                 "D_zz, each a number or an expression in x, y, z";
    Diffusion         result;
    result.entry = entry;
    result.entries.clear();
    for (const std::string &item : split_outside_parentheses(text, ','))
      result.entries.push_back(coefficient_in_space(entry, item, constants, pictures, expected));
    const std::size_t n = result.entries.size();
    if ((n != 3 && n != 6) || (n == 3 && dim == 3))
      throw Error("'" + entry + "' has " + std::to_string(n) + (n == 1 ? " entry" : " entries") + "\n  expected: " + expected);
    if (result.is_constant())
      if (const auto a = result.matrix({}); !is_positive_definite(a, result.dimension()))
        throw Error("'" + entry + "' is '" + text + "', which has the eigenvalue " + number_text(least_eigenvalue(a, result.dimension())) +
                    "\n  expected: " + expected);
    return result;
  }

  Diffusion::Diffusion(const Coefficient &factor, const Diffusion &other, const Constants &constants, const std::shared_ptr<const Pictures> &pictures)
    : Diffusion(other)
  {
    if (factor.is_number())
      {
        scale *= factor.number();
        return;
      }
    if (entry.empty())
      entry = factor.entry_name();
    for (Coefficient &a : entries)
      a = Coefficient(factor.entry_name(),
                      a.expression() == "1" ? factor.expression() : "(" + factor.expression() + ")*(" + a.expression() + ")",
                      constants,
                      pictures);
  }

  bool Diffusion::is_constant() const
  {
    return std::all_of(entries.begin(), entries.end(), [](const Coefficient &a) { return a.is_number(); });
  }

  dealii::SymmetricTensor<2, 3> Diffusion::matrix(const dealii::Point<3> &x) const
  {
    dealii::SymmetricTensor<2, 3> result;
    if (!is_tensor())
      {
        const double a = value(x);
        for (unsigned int d = 0; d < 3; ++d)
          result[d][d] = a;
        return result;
      }
    unsigned int i = 0;
    for (unsigned int d = 0; d < dimension(); ++d)
      for (unsigned int e = d; e < dimension(); ++e)
        result[d][e] = scale * entries[i++].value(x);
    return result;
  }

  std::optional<double> Diffusion::ratio_to(const Diffusion &other) const
  {
    if (entries.size() != other.entries.size() || is_zero() || other.is_zero())
      return std::nullopt;
    const bool   constant = is_constant() && other.is_constant();
    const double ratio    = scale / other.scale * (constant ? entries[0].number() / other.entries[0].number() : 1.); // xx is positive
    for (std::size_t i = 0; i < entries.size(); ++i)
      if (const Coefficient &a = entries[i], &b = other.entries[i];
          constant ? !(std::abs(scale * a.number() - ratio * other.scale * b.number()) <= 1e-14 * std::abs(scale * entries[0].number()))
                   : a.expression() != b.expression())
        return std::nullopt;
    return ratio;
  }

  std::vector<NamedExpression> Diffusion::expressions() const
  {
    std::vector<NamedExpression> result;
    for (const Coefficient &a : entries)
      result.push_back({entry.empty() ? "diffusion" : entry,
                        a.is_number() ? to_expression(scale * a.number())
                        : scale == 1. ? a.expression()
                                      : to_expression(scale) + "*(" + a.expression() + ")"});
    return result;
  }

  std::string Diffusion::description(const std::string &field) const
  {
    if (is_zero())
      return "";
    if (!is_tensor() && is_constant())
      return to_string(value({})) + " laplace " + field;
    const auto all = expressions();
    if (!is_tensor())
      return "div((" + shortened(all[0].text) + ") grad " + field + ")";
    std::string        rows;
    const unsigned int n = dimension();
    for (unsigned int d = 0; d < n; ++d)
      for (unsigned int e = 0; e < n; ++e)
        rows += (e > 0 ? ", " : d > 0 ? "; " : "") + shortened(all[tensor_entry(d, e, n)].text);
    return "div([" + rows + "] grad " + field + ")";
  }

  double least_eigenvalue(const dealii::SymmetricTensor<2, 3> &a, unsigned int dim)
  {
    if (dim == 3)
      return dealii::eigenvalues(a)[2];
    const double mean = (a[0][0] + a[1][1]) / 2.;
    return mean - std::hypot((a[0][0] - a[1][1]) / 2., a[0][1]);
  }

  bool is_positive_definite(const dealii::SymmetricTensor<2, 3> &a, unsigned int dim)
  {
    const double second = a[0][0] * a[1][1] - a[0][1] * a[0][1];
    const bool   plane  = a[0][0] > 0. && second > 0. && std::isfinite(second);
    if (dim == 2)
      return plane;
    const double third = dealii::determinant(a);
    return plane && third > 0. && std::isfinite(third);
  }
} // namespace leopard
