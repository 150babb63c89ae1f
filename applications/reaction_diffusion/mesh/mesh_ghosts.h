// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mesh_hierarchy.h"

#include <memory>

namespace leopard::reaction_diffusion
{
  /**
   * What MeshPart says, for vectors of an engine, in which the fields of a node stand together. With one rank nothing
   * happens.
   */
  class MeshGhosts
  {
  public:
    /** @param part_ in the order of the level's blocks. @param ranks_ null: one rank. */
    MeshGhosts(const MeshPart &part_, const MeshRanks *ranks_)
      : part(part_)
      , ranks(ranks_)
    {
    }

    /** Before the first exchange, when all ranks have made theirs. Collective. */
    void connect(int n_fields)
    {
      if (part.shared || part.gathered)
        exchange = ranks->transport->connect(part.pattern, n_fields);
    }

    /** On a shared level brings the ghosts of v up to date. */
    template <typename Number>
    void update(Number *v) const
    {
      if (part.shared)
        exchange->update(v);
    }

    /** The same for a vector whose address is in device memory, see Exchange::update_at(). */
    template <typename Number>
    void update_at(Number *const *v) const
    {
      if (part.shared)
        exchange->update_at(v);
    }

    /** The same after sweep i of a series, see leopard::update_between_sweeps(). */
    template <typename Number>
    void update_between_sweeps(Number *v, int i) const
    {
      if (part.shared)
        leopard::update_between_sweeps(*exchange, v, i);
    }

    /**
     * On the finest level that is whole on every rank: fetches the values that other ranks have restricted to their
     * nodes. Does nothing on other levels.
     */
    template <typename Number>
    void gather(Number *v) const
    {
      if (part.gathered)
        exchange->update(v);
    }

    bool is_shared() const { return part.shared; }

  private:
    const MeshPart            part;
    const MeshRanks *const    ranks; ///< or null
    std::unique_ptr<Exchange> exchange;
  };
} // namespace leopard::reaction_diffusion
