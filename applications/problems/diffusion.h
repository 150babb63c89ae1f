// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "coefficient.h"

#include <deal.II/base/symmetric_tensor.h>

#include <optional>
#include <string>
#include <vector>

namespace leopard
{
  /**
   * How a field diffuses, a in div(a grad u): a positive number (or zero: it does not), an expression in x, y, z, or a
   * symmetric positive definite matrix (a tensor) of these, by which it diffuses faster in one direction than in
   * another. Dimensionless.
   */
  class Diffusion
  {
  public:
    explicit Diffusion(double number = 1.)
      : entries({Coefficient(number)})
    {
    }

    /**
     * Of the entry "Turing/Diffusion u". @param may_be_zero whether a number may be. @throws Error for a number
     * that is not positive, and for an expression in t.
     */
    Diffusion(const std::string                     &entry,
              const std::string                     &text,
              const Constants                       &constants,
              const std::shared_ptr<const Pictures> &pictures    = nullptr,
              bool                                   may_be_zero = false);

    /**
     * Of "D_xx, D_xy, D_yy", or in space "D_xx, D_xy, D_xz, D_yy, D_yz, D_zz". @param dim of the domain, 3 asks for six
     * entries. @throws Error, also if they are numbers and not positive definite.
     */
    static Diffusion tensor(const std::string                     &entry,
                            const std::string                     &text,
                            const Constants                       &constants,
                            unsigned int                           dim,
                            const std::shared_ptr<const Pictures> &pictures = nullptr);

    /** factor times another one, entry by entry; messages name the factor's entry. */
    Diffusion(const Coefficient                     &factor,
              const Diffusion                       &other,
              const Constants                       &constants,
              const std::shared_ptr<const Pictures> &pictures = nullptr);

    bool is_tensor() const { return entries.size() > 1; }
    /** 1 of what is no tensor; 2 or 3 of a tensor in so many dimensions. */
    unsigned int dimension() const { return entries.size() == 6 ? 3 : entries.size() == 3 ? 2 : 1; }
    /** Whether the field does not diffuse. */
    bool is_zero() const { return !is_tensor() && (scale == 0. || (entries[0].is_number() && entries[0].number() == 0.)); }
    /** Whether it does not depend on the place. */
    bool is_constant() const;

    /** Of what is no tensor. */
    double value(const dealii::Point<3> &x) const { return scale * entries[0].value(x); }
    /** a as a matrix; a number times the unit matrix if it is no tensor. What lies beyond its dimension is zero. */
    dealii::SymmetricTensor<2, 3> matrix(const dealii::Point<3> &x) const;

    /**
     * r with a = r times the other's a at all places, if there is one that can be told from numbers and equal texts.
     */
    std::optional<double> ratio_to(const Diffusion &other) const;

    /** One expression, or those of a tensor. */
    std::vector<NamedExpression> expressions() const;
    /** "2 laplace u", "div((1 + x) grad u)", "div([2, 0; 0, 1] grad u)"; empty for zero. */
    std::string        description(const std::string &field) const;
    const std::string &entry_name() const { return entry; }

  private:
    std::string              entry;
    std::vector<Coefficient> entries;
    double                   scale = 1.; ///< of all entries
  };

  /** The least eigenvalue of the first dim rows and columns of a matrix. */
  double least_eigenvalue(const dealii::SymmetricTensor<2, 3> &a, unsigned int dim);

  /** Whether all leading minors of the first dim rows and columns of a matrix are finite and positive (Sylvester). */
  bool is_positive_definite(const dealii::SymmetricTensor<2, 3> &a, unsigned int dim);
} // namespace leopard
