// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <applications/reaction_diffusion/grid/node_grid.h>
#include <applications/reaction_diffusion/rules/controller.h>
#include <solvers/matrix/blocks.h>
#include <solvers/matrix/crs_matrix.h>

#include <vector>

namespace leopard::reaction_diffusion
{
  /**
   * The Laplacian at the nodes of a mesh of any kind, with zero flux or none through its boundary, divided by the
   * lumped mass m:
   *
   *   (laplace u)_i = - sum_j matrix_ij u_j,   matrix_ij = K_ij / m_i,   K_ij = integral of grad phi_i . grad phi_j,
   *
   * rows that sum to zero. Beside nodes that have values prescribed, and are left out, K_ii is larger than that by
   * m_i decay_i: the equation has laplace u - decay u there. Host memory. Of several ranks one has the rows of its own
   * nodes, and columns of ghosts behind theirs.
   */
  struct MeshLaplacian
  {
    CrsMatrix<double>   matrix;        ///< 1 / length^2, dimensionless
    std::vector<double> weight;        ///< m_i over the largest of them
    std::vector<double> decay;         ///< of the nodes, 1 / length^2; empty: zero
    std::vector<double> coordinates;   ///< of the nodes, `dimension` numbers each, for compact blocks; empty: METIS makes blocks, which takes longer
    int                 dimension = 2; ///< numbers a node in coordinates
    std::vector<int>    finest_node;   ///< of a coarser level: NodeRow::node of its nodes; empty: they are nodes of the mesh themselves

    int n_nodes() const { return matrix.n_rows; }
    /**
     * @param ghosts whether there may be columns of ghosts. @throws InvalidInput for a matrix that is not valid or not
     * square, rows that do not sum to zero up to rounding, weights that are not in (0, 1], decay that is not finite, or
     * coordinates of another number of nodes.
     */
    void validate(bool ghosts = false) const;
    /** The largest sum of the absolute values of a row's entries beside the diagonal. */
    double largest_row() const;
    /** The largest NodeRow::excess. */
    double largest_excess() const;
    /** Blocks of at most block_size nodes that are near each other. */
    Partition blocks(int block_size) const;
    /** Of node i. Up to rounding, the excess is zero where no entry beside the diagonal is positive. */
    NodeRow row(int i) const;
  };

  /** That of a grid. */
  MeshLaplacian laplacian_of(const NodeGrid &grid);
} // namespace leopard::reaction_diffusion
