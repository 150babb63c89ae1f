// SPDX-License-Identifier: Apache-2.0
#include "mesh_laplacian.h"

#include <solvers/base/errors.h>
#include <solvers/base/words.h>

#include <algorithm>
#include <cmath>
#include <string>

namespace leopard::reaction_diffusion
{
  namespace
  {
    /** Of the entries of row i beside the diagonal: the sum, and that of the absolute values. */
    struct RowSums
    {
      double sum = 0., absolute = 0., diagonal = 0.;

      RowSums(const CrsMatrix<double> &A, int i)
      {
        for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
          if (A.columns[p] == i)
            diagonal = A.values[p];
          else
            {
              sum += A.values[p];
              absolute += std::abs(A.values[p]);
            }
      }
    };

    constexpr double rounding = 1e-10; ///< of a row's sum against its entries
  }                                    // namespace

  void MeshLaplacian::validate(bool ghosts) const
  {
    matrix.validate();
    if (ghosts ? matrix.n_columns < matrix.n_rows : matrix.n_columns != matrix.n_rows)
      throw InvalidInput("the Laplacian has " + std::to_string(matrix.n_rows) + " rows and " + std::to_string(matrix.n_columns) +
                         " columns\n  expected: as many" + (ghosts ? " or more" : ", all nodes on one rank"));
    if (static_cast<int>(weight.size()) != matrix.n_rows)
      throw InvalidInput("there are " + std::to_string(weight.size()) + " weights\n  expected: one a node, " + std::to_string(matrix.n_rows));
    if (!decay.empty() && static_cast<int>(decay.size()) != matrix.n_rows)
      throw InvalidInput("there are " + std::to_string(decay.size()) + " values of decay\n  expected: one a node, " + std::to_string(matrix.n_rows) +
                         ", or none");
    for (const double d : decay)
      if (!std::isfinite(d))
        throw InvalidInput("the decay of a node is " + std::to_string(d) + "\n  expected: a finite number");
    if (!coordinates.empty() && coordinates.size() != static_cast<std::size_t>(dimension) * matrix.n_rows)
      throw InvalidInput("there are " + std::to_string(coordinates.size()) + " coordinates\n  expected: " + std::to_string(dimension) +
                         " a node, or none");
    for (int i = 0; i < matrix.n_rows; ++i)
      {
        const RowSums sums(matrix, i);
        if (!(std::abs(sums.diagonal + sums.sum) <= rounding * (std::abs(sums.diagonal) + sums.absolute)))
          throw InvalidInput("row " + std::to_string(i) + " of the Laplacian sums to " + short_text(sums.diagonal + sums.sum) +
                             "\n  expected: 0, as without flux through the boundary");
        if (!(weight[i] > 0. && weight[i] <= 1. + rounding))
          throw InvalidInput("the weight of node " + std::to_string(i) + " is " + short_text(weight[i]) +
                             "\n  expected: a positive lumped mass, divided by the largest one");
      }
  }

  double MeshLaplacian::largest_row() const
  {
    double result = 0.;
    for (int i = 0; i < matrix.n_rows; ++i)
      result = std::max(result, RowSums(matrix, i).absolute);
    return result;
  }

  double MeshLaplacian::largest_excess() const
  {
    double result = 0.;
    for (int i = 0; i < matrix.n_rows; ++i)
      result = std::max(result, row(i).excess);
    return result;
  }

  Partition MeshLaplacian::blocks(int block_size) const
  {
    return coordinates.empty() ? metis_partition(matrix, block_size) : coordinate_partition(coordinates, dimension, block_size);
  }

  NodeRow MeshLaplacian::row(int i) const
  {
    const RowSums sums(matrix, i);
    const double  excess = sums.absolute + sums.sum;
    return {
      -sums.sum, weight[i], excess > rounding * sums.absolute ? excess : 0., finest_node.empty() ? i : finest_node[i], decay.empty() ? 0. : decay[i]};
  }

  MeshLaplacian laplacian_of(const NodeGrid &grid)
  {
    const GridLevel level = make_levels(grid, false).front();
    MeshLaplacian   result;
    result.dimension     = grid.is_flat() ? 2 : 3;
    result.matrix.n_rows = result.matrix.n_columns = static_cast<int>(level.n_nodes());
    for (int i = 0; i < level.n_nodes(); ++i)
      {
        double diagonal = 0., weight = 1.;
        int    stride = 1;
        for (int d = 0; d < 3; ++d)
          {
            const Axis  &axis = level.axis[d];
            const int    n = level.n[d], k = i / stride % n;
            const bool   around = grid.periodic[d]; // the first node is the last one's neighbour
            const int    to[2]  = {around && k == 0 ? i + (n - 1) * stride : i - stride, around && k == n - 1 ? i - (n - 1) * stride : i + stride};
            const double whole  = 1. / (grid.spacing[d] * grid.spacing[d]);
            const double w[2]   = {around ? whole : axis.lower[k], around ? whole : axis.upper[k]};
            for (int side = 0; side < 2; ++side)
              if (w[side] != 0.)
                {
                  result.matrix.columns.push_back(to[side]);
                  result.matrix.values.push_back(-w[side]);
                  diagonal += w[side];
                }
            weight *= around ? 1. : axis.weight[k];
            if (d < result.dimension)
              result.coordinates.push_back(k * grid.spacing[d]);
            stride *= level.n[d];
          }
        result.matrix.columns.push_back(i);
        result.matrix.values.push_back(diagonal);
        result.matrix.row_offsets.push_back(static_cast<int>(result.matrix.columns.size()));
        result.weight.push_back(weight);
      }
    return result;
  }
} // namespace leopard::reaction_diffusion
