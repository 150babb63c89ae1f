// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "places.h"

#include <applications/symbolic/differentiate.h>

#include <mpi.h>

#include <memory>
#include <string>
#include <vector>

namespace leopard
{
  class Pictures;

  /**
   * Expressions f_1 ... f_m in fields u_1 ... u_n, and if they name them in x, y, z, t and pictures; derivatives by the
   * fields are formed symbolically. Dimensionless.
   */
  class FieldExpressions
  {
  public:
    /**
     * @param fields their names, @param expressions with the entries that have them, @param pictures that they may
     * name
     * @param comm all of whose ranks call this and get the same operations, those of rank 0: GiNaC's order of terms
     * differs between processes.
     * @throws Error naming the entry for whatever is wrong with an expression or a name.
     */
    FieldExpressions(const std::vector<std::string>     &fields,
                     const std::vector<NamedExpression> &expressions,
                     const Constants                    &constants,
                     MPI_Comm                            comm     = MPI_COMM_SELF,
                     std::shared_ptr<const Pictures>     pictures = nullptr);

    /**
     * At many nodes. @param u host, n_nodes * n, the fields of a node side by side, @param values gets f_i at
     * [node * m + i], @param derivatives gets df_i/du_d at [(node * m + i) * n + d]; either may be nullptr.
     */
    void evaluate(unsigned int n_nodes, const double *u, double *values, double *derivatives, const Places &places = {}) const;

    /** Whether one of them depends on x or t. */
    bool depends_on_place() const { return compiled.values.n_inputs > n_fields; }

    const std::vector<NamedExpression> &expressions() const { return texts; }

    /** Values as a program; its inputs are the fields and, where one depends on them, names_of_places(). */
    const reaction_diffusion::ExpressionTape &value_tape() const { return compiled.values; }
    /** Values and derivatives as one program. */
    const reaction_diffusion::ExpressionTape &tape() const { return compiled.both; }

  private:
    unsigned int                    n_fields;
    std::vector<NamedExpression>    texts;
    std::shared_ptr<const Pictures> pictures;
    DifferentiatedExpressions       compiled;
  };
} // namespace leopard
