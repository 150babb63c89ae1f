// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <map>
#include <vector>

namespace leopard
{
  /** The distances between column and row that the inner entries of blocks have. */
  struct BlockDistances
  {
    static constexpr int max_distances = 64; ///< blocks with more have max_distances + 1, whichever

    std::vector<int> rows;          ///< of each block
    std::vector<int> offsets = {0}; ///< n_blocks + 1
    std::vector<int> distances;     ///< of block J from offsets[J] on, sorted
    std::size_t      padded = 0;    ///< entries, where 32 rows are as long as the longest of them, and that even

    int n_blocks() const { return static_cast<int>(rows.size()); }
  };

  /**
   * Blocks whose inner entries lie at few distances between column and row, as those of tiles of a grid do: an entry's
   * slot in its row then says its column, column = row + distance of the slot, and no columns need to be stored. Rows
   * that lack an entry hold a zero there.
   *
   * A *lattice* is the case in which the distances of each block are -S, S, and c (a star) or c - S, c, c + S (full)
   * for up to four, respectively two, other numbers c, the laterals: S is a line of a tile in two dimensions and a
   * plane in three. Then a thread that relaxes the rows i, i + S, ... has some of their neighbours itself. Slots: -S,
   * S, then those of each lateral.
   */
  class DistanceSlots
  {
  public:
    static constexpr int rows_a_thread = 4;   ///< of a lattice: i, i + S, i + 2 S, i + 3 S
    static constexpr int max_rows      = 512; ///< of a lattice's block, counted up to a multiple of rows_a_thread lines
    static constexpr int max_reach     = 80;  ///< of a lattice: the largest distance
    static constexpr int max_slots     = BlockDistances::max_distances;

    DistanceSlots() = default;
    /**
     * Finds them, unless storing columns in 16 bits takes less memory, or rows without a lattice are so short that
     * their columns are held in registers.
     * @param value_bytes of a stored value.
     */
    DistanceSlots(const BlockDistances &found, int value_bytes)
    {
      std::map<std::vector<int>, int> known; // kinds by their rows and distances
      std::vector<int>                key, last_key;
      std::size_t                     widest = 0, slots = 0; // slots: entries with distances
      bool                            is_lattice = true;
      for (int block = 0; block < found.n_blocks(); ++block)
        {
          key.assign(found.distances.begin() + found.offsets[block], found.distances.begin() + found.offsets[block + 1]);
          if (key.size() > max_slots)
            return;
          key.push_back(found.rows[block]); // blocks in a row are often alike
          if (kind_of.empty() || key != last_key)
            {
              const auto [place, is_new] = known.emplace(key, static_cast<int>(kinds.size()));
              if (is_new)
                {
                  kinds.push_back({std::vector<int>(key.begin(), key.end() - 1), {}});
                  kinds.back().lines = best_lines(kinds.back().distances, found.rows[block]);
                }
              kind_of.push_back(place->second);
              last_key = key;
            }
          else
            kind_of.push_back(kind_of.back());
        }
      for (const auto &[kind_key, number] : known)
        {
          const Lines &best = kinds[number].lines;
          widest            = std::max(widest, kinds[number].distances.size());
          is_lattice        = is_lattice && best.stride > 0;
          largest           = std::max(largest, with_padding(kind_key.back(), std::max(1, best.stride)));
          n_laterals        = std::max(n_laterals, best.laterals.size() > 2 ? 4 : 2);
          full              = full || best.full;
        }
      is_lattice = is_lattice && !(full && n_laterals > 2);
      if (!is_lattice)
        n_laterals = 0;
      for (Kind &kind : kinds)
        if (is_lattice)
          kind.distances = lattice_slots(kind.lines);
        else if (kind.distances.size() % 2 == 1)
          kind.distances.push_back(0);
      for (int block = 0; block < found.n_blocks(); ++block)
        slots += distances(block).size() * ((found.rows[block] + 31) / 32 * 32);
      used = slots * value_bytes <= found.padded * (value_bytes + 2) && (is_lattice || widest > 8);
    }

    /** Whether columns are left away. */
    bool is_used() const { return used; }
    bool is_lattice() const { return used && n_laterals > 0; }
    bool is_full() const { return full; }
    int  laterals() const { return n_laterals; }
    /** Rows of a lattice's largest block, counted up to a multiple of rows_a_thread lines. */
    int largest_block() const { return largest; }
    /** Of a block; an even number of them. */
    const std::vector<int> &distances(int block) const { return kinds[kind_of[block]].distances; }
    /** S. */
    int stride(int block) const { return is_lattice() ? kinds[kind_of[block]].lines.stride : 0; }

  private:
    struct Lines
    {
      int              stride = 0; ///< 0: the block is none
      std::vector<int> laterals;
      bool             full = false;
    };

    /** What blocks have that are alike. */
    struct Kind
    {
      std::vector<int> distances;
      Lines            lines;
    };

    static int with_padding(int rows, int stride)
    {
      const int granule = stride * rows_a_thread;
      return (rows + granule - 1) / granule * granule;
    }

    static Lines lines_of(const std::vector<int> &distances, int rows, int stride)
    {
      Lines result;
      int   reach = 0;
      for (const int d : distances)
        {
          const int line = 2 * d > stride ? 1 : 2 * d < -stride ? -1 : 0, c = d - line * stride;
          if (line != 0 && 2 * std::abs(c) > stride)
            return {};
          if (c == 0)
            continue;
          result.full = result.full || line != 0;
          reach       = std::max(reach, std::abs(c));
          if (std::find(result.laterals.begin(), result.laterals.end(), c) == result.laterals.end())
            result.laterals.push_back(c);
        }
      const bool fits = stride + reach <= max_reach && with_padding(rows, stride) <= max_rows && result.laterals.size() <= (result.full ? 2u : 4u);
      result.stride   = fits ? stride : 0;
      return result;
    }

    /** Those with the fewest slots; among equals the longest, whose rows stand in different banks of shared memory. */
    static Lines best_lines(const std::vector<int> &distances, int rows)
    {
      Lines      best;
      const auto n_slots = [](const Lines &l) { return std::max<std::size_t>(2, l.laterals.size()) * (l.full ? 3 : 1); };
      const auto look_at = [&](int stride) {
        const Lines l = lines_of(distances, rows, stride);
        if (l.stride > 0 && (best.stride == 0 || n_slots(l) < n_slots(best) || (n_slots(l) == n_slots(best) && l.stride > best.stride)))
          best = l;
      };
      look_at(32); // for rows without neighbours at a line's distance
      for (const int d : distances)
        look_at(std::abs(d));
      return best;
    }

    std::vector<int> lattice_slots(const Lines &l) const
    {
      std::vector<int> result = {-l.stride, l.stride};
      for (int i = 0; i < n_laterals; ++i)
        {
          const int c = i < static_cast<int>(l.laterals.size()) ? l.laterals[i] : 0;
          for (int line = full ? -1 : 0; line <= (full ? 1 : 0); ++line)
            result.push_back(c + line * l.stride);
        }
      return result;
    }

    int               n_laterals = 0, largest = 0;
    bool              full = false, used = false;
    std::vector<Kind> kinds;
    std::vector<int>  kind_of; ///< each block
  };
} // namespace leopard
