// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../base/rank_sums.h"
#include "../matrix/crs_matrix.h"

#include <vector>

namespace leopard
{
  /** What is left of a vector may be rounding where it is this part of what it was. */
  constexpr double dependent_part = 1e-8;

  /**
   * The nodes of a matrix, each some consecutive rows, and the columns of B, which A maps to zero but for boundary
   * conditions: of elasticity translations and rotations. Host memory, dimensionless.
   */
  struct NearNullSpace
  {
    std::vector<int>    first_row;     ///< of each node its first row, then the number of rows; empty: each row is a node
    int                 n_vectors = 0; ///< columns of B; 0: the constant of each unknown of a node, and all nodes have as many
    std::vector<double> values;        ///< B, n_rows x n_vectors, row after row

    /** @param n_rows of the matrix. */
    int n_nodes(int n_rows) const { return first_row.empty() ? n_rows : static_cast<int>(first_row.size()) - 1; }
    int first_of(int node) const { return first_row.empty() ? node : first_row[node]; }
    /** Whether a node is a row and B the constant, so that nothing is to be looked up. */
    bool is_scalar() const { return first_row.empty() && n_vectors == 0; }
  };

  /**
   * Nodes of block_unknowns rows, and an orthonormal basis of the span of vectors: so that neither their lengths nor
   * which of them are given makes a difference. What is a combination of those before it is left out.
   * @param vectors n_rows finite numbers each; none: the constant of each unknown of a node. @param ranks where each
   * rank gives its own rows: collective, and then check_near_null_space() must come before it.
   * @throws InvalidInput as check_near_null_space(), or where all vectors are zero.
   */
  NearNullSpace
  make_near_null_space(int n_rows, int block_unknowns, const std::vector<std::vector<double>> &vectors, const RankSums &ranks = RankSums());

  /**
   * @throws InvalidInput where block_unknowns does not divide n_rows, a vector has another length or a number that is
   * not finite.
   */
  void check_near_null_space(int n_rows, int block_unknowns, const std::vector<std::vector<double>> &vectors);

  /** The node of each row; empty where each row is a node. */
  std::vector<int> nodes_of_rows(const NearNullSpace &space);

  /**
   * How nodes are coupled, as a matrix of one row a node: the trace of B_I^T A_IJ B_J, of the constants that of A_IJ.
   * With one unknown and the constant it is A. So entries have a sign, rows sum to zero where A B = 0, and neither
   * another basis of the span of B, if orthonormal, nor other directions of the coordinates change anything; the blocks
   * of elasticity have the traces of the Laplacian's entries. Not a norm, which has no sign. Nodes of ghosts are
   * columns. @param space of A's columns.
   */
  CrsMatrix<double> couplings_of_nodes(const CrsMatrix<double> &A, const NearNullSpace &space, int n_threads = 1);

  /** P_0 and R of tentative_prolongation(). */
  struct TentativeProlongation
  {
    CrsMatrix<double> prolongation; ///< P_0
    NearNullSpace     coarse;       ///< an aggregate a node, B = R; each has as many unknowns as independent columns of B
  };

  /**
   * P_0 R = B in the rows of aggregates. Of constants P_0 is 1 in the column of the row's unknown in its aggregate, and
   * R are constants again. Of vectors the rows of B in an aggregate are Q R by Gram and Schmidt, so that P_0^T P_0 = I;
   * a column of B that is, but for 1e-8 of it, a combination of those before it there has no column in Q. Vanek,
   * Mandel, Brezina 1996, Algorithm 5.2.
   * @param of_row of each row its aggregate, numbered from 0 to n - 1; -1: in none, a zero row of P_0.
   */
  TentativeProlongation tentative_prolongation(const std::vector<int> &of_row, int n, const NearNullSpace &space, int n_threads = 1);

  /**
   * An orthonormal basis of what is in the span of B and A maps to zero but for rounding, row_sum_rounding of the
   * absolute values that are summed up: the motions of a body that nothing holds. n_rows numbers each.
   */
  std::vector<std::vector<double>> free_motions(const CrsMatrix<double> &A, const NearNullSpace &space);

  /**
   * A + alpha sum of v v^T, alpha the mean of A's diagonal: of orthonormal v that A maps to zero it is regular where A
   * is not else singular, and solves A x = b for b orthogonal to them, x too, if A is symmetric. Dense.
   */
  CrsMatrix<double> with_held_motions(const CrsMatrix<double> &A, const std::vector<std::vector<double>> &motions);
} // namespace leopard
