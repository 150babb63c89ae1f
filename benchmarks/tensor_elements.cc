// SPDX-License-Identifier: Apache-2.0
#include "tensor_elements.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

namespace leopard
{
  namespace
  {
    using Rows = std::vector<std::map<int, double>>;

    CrsMatrix<double> to_crs(const Rows &rows, int n_columns)
    {
      CrsMatrix<double> A;
      A.n_rows    = static_cast<int>(rows.size());
      A.n_columns = n_columns;
      for (const auto &row : rows)
        {
          for (const auto &[column, value] : row)
            {
              A.columns.push_back(column);
              A.values.push_back(value);
            }
          A.row_offsets.push_back(A.n_entries());
        }
      return A;
    }

    /**
     * Element matrices on a cell of length 1 and the embedding of a cell's functions in those of its two halves, by
     * nodes.
     */
    struct Element
    {
      std::vector<std::vector<double>> stiffness, mass, embedding; ///< embedding: 2 p + 1 fine nodes by p + 1 coarse ones
    };

    Element element(int degree)
    {
      if (degree == 1)
        return {{{1., -1.}, {-1., 1.}}, {{1. / 3., 1. / 6.}, {1. / 6., 1. / 3.}}, {{1., 0.}, {0.5, 0.5}, {0., 1.}}};
      return {{{7. / 3., -8. / 3., 1. / 3.}, {-8. / 3., 16. / 3., -8. / 3.}, {1. / 3., -8. / 3., 7. / 3.}},
              {{4. / 30., 2. / 30., -1. / 30.}, {2. / 30., 16. / 30., 2. / 30.}, {-1. / 30., 2. / 30., 4. / 30.}},
              {{1., 0., 0.}, {0.375, 0.75, -0.125}, {0., 1., 0.}, {-0.125, 0.75, 0.375}, {0., 0., 1.}}};
    }

    /**
     * A 1D matrix of n_cells cells of length h without the two boundary nodes; zero entries are kept, so that all have
     * one pattern.
     */
    CrsMatrix<double> assemble(const std::vector<std::vector<double>> &cell_matrix, int n_cells, double factor)
    {
      const int p = static_cast<int>(cell_matrix.size()) - 1, n = p * n_cells - 1;
      Rows      rows(n);
      for (int c = 0; c < n_cells; ++c)
        for (int i = 0; i <= p; ++i)
          for (int j = 0; j <= p; ++j)
            if (const int row = p * c + i - 1, column = p * c + j - 1; row >= 0 && row < n && column >= 0 && column < n)
              rows[row][column] += factor * cell_matrix[i][j];
      return to_crs(rows, n);
    }

    CrsMatrix<double> embed(const std::vector<std::vector<double>> &embedding, int n_coarse_cells)
    {
      const int p = static_cast<int>(embedding[0].size()) - 1, n_coarse = p * n_coarse_cells - 1, n = 2 * p * n_coarse_cells - 1;
      Rows      rows(n);
      for (int c = 0; c < n_coarse_cells; ++c)
        for (int i = 0; i <= 2 * p; ++i)
          for (int j = 0; j <= p; ++j)
            if (const int row = 2 * p * c + i - 1, column = p * c + j - 1;
                row >= 0 && row < n && column >= 0 && column < n_coarse && embedding[i][j] != 0.)
              rows[row][column] = embedding[i][j];
      return to_crs(rows, n_coarse);
    }

    /** The Kronecker product: row (i, j) is i * B.n_rows + j. */
    CrsMatrix<double> kronecker(const CrsMatrix<double> &A, const CrsMatrix<double> &B)
    {
      CrsMatrix<double> C;
      C.n_rows    = A.n_rows * B.n_rows;
      C.n_columns = A.n_columns * B.n_columns;
      C.row_offsets.reserve(C.n_rows + 1);
      C.columns.reserve(static_cast<std::size_t>(A.n_entries()) * B.n_entries());
      C.values.reserve(C.columns.capacity());
      for (int i = 0; i < A.n_rows; ++i)
        for (int j = 0; j < B.n_rows; ++j)
          {
            for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
              for (int q = B.row_offsets[j]; q < B.row_offsets[j + 1]; ++q)
                {
                  C.columns.push_back(A.columns[p] * B.n_columns + B.columns[q]);
                  C.values.push_back(A.values[p] * B.values[q]);
                }
            C.row_offsets.push_back(C.n_entries());
          }
      return C;
    }

    CrsMatrix<double> power(const CrsMatrix<double> &A, int dim)
    {
      return dim == 1 ? A : kronecker(power(A, dim - 1), A);
    }

    /** The sum over directions d of the product that has K in direction d and M in the others. */
    CrsMatrix<double> laplacian(const CrsMatrix<double> &K, const CrsMatrix<double> &M, int dim)
    {
      CrsMatrix<double> sum;
      for (int d = 0; d < dim; ++d)
        {
          CrsMatrix<double> term = d == 0 ? K : M;
          for (int e = 1; e < dim; ++e)
            term = kronecker(term, d == e ? K : M);
          if (d == 0)
            sum = std::move(term);
          else
            std::transform(sum.values.begin(), sum.values.end(), term.values.begin(), sum.values.begin(), std::plus<>());
        }
      return sum;
    }
  } // namespace

  MultigridHierarchy tensor_element_hierarchy(int dim, int degree, int n_cells, int coarsest_cells)
  {
    const Element    e     = element(degree);
    std::vector<int> cells = {n_cells};
    while (cells.back() > coarsest_cells && cells.back() % 2 == 0)
      cells.push_back(cells.back() / 2);
    std::reverse(cells.begin(), cells.end());

    MultigridHierarchy hierarchy;
    for (std::size_t l = 0; l < cells.size(); ++l)
      {
        const double   h = static_cast<double>(n_cells) / cells[l];
        MultigridLevel level;
        level.matrix = laplacian(assemble(e.stiffness, cells[l], 1. / h), assemble(e.mass, cells[l], h), dim);
        if (l > 0)
          level.prolongation = power(embed(e.embedding, cells[l - 1]), dim);
        level.dim   = dim;
        const int n = degree * cells[l] - 1;
        level.coordinates.reserve(static_cast<std::size_t>(level.matrix.n_rows) * dim);
        for (int i = 0; i < level.matrix.n_rows; ++i)
          for (int d = 0, rest = i; d < dim; ++d, rest /= n)
            level.coordinates.push_back(h * (rest % n + 1) / degree);
        hierarchy.levels.push_back(std::move(level));
      }
    return hierarchy;
  }
} // namespace leopard
