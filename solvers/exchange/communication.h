// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../base/backend.h"
#include "../base/number_types.h"
#include "../base/rank_sums.h"

#include <memory>
#include <string>
#include <vector>

namespace leopard
{
  /**
   * An exchange of ghost entries that nobody waits for: an asynchronous iteration takes what has come so far. It is
   * made for visits, each of some calls of update_ghosts(); values of one visit are never taken in another one. Making
   * it and its destruction are collective, and so is begin() in that all ranks call it equally often.
   */
  template <typename Number>
  class LooseExchange
  {
  public:
    virtual ~LooseExchange() = default;
    /**
     * Begins a visit: before ghosts are brought up to date by Communication::update_ghosts(), without which they would
     * be of no visit at all.
     */
    virtual void begin() = 0;
    /**
     * Sends the own entries that are ghosts elsewhere, and puts the newest values that have arrived in this visit into
     * the ghost entries of x (from entry n_rows on); where none have, they stay. Ranks may call it differently often.
     * Allocates nothing.
     */
    virtual void update_ghosts(Number *x, MemorySpace space) = 0;
  };

  /**
   * What a distributed program adds to an iteration that only knows its own rows. The default is one process: nothing
   * to exchange, and a sum over ranks is the number itself. All functions are collective.
   */
  template <typename Number>
  class Communication : public RankSums
  {
  public:
    /**
     * Fetches the ghost entries (from entry n_rows on) of x from the ranks that own them; queued, or waits, see
     * is_queued().
     */
    virtual void update_ghosts(Number * /*x*/, MemorySpace /*space*/) const {}
    /**
     * Whether update_ghosts() of vectors in this memory space is queued on the device, so that a CUDA graph can hold
     * it. What it needs there is made here, or else by its first call.
     */
    virtual bool is_queued(MemorySpace space) const { return space == MemorySpace::device && !is_distributed(); }
    /**
     * How ghosts of vectors in this memory space travel, in a line for a log; not collective. Empty: there are none.
     */
    virtual std::string description(MemorySpace /*space*/) const { return ""; }
    /**
     * An exchange of the same ghosts that does not wait; this object must outlive it. @throws InvalidInput by default.
     */
    virtual std::unique_ptr<LooseExchange<Number>> loose() const;
    /** Whether there are other ranks at all. */
    virtual bool is_distributed() const { return false; }
    /** Whether x has ghost entries anywhere, so that update_ghosts() must be called between global iterations. */
    virtual bool has_ghosts() const { return false; }
    /**
     * The same for vectors whose own entries are in a new order: entry i is the old entry old_row[i] (see Partition).
     * @throws InvalidInput by default.
     */
    virtual std::unique_ptr<const Communication<Number>> reordered(const std::vector<int> &old_row) const;
    /**
     * The same for vectors in single precision, which may outlive this object. @throws InvalidInput by default, where
     * there are other ranks.
     */
    virtual std::unique_ptr<const Communication<float>> in_single() const;
  };
} // namespace leopard
