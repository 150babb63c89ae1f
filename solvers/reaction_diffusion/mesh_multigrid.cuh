// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../device/device_array.h"
#include "../matrix/blocks.h"
#include "mesh_hierarchy.h"
#include "mesh_kernels.cuh"

#include <vector>

namespace leopard::reaction_diffusion
{
  /** The rows of a mesh in device memory, in the order of blocks. */
  struct DeviceMesh
  {
    explicit DeviceMesh(const MeshLaplacian &mesh)
    {
      const Partition         partition = mesh.blocks(mesh_threads);
      const CrsMatrix         A         = permute(mesh.matrix, partition);
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

    std::vector<int>       old_node; ///< of each node the mesh's
    device::Array<int>     offsets, row_begins, columns;
    device::Array<double>  weights;
    device::Array<float>   short_weights;
    device::Array<ushort2> n_entries;
    device::Array<NodeRow> rows;
  };

  /** A mesh's coarser levels in device memory, and V-cycles as launches on a stream. */
  template <typename Kinetics>
  class MeshMultigrid
  {
  public:
    static constexpr int N = Kinetics::n_species;

    /** @param old_node the order of the mesh's nodes in `finest`. */
    MeshMultigrid(const MeshLaplacian &mesh, const NodeSystem<Kinetics> &system_, const MeshView &finest, const std::vector<int> &old_node)
      : levels(make_levels(mesh))
      , system(system_)
      , views(1, finest)
    {
      const std::vector<int> *fine_node = &old_node;
      coarse.reserve(levels.size() - 1); // old_node of a level is pointed to
      for (std::size_t l = 1; l < levels.size(); ++l)
        {
          coarse.emplace_back(levels[l - 1], levels[l].mesh, *fine_node);
          fine_node = &coarse.back().mesh.old_node;
          views.push_back(coarse.back().view(finest.state));
        }
    }

    std::size_t n_levels() const { return levels.size(); }

    /** Cycles go down to where relaxation smoothes. @param rate see coarsest_level(). @return whether that is another level than before. */
    bool choose_coarsest(double rate)
    {
      const std::size_t before = coarsest;
      coarsest                 = coarsest_level(levels, system.smallest_diffusion(), rate);
      return coarsest != before;
    }

    /** The Jacobian on the coarse levels. */
    void linearize(cudaStream_t stream) const
    {
      for (std::size_t l = 0; l < coarsest; ++l)
        {
          const TransferView R = coarse[l].restriction.view();
          if (l == 0)
            linearize_mesh<Kinetics, true><<<blocks(R.n_rows), mesh_threads, 0, stream>>>(views[l], views[l + 1], system, R);
          else
            linearize_mesh<Kinetics, false><<<blocks(R.n_rows), mesh_threads, 0, stream>>>(views[l], views[l + 1], system, R);
        }
    }

    /** A V-cycle: d for rhs, both of the level, whatever stands in d. */
    void cycle(cudaStream_t stream, std::size_t l = 0) const
    {
      const MeshView &fine = views[l];
      if (l == coarsest)
        {
          // a level of one block: all sweeps at once
          const bool small = fine.n_blocks == 1;
          for (int i = 0; i < (small ? 1 : 2); ++i)
            relax(stream, fine, small ? coarse_level_sweeps : sweeps, i == 0);
          return;
        }
      const TransferView R = coarse[l].restriction.view(), P = coarse[l].prolongation.view();
      relax(stream, fine, sweeps, true);
      compute_mesh_residual<Kinetics><<<fine.n_blocks, mesh_threads, 0, stream>>>(fine, system);
      restrict_mesh_residual<N><<<blocks(R.n_rows), mesh_threads, 0, stream>>>(fine, views[l + 1], R);
      cycle(stream, l + 1);
      prolongate_mesh<N><<<blocks(P.n_rows), mesh_threads, 0, stream>>>(views[l + 1], fine, P);
      relax(stream, fine, sweeps, false);
    }

  private:
    static constexpr int sweeps = 2; ///< in a block, before and behind

    struct Transfer
    {
      explicit Transfer(const CrsMatrix &A)
        : offsets(A.row_offsets)
        , columns(A.columns)
        , values(std::vector<float>(A.values.begin(), A.values.end()))
        , n_rows(A.n_rows)
      {
      }
      TransferView view() const { return {n_rows, offsets.data(), columns.data(), values.data()}; }

      device::Array<int>   offsets, columns;
      device::Array<float> values;
      int                  n_rows;
    };

    struct Coarse
    {
      /** @param fine_node the order of the finer level's nodes. */
      Coarse(const MeshLevel &fine, const MeshLaplacian &laplacian, const std::vector<int> &fine_node)
        : mesh(laplacian)
        , restriction(permute(fine.restriction, mesh.old_node, fine_node))
        , prolongation(permute(fine.prolongation, fine_node, mesh.old_node))
        , vectors(static_cast<std::size_t>(4 * N) * laplacian.n_nodes())
        , blocks(static_cast<std::size_t>(2 * N * N) * laplacian.n_nodes())
      {
      }

      MeshView view(GraphState *state) const
      {
        MeshView          result = mesh.view(state);
        const std::size_t n      = static_cast<std::size_t>(N) * result.n;
        result.d                 = vectors.data();
        result.rhs               = result.d + n;
        result.residual          = result.rhs + n;
        result.u                 = result.residual + n;
        result.relaxation        = blocks.data();
        result.reaction          = result.relaxation + N * n;
        return result;
      }

      DeviceMesh           mesh;
      Transfer             restriction, prolongation; ///< from and to the next finer level
      device::Array<float> vectors, blocks;
    };

    static int blocks(int n) { return (n + mesh_threads - 1) / mesh_threads; }

    void relax(cudaStream_t stream, const MeshView &v, int n_sweeps, bool from_zero) const
    {
      relax_mesh<Kinetics><<<v.n_blocks, mesh_threads, 0, stream>>>(v, system, -1, n_sweeps, from_zero);
    }

    const std::vector<MeshLevel> levels;
    const NodeSystem<Kinetics>   system;
    std::vector<Coarse>          coarse;
    std::vector<MeshView>        views;
    std::size_t                  coarsest = 0;
  };
} // namespace leopard::reaction_diffusion
