// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kinetics.h"

#include <applications/symbolic/differentiate.h>

#include <mpi.h>

namespace leopard
{
  /** Kinetics that a user has written as expressions; the derivatives are formed symbolically. */
  class ExpressionKinetics : public Kinetics
  {
  public:
    /**
     * @param species their names, @param reactions one expression for each, with the entry that has it
     * @param comm all of whose ranks call this and get the same operations, those of rank 0: GiNaC's order of terms differs between processes.
     * @throws Error naming the entry for whatever is wrong with an expression or a name.
     */
    ExpressionKinetics(const std::vector<std::string>     &species,
                       const std::vector<NamedExpression> &reactions,
                       const Constants                    &constants,
                       MPI_Comm                            comm = MPI_COMM_SELF);

    std::vector<std::string> species() const override { return names; }
    std::string              formula() const override { return formulas; }
    void                     evaluate(unsigned int n_nodes, const double *u, double *rates, double *jacobian) const override;

    const reaction_diffusion::ExpressionTape *tape() const override { return &compiled.both; }

  private:
    std::vector<std::string>  names;
    std::string               formulas;
    DifferentiatedExpressions compiled;
  };

  /**
   * Reads "u, v, w". @throws Error naming the entry 'Turing/Species' for a name that is none, stands twice, or cannot be told from the
   * coordinates x, y, z and the time t of other expressions.
   */
  std::vector<std::string> read_species(const std::string &text);
} // namespace leopard
