// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reaction_diffusion_test.h"

#include <algorithm>

namespace leopard::reaction_diffusion
{
  /** Where zero is prescribed at some nodes of a mesh: what is left of it, with the decay beside them. */
  struct Inside
  {
    /** @param is_free of each node of the mesh. */
    Inside(const MeshLaplacian &mesh, const std::vector<bool> &is_free)
    {
      std::vector<int> number(is_free.size(), -1);
      for (std::size_t i = 0; i < is_free.size(); ++i)
        if (is_free[i])
          {
            number[i] = static_cast<int>(nodes.size());
            nodes.push_back(static_cast<int>(i));
          }
      CrsMatrix<double> &A = laplacian.matrix;
      A.n_rows = A.n_columns = static_cast<int>(nodes.size());
      laplacian.dimension    = mesh.dimension;
      for (const int i : nodes)
        {
          std::size_t diagonal = 0;
          double      sum      = 0.;
          for (int p = mesh.matrix.row_offsets[i]; p < mesh.matrix.row_offsets[i + 1]; ++p)
            if (const int j = number[mesh.matrix.columns[p]]; j >= 0)
              {
                if (mesh.matrix.columns[p] == i)
                  diagonal = A.values.size();
                A.columns.push_back(j);
                A.values.push_back(mesh.matrix.values[p]);
                sum += mesh.matrix.values[p];
              }
          A.values[diagonal] -= sum;
          A.row_offsets.push_back(static_cast<int>(A.columns.size()));
          laplacian.decay.push_back(sum);
          laplacian.weight.push_back(mesh.weight[i]);
          for (int d = 0; d < mesh.dimension && !mesh.coordinates.empty(); ++d)
            laplacian.coordinates.push_back(mesh.coordinates[static_cast<std::size_t>(i) * mesh.dimension + d]);
        }
    }

    MeshLaplacian    laplacian;
    std::vector<int> nodes; ///< of the mesh
  };

  /** A grid with zero on the whole boundary. */
  inline Inside inside_of(const NodeGrid &grid)
  {
    std::vector<bool> is_free;
    for (int i = 0; i < grid.n_nodes(); ++i)
      {
        bool free = true;
        for (int d = 0, stride = 1; d < (grid.is_flat() ? 2 : 3); stride *= grid.n[d++])
          free = free && i / stride % grid.n[d] > 0 && i / stride % grid.n[d] + 1 < grid.n[d];
        is_free.push_back(free);
      }
    return Inside(laplacian_of(grid), is_free);
  }
} // namespace leopard::reaction_diffusion
