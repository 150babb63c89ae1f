// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "host_rows.h"
#include "level_gcr.h"

#include <applications/reaction_diffusion/mesh/mesh_hierarchy.h>
#include <solvers/multigrid/cycle.h>

#include <memory>
#include <vector>

namespace leopard::reaction_diffusion
{
  /**
   * GCR with V-cycles as preconditioner on a mesh and its coarser levels, with NodeSystem::stable_block(): before the
   * coarse correction a sweep with the nodes of each block in ascending order, after it one in descending order.
   */
  template <typename Kinetics>
  class HostMeshMultigrid
  {
  public:
    static constexpr int N = Kinetics::n_species;
    using Rows             = HostRows<Kinetics>;

    /** @param levels the mesh, of which finest_ is made, and coarser ones. @param ranks null: one rank. */
    HostMeshMultigrid(const std::vector<MeshLevel> &levels, Rows &finest_, int n_threads, MeshRanks *ranks)
      : finest(finest_)
    {
      for (std::size_t l = 1; l < levels.size(); ++l)
        coarse.push_back({std::make_unique<Rows>(levels[l], false, n_threads, ranks), {}, {}, {}});
      for (std::size_t l = 0; l + 1 < levels.size(); ++l)
        {
          Coarse &c      = coarse[l];
          c.restriction  = permute(levels[l].restriction, c.rows->old_node, rows(l).old_node);
          c.prolongation = permute(levels[l].prolongation, rows(l).old_node, c.rows->old_node);
          c.u.resize(c.rows->d.size());
        }
      gcr.allocate(finest, max_directions);
    }

    std::size_t n_levels() const { return coarse.size() + 1; }

    /** Before the first cycle. Collective. */
    void connect()
    {
      for (Coarse &c : coarse)
        c.rows->connect();
    }

    /**
     * The Jacobian's stable part on the coarse levels, with the reaction's derivative at the restricted solution.
     * @param u on the mesh.
     */
    void linearize(const NodeSystem<Kinetics> &system, const typename NodeSystem<Kinetics>::Scheme &scheme, const double *u)
    {
      for (Coarse &c : coarse)
        {
          c.rows->for_nodes([&](int i, int /*b*/) { multiply_row(c.restriction, i, u, &c.u[static_cast<long>(i) * N]); });
          c.rows->gather(c.u.data());
          c.rows->update_ghosts(c.u.data());
          c.rows->for_nodes([&](int i, int /*b*/) {
            double *const here = &c.u[static_cast<long>(i) * N], *const block = &c.rows->block[static_cast<long>(i) * N * N];
            double zero[N] = {}, g[N], jacobian[N * N];
            Sums   unused;
            system.residual(scheme, here, here, here, here, zero, c.rows->row[i], g, jacobian, unused);
            system.stable_block(jacobian, scheme.implicit, c.rows->row[i], block);
            system.relaxation_matrix(block, scheme.implicit, c.rows->row[i], &c.rows->matrix[static_cast<long>(i) * N * N]);
          });
          u = c.u.data();
        }
    }

    /**
     * A d = rhs on the mesh, from d = 0. @param before_cycle is called before each cycle. @return the number of cycles.
     */
    template <typename BeforeCycle>
    int solve(const NodeSystem<Kinetics> &system, double implicit, double reduction, int max_cycles, const BeforeCycle &before_cycle)
    {
      return gcr.solve(system, implicit, finest, finest.rhs, reduction, max_cycles, [&] {
        before_cycle();
        multigrid_cycle(Parts{*this, system, implicit}, static_cast<int>(coarse.size()));
      });
    }

  private:
    struct Coarse
    {
      std::unique_ptr<Rows> rows;
      CrsMatrix<double>     restriction, prolongation; ///< from and to the next finer level
      std::vector<double>   u;                         ///< the restricted solution
    };

    Rows &rows(std::size_t l) { return l == 0 ? finest : *coarse[l - 1].rows; }

    /** result = (A x)_i, all fields. */
    static void multiply_row(const CrsMatrix<double> &A, int i, const double *x, double *result)
    {
      std::fill_n(result, N, 0.);
      for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
        for (int c = 0; c < N; ++c)
          result[c] += A.values[p] * x[static_cast<long>(A.columns[p]) * N + c];
    }

    /** What multigrid_cycle() asks for; its level 0 is the coarsest one. From d = 0; ghosts are current at the end. */
    struct Parts
    {
      HostMeshMultigrid          &multigrid;
      const NodeSystem<Kinetics> &system;
      const double                implicit;

      Rows   &at(int level) const { return multigrid.rows(multigrid.coarse.size() - level); }
      Coarse &below(int level) const { return multigrid.coarse[multigrid.coarse.size() - level]; }

      void smooth_before(int level) const { smooth(at(level), 1, 1, 0); }
      void smooth_after(int level) const { smooth(at(level), 1, 1, 1); }
      void set_zero(int level) const { at(level).clear(); }

      void restrict_residual(int level) const
      {
        Rows   &fine = at(level);
        Coarse &c    = below(level);
        fine.compute_residual(system, implicit);
        fine.update_ghosts(fine.residual.data());
        c.rows->for_nodes([&](int i, int /*b*/) { multiply_row(c.restriction, i, fine.residual.data(), &c.rows->rhs[static_cast<long>(i) * N]); });
        c.rows->gather(c.rows->rhs.data());
      }

      void correct(int level) const
      {
        Rows         &fine = at(level);
        const Coarse &c    = below(level);
        fine.for_nodes([&](int i, int /*b*/) {
          double correction[N];
          multiply_row(c.prolongation, i, c.rows->d.data(), correction);
          for (int s = 0; s < N; ++s)
            fine.d[static_cast<long>(i) * N + s] += correction[s];
        });
        fine.update_ghosts(fine.d.data());
      }

      void solve_coarsest() const
      {
        Rows &rows = at(0);
        smooth(rows, rows.n_all <= coarse_nodes ? coarse_level_sweeps : 4, 2, 0); // as many on all ranks
      }

    private:
      void smooth(Rows &rows, int n_sweeps, int k, int first) const
      {
        rows.sweep(system, implicit, n_sweeps, k, first);
        rows.update_ghosts(rows.d.data());
      }
    };

    Rows               &finest;
    std::vector<Coarse> coarse;
    LevelGcr<Rows>      gcr;
  };
} // namespace leopard::reaction_diffusion
