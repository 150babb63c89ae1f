// SPDX-License-Identifier: Apache-2.0
#include "diffusion_matrix.h"

#include "field_transport.h"
#include "found_value.h"
#include "problem.h"

#include <applications/base/log.h>
#include <applications/symbolic/nesting.h>
#include <solvers/base/errors.h>
#include <solvers/base/words.h>

#include <deal.II/lac/lapack_full_matrix.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace leopard
{
  namespace
  {
    constexpr double rounding_of_matrix = 1e-12; ///< of a matrix, against its largest entry

    double largest_of(const std::vector<double> &matrix)
    {
      double largest = 0.;
      for (const double entry : matrix)
        largest = std::max(largest, std::abs(entry));
      return largest;
    }

    /** Whether diagonal entries are above the sum of the others of their rows, or all of their columns: Gershgorin. */
    bool is_dominant(const std::vector<double> &D, unsigned int n)
    {
      bool by_rows = true, by_columns = true;
      for (unsigned int c = 0; c < n; ++c)
        {
          double row = 0., column = 0.;
          for (unsigned int d = 0; d < n; ++d)
            {
              row += d == c ? 0. : std::abs(D[c * n + d]);
              column += d == c ? 0. : std::abs(D[d * n + c]);
            }
          by_rows    = by_rows && D[c * n + c] > row;
          by_columns = by_columns && D[c * n + c] > column;
        }
      return by_rows || by_columns;
    }

    /** Directions in which a matrix of diffusion is least and largest. */
    std::vector<dealii::Tensor<1, 3>> axes_of(const Diffusion &diffusion, const dealii::Point<3> &x)
    {
      std::vector<dealii::Tensor<1, 3>> axes;
      for (const auto &[value, axis] : dealii::eigenvectors(diffusion.matrix(x)))
        if (diffusion.dimension() == 3 || std::abs(axis[2]) < 0.5) // in the plane the third one is none
          axes.push_back(axis);
      return axes;
    }
  } // namespace

  std::vector<std::complex<double>> diffusion_eigenvalues(const std::vector<double> &matrix, unsigned int n)
  {
    // LAPACK ends the program over what is not finite
    if (!std::all_of(matrix.begin(), matrix.end(), [](double entry) { return std::isfinite(entry); }))
      return std::vector<std::complex<double>>(n, std::numeric_limits<double>::quiet_NaN());
    dealii::LAPACKFullMatrix<double> A(n);
    for (unsigned int c = 0; c < n; ++c)
      for (unsigned int d = 0; d < n; ++d)
        A(c, d) = matrix[c * n + d];
    A.compute_eigenvalues();
    std::vector<std::complex<double>> values(n);
    for (unsigned int c = 0; c < n; ++c)
      values[c] = A.eigenvalue(c);
    std::sort(values.begin(), values.end(), [](const auto &a, const auto &b) {
      return a.real() < b.real() || (a.real() == b.real() && a.imag() < b.imag());
    });
    return values;
  }

  DiffusionMatrix::DiffusionMatrix(const Problem &problem_)
    : problem(problem_)
    , n_fields(problem_.fields().size())
    , may_be_zero(!problem_.quasi_stationary().empty())
  {
    for (unsigned int c = 0; c < n_fields; ++c)
      may_be_zero = may_be_zero || problem.does_not_diffuse(c);
  }

  bool DiffusionMatrix::is_there() const
  {
    return problem.transport() != nullptr && !problem.transport()->cross_terms().empty();
  }

  bool DiffusionMatrix::depends_on_fields() const
  {
    const std::vector<std::string> fields = problem.fields();
    for (const FieldTransport::CrossTerm &term : problem.transport()->cross_terms())
      for (const std::string &field : fields)
        if (is_named(field, problem.transport()->coefficients().expressions()[term.expression].text))
          return true;
    return false;
  }

  bool DiffusionMatrix::is_constant() const
  {
    return problem.has_constant_coefficients() && !problem.transport()->coefficients().depends_on_place() && !depends_on_fields();
  }

  std::vector<double> DiffusionMatrix::without_quasi_stationary(std::vector<double> D, unsigned int &n) const
  {
    const double              least = rounding_of_matrix * largest_of(D);
    std::vector<unsigned int> left;
    for (unsigned int c = 0; c < n_fields; ++c)
      if (!problem.is_quasi_stationary(c))
        left.push_back(c);
    for (const unsigned int s : problem.quasi_stationary())
      {
        const double pivot = D[s * n_fields + s];
        if (!(std::abs(pivot) > least)) // the reaction decides, as of a system that stands for an equation of fourth order
          return {};
        for (unsigned int c = 0; c < n_fields; ++c)
          if (const double factor = D[c * n_fields + s] / pivot; c != s && factor != 0.)
            for (unsigned int d = 0; d < n_fields; ++d)
              D[c * n_fields + d] -= factor * D[s * n_fields + d];
      }
    n = left.size();
    std::vector<double> rest;
    for (const unsigned int c : left)
      for (const unsigned int d : left)
        rest.push_back(D[c * n_fields + d]);
    return rest;
  }

  bool DiffusionMatrix::is_right(const std::vector<double> &D, unsigned int n) const
  {
    if (is_dominant(D, n)) // at most places, and soon seen
      return true;
    const double scale = largest_of(D);
    const auto   right = [&](double value) { return may_be_zero ? value >= -rounding_of_matrix : value > 0.; }; // of values over the scale
    if (scale == 0.)
      return may_be_zero;
    if (n == 2) // the real parts are positive where trace and determinant are
      {
        const double a = D[0] / scale, b = D[1] / scale, c = D[2] / scale, d = D[3] / scale;
        return right(a + d) && right(a * d - b * c);
      }
    return right(diffusion_eigenvalues(D, n).front().real() / scale);
  }

  std::vector<std::complex<double>> DiffusionMatrix::wrong_at(const dealii::Point<3> &x, const double *coefficients) const
  {
    std::vector<dealii::Tensor<1, 3>> directions;
    for (unsigned int c = 0; c < n_fields; ++c)
      if (const Diffusion *const tensor = problem.diffusion_tensor(c); tensor != nullptr)
        for (const auto &axis : axes_of(*tensor, x))
          directions.push_back(axis);
    if (directions.empty())
      directions.emplace_back();
    for (const dealii::Tensor<1, 3> &direction : directions)
      {
        std::vector<double> D(n_fields * n_fields, 0.);
        for (unsigned int c = 0; c < n_fields; ++c)
          {
            const Diffusion *const tensor = problem.diffusion_tensor(c);
            D[c * n_fields + c]           = tensor != nullptr             ? direction * (tensor->matrix(x) * direction)
                                            : problem.does_not_diffuse(c) ? 0.
                                                                          : problem.diffusion(c, x);
          }
        for (const FieldTransport::CrossTerm &term : problem.transport()->cross_terms())
          D[term.field * n_fields + term.partner] += coefficients[term.expression];
        unsigned int              n    = n_fields;
        const std::vector<double> rest = problem.quasi_stationary().empty() ? D : without_quasi_stationary(D, n);
        if (!rest.empty() && !is_right(rest, n))
          return diffusion_eigenvalues(rest, n);
      }
    return {};
  }

  std::string DiffusionMatrix::message(const std::vector<std::complex<double>> &eigenvalues, const std::string &where, const std::string &how) const
  {
    std::vector<std::string> entries, values;
    for (const FieldTransport::CrossTerm &term : problem.transport()->cross_terms())
      {
        const NamedExpression &expression = problem.transport()->coefficients().expressions()[term.expression];
        entries.push_back("'" + expression.entry + "' = " + shortened(expression.text));
      }
    for (const std::complex<double> &value : eigenvalues)
      values.push_back(value.imag() == 0. ? format("%.6g", value.real())
                                          : format("%.6g %c %.6g i", value.real(), value.imag() < 0. ? '-' : '+', std::abs(value.imag())));
    return "the diffusion of " + joined(problem.fields()) + " with " + joined(entries) + (entries.size() > 1 ? " make" : " makes") +
           " a diffusion matrix with the " + (values.size() > 1 ? "eigenvalues " : "eigenvalue ") + joined(values) + where +
           ": where one has a negative real part disturbances grow the faster the shorter they are, and no mesh is fine enough for them\n  " + how +
           ": eigenvalues with a positive real part, so a smaller cross-diffusion against the fields' own diffusion, or other signs";
  }

  void DiffusionMatrix::check_constants() const
  {
    if (!is_there() || !is_constant())
      return;
    const std::vector<double> no_fields(n_fields, 0.);
    std::vector<double>       coefficients(problem.transport()->coefficients().expressions().size());
    problem.transport()->coefficients().evaluate(1, no_fields.data(), coefficients.data(), nullptr);
    if (const auto wrong = wrong_at({}, coefficients.data()); !wrong.empty())
      throw Error(message(wrong, ""));
  }
} // namespace leopard
