// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mesh_kernels.cuh"

#include <applications/reaction_diffusion/mesh/mesh_ghosts.h>
#include <applications/reaction_diffusion/mesh/mesh_hierarchy.h>
#include <solvers/device/device_array.h>
#include <solvers/matrix/blocks.h>
#include <solvers/multigrid/cycle.h>

#include <memory>
#include <utility>
#include <vector>

namespace leopard::reaction_diffusion
{
  /** The rows of a level of a mesh in device memory, in the order of blocks. */
  struct DeviceMesh
  {
    explicit DeviceMesh(const MeshLaplacian &mesh)
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

  /** A mesh's coarser levels in device memory, and V-cycles as launches on a stream. */
  template <typename Kinetics>
  class MeshMultigrid
  {
  public:
    static constexpr int N = Kinetics::n_species;

    /**
     * @param levels the mesh and coarser ones. @param finest, old_node, finest_ghosts of the mesh: its view, the
     * order of its nodes there, and its ghosts. @param ranks null: one rank.
     */
    MeshMultigrid(const std::vector<MeshLevel> &levels,
                  const NodeSystem<Kinetics>   &system_,
                  const MeshView               &finest,
                  const std::vector<int>       &old_node,
                  const MeshGhosts             &finest_ghosts,
                  const MeshRanks              *ranks)
      : system(system_)
      , views(1, finest)
      , ghosts(1, &finest_ghosts)
    {
      const std::vector<int> *fine_node = &old_node;
      for (const MeshLevel &level : levels)
        n_all.push_back(level.n_all);
      for (std::size_t l = 1; l < levels.size(); ++l)
        {
          coarse.push_back(std::make_unique<Coarse>(levels[l - 1], levels[l], *fine_node, ranks));
          fine_node = &coarse.back()->mesh.old_node;
          views.push_back(coarse.back()->view(finest.state));
          ghosts.push_back(&coarse.back()->ghosts);
        }
    }

    std::size_t n_levels() const { return views.size(); }

    /** Before the first cycle; the mesh is connected elsewhere. Collective. */
    void connect()
    {
      for (const auto &level : coarse)
        level->ghosts.connect(N);
    }

    /** The Jacobian's stable part on the coarse levels. */
    void linearize(cudaStream_t stream) const
    {
      for (std::size_t l = 0; l < coarse.size(); ++l)
        {
          const TransferView R  = coarse[l]->restriction.view();
          const MeshView    &to = views[l + 1];
          if (l == 0)
            restrict_mesh_solution<N, true><<<blocks(R.n_rows), mesh_threads, 0, stream>>>(views[l], to, R);
          else
            restrict_mesh_solution<N, false><<<blocks(R.n_rows), mesh_threads, 0, stream>>>(views[l], to, R);
          ghosts[l + 1]->gather(to.u);
          ghosts[l + 1]->update(to.u);
          linearize_mesh<Kinetics><<<blocks(to.n), mesh_threads, 0, stream>>>(to, system);
        }
    }

    /** A V-cycle: d of the mesh, with its ghosts, for its rhs, whatever stands in d. */
    void cycle(cudaStream_t stream) const
    {
      Parts parts{*this, stream};
      parts.set_zero(static_cast<int>(coarse.size()));
      multigrid_cycle(parts, static_cast<int>(coarse.size()));
    }

  private:
    static constexpr int sweeps = 2; ///< in a block, before and behind

    /** What multigrid_cycle() asks for, as launches; its level 0 is the coarsest one. */
    struct Parts
    {
      const MeshMultigrid &multigrid;
      const cudaStream_t   stream;
      int                  zero_level = -1; ///< whose d is to be taken for zero by the next sweeps

      std::size_t       number(int level) const { return multigrid.coarse.size() - level; }
      const MeshView   &at(int level) const { return multigrid.views[number(level)]; }
      const MeshGhosts &ghosts(int level) const { return *multigrid.ghosts[number(level)]; }

      void set_zero(int level) { zero_level = level; }
      void smooth_before(int level) { relax(level, sweeps); }
      void smooth_after(int level) { relax(level, sweeps); }

      void restrict_residual(int level) const
      {
        const MeshView    &fine = at(level), &next = at(level - 1);
        const TransferView R = multigrid.coarse[number(level)]->restriction.view();
        compute_mesh_residual<Kinetics><<<fine.n_blocks, mesh_threads, 0, stream>>>(fine, multigrid.system);
        ghosts(level).update(fine.residual);
        restrict_mesh_residual<N><<<blocks(R.n_rows), mesh_threads, 0, stream>>>(fine, next, R);
        ghosts(level - 1).gather(next.rhs);
      }

      void correct(int level) const
      {
        const MeshView    &fine = at(level);
        const TransferView P    = multigrid.coarse[number(level)]->prolongation.view();
        prolongate_mesh<N><<<blocks(P.n_rows), mesh_threads, 0, stream>>>(at(level - 1), fine, P);
        ghosts(level).update(fine.d);
      }

      void solve_coarsest()
      {
        // a level of one block (a rank, if it is shared): all sweeps at once
        const bool small = multigrid.n_all[number(0)] <= mesh_threads;
        for (int i = 0; i < (small ? 1 : 2); ++i)
          relax(0, small ? coarse_level_sweeps : sweeps);
      }

    private:
      void relax(int level, int n_sweeps) { multigrid.relax(stream, number(level), n_sweeps, std::exchange(zero_level, -1) == level); }
    };

    struct Transfer
    {
      explicit Transfer(const CrsMatrix<double> &A)
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
      Coarse(const MeshLevel &fine, const MeshLevel &level, const std::vector<int> &fine_node, const MeshRanks *ranks)
        : mesh(level.mesh)
        , restriction(permute(fine.restriction, mesh.old_node, fine_node))
        , prolongation(permute(fine.prolongation, fine_node, mesh.old_node))
        , ghosts(level.part.in_order(mesh.old_node), ranks)
        , n_values(static_cast<std::size_t>(N) * level.mesh.matrix.n_columns)
        , vectors(4 * n_values)
        , blocks(static_cast<std::size_t>(2 * N * N) * level.mesh.n_nodes())
      {
      }

      MeshView view(GraphState *state) const
      {
        MeshView result   = mesh.view(state);
        result.d          = vectors.data();
        result.rhs        = result.d + n_values;
        result.residual   = result.rhs + n_values;
        result.u          = result.residual + n_values;
        result.relaxation = blocks.data();
        result.reaction   = result.relaxation + static_cast<std::size_t>(N * N) * result.n;
        return result;
      }

      DeviceMesh           mesh;
      Transfer             restriction, prolongation; ///< from and to the next finer level
      MeshGhosts           ghosts;
      std::size_t          n_values; ///< of a vector, with the ghosts'
      device::Array<float> vectors, blocks;
    };

    static int blocks(int n) { return (n + mesh_threads - 1) / mesh_threads; }

    void relax(cudaStream_t stream, std::size_t l, int n_sweeps, bool from_zero) const
    {
      relax_mesh<Kinetics><<<views[l].n_blocks, mesh_threads, 0, stream>>>(views[l], system, -1, n_sweeps, from_zero);
      ghosts[l]->update(views[l].d);
    }

    const NodeSystem<Kinetics>           system;
    std::vector<int>                     n_all; ///< nodes of the levels, of all ranks
    std::vector<std::unique_ptr<Coarse>> coarse;
    std::vector<MeshView>                views;
    std::vector<const MeshGhosts *>      ghosts;
  };
} // namespace leopard::reaction_diffusion
