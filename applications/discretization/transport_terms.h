// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "transport_findings.h"

#include <solvers/dealii/trilinos_matrix.h>

#include <string>

namespace leopard
{
  /**
   * Cross-diffusion and advection, see FieldTransport, on a mesh: what they add to the rates of change, for shape
   * functions phi_i and fields c,
   *
   *   R_ic(u) = integral of (-sum_d C_cd grad u_d + (v_c u_c - A_c grad u_c)) . grad phi_i,
   *
   * by the quadrature of the stiffness matrix. The sum over all i is zero: mass is conserved, and nothing flows through
   * the boundary. With finite differences C_cd grad u_d has the mean of C_cd at both ends of an edge, and advection is
   * central differences.
   *
   * Of elements of degree 1 A_c = a (xi coth xi - 1) v v^T / |v|^2, xi = |v| h / (2 a), is a diffusion along v, a the
   * field's own one in this direction and h the length of the cell in it. That makes the scheme of Scharfetter and
   * Gummel (IEEE Trans. Electron Devices 16 (1969) 64) in one dimension: of second order for h -> 0, as A is of the
   * size |v|^2 h^2 / (12 a), and upwind where advection is strong against diffusion (Brooks and Hughes, Comput. Methods
   * Appl. Mech. Eng. 32 (1982) 199, equation (3.3.2), without the weight of the other terms). A higher degree has none.
   *
   * Vectors are those of the unknowns, own entries only.
   */
  class TransportTerms
  {
  public:
    virtual ~TransportTerms() = default;

    /**
     * r = R(u), zero of constrained unknowns. @param u of which constrained entries are not looked at, @param length of
     * a domain that grows, L of Growth: velocities are then those of the domain as it is, and R that of the equation
     * times L^2. Where a coefficient is not finite r is NaN. Collective.
     */
    virtual void rates(const HostVector &u, double t, double length, HostVector &r) = 0;

    /**
     * T = dR/du, but that the change of A with u is left out; rows and columns of constrained unknowns are zero.
     * @param T with the sparsity pattern of the stiffness matrix. @return whether all of it is finite. Collective.
     */
    virtual bool derivative(const HostVector &u, double t, double length, HostMatrix &T) = 0;

    /**
     * Entry, value and place of the first coefficient that is not finite at a quadrature point; empty: of none.
     * Collective.
     */
    virtual std::string complaint(const HostVector &u, double t) = 0;

    /** At all quadrature points, of coefficients that are finite. @param length as of rates(). Collective. */
    virtual TransportFindings findings(const HostVector &u, double t, double length) = 0;
  };
} // namespace leopard
