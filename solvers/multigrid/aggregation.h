// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../base/errors.h"
#include "../exchange/communication.h"
#include "hierarchy.h"
#include "near_null_space.h"

#include <functional>

#include <vector>

namespace leopard
{
  // Measured: benchmarks/results/2026-12-01_host_strength.md.
  constexpr double above_mean = 1.2; ///< see AggregationOptions::strength; dimensionless
  constexpr double followed   = 0.9; ///< likewise

  struct AggregationOptions
  {
    /**
     * Row i is strongly coupled to column j where c_ij > strength min(max(m_i, m_j), above_mean sqrt(m_i m_j)). c_ij is
     * -a_ij, or a_ij below a negative diagonal entry: entries with the sign of the diagonal are weak, but in rows that
     * have no others, where c_ij = abs(a_ij). m_i is the largest c_ij of row i. A row without such a coupling, as
     * beside much larger coefficients, follows others: it is strongly coupled where c_ij > followed m_i, and they are
     * not to it. Aggregates follow strong couplings, and of the matrix that smooths the prolongation weak ones are
     * added to the diagonal. The same on all levels. 0: all entries that are not zero are strong.
     *
     * Not measured against the diagonal, as the paper has it: of trilinear elements in three dimensions no coupling is
     * above 0.0625 of it. Bilinear elements 100 times as long as wide have couplings of 1/4 to the corners, and of -1/2
     * in the direction that is weak. Not against sqrt(m_i m_j) alone: m_i is half as large on a boundary with a given
     * flux, where couplings to the corners would be 0.354.
     */
    double strength       = 0.31;
    int    block_unknowns = 1; ///< unknowns of a node, whose rows follow one another; couplings are those of nodes, couplings_of_nodes()

    /**
     * Vectors v for which A v is zero but near boundaries, a number for each row: of elasticity displacements of a
     * rigid body, dim translations and 1 (2D) or 3 (3D) rotations. Coarse levels have an unknown for each in an
     * aggregate. Empty: the constant of each unknown of a node.
     */
    std::vector<std::vector<double>> near_null_space;

    int max_coarse = 500; ///< rows of a matrix that is not coarsened further
    int max_levels = 20;
    int n_threads  = 0; ///< that make the levels, which do not depend on it; 0: as many as this process may use

    /**
     * Entries of all levels together, of a prolongation, and of the product of a matrix and its prolongation, for each
     * entry of the finest matrix: more of any of these are given up. Of meshes it is hardly two; coarse levels of
     * graphs that spread faster fill up. 0: no limit.
     */
    double most_complexity = 0.;

    /** Whether a node is a row and near the null space is the constant. */
    bool is_scalar() const { return block_unknowns == 1 && near_null_space.empty(); }
    /** Or near it is one vector that is nowhere zero, nor so small or large that its products are no more exact. */
    bool is_like_scalar() const;
    /** Whether levels can be made on a GPU, whose threads have room for the unknowns of a node. */
    bool fits_on_device() const { return block_unknowns <= most_on_device && static_cast<int>(near_null_space.size()) <= most_on_device; }
    static constexpr int most_on_device = 16; ///< unknowns of a node, and vectors
    /** All but block_unknowns and near_null_space, which make_near_null_space() checks. @throws InvalidInput. */
    void validate() const;
  };

  struct Aggregates
  {
    std::vector<int>    of_row; ///< of each row its aggregate, numbered from 0; -1: in none
    int                 n = 0;
    std::vector<char>   follows;  ///< of each node whether its row follows others: AggregationOptions::strength
    CrsMatrix<double>   strong;   ///< A_s: A's strong couplings, the weak ones added to the diagonal of rows that have any
    std::vector<double> diagonal; ///< D: of A_s; of systems of A, as what is added to a block of A_s may nearly cancel entries
    std::vector<double> lost;     ///< (A - A_s) B, n_rows x n_vectors, row after row; empty where B is constant and it is zero
  };

  /**
   * A row that follows no others with all that it is strongly coupled to, where none of them is taken; then rows that
   * are left join the aggregate that they are coupled to most strongly, and those without such an aggregate are one
   * themselves with what is left of their neighbours. Rows without strong couplings, which a smoother solves by itself
   * (such as identity rows of a boundary), are in no aggregate. Vanek, Mandel, Brezina 1996, Algorithm 5.1.
   *
   * Of several unknowns a node, or with vectors, this is done with nodes and couplings_of_nodes(). Rows are in the
   * aggregates of their nodes, but in none where they have no couplings. Of A_s weak couplings to an unknown of other
   * nodes are added to that of the row's own, so that constants lose nothing.
   *
   * A may have ghosts, all unknowns of each of their nodes: then aggregates have rows of one rank only, and a row whose
   * strong couplings are all to ghosts is one itself. @param space of A's columns; @param communication of its ghosts:
   * collective.
   */
  Aggregates aggregate(const CrsMatrix<double>     &A,
                       double                       strength,
                       int                          n_threads     = 1,
                       const NearNullSpace         &space         = {},
                       const Communication<double> &communication = Communication<double>());

  /**
   * Whether a level of n_coarse rows is hardly smaller is decided at three quarters: long elements of elasticity have
   * three unknowns for six.
   */
  bool is_worth_a_level(long n_coarse, long n_fine);

  /** Levels that are given up: AggregationOptions::most_complexity. */
  class LevelsFillUp : public InvalidInput
  {
  public:
    using InvalidInput::InvalidInput;
  };

  /** @param n_entries of what is limited, of a finest matrix with so many. @throws LevelsFillUp. */
  void check_complexity(double n_entries, double n_finest, double most);

  /**
   * Whether the coarsest matrix is one for a coarse solver. @throws LevelsFillUp where levels that fill up are given
   * up, and it has more than three times AggregationOptions::max_coarse rows, as rows of thin bodies hardly coarsen.
   */
  void check_coarsest(long n_rows, const AggregationOptions &options);

  /** @throws InvalidInput where an entry of D, aggregates.diagonal, is zero or not there, in a row of an aggregate. */
  void check_diagonal(const Aggregates &aggregates);

  /**
   * P = (I - omega D^-1 A_s) P_0 - omega D^-1 L: D is aggregates.diagonal, omega = 4 / (3 lambda_max(D^-1 A_s)), and
   * P_0 that of tentative_prolongation(). A row of L is what A_s has lost of A, given to the row's own aggregate as if
   * that moved all nodes whose couplings are weak, L R = (A - A_s) B: so P R = (I - omega D^-1 A) B, and rows that A
   * maps to zero keep B. What an aggregate of lower rank does not reach goes to the first of full rank that the row is
   * strongly coupled to. Of constants L is zero, as weak couplings are added to the diagonal. Rows in no aggregate stay
   * zero. @param tentative where A has ghosts, with a row of P_0 for each of these, too; @param communication of the
   * ghosts: collective.
   * @throws InvalidInput as check_diagonal().
   */
  CrsMatrix<double> smoothed_prolongation(const Aggregates            &aggregates,
                                          const TentativeProlongation &tentative,
                                          int                          n_threads     = 1,
                                          const Communication<double> &communication = Communication<double>());
  /** Of one unknown a node and the constant: P_0 is 1 where a row is in an aggregate. */
  CrsMatrix<double> smoothed_prolongation(const Aggregates &aggregates, int n_threads = 1);

  /**
   * Makes the coarsest matrix A regular: with_held_motions() of its free_motions(). @param is_coarse false: it is the
   * problem's own. @return whether there are any. @throws InvalidInput where there are, and A is the problem's or has
   * many rows.
   */
  bool hold_free_motions(CrsMatrix<double> &A, const NearNullSpace &space, bool is_coarse);

  /** @throws InvalidInput where A is not what aggregation_hierarchy() takes. */
  void check_for_aggregation(const CrsMatrix<double> &A);

  /** P^T A P; A is the problem's matrix, or what the call before has returned. */
  using GalerkinProduct = std::function<CrsMatrix<double>(const CrsMatrix<double> &A, const CrsMatrix<double> &P)>;

  /** By sparse products on threads. @param options AggregationOptions::most_complexity, for n_finest entries. */
  GalerkinProduct galerkin_on_host(const AggregationOptions &options, double n_finest);

  /**
   * Levels for any square matrix by smoothed aggregation (Vanek, Mandel, Brezina, Computing 56 (1996) 179): A_{l-1} =
   * P_l^T A_l P_l, level by level until a matrix has at most max_coarse rows or the next would have hardly fewer. With
   * block_unknowns and near_null_space of systems, whose unknowns differ in kind or are coupled: elasticity. What of
   * their near null space A maps to zero, such as motions of a body that nothing holds, is held on the coarsest level
   * (with_held_motions()), so that A may be singular where b is in its range.
   * @param galerkin none: galerkin_on_host().
   * @throws InvalidInput for options or a matrix that are not valid, one with ghosts, or one of such motions that is
   * not coarsened.
   */
  MultigridHierarchy aggregation_hierarchy(const CrsMatrix<double> &A, const AggregationOptions &options = {}, GalerkinProduct galerkin = {});
} // namespace leopard
