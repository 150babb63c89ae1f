// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../matrix/crs_matrix.h"

#include <Eigen/SparseCholesky>
#include <Eigen/SparseLU>

#include <string>
#include <vector>

namespace leopard
{
  /**
   * Sparse factors, in host memory (Eigen): LU, or Cholesky's where they may be, are cheap (see cholesky_operations()),
   * and the matrix is symmetric and positive definite. Of a singular matrix one free unknown is set to zero, and means
   * are taken out before and after.
   */
  class SparseFactors
  {
  public:
    /** @param may_be_cholesky where solve() may allocate. @throws InvalidInput for a singular matrix. */
    SparseFactors(const CrsMatrix<double> &A, bool singular, bool may_be_cholesky);

    /** Other values; where the pattern is the same, its analysis stays. @throws InvalidInput. */
    void update(const CrsMatrix<double> &A, bool singular);

    /** x and b of any number of columns; b is not what it was afterwards. */
    void solve(Eigen::Ref<Eigen::MatrixXd> x, Eigen::Ref<Eigen::MatrixXd> b) const;

    /** "LU", "Cholesky". */
    std::string name() const { return is_cholesky ? "Cholesky" : "LU"; }

  private:
    using Matrix = Eigen::SparseMatrix<double>;

    /** operations(): analyzes the pattern, see cholesky_operations(). */
    struct Cholesky : Eigen::SimplicialLLT<Matrix>
    {
      double operations(const Matrix &pattern);
    };
    friend double cholesky_operations(const CrsMatrix<double> &A);

    void set_pattern(const CrsMatrix<double> &A, bool singular);
    void find_free_rows(const CrsMatrix<double> &A);
    void remove_means(Eigen::Ref<Eigen::MatrixXd> v) const;

    const int               n;
    const bool              may_be_cholesky;
    bool                    has_cholesky = false, is_cholesky = false, lu_analyzed = false;
    int                     n_entries = 0, pinned = -1;
    Eigen::VectorXd         free; ///< singular: one in the rows that count
    Matrix                  matrix;
    std::vector<int>        source; ///< of each of its values the entry of A
    Eigen::SparseLU<Matrix> lu;
    Cholesky                cholesky;
  };
} // namespace leopard
