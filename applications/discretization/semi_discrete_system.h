// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <solvers/dealii/trilinos_matrix.h>

#include <vector>

namespace leopard
{
  /**
   * The matrices and vectors of the semi-discrete problem M du/dt + K u = F(t) + m r(u). Unknowns are interleaved:
   * component c of scalar degree of freedom i is unknown C*i + c, so that the fields of a node stand together.
   * Constrained unknowns (hanging nodes, boundary values, periodic copies) have a positive diagonal entry and nothing
   * else in their rows and columns; m and F are zero there, and m nowhere else.
   */
  struct SemiDiscreteSystem
  {
    HostMatrix          stiffness;   ///< K: diffusion and absorption, symmetric, positive semidefinite
    HostMatrix          mass;        ///< M, same sparsity pattern, zero of quasi-stationary fields; time-dependent problems only
    HostVector          lumped_mass; ///< m: integrals of the (conforming) shape functions, for the reaction at the nodes
    HostVector          load;        ///< F: sources, fluxes, and what inhomogeneous boundary values leave in the free rows
    HostVector          weight;      ///< integrals of the shape functions, of prescribed values, too, where m is zero; for means
    std::vector<double> sources;     ///< of each field the sum of F without the part of boundary values; that of the rank's cells
  };
} // namespace leopard
