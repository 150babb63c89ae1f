// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mesh_laplacian.h"

#include <solvers/exchange/exchange_pattern.h>
#include <solvers/exchange/ranks.h>

#include <functional>
#include <memory>
#include <vector>

namespace leopard::reaction_diffusion
{
  /**
   * What a rank exchanges with the others on a level. On a shared level (distributed, not whole on every rank) each
   * rank numbers its own nodes first and then its ghosts: nodes of other ranks that its rows of the matrix or of the
   * transfers read, one rank's after the other's. A level that is gathered is whole, and the next finer one is shared:
   * each rank restricts to its own nodes, which all others need. Elsewhere, and on one rank, nothing is exchanged.
   */
  struct MeshPart
  {
    bool            shared = false, gathered = false;
    ExchangePattern pattern; ///< of nodes

    /** The same with the rank's nodes in another order. @param old_node the number of each node as it is now. */
    MeshPart in_order(const std::vector<int> &old_node) const { return {shared, gathered, pattern.in_order(old_node)}; }
  };

  /**
   * A mesh, or a coarser level of it: aggregates of nodes in the place of nodes. Several ranks: NodeRow::node of a
   * level that is gathered counts its nodes on from the rank's own nodes of the mesh, see MeshRanks::with_gathered().
   */
  struct MeshLevel
  {
    MeshLaplacian mesh;
    int           n_all = 0; ///< nodes of all ranks
    MeshPart      part;      ///< several ranks: what this one exchanges; mesh and transfers are its own part of the level
    // to and from the next coarser level; empty on the coarsest
    CrsMatrix<double> restriction;  ///< R, rows sum to 1
    CrsMatrix<double> prolongation; ///< P, rows sum to 1
  };

  /**
   * The ranks that share a mesh, as one of them sees them, with its part of the mesh and of all its levels. Each node
   * has an owner; the arrays of a Stepper have those of the rank in the mesh's order.
   */
  class MeshRanks : public Ranks
  {
  public:
    using Gather = std::function<std::vector<double>(const std::vector<double> &)>;

    /**
     * @param levels the rank's part of them, see MeshLevel::part. @param with_coarser whether there are all, or the
     * mesh alone. @param largest_row, largest_excess those of the mesh's MeshLaplacian, of all ranks. @param transport
     * see Ranks. @param gather_ makes one vector of those of all ranks, in their order, on all of them; collective.
     */
    MeshRanks(std::vector<MeshLevel>     levels_,
              bool                       with_coarser_,
              double                     largest_row_,
              double                     largest_excess_,
              int                        rank_,
              int                        n_ranks_,
              std::shared_ptr<Transport> transport_,
              Gather                     gather_ = {})
      : Ranks(rank_, n_ranks_, std::move(transport_))
      , levels(std::move(levels_))
      , with_coarser(with_coarser_)
      , largest_row(largest_row_)
      , largest_excess(largest_excess_)
      , gather(std::move(gather_))
    {
    }

    /**
     * Values at own nodes of the mesh, n_arrays arrays one after the other, and in each behind them those that coarser
     * levels which are whole on every rank read: at the nodes that stand for those of the level that is gathered.
     * Collective, host memory.
     */
    std::vector<double> with_gathered(const std::vector<double> &values, std::size_t n_arrays) const;

    const std::vector<MeshLevel> levels;
    const bool                   with_coarser;
    const double                 largest_row, largest_excess;

  private:
    const Gather gather;
  };

  /**
   * The mesh and coarser levels by smoothed aggregation (Vanek, Mandel, Brezina, Computing 56 (1996) 179): aggregates
   * P_0 are nodes with their neighbours,
   *
   *   P = (I - omega D^-1 L) P_0,   omega = 4 / (3 lambda_max(D^-1 L)),   R = m_c^-1 P^T m,
   *   L_c = R L P,   m_c = P^T m,
   *
   * where L = -laplace and m are the lumped masses, so that a level is again a MeshLaplacian and Jacobians can be
   * formed there as on the mesh: 1 + dt L_c less the derivative of the reaction at R u; decay_c = R decay. Down to a
   * few dozen nodes, which sweeps solve.
   * @param with_coarser whether more than the mesh is wanted. @param ranks null: one rank; else the levels are its own.
   * @throws InvalidInput where coarser levels are wanted and the ranks have none.
   */
  std::vector<MeshLevel> make_levels(const MeshLaplacian &mesh, bool with_coarser = true, const MeshRanks *ranks = nullptr);

  // What levels are made of, whole or a rank's part.

  /** Whether all diagonal entries are positive: without that a level is not coarsened. */
  bool has_positive_diagonal(const MeshLaplacian &mesh);
  /**
   * Of P^T m makes R. @param row_offsets, values of the rows. @return m_c, the sums of the rows, which may be not
   * positive: then there is no R.
   */
  std::vector<double> divide_by_sums(const std::vector<int> &row_offsets, std::vector<double> &values);
  /** R x of coordinates x, `dimension` numbers a node, or of decay; empty where they are. */
  std::vector<double> restricted(const CrsMatrix<double> &R, const std::vector<double> &x, int dimension);
  /**
   * Of each row of R that has entries the NodeRow::node of the rank's node that counts most in it: what stands for a
   * node of the next coarser level. @param mesh the finer one.
   */
  std::vector<int> representatives(const CrsMatrix<double> &R, const MeshLaplacian &mesh);

  constexpr int coarse_nodes        = 40;  ///< a level with no more nodes, of all ranks, is not coarsened further
  constexpr int coarse_level_sweeps = 20;  ///< on the coarsest level, which they solve,
  constexpr int most_coarse_nodes   = 128; ///< unless it cannot be coarsened and has more nodes than these: then fewer
} // namespace leopard::reaction_diffusion
