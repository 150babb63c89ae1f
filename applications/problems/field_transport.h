// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "field_expressions.h"

#include <deal.II/base/tensor.h>

#include <string>
#include <vector>

namespace leopard
{
  /**
   * What carries n fields beside their own diffusion: the flux of field c
   *
   *   J_c = -sum_d C_cd(u, x, t) grad u_d + v_c(u, x, t) u_c,
   *
   * whose divergence is subtracted from du_c/dt. C_cd with d != c is cross-diffusion, of which chemotaxis is one, C_cd
   * =
   * -chi u_c (Keller and Segel, J. Theor. Biol. 30 (1971) 225); C_cc is added to the field's own diffusion; v_c is a
   * velocity. Expressions in the fields, x, y, z, t, constants and pictures. Dimensionless.
   */
  class FieldTransport
  {
  public:
    /** Values of entries, one a field; empty texts for what is not there. */
    struct Texts
    {
      std::vector<std::string> cross_diffusion; ///< "v: -chi*u, w: 0.1"
      std::vector<std::string> advection;       ///< "v_x, v_y", in space "v_x, v_y, v_z"

      /** Whether there is none. */
      bool empty() const;
    };

    /**
     * @param section of the entries "Cross-diffusion FIELD" and "Advection FIELD", for messages; @param dim of the
     * domain, 3 asks for three components; the others as of FieldExpressions. @throws Error naming the entry.
     */
    FieldTransport(const std::string                     &section,
                   const std::vector<std::string>        &fields,
                   const Texts                           &texts,
                   unsigned int                           dim,
                   const Constants                       &constants,
                   MPI_Comm                               comm     = MPI_COMM_SELF,
                   const std::shared_ptr<const Pictures> &pictures = nullptr);

    /** The coefficient C of a field and its partner. */
    struct CrossTerm
    {
      unsigned int field, partner;
      unsigned int expression; ///< which
    };
    /** The velocity of a field. */
    struct AdvectionTerm
    {
      unsigned int field, dimension;
      unsigned int expression; ///< that of the x component; those of the others follow
    };
    const std::vector<CrossTerm>     &cross_terms() const { return cross; }
    const std::vector<AdvectionTerm> &advection_terms() const { return advection; }

    /** All coefficients, in the order of `expression` above. */
    const FieldExpressions &coefficients() const { return compiled; }

    /** Whether the flux of field c depends on field d or its gradient. */
    bool couples(unsigned int c, unsigned int d) const;

    /** "+ div((-chi*u) grad v) - div((1, 0) u)", the terms of du_c/dt. */
    std::string description(unsigned int c) const;

    /** The flux for small disturbances of fields that are constant. */
    struct Linearized
    {
      std::vector<double>               diffusion; ///< C_cd at c n + d
      std::vector<dealii::Tensor<1, 3>> drift;     ///< d(v_c u_c)/du_d at c n + d; empty without advection
    };
    /** At values of the fields and a place. */
    Linearized linearize(const std::vector<double> &u, const Places &place) const;

    /**
     * Entry and value of the first coefficient that is not finite at many places, as a message; empty: of none.
     * @param u, places as of FieldExpressions::evaluate().
     */
    std::string complaint(unsigned int n_places, const double *u, const Places &places) const;

  private:
    std::vector<NamedExpression> read(const std::string &section, const Texts &texts, unsigned int dim);
    void                         read_cross_diffusion(const std::string &entry, const std::string &text, unsigned int c);
    void                         read_advection(const std::string &entry, const std::string &text, unsigned int c, unsigned int dim);

    std::vector<std::string>     fields;
    std::vector<CrossTerm>       cross;
    std::vector<AdvectionTerm>   advection;
    std::vector<NamedExpression> texts; ///< as they are read
    FieldExpressions             compiled;
  };
} // namespace leopard
