// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <vector>

namespace leopard
{
  /**
   * Which entries of a vector that is spread over ranks travel, as one rank sees it: host data, made once. A vector has
   * the rank's own entries and ghosts, copies of entries of other ranks; either may stand anywhere in it. An entry can
   * be several values that stand together (see Transport::connect()).
   */
  struct ExchangePattern
  {
    struct Neighbour
    {
      int rank;
      int offset; ///< of its entries among those sent, or received
      int count;  ///< at least 1
    };

    std::vector<Neighbour> to, from; ///< by ascending rank; this rank is not among them
    std::vector<int>       sent;     ///< own entries, neighbour after neighbour
    std::vector<int>       received; ///< ghosts likewise: those of a neighbour are in the order in which that one sends them
    /**
     * Entries from this number on are those of a second vector, the entry `second` being its entry 0: see
     * Exchange::update(v, w). The largest int: there is one vector.
     */
    int second = std::numeric_limits<int>::max();

    /** Adds an own entry to those that `rank` gets, the last or a new one behind the last of `to`. */
    void add_sent(int rank, int entry) { add(to, sent, rank, entry); }
    /** Adds a ghost to those that `rank` sends, likewise. */
    void add_received(int rank, int entry) { add(from, received, rank, entry); }

    /** All that this rank sends to, or receives from, by ascending rank: A is a neighbour of B if B is one of A. */
    std::vector<int> neighbours() const;

    /**
     * The same for vectors whose first entries are in a new order: entry i is the old entry old_entry[i], and those
     * behind stay where they are.
     */
    ExchangePattern in_order(const std::vector<int> &old_entry) const;

  private:
    static void add(std::vector<Neighbour> &neighbours, std::vector<int> &entries, int rank, int entry);
  };
} // namespace leopard
