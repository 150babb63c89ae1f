// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mesh_kernels.cuh"

#include <solvers/device/device_array.h>
#include <solvers/matrix/blocks.h>

#include <vector>

namespace leopard::reaction_diffusion
{
  /** The rows of a level of a mesh in device memory, in the order of blocks. */
  struct MeshRows
  {
    explicit MeshRows(const MeshLaplacian &mesh)
    {
      const Partition         partition = mesh.blocks(mesh_threads);
      const CrsMatrix<double> A         = permute(mesh.matrix, partition);
      const std::vector<int> &begin     = partition.block_offsets;
      old_node                          = partition.old_row;
      std::vector<int>     row_begin, all_columns;
      std::vector<double>  all_weights;
      std::vector<ushort2> entries(A.n_rows);
      std::vector<NodeRow> all_rows;
      for (std::size_t b = 0; b + 1 < begin.size(); ++b)
        {
          row_begin.push_back(static_cast<int>(all_columns.size()));
          const int size = begin[b + 1] - begin[b];
          for (int i = begin[b]; i < begin[b + 1]; ++i)
            {
              const auto is_inner = [&](int p) { return A.columns[p] >= begin[b] && A.columns[p] < begin[b + 1]; };
              int        n        = 0;
              for (const bool inner : {true, false})
                {
                  for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
                    {
                      if (A.columns[p] == i || is_inner(p) != inner)
                        continue;
                      const std::size_t at = row_begin.back() + static_cast<std::size_t>(n++) * size;
                      if (at >= all_columns.size()) // a new entry of all rows of the block
                        {
                          all_columns.resize(at + size, i);
                          all_weights.resize(at + size, 0.);
                        }
                      all_columns[at + i - begin[b]] = A.columns[p];
                      all_weights[at + i - begin[b]] = -A.values[p];
                    }
                  (inner ? entries[i].x : entries[i].y) = static_cast<unsigned short>(n);
                }
              all_rows.push_back(mesh.row(old_node[i]));
            }
        }
      checked_count(static_cast<double>(all_columns.size()), "entries in the padded rows of the mesh");
      offsets       = device::Array<int>(begin);
      row_begins    = device::Array<int>(row_begin);
      columns       = device::Array<int>(all_columns);
      weights       = device::Array<double>(all_weights);
      short_weights = device::Array<float>(std::vector<float>(all_weights.begin(), all_weights.end()));
      n_entries     = device::Array<ushort2>(entries);
      rows          = device::Array<NodeRow>(all_rows);
    }

    /** Without vectors and blocks. */
    MeshView view(GraphState *state) const
    {
      MeshView result{};
      result.n             = static_cast<int>(old_node.size());
      result.n_blocks      = static_cast<int>(offsets.size()) - 1;
      result.offsets       = offsets.data();
      result.row_begin     = row_begins.data();
      result.columns       = columns.data();
      result.weights       = weights.data();
      result.short_weights = short_weights.data();
      result.n_entries     = n_entries.data();
      result.row           = rows.data();
      result.state         = state;
      return result;
    }

    std::vector<int>       old_node; ///< of each node the level's
    device::Array<int>     offsets, row_begins, columns;
    device::Array<double>  weights;
    device::Array<float>   short_weights;
    device::Array<ushort2> n_entries;
    device::Array<NodeRow> rows;
  };
} // namespace leopard::reaction_diffusion
