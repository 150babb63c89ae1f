// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <solvers/exchange/exchange_pattern.h>
#include <solvers/exchange/ranks.h>

#include <vector>

namespace leopard::reaction_diffusion
{
  struct MeshLevel;

  /**
   * A mesh distributed over ranks: each node has an owner. When a Stepper is made, every rank knows the whole mesh and
   * makes all its levels; then it keeps only its own part of the larger levels, and the smaller ones whole.
   */
  class MeshRanks : public Ranks
  {
  public:
    /**
     * @param owner of each node the rank; each rank owns some. @param smallest_shared coarser levels with fewer nodes
     * are whole on every rank: to compute there takes less time than to exchange values.
     * @throws InvalidInput.
     */
    MeshRanks(std::vector<int> owner, int smallest_shared, int rank, int n_ranks, std::shared_ptr<Transport> transport);

    /** Why a mesh cannot be shared out like this, in a sentence; empty if it can. */
    static std::string why_not(const std::vector<int> &owner, int n_ranks);

    /** The rank's nodes, as the arrays of a Stepper have them: in the mesh's order. */
    std::vector<int> own_nodes() const;

    const std::vector<int> owner;
    const int              smallest_shared;
  };

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

  /** Reduces the levels of the whole mesh to what this rank needs. To be called by all ranks with the same levels. */
  void take_part(std::vector<MeshLevel> &levels, const MeshRanks &ranks);
} // namespace leopard::reaction_diffusion
