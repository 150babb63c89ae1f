// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <solvers/dealii/trilinos_matrix.h>

#include <vector>

namespace leopard
{
  class Problem;
  struct SemiDiscreteSystem;

  /**
   * The algebraic system of one time step, or of a stationary problem (a = 0):
   *
   *   G(u) = load + history - L u + m r(u) = 0,   L = K + a M,   J(u) = L - m r'(u) = -dG/du.
   *
   * The reaction acts at the nodes, so that J differs from L in the C x C diagonal blocks of the nodes only, and nothing is
   * re-assembled. Knows matrices and vectors, no mesh and no dimension. Constrained unknowns of u must be zero.
   */
  class ImplicitSystem
  {
  public:
    /** Keeps references. Collective. */
    ImplicitSystem(const SemiDiscreteSystem &system, const Problem &problem);

    /** Sets a and recomputes L; does nothing if a is what it was. Then linearize() must follow before the Jacobian is used. */
    void set_mass_factor(double a);

    /** r = G(u). @param history a vector, or nullptr for none. */
    void residual(const HostVector &u, const HostVector *history, HostVector &r) const;

    /** Computes the values of J at u. */
    void linearize(const HostVector &u);

    /** J as of the last linearize(). Without reaction this is L. */
    const HostMatrix &jacobian() const { return matrix; }

    /** ||load + history||_2, the scale that rounding errors of G have. */
    double scale(const HostVector *history, HostVector &workspace) const;

  private:
    const SemiDiscreteSystem &system;
    const Problem            &problem;
    const unsigned int        n; ///< fields
    double                    mass_factor = -1.;
    HostMatrix                linear_part;  ///< L
    HostMatrix                matrix;       ///< J
    std::vector<int>          node_entries; ///< where the entries (n*i+c, n*i+d) of the own rows stand, ordered by i, c, d
  };
} // namespace leopard
