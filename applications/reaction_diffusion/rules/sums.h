// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <solvers/base/norms.h>

namespace leopard::reaction_diffusion
{
  /** What the row of a node of -laplace, divided by the lumped mass, says about it. */
  struct NodeRow
  {
    double diagonal;    ///< minus the sum of the entries beside it, since constants have no Laplacian
    double weight;      ///< the lumped mass over the largest one: 1 inside a uniform grid
    double excess = 0.; ///< the sum of the absolute values of the entries beside the diagonal, less the diagonal: 0 if none is positive
    int    node   = 0;  ///< where the caller's arrays have the node; of a coarse level a node of the mesh that stands for it
    double decay  = 0.; ///< MeshLaplacian::decay: the equation has laplace u - decay u in the place of laplace u

    /**
     * What is added to the diagonal in sweeps, and its product with the old value to the right-hand side: with it
     * Jacobi sweeps converge on A = 1 + s (-laplace) for every s > 0, since 2 D - A is dominant (l1-Jacobi: Baker,
     * Falgout, Kolev, Yang, SIAM J. Sci. Comput. 33 (2011) 2864).
     */
    LEOPARD_HOST_DEVICE double damping() const { return 0.5 * excess; }
  };

  /** What an engine reports after an action, sums over all nodes and fields. */
  struct Sums
  {
    double residual = 0.; ///< of (w G)^2, w = m / (product of the mesh sizes): 1 inside, 1/2 on a face, ...
    double squares  = 0.; ///< of u^2
    double history  = 0.; ///< after predict: of (w times the old values' combination)^2; after correct: of (e / scale)^2, e: see Controller
    double change   = 0.; ///< after correct: of (u - u_n)^2
    double negative = 0.; ///< number of values below zero
    double largest  = 0.; ///< after correct: the maximum of (e / scale)^2 over all entries
    double row_rate = 0.; ///< a maximum, 0 if it is negative: of dr_c/du_c + sum over d != c of |dr_c/du_d|, the implicit reaction's rows, plus
                          ///< what diffusion's rows lack to dominance (NodeRow::excess)

    static constexpr int n = 7;

    Sums() = default;

    /** From n numbers in the order above, as kernels add them up. */
    LEOPARD_HOST_DEVICE explicit Sums(const double *part)
      : residual(part[0])
      , squares(part[1])
      , history(part[2])
      , change(part[3])
      , negative(part[4])
      , largest(part[5])
      , row_rate(part[6])
    {
    }

    /** Entry q of the sums over two sets of nodes, from those of each. */
    static LEOPARD_HOST_DEVICE double merge(int q, double a, double b) { return q < n - 2 ? a + b : larger_or_nan(a, b); }

    /** Whether these are sums over fields that can be trusted: all squares in the range of double. */
    LEOPARD_HOST_DEVICE bool are_finite() const { return residual < 1e300 && squares < 1e300 && history < 1e300; }

    LEOPARD_HOST_DEVICE void copy_to(double *part) const
    {
      part[0] = residual;
      part[1] = squares;
      part[2] = history;
      part[3] = change;
      part[4] = negative;
      part[5] = largest;
      part[6] = row_rate;
    }

    LEOPARD_HOST_DEVICE void add(const Sums &other)
    {
      double part[n], theirs[n];
      copy_to(part);
      other.copy_to(theirs);
      for (int q = 0; q < n; ++q)
        part[q] = merge(q, part[q], theirs[q]);
      *this = Sums(part);
    }
  };
} // namespace leopard::reaction_diffusion
