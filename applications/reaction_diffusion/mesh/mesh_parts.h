// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <solvers/exchange/ranks.h>

#include <vector>

namespace leopard::reaction_diffusion
{
  struct MeshLevel;

  /**
   * A mesh shared out over ranks: each node has an owner. When a Stepper is made every rank knows the whole mesh and makes all its levels; then it keeps its
   * own part of the larger ones, and of the smaller ones everything.
   */
  class MeshRanks : public Ranks
  {
  public:
    /**
     * @param owner of each node the rank; each rank owns some. @param smallest_shared coarser levels with fewer nodes are whole on every rank: to compute there
     * takes less time than to exchange values.
     * @throws InvalidInput.
     */
    MeshRanks(std::vector<int> owner, int smallest_shared, int rank, int n_ranks, std::shared_ptr<SlabExchange> exchange);

    /** Why a mesh cannot be shared out like this, in a sentence; empty if it can. */
    static std::string why_not(const std::vector<int> &owner, int n_ranks);

    /** The rank's nodes, as the arrays of a Stepper have them: in the mesh's order. */
    std::vector<int> own_nodes() const;

    const std::vector<int> owner;
    const int              smallest_shared;
  };

  /**
   * What a rank exchanges with the others on a level. A shared level's nodes are numbered anew on each rank: its own nodes come first, then its ghosts, nodes of
   * others that its rows of the matrix or of the transfers read. All that is empty for one rank.
   */
  struct MeshPart
  {
    bool shared = false;       ///< or the level is whole, and (offsets not empty) the next finer one is shared: each rank restricts to its own nodes
    std::vector<int> sent;     ///< own nodes that others read
    std::vector<int> offsets;  ///< where each rank's begin among the sent ones of all, and their number
    std::vector<int> received; ///< the ghosts; on a whole level the nodes of others
    std::vector<int> places;   ///< of these: their numbers among the sent ones of all ranks
  };

  /** The same with the rank's nodes in another order. @param old_node of each of them its number in `part`. */
  MeshPart in_order(MeshPart part, const std::vector<int> &old_node);

  /** Of levels of the whole mesh leaves what this rank needs. Collective in so far as all ranks must do the same. */
  void take_part(std::vector<MeshLevel> &levels, const MeshRanks &ranks);
} // namespace leopard::reaction_diffusion
