// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hierarchy.h"

#include <vector>

namespace leopard
{
  struct AggregationOptions
  {
    /**
     * Row i is strongly coupled to column j where c_ij > strength sqrt(m_i m_j). c_ij is -a_ij, or a_ij below a
     * negative diagonal entry: entries with the sign of the diagonal are weak, but in rows that have no others, where
     * c_ij = abs(a_ij). m_i is the largest c_ij of row i. Aggregates follow strong couplings, and of the matrix that
     * smooths the prolongation weak ones are added to the diagonal. The same on all levels. 0: all entries that are not
     * zero are strong.
     *
     * Not measured against the diagonal, as the paper has it: of trilinear elements in three dimensions no coupling is
     * above 0.0625 of it. Bilinear elements 100 times as long as wide have couplings of 1/4 to the corners, and of -1/2
     * in the direction that is weak.
     */
    double strength   = 0.3;
    int    max_coarse = 500; ///< rows of a matrix that is not coarsened further
    int    max_levels = 20;
    int    n_threads  = 0; ///< that make the levels, which are the same for any number; 0: as many as the machine has

    /** @throws InvalidInput. */
    void validate() const;
  };

  struct Aggregates
  {
    std::vector<int>  of_row; ///< of each row its aggregate, numbered from 0; -1: in none
    int               n = 0;
    CrsMatrix<double> strong; ///< A_s: A's strong couplings, the weak ones added to the diagonal of rows that have any
  };

  /**
   * A row with all that it is strongly coupled to, where none of them is taken; then rows that are left join the
   * aggregate that they are coupled to most strongly, and those without such an aggregate are one themselves with what
   * is left of their neighbours. Rows without strong couplings, which a smoother solves by itself (such as identity
   * rows of a boundary), are in no aggregate. Vanek, Mandel, Brezina 1996, Algorithm 5.1.
   */
  Aggregates aggregate(const CrsMatrix<double> &A, double strength, int n_threads = 1);

  /**
   * P = (I - omega D^-1 A_s) P_0: P_0 is 1 where a row is in an aggregate, D is the diagonal of A_s, and
   * omega = 4 / (3 lambda_max(D^-1 A_s)). Rows of A that sum to zero make rows of P that sum to one. Rows in no
   * aggregate stay zero.
   * @throws InvalidInput where a diagonal entry of A_s is zero or not there, in a row of an aggregate.
   */
  CrsMatrix<double> smoothed_prolongation(const Aggregates &aggregates, int n_threads = 1);

  /** @throws InvalidInput where A is not what aggregation_hierarchy() takes. */
  void check_for_aggregation(const CrsMatrix<double> &A);

  /**
   * Levels for any square matrix by smoothed aggregation (Vanek, Mandel, Brezina, Computing 56 (1996) 179): A_{l-1} =
   * P_l^T A_l P_l, level by level until a matrix has at most max_coarse rows or there are hardly fewer aggregates than
   * rows. One unknown a node; near the null space of A is the constant.
   * @throws InvalidInput for options or a matrix that are not valid, or one with ghosts.
   */
  MultigridHierarchy aggregation_hierarchy(const CrsMatrix<double> &A, const AggregationOptions &options = {});
} // namespace leopard
