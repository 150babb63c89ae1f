// SPDX-License-Identifier: Apache-2.0
#include "sparse_factors.h"

#include "../base/errors.h"
#include "../matrix/eigenvalues.h"
#include "coarse_solvers.h"

namespace leopard
{
  namespace
  {
    using Matrix = Eigen::SparseMatrix<double>;

    /**
     * The pattern of A; its values are the numbers of A's entries. @param pinned a row and column left out; -1: none.
     */
    Matrix numbered(const CrsMatrix<double> &A, int pinned)
    {
      std::vector<Eigen::Triplet<double>> entries;
      entries.reserve(A.values.size());
      for (int i = 0; i < A.n_rows; ++i)
        for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
          if (const int j = A.columns[p]; i == j || (i != pinned && j != pinned))
            entries.emplace_back(i, j, p);
      Matrix result(A.n_rows, A.n_rows);
      result.setFromTriplets(entries.begin(), entries.end());
      return result;
    }
  } // namespace

  double SparseFactors::Cholesky::operations(const Matrix &pattern)
  {
    analyzePattern(pattern);
    double result = 0.;
    for (Eigen::Index k = 0; k < m_nonZerosPerCol.size(); ++k)
      result += (m_nonZerosPerCol[k] + 1.) * (m_nonZerosPerCol[k] + 1.);
    return result / static_cast<double>(pattern.nonZeros());
  }

  double cholesky_operations(const CrsMatrix<double> &A)
  {
    return SparseFactors::Cholesky().operations(numbered(A, -1));
  }

  SparseFactors::SparseFactors(const CrsMatrix<double> &A, bool singular, bool may_be_cholesky_)
    : n(A.n_rows)
    , may_be_cholesky(may_be_cholesky_)
  {
    update(A, singular);
  }

  void SparseFactors::update(const CrsMatrix<double> &A, bool singular)
  {
    if (n == 0) // a rank's part of a level that others have, perhaps; Eigen divides by the number of rows
      return;
    if (matrix.cols() == 0 || n_entries != A.n_entries() || singular != (pinned >= 0))
      set_pattern(A, singular);
    for (std::size_t q = 0; q < source.size(); ++q)
      matrix.valuePtr()[q] = A.values[source[q]];
    is_cholesky = has_cholesky && !spectrum::find_asymmetry(A).found && spectrum::row_without_positive_diagonal(A) < 0;
    if (is_cholesky)
      {
        cholesky.factorize(matrix);
        is_cholesky = cholesky.info() == Eigen::Success; // else it is not positive definite
      }
    if (is_cholesky)
      return;
    if (!lu_analyzed)
      lu.analyzePattern(matrix);
    lu_analyzed = true;
    lu.factorize(matrix);
    if (lu.info() != Eigen::Success)
      throw InvalidInput("multigrid: the matrix of the coarsest level is singular: " + lu.lastErrorMessage() +
                         "\n  expected: a regular matrix, or one whose null space is the constants");
  }

  void SparseFactors::solve(Eigen::Ref<Eigen::MatrixXd> x, Eigen::Ref<Eigen::MatrixXd> b) const
  {
    if (n == 0)
      return;
    remove_means(b);
    if (pinned >= 0)
      b.row(pinned).setZero();
    if (is_cholesky)
      x = cholesky.solve(b);
    else
      x = lu.solve(b);
    remove_means(x);
  }

  void SparseFactors::set_pattern(const CrsMatrix<double> &A, bool singular)
  {
    n_entries = A.n_entries();
    pinned    = -1;
    if (singular)
      find_free_rows(A);
    matrix = numbered(A, pinned);
    source.assign(matrix.valuePtr(), matrix.valuePtr() + matrix.nonZeros());
    lu_analyzed  = false;
    has_cholesky = may_be_cholesky && !spectrum::find_asymmetry(A).found && cholesky.operations(matrix) <= cheap_cholesky;
  }

  void SparseFactors::find_free_rows(const CrsMatrix<double> &A)
  {
    free = Eigen::VectorXd::Zero(n);
    for (int i = 0; i < n; ++i)
      for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
        if (A.columns[p] != i && A.values[p] != 0.)
          free[i] = 1.;
    for (int i = 0; i < n && pinned < 0; ++i)
      if (free[i] > 0.)
        pinned = i;
  }

  void SparseFactors::remove_means(Eigen::Ref<Eigen::MatrixXd> v) const
  {
    if (pinned >= 0)
      for (Eigen::Index j = 0; j < v.cols(); ++j)
        v.col(j) -= free.dot(v.col(j)) / free.sum() * free;
  }
} // namespace leopard
